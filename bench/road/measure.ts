// Sends the same queries to each server in short alternating turns, because the machine's speed changes
// within minutes. The warm-up alternates too.

import { driveOver, type PreparedQuery } from "../load/drive.js";
import { prepare } from "../load/measure.js";
import type { DrawnQuery } from "../load/queries.js";
import { meter } from "../load/server-meter.js";
import { median } from "../median.js";
import type { Contender } from "./contenders.js";
import { threadsMeter } from "./threads-meter.js";

/** Each turn starts this many queries after the previous turn's start. */
const QUERIES_A_TURN = 97;

export interface TurnOptions {
  readonly turns: number;
  readonly seconds: number;
  /** Seconds of uncounted warm-up turns per server. */
  readonly warmSeconds: number;
}

/** Cost on one server; means per query unless stated otherwise. */
export interface RoadCost {
  readonly name: string;
  readonly queries: number;
  readonly perCpuSecond: number;
  /** Latency percentiles in milliseconds; medians over the turns. */
  readonly p50: number;
  readonly p99: number;
  /** CPU microseconds of the HTTP thread, of the busiest other thread, and of all remaining threads. */
  readonly cpuUs: readonly [number, number, number];
  readonly messages: number;
  readonly wakeUps: number;
  readonly allocatedBytes: number;
  readonly remembered: number;
}

/** Queries of one kind, sent to one index. */
export interface RoadSet {
  readonly name: string;
  readonly documents: number;
  readonly kind: string;
  readonly measured: readonly RoadCost[];
}

interface Turn {
  readonly queries: number;
  readonly p50: number;
  readonly p99: number;
  readonly cpuMs: readonly number[];
  readonly wakeUps: number;
  readonly messages: number;
  readonly allocatedBytes: number;
  readonly remembered: number;
}

export async function measureInTurns(
  contenders: readonly Contender[],
  drawn: readonly DrawnQuery[],
  { turns, seconds, warmSeconds }: TurnOptions,
): Promise<RoadCost[]> {
  const loads = contenders.map((contender) => prepare(contender, drawn));
  const taken: Turn[][] = contenders.map(() => []);
  for (let turn = -Math.ceil(warmSeconds / seconds); turn < turns; turn++) {
    for (let step = 0; step < contenders.length; step++) {
      const i = (Math.abs(turn) + step) % contenders.length;
      const one = await takeTurn(contenders[i]!, loads[i]!, seconds, Math.abs(turn));
      if (turn >= 0) taken[i]!.push(one);
      for (const { clients } of contenders) await clients.keepOpen();
    }
  }
  return contenders.map(({ name }, i) => costOf(name, taken[i]!));
}

async function takeTurn(
  { client, server, allocation, clients, loaded }: Contender,
  load: readonly PreparedQuery[],
  seconds: number,
  turn: number,
): Promise<Turn> {
  const connections = clients.at(loaded, turn);
  const from = turn * QUERIES_A_TURN;
  // Refills the caches that the other servers' turns evicted.
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

function costOf(name: string, turns: readonly Turn[]): RoadCost {
  const sum = (of: (turn: Turn) => number): number => turns.reduce((all, turn) => all + of(turn), 0);
  const queries = sum((turn) => turn.queries);
  const others = ({ cpuMs }: Turn): number => cpuMs.slice(2).reduce((all, one) => all + one, 0);
  const us = (of: (turn: Turn) => number): number => (sum(of) * 1000) / queries;
  const cpu = (turn: Turn): number => turn.cpuMs.reduce((all, one) => all + one, 0);
  return {
    name,
    queries,
    perCpuSecond: (queries * 1000) / sum(cpu),
    p50: median(turns.map(({ p50 }) => p50)),
    p99: median(turns.map(({ p99 }) => p99)),
    cpuUs: [us(({ cpuMs }) => cpuMs[0]!), us(({ cpuMs }) => cpuMs[1]!), us(others)],
    messages: sum(({ messages }) => messages) / queries,
    wakeUps: sum(({ wakeUps }) => wakeUps) / queries,
    allocatedBytes: sum(({ allocatedBytes }) => allocatedBytes) / queries,
    remembered: sum(({ remembered, queries: own }) => remembered * own) / queries,
  };
}
