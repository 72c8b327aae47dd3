// The quiet tenant's client, which sends plain queries at a modest pace. It also measures its own event
// loop's delay, to tell its own delays from the server's.

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Connection } from "../load/connection.js";

export interface QuietRound {
  /** Milliseconds from sending each query to its answer. */
  readonly times: readonly number[];
  /** Number of responses that are not 200. */
  readonly failed: number;
  /** How late this process's timers fire: 99th percentile, in milliseconds. */
  readonly loopDelayMs: number;
  readonly cpuSeconds: number;
  readonly seconds: number;
}

const RESOLUTION_MS = 1;

/**
 * Sends queries for `seconds`, starting with query number `from`, one at a time and at most `perSecond` per
 * second.
 */
export async function quietRound(
  connection: Connection,
  queries: readonly Buffer[],
  from: number,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<QuietRound> {
  const times: number[] = [];
  let failed = 0;
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const cpu = process.cpuUsage();
  const started = performance.now();
  const end = started + seconds * 1000;
  for (let i = from; performance.now() < end; i++) {
    const sent = performance.now();
    const { status } = await connection.ask(queries[i % queries.length]!);
    const answered = performance.now();
    times.push(answered - sent);
    if (status !== 200) failed++;
    const wait = sent + 1000 / perSecond - answered;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
  }
  delay.disable();
  const used = process.cpuUsage(cpu);
  return {
    times,
    failed,
    loopDelayMs: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
    cpuSeconds: (used.user + used.system) / 1e6,
    seconds: (performance.now() - started) / 1000,
  };
}
