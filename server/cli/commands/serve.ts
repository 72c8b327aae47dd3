// `skein serve` runs the server until a signal stops it. This file defines the command's flags;
// server/operate/config/config.ts interprets flags and environment variables.

import { constants } from "node:os";
import { isatty } from "node:tty";
import { Command } from "commander";
import { collectWhenIdle } from "../../../engine-wasm/host/runtime/discards.js";
import { makePrivateFiles } from "../../ground/data-dir/private-files.js";
import { limitHeapsByThread } from "../../ground/heap-limits.js";
import { loadConfig } from "../../operate/config/config.js";
import { CONFIG_OPTIONS } from "../../operate/config/options.js";
import { ConfigError } from "../../operate/config/values.js";
import { keepCompiledCode } from "../compiled-code.js";
import { CliError, EXIT_FAILED } from "../failure.js";
import { growHeaps } from "../heap-growth.js";
import { ensureLeanProcess } from "../lean-process.js";

const STANDARD_INPUT = 0;
/** A process that a signal has ended appears to have this exit code plus the number of the signal. */
const SIGNALLED = 128;
const EXAMPLES = `
Defaults are in parentheses. Each flag can also be set by the environment variable in brackets. Everything else
(plans, limits, CORS) is set in skein.config.json.

Examples:
  skein serve
  skein serve --host 0.0.0.0 --port 8800 --data-dir /var/lib/skein --log-level warn

SIGTERM and Ctrl-C stop the server gracefully: it answers running requests, then closes its storage, and exits with 0
if all of that worked. A second signal ends it at once. SIGHUP reloads the configuration file and the certificate.`;

/** Time (ms) within which the process of a stopped server should have ended. */
const END_MS_MAX = 3_000;

export function serveCommand(setExit: (code: number) => void): Command {
  const command = new Command("serve").description("run the server");
  for (const option of CONFIG_OPTIONS) {
    command.option(`${flagName(option.name)} ${option.argument}`, `${option.description} [${option.env}]`);
  }
  return command
    .option("--config <file>", "configuration file (./skein.config.json) [SKEIN_CONFIG]")
    .addHelpText("after", EXAMPLES)
    .action(async (options: Readonly<Record<string, string | undefined>>) => {
      const flags: Record<string, string | undefined> = { config: options.config };
      for (const { name } of CONFIG_OPTIONS) flags[name] = options[camelCase(name)];
      if (!(await serve(flags))) setExit(EXIT_FAILED);
    });
}

/** Returns once a signal has stopped the server: true if it stopped in good order. */
async function serve(flags: Readonly<Record<string, string | undefined>>): Promise<boolean> {
  ensureLeanProcess();
  growHeaps();
  limitHeapsByThread();
  keepCompiledCode();
  // Imported here so that other commands do not load a server.
  const { startServer } = await import("../../start/main.js");
  makePrivateFiles();
  try {
    const starting = startServer(loadConfig(flags));
    onReloadSignal(() => {
      // If a reload signal arrives while the server is starting, reload right after the start. A failed start
      // is reported below.
      void starting.then(
        (server) => server.reload(() => loadConfig(flags)),
        () => undefined,
      );
    });
    const server = await starting;
    collectWhenIdle();
    await stopSignal();
    return await server.stop();
  } catch (error) {
    if (error instanceof ConfigError) throw new CliError(error.message);
    throw error;
  } finally {
    endForCertain();
  }
}

/**
 * Calls `reload` at each SIGHUP. If the server was started in a terminal that has since closed, the signal
 * ends the process instead, as it does by default.
 */
function onReloadSignal(reload: () => void): void {
  const inTerminal = isatty(STANDARD_INPUT);
  process.on("SIGHUP", function onSignal() {
    if (!inTerminal || isatty(STANDARD_INPUT)) return reload();
    process.off("SIGHUP", onSignal);
    process.kill(process.pid, "SIGHUP");
  });
}

/** Kills the process if something keeps it from ending, such as a thread that waits for a dead disk. */
function endForCertain(): void {
  const kill = (): void => {
    const held = process.getActiveResourcesInfo().join(", ");
    process.stderr.write(`skein: the server's process does not end (${held}); killing it\n`);
    dieOf("SIGKILL");
  };
  setTimeout(kill, END_MS_MAX).unref();
}

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process immediately. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked) dieOf(signal);
      asked = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
  });
}

/**
 * Ends the process as the signal does by default: at once, whereas `process.exit` waits for threads and, with
 * front-ends, may crash. Only a process that is the first of its container cannot end itself in this way.
 */
function dieOf(signal: NodeJS.Signals): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(SIGNALLED + constants.signals[signal]);
}

function flagName(name: string): string {
  return `--${name.replaceAll("_", "-")}`;
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
