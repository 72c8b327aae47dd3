// `npm run bench:semantic` measures the cost of vectors, in the kernels alone for each number of rows, and in
// a whole server for each number of documents. On the server it measures imports, queries in each mode,
// keyword queries with and without vectors, and memory. Prints the results and writes them to bench/results.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { Command } from "commander";
import type { Workload } from "../load/workload.js";
import { machineCard, machineText } from "../machine.js";
import { comparisons, models, scans } from "./kernels.js";
import { served } from "./served.js";

interface Options {
  readonly rows: string;
  readonly stored: string;
  readonly trained: string;
  readonly served: string;
  readonly sources: string;
  readonly shards: string;
  readonly seconds: string;
  readonly out: string;
}

async function run(options: Options): Promise<void> {
  const milliseconds = Number(options.seconds) * 1000;
  const text = ["# Semantic search", ""];
  const section = (title: string, lines: readonly string[]): void => {
    text.push(`## ${title}`, "", "| | |", "| --- | --- |", ...lines, "");
    process.stderr.write(`${lines.join("\n")}\n`);
  };
  const scanned: string[] = [];
  for (const rows of numbers(options.rows)) scanned.push(...(await scans(rows, milliseconds)));
  section("Scans of codes", scanned);
  for (const stored of numbers(options.stored))
    section("Comparisons", await inFolder((folder) => comparisons(folder, stored, milliseconds)));
  for (const trained of numbers(options.trained)) section("Models", await models(trained, milliseconds));
  for (const [name, data] of options.served.split(",").flatMap(dataOf))
    section(
      `A server with ${name}, ${options.shards} shards`,
      await inFolder((folder) =>
        served({
          folder,
          data,
          sources: options.sources.split(","),
          shards: Number(options.shards),
          seconds: Number(options.seconds),
        }),
      ),
    );
  report(text, options);
}

function numbers(list: string): number[] {
  return list
    .split(",")
    .map(Number)
    .filter((number) => number > 0);
}

/** Parses `served`: the number of products to generate, or the path of a document file. */
function dataOf(served: string): [name: string, data: Workload["data"]][] {
  const count = Number(served);
  if (Number.isNaN(count)) return [[`the documents of \`${basename(dirname(served))}\``, { file: served }]];
  return count > 0 ? [[`${count.toLocaleString("en-US")} products`, { generate: count, seed: 1 }]] : [];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "skein-semantic-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report([title, ...text]: readonly string[], options: Options): void {
  const card = machineCard(
    ["npm run bench:semantic --", ...process.argv.slice(2)].join(" ").replace(/ --$/, ""),
  );
  const markdown = [title, "", machineText(card), `\`${card.command}\``, ...text].join("\n");
  mkdirSync(options.out, { recursive: true });
  writeFileSync(join(options.out, "semantic.md"), markdown);
  process.stdout.write(markdown);
}

const program = new Command("bench:semantic")
  .description("what vectors cost: kernels alone, and a server with and without them")
  .option("--rows <list>", "numbers of rows to scan", "10000,100000,1000000")
  .option("--stored <n>", "stored vectors for the comparisons, 0 for none", "100000")
  .option("--trained <n>", "training documents, 0 for none", "20000")
  .option(
    "--served <list>",
    "documents in each server: a number of products or a document file; 0 for none",
    "10000,100000",
  )
  .option(
    "--sources <list>",
    "vector sources whose imports are measured: none and documents, and pushed",
    "none,documents,pushed",
  )
  .option("--shards <n>", "shards of the servers", "2")
  .option("--seconds <n>", "seconds per measurement", "4")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
await program.parseAsync();
