// Sends keyword queries to servers with copies of one index, so that all have the same segments. The first
// server has vectors, the other two have none. The servers run short alternating trials. The difference
// between the two servers without vectors shows the measurement noise.

import { FEW_RESULTS } from "../../server/search/matching/plan.js";
import { drive, type PreparedQuery } from "../load/drive.js";
import { foundCounts, prepare } from "../load/measure.js";
import type { DrawnQuery } from "../load/queries.js";
import { type Running, stop } from "./running.js";

/**
 * Number of sittings. Each sitting starts new processes, because the same code and queries run several
 * percent faster or slower from one process to another, depending on V8's optimisations.
 */
const SITTINGS = 6;
const WARM_ROUNDS = 20;
const ROUNDS_A_SITTING = 25;
/**
 * Duration of a trial. A server that is idle for two seconds collects garbage, and V8 then recompiles some
 * code. So the warm-up also alternates: warming up the servers one after another would favour the last one
 * by about 10%.
 */
const TRIAL_SECONDS = 0.25;
const CLIENTS = 4;
/** Each round begins this many queries further on in the list than the previous round did. */
const QUERIES_A_ROUND = 97;

interface Spent {
  queries: number;
  cpuSeconds: number;
}

/**
 * Queries with too few matches are also measured separately, because the server adds a search by vector to
 * them.
 */
export async function keywordTrials(
  starts: readonly (() => Promise<Running>)[],
  index: string,
  drawn: readonly DrawnQuery[],
): Promise<string[]> {
  let sets: [name: string, queries: readonly DrawnQuery[]][] = [];
  const spent: Spent[][] = [];
  for (let sitting = 0; sitting < SITTINGS; sitting++) {
    const running = await Promise.all(starts.map((start) => start()));
    try {
      if (sitting === 0) sets = byFound(drawn, await foundCounts({ ...running[0]!, index }, drawn));
      for (const [i, [, queries]] of sets.entries()) {
        spent[i] ??= starts.map(() => ({ queries: 0, cpuSeconds: 0 }));
        const loads = running.map((target) => prepare({ ...target, index }, queries));
        await inSlices(running, loads, sitting * ROUNDS_A_SITTING, spent[i]);
      }
    } finally {
      for (const one of running) await stop(one);
    }
  }
  return sets.map(([name], i) => {
    const [withVectors, ...without] = spent[i]!.map(
      ({ queries, cpuSeconds }) => (cpuSeconds * 1e6) / queries,
    );
    const mean = without.reduce((sum, one) => sum + one, 0) / without.length;
    const each = without.map((one) => one.toFixed(0)).join(" and ");
    return `| keyword queries, ${name} | ${withVectors!.toFixed(0)} µs of CPU each with vectors, ${each} without: ${(withVectors! / mean).toFixed(3)} |`;
  });
}

function byFound(drawn: readonly DrawnQuery[], founds: readonly number[]): [string, readonly DrawnQuery[]][] {
  const few = drawn.filter((_, i) => founds[i]! < FEW_RESULTS);
  const enough = drawn.filter((_, i) => founds[i]! >= FEW_RESULTS);
  const percent = ({ length }: readonly unknown[]): string =>
    `${((100 * length) / drawn.length).toFixed(0)} %`;
  return [
    ["all", drawn],
    [`the ${percent(enough)} that find ${FEW_RESULTS} documents or more`, enough],
    [`the ${percent(few)} that find fewer`, few],
  ];
}

/**
 * Runs one sitting's trials of a set of queries and adds those after the warm-up rounds to the totals in
 * `spent`. All servers start a round at the same query, and a different server goes first in each round.
 */
async function inSlices(
  running: readonly Running[],
  loads: readonly (readonly PreparedQuery[])[],
  firstRound: number,
  spent: readonly Spent[],
): Promise<void> {
  const warmRound = firstRound + WARM_ROUNDS;
  for (let round = firstRound; round < warmRound + ROUNDS_A_SITTING; round++) {
    for (let step = 0; step < running.length; step++) {
      const i = (round + step) % running.length;
      const { server, url } = running[i]!;
      const before = server.cpuSeconds() ?? 0;
      const load = await drive(url, loads[i]!, CLIENTS, TRIAL_SECONDS, round * QUERIES_A_ROUND);
      if (load.failed > 0) throw new Error(`${load.failed} searches failed`);
      if (round < warmRound) continue;
      spent[i]!.queries += load.queries;
      spent[i]!.cpuSeconds += (server.cpuSeconds() ?? 0) - before;
    }
  }
}
