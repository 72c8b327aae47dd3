#!/usr/bin/env node
// The `skein` command: assembles the subcommands, and reports a failure as one line and an exit code.

import { Command, CommanderError } from "commander";
import { messageOf } from "../documents/formats/input-error.js";
import { SourcePositions } from "../ground/source-positions.js";
import { analyticsCommand } from "./commands/analytics.js";
import { auditCommand } from "./commands/audit.js";
import { backupCommand } from "./commands/backup.js";
import { coachCommand } from "./commands/coach.js";
import { importCommand } from "./commands/import.js";
import { indexesCommand } from "./commands/indexes.js";
import { keysCommand } from "./commands/keys.js";
import { rulesCommand } from "./commands/rules.js";
import { searchCommand } from "./commands/search.js";
import { serveCommand } from "./commands/serve.js";
import { similarCommand } from "./commands/similar.js";
import { sourcesCommand } from "./commands/sources.js";
import { synonymsCommand } from "./commands/synonyms.js";
import { withGlobalOptions } from "./connection.js";
import { EXIT_FAILED, EXIT_FINE, speaksToUser } from "./failure.js";
import { checkCommand, repairCommand } from "./offline/check.js";
import { restoreCommand } from "./offline/restore.js";
import { rotateSecretsCommand } from "./offline/rotate-secrets.js";
import { tokenCommand } from "./offline/token.js";
import { VERSION } from "./version.js";

const EXAMPLES = `
Examples:
  skein serve --data-dir ./data
  skein import products.jsonl.gz --index products
  skein search products trail shoes --filter "price:<100" --facets brand
  skein sources add products https://shop.example/feed.xml --format brandx_merchant --schedule hourly
  skein analytics top products --days 30
  skein coach analyze products
  skein keys create web --scopes search
  skein token --filter "shop:=7" --expires 24h
  skein backup --to /mnt/backup/today
  skein check --data-dir ./data

Every command has --help. Exit code: 0 success, 1 some documents rejected or damage found, 2 failure.`;

/** Runs one command line and returns its exit code: 0, 1 or 2. Never throws. */
async function run(args: readonly string[]): Promise<number> {
  let exitCode = EXIT_FINE;
  const setExit = (code: number) => {
    exitCode = code;
  };
  const program = withGlobalOptions(new Command("skein"))
    .description("Skein search service: run a server, load documents and search them")
    .version(VERSION, "-V, --version")
    .addHelpText("after", EXAMPLES);
  for (const command of [
    serveCommand(setExit),
    importCommand(setExit),
    searchCommand(),
    similarCommand(),
    indexesCommand(),
    rulesCommand(),
    synonymsCommand(setExit),
    sourcesCommand(setExit),
    analyticsCommand(),
    coachCommand(),
    keysCommand(),
    auditCommand(),
    backupCommand(),
    restoreCommand(),
    tokenCommand(),
    checkCommand(setExit),
    repairCommand(setExit),
    rotateSecretsCommand(),
  ]) {
    program.addCommand(command);
  }
  program.hook("preAction", (top, command) => {
    for (const [name, value] of Object.entries(top.opts())) {
      if (command.getOptionValue(name) === undefined) command.setOptionValue(name, value);
    }
  });
  prepare(program);
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_FINE : EXIT_FAILED;
    process.stderr.write(`skein: ${messageOf(error)}\n`);
    if (!speaksToUser(error) && process.env.SKEIN_DEBUG !== undefined && error instanceof Error) {
      process.stderr.write(`${new SourcePositions().shownIn(String(error.stack))}\n`);
    }
    return EXIT_FAILED;
  }
}

/**
 * Makes usage errors throw instead of ending the process, so that they are printed like every other error.
 */
function prepare(command: Command): void {
  command.exitOverride();
  command.showSuggestionAfterError(true);
  if (command.commands.length > 0) command.addHelpText("before", () => refuseUnknown(command));
  command.configureOutput({
    outputError: (text, write) => write(`skein: ${inOurVoice(text)}\n`),
  });
  for (const sub of command.commands) prepare(sub);
}

/**
 * Rewrites a commander usage error as a single sentence on one line, like all other errors. Leaves the user's
 * input unchanged.
 */
function inOurVoice(text: string): string {
  return text
    .replace(/^error: /, "")
    .trimEnd()
    .replace(/\n/g, " ")
    .replace(/' is invalid\. Allowed (choices are .*)\.$/, "' is invalid; allowed $1")
    .replace(/' is invalid\. (?=it must )/, "' is invalid; ")
    .replace(/\. Expected (\d+ arguments? but got \d+)\.$/, "; expected $1");
}

/** Makes `skein nope --help` fail like `skein nope`: there is no such command to show help for. */
function refuseUnknown(command: Command): string {
  const name = command.args[0] === "help" ? command.args[1] : command.args[0];
  const known = command.commands.some((sub) => sub.name() === name || sub.aliases().includes(name ?? ""));
  if (name !== undefined && !name.startsWith("-") && !known) command.parse([name], { from: "user" });
  return "";
}

/** A reader may close the pipe early (`skein search ... | head`); that is not an error. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(EXIT_FINE);
  throw error;
});

/** Standard error may be a file on a full disk. Ignoring the error lets the command continue silently. */
process.stderr.on("error", () => undefined);

process.exitCode = await run(process.argv.slice(2));
