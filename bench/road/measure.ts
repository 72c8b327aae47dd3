// Sends the same queries to each server in short alternating trials, because the machine's speed changes
// within minutes. The warm-up alternates too.

import { driveOver, type PreparedQuery } from "../load/drive.js";
import { prepare } from "../load/measure.js";
import type { DrawnQuery } from "../load/queries.js";
import { meter } from "../load/server-meter.js";
import { median } from "../median.js";
import type { Contender } from "./contenders.js";
import { threadsMeter } from "./threads-meter.js";

/** Each round begins this many queries further on in the list than the previous round did. */
const QUERIES_A_ROUND = 97;

export interface TrialOptions {
  /** Each server runs one trial per round. */
  readonly rounds: number;
  /** Duration of a trial. */
  readonly seconds: number;
  /** Seconds of uncounted warm-up trials per server. */
  readonly warmSeconds: number;
}

/** Cost on one server; means per query unless stated otherwise. */
export interface RoadCost {
  readonly name: string;
  readonly queries: number;
  readonly perCpuSecond: number;
  /** Latency percentiles in milliseconds; medians over the trials. */
  readonly p50: number;
  readonly p99: number;
  /** CPU microseconds of the main thread, of the busiest other thread, and of all remaining threads. */
  readonly cpuUs: readonly [number, number, number];
  readonly messages: number;
  readonly wakeUps: number;
  readonly allocatedBytes: number;
  /** Promises of the main thread. */
  readonly promises: number;
  readonly remembered: number;
}

/** Queries of one kind, sent to one index. */
export interface RoadSet {
  readonly name: string;
  readonly documents: number;
  readonly kind: string;
  readonly measured: readonly RoadCost[];
}

interface Trial {
  readonly queries: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: readonly number[];
  readonly wakeUps: number;
  readonly messages: number;
  readonly allocatedBytes: number;
  readonly remembered: number;
}

export async function measureInterleaved(
  contenders: readonly Contender[],
  drawn: readonly DrawnQuery[],
  { rounds, seconds, warmSeconds }: TrialOptions,
): Promise<RoadCost[]> {
  const loads = contenders.map((contender) => prepare(contender, drawn));
  const trials: Trial[][] = contenders.map(() => []);
  for (let round = -Math.ceil(warmSeconds / seconds); round < rounds; round++) {
    for (let step = 0; step < contenders.length; step++) {
      const i = (Math.abs(round) + step) % contenders.length;
      const one = await runTrial(contenders[i]!, loads[i]!, seconds, Math.abs(round));
      if (round >= 0) trials[i]!.push(one);
      for (const { clients } of contenders) await clients.keepOpen();
    }
  }
  const costs: RoadCost[] = [];
  for (const [i, contender] of contenders.entries()) {
    const promises = await promisesOf(contender, loads[i]!, seconds);
    costs.push({ ...costOf(contender.name, trials[i]!), promises });
  }
  return costs;
}

/** Mean number of promises that the main thread makes for a query. */
async function promisesOf(
  { server, promises, clients, loaded }: Contender,
  load: readonly PreparedQuery[],
  seconds: number,
): Promise<number> {
  let sent = 0;
  const made = await promises.during(server.pid, async () => {
    sent = (await driveOver(clients.at(loaded, 0), load, seconds, 0)).queries;
  });
  return made / sent;
}

async function runTrial(
  { client, server, allocation, clients, loaded }: Contender,
  load: readonly PreparedQuery[],
  seconds: number,
  round: number,
): Promise<Trial> {
  const connections = clients.at(loaded, round);
  const from = round * QUERIES_A_ROUND;
  // Refills the caches that the other servers' trials evicted.
  await driveOver(connections, load, seconds / 4, from);
  const stopThreads = threadsMeter(server.pid);
  const stop = await meter(client, server);
  const allocated = allocation.bytes;
  const { latency, failed, queries } = await driveOver(connections, load, seconds, from);
  if (failed > 0) throw new Error(`${failed} searches failed`);
  const { cpuMs, wakeUps } = stopThreads();
  const { messagesPerQuery, remembered } = await stop();
  return {
    queries,
    p50: latency.p50,
    p99: latency.p99,
    cpuMs,
    wakeUps,
    messages: messagesPerQuery * queries,
    allocatedBytes: allocation.bytes - allocated,
    remembered,
  };
}

function costOf(name: string, trials: readonly Trial[]): Omit<RoadCost, "promises"> {
  const sum = (of: (trial: Trial) => number): number => trials.reduce((all, trial) => all + of(trial), 0);
  const queries = sum((trial) => trial.queries);
  const others = ({ cpuMs }: Trial): number => cpuMs.slice(2).reduce((all, one) => all + one, 0);
  const us = (of: (trial: Trial) => number): number => (sum(of) * 1000) / queries;
  const cpu = (trial: Trial): number => trial.cpuMs.reduce((all, one) => all + one, 0);
  return {
    name,
    queries,
    perCpuSecond: (queries * 1000) / sum(cpu),
    p50: median(trials.map(({ p50 }) => p50)),
    p99: median(trials.map(({ p99 }) => p99)),
    cpuUs: [us(({ cpuMs }) => cpuMs[0]!), us(({ cpuMs }) => cpuMs[1]!), us(others)],
    messages: sum(({ messages }) => messages) / queries,
    wakeUps: sum(({ wakeUps }) => wakeUps) / queries,
    allocatedBytes: sum(({ allocatedBytes }) => allocatedBytes) / queries,
    remembered: sum(({ remembered, queries: own }) => remembered * own) / queries,
  };
}
