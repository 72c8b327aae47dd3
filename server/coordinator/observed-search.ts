// A search under observation: its phases are measured, counted, and logged when they took long.
import type { IndexContents } from "../catalog/types.js";
import { QueryTrace } from "../metrics/query-trace.js";
import type { Cluster } from "./cluster.js";
import { search } from "./search.js";
import type { SlowQueryLog } from "./slow-query-log.js";

/** See `search`. */
export async function observedSearch(
  cluster: Cluster,
  contents: IndexContents,
  body: unknown,
  bytesMax: number,
  slowQueries: SlowQueryLog,
): Promise<Uint8Array> {
  const { record } = contents;
  const trace = new QueryTrace();
  try {
    const answer = await search(cluster, contents, body, bytesMax, trace);
    trace.stop();
    cluster.recorder.queryAnswered(trace);
    slowQueries.ended(record, body, trace, cluster.shards);
    return answer;
  } catch (error) {
    trace.stop();
    slowQueries.ended(record, body, trace, cluster.shards, error);
    throw error;
  }
}
