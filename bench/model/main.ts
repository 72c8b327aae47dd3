// `npm run bench:model` uses the queueing model to predict how a server performs on machines of other sizes.
// The options give a query's CPU times, as measured by `bench:road`: at its front-end (a fixed part and a
// part per shard), at each shard regardless of the shard's size, in all engines together (divided among the
// shards), and on helper threads.

import { Command } from "commander";
import { Random } from "../random.js";
import { capacity, type Machine, simulate } from "./simulate.js";

interface Options {
  readonly machines: string;
  readonly frontEnd: string;
  readonly merge: string;
  readonly shard: string;
  readonly engine: string;
  readonly beside: string;
  readonly queries: string;
}

const SHARES = [0.3, 0.7];

const program = new Command("bench:model")
  .description("predicts queries per second and latencies for machines of other sizes")
  .option("--machines <list>", "cores:front-ends:shards of each machine", "2:1:2,4:2:4,16:8:16,64:32:64")
  .requiredOption("--front-end <us>", "CPU microseconds per query at its front-end")
  .option("--merge <us>", "CPU microseconds at its front-end for each shard", "0")
  .option("--shard <us>", "CPU microseconds at each shard, whatever its size", "0")
  .option("--engine <us>", "CPU microseconds in the engines of all shards together", "0")
  .option("--beside <us>", "CPU microseconds of background threads", "0")
  .option("--queries <n>", "simulated queries per row", "200000");
program.parse();
const options = program.opts<Options>();
const us = (text: string): number => Number(text) * 1e-6;

const lines = [
  `| cores | front-ends | shards | at most, queries a second | limited by | ${SHARES.map((share) => `p50, p99 ms at ${share * 100} %`).join(" | ")} |`,
  `| --- | --- | --- | --- | --- | ${SHARES.map(() => "---").join(" | ")} |`,
  ...options.machines.split(",").map(rowOf),
];
process.stdout.write(`${lines.join("\n")}\n`);

function rowOf(text: string): string {
  const [cores, frontEnds, shards] = text.split(":").map(Number);
  const machine: Machine = { cores: cores!, frontEnds: frontEnds!, shards: shards! };
  const costs = {
    frontEnd: us(options.frontEnd) + us(options.merge) * machine.shards,
    shard: us(options.shard) + us(options.engine) / machine.shards,
    beside: us(options.beside),
  };
  const { perSecond, limit } = capacity(machine, costs);
  const latencies = SHARES.map((share) => {
    const random = new Random(1);
    const { p50, p99 } = simulate(machine, costs, share * perSecond, Number(options.queries), random);
    return `${(p50 * 1e3).toFixed(2)}, ${(p99 * 1e3).toFixed(2)}`;
  });
  return `| ${[cores, frontEnds, shards, Math.round(perSecond).toLocaleString("en"), limit, ...latencies].join(" | ")} |`;
}
