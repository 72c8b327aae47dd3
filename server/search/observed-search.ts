// A search under observation: its phases are measured, counted, and logged when they took long. What was answered
// before is not searched again.
import type { IndexContents } from "../catalog/types.js";
import type { Cluster } from "../cluster/cluster.js";
import { QueryTrace } from "../metrics/query-trace.js";
import { queriedIndex } from "./queried-index.js";
import { encodeAgain } from "./respond.js";
import { search } from "./search.js";
import type { SlowQueryLog } from "./slow-query-log.js";

/** The body of a query. */
export interface QueryBody {
  /** The same bytes mean the same body. */
  readonly bytes: Uint8Array;
  /** Throws SkeinError for bytes that are no JSON. */
  value(): unknown;
}

/** The JSON answer to a query, see `search`. */
export async function observedSearch(
  cluster: Cluster,
  contents: IndexContents,
  body: QueryBody,
  bytesMax: number,
  slowQueries: SlowQueryLog,
): Promise<Uint8Array> {
  const { record } = contents;
  const trace = new QueryTrace();
  const index = queriedIndex(cluster, contents);
  const question = { state: index.state, body: body.bytes, bytesMax };
  const known = cluster.recall(record.uid, question);
  if (known !== null) {
    trace.enter("respond");
    const answer = encodeAgain(known, trace.elapsedMs());
    trace.stop();
    cluster.recorder.queryAnswered(trace);
    return answer;
  }
  const value = body.value();
  try {
    const answer = await search(cluster, index, value, question, trace);
    trace.stop();
    cluster.recorder.queryAnswered(trace);
    slowQueries.ended(record, value, trace, cluster.shards);
    return answer;
  } catch (error) {
    trace.stop();
    slowQueries.ended(record, value, trace, cluster.shards, error);
    throw error;
  }
}
