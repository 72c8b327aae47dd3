// Measures ranking quality. Starts the built server on a temporary directory and runs judged queries or
// misspelt words against it. `npm run relevance -- --help` shows the options.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { machineCard } from "../machine.js";
import { comparisonMarkdown, readWritten } from "./against.js";
import { type JudgedResult, runJudged } from "./judged-run.js";
import { JUDGED_SETS, type JudgedSet } from "./judged-sets.js";
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
import { type Serve, withServer } from "./with-server.js";

interface Options {
  readonly data: string;
  readonly set?: readonly string[];
  readonly misspellings?: boolean;
  readonly modes: readonly [Mode, ...Mode[]];
  readonly language: string;
  readonly settings: string;
  readonly seed: string;
  readonly json?: string;
  readonly against?: string;
  readonly server: string;
  readonly out: string;
}

const SET_NAMES = JUDGED_SETS.map(({ name }) => name);

await new Command("relevance")
  .description("measure the ranking on judged queries, or on misspelt words")
  .option("--data <folder>", "the public data (its README says what is in it)", "../shared/data")
  .option(
    "--set <list>",
    "only these judged sets, for instance cranfield,cisi; nothing is written to --out",
    listOf(SET_NAMES),
  )
  .option(
    "--modes <list>",
    `search modes to compare, from ${MODES.join(", ")}; the first is the baseline`,
    listOf(MODES),
    ["keyword"],
  )
  .option("--misspellings", "misspelt words instead of judged queries")
  .option("--language <code>", "the judged indexes' language, or none", "en")
  .option("--settings <json>", "further index settings", '{"drop_tokens_threshold":100}')
  .option("--seed <n>", "seed for the query variants, the word order and the significance tests", "1")
  .option("--json <file>", "also write the results here")
  .option("--against <file>", "compare judged queries with an earlier run's --json file")
  .option("--server <file>", "the compiled command line to start", "dist/server/cli/main.js")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run)
  .parseAsync();

async function run(options: Options): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), "skein-relevance-"));
  const serve: Serve = (work) => withServer(options.server, dataDir, work);
  try {
    if (options.misspellings === true) await misspellings(serve, options);
    else await judged(serve, options);
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function judged(serve: Serve, options: Options): Promise<void> {
  const { data, modes, against } = options;
  const conditions = judgedConditions(options);
  const { settings, seed } = conditions;
  const earlier = against === undefined ? null : readWritten(against, seed);
  const results = await serve(async (client) => {
    const measured: JudgedResult[] = [];
    for (const set of setsOf(options))
      measured.push(await runJudged(client, data, set, settings, seed, modes));
    return measured;
  });
  const markdown = judgedMarkdown(conditions, results) + modesMarkdown(results);
  keep(options, "relevance", options.set === undefined, conditions, results, markdown);
  if (earlier !== null) process.stdout.write(comparisonMarkdown(earlier, results, conditions));
}

async function misspellings(serve: Serve, options: Options): Promise<void> {
  const conditions = conditionsOf(options, {});
  const { settings, seed } = conditions;
  const result = await serve((client) => runMisspellings(client, options.data, settings, seed));
  keep(options, "misspellings", true, conditions, result, misspellingMarkdown(conditions, result));
}

/**
 * Prints the results and writes them to the files named by the options. A partial run (--set) does not
 * overwrite the full report.
 */
function keep(
  { out, json }: Options,
  name: string,
  whole: boolean,
  conditions: Conditions,
  results: unknown,
  markdown: string,
): void {
  if (whole) writeReport(out, name, conditions, results, markdown);
  if (json !== undefined) writeJson(json, conditions, results);
  process.stdout.write(markdown);
}

/** Returns a parser for an option whose value is a comma-separated list of known names. */
function listOf<T extends string>(known: readonly T[]): (list: string) => T[] {
  return (list) =>
    list.split(",").map((name) => {
      const found = known.find((one) => one === name);
      if (found === undefined) throw new InvalidArgumentError(`"${name}" is not one of ${known.join(", ")}.`);
      return found;
    });
}

function setsOf({ set }: Options): JudgedSet[] {
  return JUDGED_SETS.filter(({ name }) => set === undefined || set.includes(name));
}

function judgedConditions(options: Options): Conditions {
  return conditionsOf(options, options.language === "none" ? {} : { language: options.language });
}

function conditionsOf(options: Options, settings: Record<string, unknown>): Conditions {
  return {
    machine: machineCard(command()),
    settings: { ...settings, ...(JSON.parse(options.settings) as Record<string, unknown>) },
    seed: Number(options.seed),
  };
}

/** The command line for repeating this run. */
function command(): string {
  return `npm run relevance -- ${process.argv.slice(2).join(" ")}`.trim();
}
