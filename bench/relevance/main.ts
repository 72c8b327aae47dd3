// How good is the ranking? Starts the built server on a temporary directory and asks it what people have judged,
// or what people misspell. `npm run relevance -- --help` shows the options.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { ApiClient } from "../../server/cli/api.js";
import { ServerProcess } from "../load/server-process.js";
import { machineCard } from "../machine.js";
import { runJudged } from "./judged-run.js";
import { JUDGED_SETS } from "./judged-sets.js";
import { runMisspellings } from "./misspelling-run.js";
import { MODES, type Mode } from "./ranked-index.js";
import {
  type Conditions,
  judgedMarkdown,
  misspellingMarkdown,
  modesMarkdown,
  writeJson,
  writeReport,
} from "./report.js";

interface Options {
  readonly data: string;
  readonly set?: string;
  readonly misspellings?: boolean;
  readonly modes: string;
  readonly language: string;
  readonly settings: string;
  readonly seed: string;
  readonly json?: string;
  readonly server: string;
  readonly out: string;
}

const ADMIN_KEY = "bench-admin-key-0123456789";

const program = new Command("relevance")
  .description("measure the ranking on judged queries, or on misspelt words")
  .option("--data <folder>", "the public data (its README says what is in it)", "../shared/data")
  .option("--set <list>", "only these judged sets, for instance cranfield,cisi; nothing is kept in --out")
  .option(
    "--modes <list>",
    `search modes to compare, of ${MODES.join(", ")}; the first one is the baseline`,
    "keyword",
  )
  .option("--misspellings", "misspelt words instead of judged queries")
  .option("--language <code>", "the judged indexes' language, or none", "en")
  .option("--settings <json>", "further index settings", '{"drop_tokens_threshold":100}')
  .option("--seed <n>", "seed of the typing errors and of the order of the words", "1")
  .option("--json <file>", "also write the results here")
  .option("--server <file>", "the compiled command line to start", "dist/server/cli/main.js")
  .option("--out <folder>", "where results go", "bench/results")
  .action(run);
await program.parseAsync();

async function run(options: Options): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "skein-relevance-"));
  const server = await ServerProcess.start({
    main: options.server,
    dataDir,
    adminKey: ADMIN_KEY,
    shards: null,
    durability: "os",
  });
  const client = new ApiClient(server.url.href, ADMIN_KEY);
  try {
    await (options.misspellings === true ? misspellings : judged)(client, options);
  } finally {
    client.close();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function judged(client: ApiClient, options: Options): Promise<void> {
  const names = options.set?.split(",") ?? JUDGED_SETS.map(({ name }) => name);
  const sets = names.map((name) => {
    const set = JUDGED_SETS.find((known) => known.name === name);
    return set ?? program.error(`--set: no judged set "${name}"`);
  });
  const conditions = conditionsOf(options, options.language === "none" ? {} : { language: options.language });
  const modes = modesOf(options.modes);
  const results = [];
  for (const set of sets)
    results.push(await runJudged(client, options.data, set, conditions.settings, conditions.seed, modes));
  const markdown = judgedMarkdown(conditions, results) + modesMarkdown(results);
  if (options.set === undefined) writeReport(options.out, "relevance", conditions, results, markdown);
  if (options.json !== undefined) writeJson(options.json, conditions, results);
  process.stdout.write(markdown);
}

function modesOf(list: string): [Mode, ...Mode[]] {
  const [first, ...others] = list.split(",").map((name) => {
    const mode = MODES.find((known) => known === name);
    return mode ?? program.error(`--modes: no mode "${name}"`);
  });
  return [first!, ...others];
}

async function misspellings(client: ApiClient, options: Options): Promise<void> {
  const conditions = conditionsOf(options, {});
  const result = await runMisspellings(client, options.data, conditions.settings, conditions.seed);
  const markdown = misspellingMarkdown(conditions, result);
  writeReport(options.out, "misspellings", conditions, result, markdown);
  if (options.json !== undefined) writeJson(options.json, conditions, result);
  process.stdout.write(markdown);
}

function conditionsOf(options: Options, settings: Record<string, unknown>): Conditions {
  return {
    machine: machineCard(`npm run relevance -- ${process.argv.slice(2).join(" ")}`.trim()),
    settings: { ...settings, ...(JSON.parse(options.settings) as Record<string, unknown>) },
    seed: Number(options.seed),
  };
}
