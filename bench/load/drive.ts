// Runs a load as a closed loop, in which each of n connections sends its next query once the previous one has
// been answered. Records every latency.

import { Connection } from "./connection.js";

export interface PreparedQuery {
  readonly kind: string;
  readonly request: Buffer;
}

export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

export interface LoadResult {
  readonly concurrency: number;
  readonly seconds: number;
  readonly queries: number;
  readonly perSecond: number;
  readonly failed: number;
  readonly bytesPerAnswer: number;
  /** In milliseconds. */
  readonly latency: Latencies;
  readonly byKind: Readonly<Record<string, Latencies>>;
}

/** Opens its own connections; see `driveOver`. */
export async function drive(
  url: URL,
  queries: readonly PreparedQuery[],
  concurrency: number,
  seconds: number,
  from = 0,
): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: concurrency }, () => Connection.open(url.hostname, Number(url.port))),
  );
  try {
    return await driveOver(connections, queries, seconds, from);
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** Runs for `seconds`, cycling through the queries, starting at query number `from`. */
export async function driveOver(
  connections: readonly Connection[],
  queries: readonly PreparedQuery[],
  seconds: number,
  from = 0,
): Promise<LoadResult> {
  const all: number[] = [];
  const byKind = new Map<string, number[]>();
  let next = from;
  let failed = 0;
  let bytes = 0;
  const started = performance.now();
  const end = started + seconds * 1000;
  const loop = async (connection: Connection) => {
    for (let now = performance.now(); now < end; ) {
      const query = queries[next++ % queries.length]!;
      const answer = await connection.ask(query.request);
      const done = performance.now();
      if (answer.status !== 200) failed++;
      bytes += answer.bodyBytes;
      all.push(done - now);
      const ofKind = byKind.get(query.kind);
      if (ofKind === undefined) byKind.set(query.kind, [done - now]);
      else ofKind.push(done - now);
      now = done;
    }
  };
  await Promise.all(connections.map(loop));
  const took = (performance.now() - started) / 1000;
  return {
    concurrency: connections.length,
    seconds: took,
    queries: all.length,
    perSecond: all.length / took,
    failed,
    bytesPerAnswer: bytes / Math.max(1, all.length),
    latency: summarise(all),
    byKind: Object.fromEntries([...byKind].map(([kind, times]) => [kind, summarise(times)])),
  };
}

/** Computes nearest-rank percentiles. */
export function summarise(times: readonly number[]): Latencies {
  const sorted = Float64Array.from(times).sort();
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { count: sorted.length, p50: rank(0.5), p95: rank(0.95), p99: rank(0.99), max: rank(1) };
}
