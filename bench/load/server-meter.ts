// Measures the resources that a server uses between two moments. Reads CPU seconds from /proc, and counters
// from the server's /metrics page (query phases, messages to shards, how busy its threads were).

import type { ApiClient } from "../../server/cli/api.js";
import type { ServerProcess } from "./server-process.js";

const PREFIX = "skein_";
const PHASE = "query_phase_duration_seconds";
const QUERIES = "query_duration_seconds_count";
const answers = (result: string): string => `cache_requests_total{cache="answer",result="${result}"}`;

export interface Usage {
  readonly seconds: number;
  readonly queries: number;
  /** User and system time of all threads; null on systems without /proc. */
  readonly cpuSeconds: number | null;
  /** Milliseconds per query, by phase. */
  readonly phases: Readonly<Record<string, number>>;
  /** Share of searches answered from the cache, without a message to any shard. */
  readonly remembered: number;
  /** Messages to all shards per query. */
  readonly messagesPerQuery: number;
  /** Share of the time that the HTTP thread was busy. */
  readonly httpBusy: number;
  /** Share of the time that each shard's thread was busy. */
  readonly shardsBusy: readonly number[];
  /** Share of the time that the HTTP thread spent on garbage collection. */
  readonly httpGarbage: number;
}

/** Values by metric name; a name includes its labels, as printed. */
export type MetricsPage = ReadonlyMap<string, number>;

/** Parses a page in Prometheus text format. Drops the prefix from Skein's own names. */
export function parseMetrics(text: string): MetricsPage {
  const page = new Map<string, number>();
  for (const line of text.split("\n")) {
    const space = line.lastIndexOf(" ");
    if (line.startsWith("#") || space < 0) continue;
    page.set(line.slice(line.startsWith(PREFIX) ? PREFIX.length : 0, space), Number(line.slice(space + 1)));
  }
  return page;
}

/** Sums all series of that name. */
export function total(page: MetricsPage, name: string): number {
  let sum = 0;
  for (const [key, value] of page) if (key === name || key.startsWith(`${name}{`)) sum += value;
  return sum;
}

/** Starts measuring. The returned function reports the usage since the start. */
export async function meter(client: ApiClient, server: ServerProcess | null): Promise<() => Promise<Usage>> {
  const before = await read(client, server);
  return async () => difference(before, await read(client, server));
}

interface Reading {
  readonly ms: number;
  readonly cpuSeconds: number | null;
  readonly page: MetricsPage;
}

async function read(client: ApiClient, server: ServerProcess | null): Promise<Reading> {
  const cpuSeconds = server?.cpuSeconds() ?? null;
  const page = parseMetrics((await client.bytes("GET", "/metrics")).toString("utf8"));
  return { ms: performance.now(), cpuSeconds, page };
}

function difference(before: Reading, after: Reading): Usage {
  const grown = (name: string): number => total(after.page, name) - total(before.page, name);
  const seconds = (after.ms - before.ms) / 1000;
  const queries = grown(QUERIES);
  const [hits, misses] = [grown(answers("hit")), grown(answers("miss"))];
  const phases: Record<string, number> = {};
  const shardsBusy: number[] = [];
  for (const [key, value] of after.page) {
    const phase = key.startsWith(`${PHASE}_sum`) ? /phase="(\w+)"/.exec(key)?.[1] : undefined;
    const since = value - (before.page.get(key) ?? 0);
    if (phase !== undefined) phases[phase] = (since / Math.max(1, queries)) * 1000;
    if (key.startsWith("shard_active_seconds_total{")) shardsBusy.push(since / seconds);
  }
  return {
    seconds,
    queries,
    cpuSeconds:
      before.cpuSeconds === null || after.cpuSeconds === null ? null : after.cpuSeconds - before.cpuSeconds,
    phases,
    remembered: hits / Math.max(1, hits + misses),
    messagesPerQuery: grown("shard_requests_total") / Math.max(1, queries),
    httpBusy: grown("http_thread_active_seconds_total") / seconds,
    shardsBusy,
    httpGarbage: grown("nodejs_gc_duration_seconds_sum") / seconds,
  };
}
