// A search whose phases are measured, counted, and logged when they took long. A query that was answered before is
// answered from memory.
import type { IndexContents } from "../catalog/types.js";
import { QueryTrace } from "../metrics/query-trace.js";
import type { Recorder } from "../metrics/recorder.js";
import type { QueriedIndexes } from "./queried-index.js";
import { encodeAgain } from "./respond.js";
import { type Searching, search } from "./search.js";
import type { SlowQueryLog } from "./slow-query-log.js";

/** The body of a query. */
export interface QueryBody {
  /** Two bodies with the same bytes are the same. */
  readonly bytes: Uint8Array;
  /** The parsed body. Throws SkeinError when the bytes are not JSON. */
  value(): unknown;
}

/** What observed searches work with. */
interface ObservedSearching extends Searching {
  readonly queriedIndexes: QueriedIndexes;
  readonly recorder: Recorder;
  readonly slowQueries: SlowQueryLog;
}

/** The JSON answer to a query, as `search` gives it. */
export async function observedSearch(
  searching: ObservedSearching,
  contents: IndexContents,
  body: QueryBody,
  bytesMax: number,
): Promise<Uint8Array> {
  const { record } = contents;
  const { reads, recorder, slowQueries } = searching;
  const trace = new QueryTrace();
  const index = searching.queriedIndexes.of(contents);
  const question = { state: index.state, body: body.bytes, bytesMax };
  const known = reads.recall(record.uid, question);
  if (known !== null) {
    trace.enter("respond");
    const answer = encodeAgain(known, trace.elapsedMs());
    trace.stop();
    recorder.queryAnswered(trace);
    return answer;
  }
  const value = body.value();
  try {
    const answer = await search(searching, index, value, question, trace);
    trace.stop();
    recorder.queryAnswered(trace);
    slowQueries.ended(record, value, trace, reads.shards);
    return answer;
  } catch (error) {
    trace.stop();
    slowQueries.ended(record, value, trace, reads.shards, error);
    throw error;
  }
}
