// `npm run bench` runs every benchmark in turn: kernels, the catalogue over HTTP with memory and restart, a
// document file if given, a query's cost outside the engine, shards and clients, feeds, analytics, semantic
// search. Each has its own process, so that none disturbs the next.

import { spawnSync } from "node:child_process";
import { Command } from "commander";
import { builtFile } from "../engine-wasm/host/runtime/built-files.js";

interface Options {
  readonly generated: string;
  readonly data?: string;
  readonly seconds: string;
  readonly shards: string;
  readonly rounds: string;
  readonly indexes: string;
  readonly out: string;
}

const program = new Command("bench")
  .description("every benchmark in one run; results go to bench/results")
  .option("--generated <n>", "products of the generated catalogue", "1000000")
  .option("--data <file>", "your own documents, measured as well")
  .option("--seconds <n>", "seconds per load", "10")
  .option("--shards <n>", "shards of the measured server (bench:scale has its own list)", "2")
  .option("--rounds <n>", "rounds of creating, filling and dropping an index", "100")
  .option("--indexes <n>", "number of small indexes side by side", "2000")
  .option("--out <folder>", "folder for the results", "bench/results")
  .action(run);
program.parse();

function run({ generated, data, seconds, shards, rounds, indexes, out }: Options): void {
  const common = ["--out", out];
  const http = ["--seconds", seconds, "--shards", shards, ...common];
  step("run.js", common);
  step("http.js", ["--generated", generated, "--rounds", rounds, "--indexes", indexes, ...http]);
  if (data !== undefined) step("http.js", ["--workload", "catalogue", "--data", data, ...http]);
  step("road/main.js", common);
  if (data !== undefined) step("road/main.js", ["--data", data, "--name", "road-data", ...common]);
  step("scale.js", common);
  step("feeds.js", common);
  step("analytics/main.js", common);
  step("semantic/main.js", ["--seconds", seconds, "--shards", shards, ...common]);
}

/**
 * A failed step does not stop the run: the other figures are still useful, and the exit code reports the
 * failure.
 */
function step(program: string, args: readonly string[]): void {
  process.stdout.write(`\n$ node dist/bench/${program} ${args.join(" ")}\n`);
  const file = builtFile(`bench/${program}`);
  const { status } = spawnSync(process.execPath, [file, ...args], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}
