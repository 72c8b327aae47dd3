// Measures query loads on a running server: first each kind of query alone with one client, then the mix with
// the workload's client counts. Also records the server's CPU time and query phases.

import type { ApiClient } from "../../server/cli/api.js";
import { median } from "../median.js";
import { requestBytes } from "./connection.js";
import { drive, type LoadResult, type PreparedQuery } from "./drive.js";
import type { DrawnQuery } from "./queries.js";
import { meter, type Usage } from "./server-meter.js";
import type { ServerProcess } from "./server-process.js";
import type { Workload } from "./workload.js";

/** The server and index that receive the queries. */
export interface Target {
  readonly client: ApiClient;
  readonly url: URL;
  readonly key: string;
  readonly index: string;
  /** Null if the benchmark did not start the server. */
  readonly server: ServerProcess | null;
}

export interface MeasuredLoad extends LoadResult {
  readonly usage: Usage;
  readonly clientCpuSeconds: number;
}

export interface KindAlone extends MeasuredLoad {
  readonly kind: string;
  readonly medianFound: number;
}

const ANSWERS_LOOKED_AT = 50;

export function prepare(target: Target, queries: readonly DrawnQuery[]): PreparedQuery[] {
  const { url, key, index } = target;
  return queries.map(({ kind, body }) => ({
    kind,
    request: requestBytes(url, `/v1/indexes/${index}/query`, key, body),
  }));
}

/** Measures each query kind alone, with one client. */
export async function measureKinds(
  target: Target,
  queries: readonly DrawnQuery[],
  workload: Workload,
): Promise<KindAlone[]> {
  const results: KindAlone[] = [];
  for (const { name: kind } of workload.mix) {
    const own = queries.filter((query) => query.kind === kind);
    if (own.length === 0) continue;
    const founds = await foundCounts(target, own.slice(-ANSWERS_LOOKED_AT));
    const load = await measureLoad(target, prepare(target, own), 1, workload);
    results.push({ kind, medianFound: median(founds), ...load });
  }
  return results;
}

/** Warms up, then measures. */
export async function measureLoad(
  target: Target,
  queries: readonly PreparedQuery[],
  concurrency: number,
  workload: Pick<Workload, "warmupSeconds" | "seconds">,
): Promise<MeasuredLoad> {
  const warm = await drive(target.url, queries, concurrency, workload.warmupSeconds);
  const stop = await meter(target.client, target.server);
  const clientBefore = process.cpuUsage();
  const load = await drive(target.url, queries, concurrency, workload.seconds, warm.queries);
  const { user, system } = process.cpuUsage(clientBefore);
  return { ...load, usage: await stop(), clientCpuSeconds: (user + system) / 1e6 };
}

/** Returns each query's result count. */
export async function foundCounts(
  { client, index }: Target,
  queries: readonly DrawnQuery[],
): Promise<number[]> {
  const found: number[] = [];
  for (const query of queries) {
    const answer = (await client.json("POST", `/v1/indexes/${index}/query`, query.body)) as { found: number };
    found.push(answer.found);
  }
  return found;
}
