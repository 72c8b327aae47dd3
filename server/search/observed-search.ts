// A search whose phases are measured, counted, logged when they took long, and told to the query log. A query that was answered
// before is answered from memory.
import type { IndexContents } from "../catalog/index-contents.js";
import type { Question } from "../fleet/reads/answer-cache.js";
import { QueryTrace } from "../ground/metrics/query-trace.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { LogWriter } from "../query-log/analytics/log-writer.js";
import type { AskedBy } from "../query-log/analytics/people.js";
import { queryIdText } from "../query-log/rows/query-ids.js";
import type { QueriedIndexes } from "./matching/queried-index.js";
import { encodeAgain } from "./respond.js";
import { type QuerySearching, type SearchAnswer, search } from "./search.js";
import type { SlowQueryLog } from "./slow-query-log.js";

/** The body of a query. */
export interface QueryBody {
  /** What is asked, whoever asks: two bodies with the same bytes have the same answer. */
  readonly bytes: Uint8Array;
  readonly askedBy: AskedBy;
  /** The parsed body. Throws SkeinError when the bytes are not JSON. */
  value(): unknown;
}

/** What observed searches work with. */
interface ObservedSearching extends QuerySearching {
  readonly queriedIndexes: QueriedIndexes;
  readonly recorder: Recorder;
  readonly slowQueries: SlowQueryLog;
  readonly logWriter: LogWriter;
}

/** The JSON answer to a query, as `search` gives it. `requestId`: for the log. */
export async function observedSearch(
  searching: ObservedSearching,
  contents: IndexContents,
  body: QueryBody,
  bounds: Pick<Question, "bytesMax" | "understood" | "within">,
  requestId: string,
): Promise<Uint8Array> {
  const { record } = contents;
  const { reads, recorder, slowQueries, logWriter } = searching;
  const trace = new QueryTrace();
  const id = logWriter.ids.next(Date.now());
  const index = searching.queriedIndexes.of(contents);
  const question = { ...bounds, state: index.state, body: body.bytes };
  const known = reads.recall(record.uid, question);
  const ended = ({ bytes, answered }: SearchAnswer): Uint8Array => {
    trace.stop();
    recorder.queryAnswered(trace);
    if (answered !== null && body.askedBy.logged)
      logWriter.searched(record, id, trace.totalMs, body.askedBy, answered);
    return bytes;
  };
  if (known !== null) {
    trace.enter("respond");
    const bytes = encodeAgain(known.content, queryIdText(id), trace.elapsedMs());
    return ended({ bytes, answered: known.answered });
  }
  const value = body.value();
  try {
    const answer = ended(await search(searching, index, value, question, queryIdText(id), trace));
    slowQueries.ended(requestId, record, value, trace);
    return answer;
  } catch (error) {
    trace.stop();
    slowQueries.ended(requestId, record, value, trace, error);
    throw error;
  }
}
