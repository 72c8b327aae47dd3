// Runs a search and observes it: measures its phases, counts it, logs it if it is slow, and reports it to the
// query log. Repeated queries are answered from the cache.
import { operationsIn } from "../../engine-wasm/host/programs/filter-program.js";
import type { IndexContents } from "../catalog/index-contents.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Question } from "../fleet/reads/answer-cache.js";
import type { RequestLife } from "../ground/jobs/request-life.js";
import { settled, type Work } from "../ground/jobs/work.js";
import { QueryTrace } from "../ground/metrics/query-trace.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { LogWriter } from "../query-log/analytics/log-writer.js";
import type { AskedBy } from "../query-log/analytics/people.js";
import { encodeAnswered, HITS_MAX } from "../query-log/rows/journal.js";
import type { QueryId } from "../query-log/rows/query-ids.js";
import { logNowMs } from "../query-log/rows/time.js";
import type { BodyScan } from "../question/request/body-scan.js";
import type { PreparedShapes } from "../question/request/prepared-shapes.js";
import type { QueryRequest } from "../question/request/query-request.js";
import type { Found } from "./found.js";
import type { QueriedIndexes } from "./matching/queried-index.js";
import { costOfQuery, costOfRequest, type HitSizes, type Reserve } from "./query-cost.js";
import type { ReplyBuffers, ReplyWriter } from "./reply-writer.js";
import { respond, respondAgain } from "./respond.js";
import { find, type QueryBounds, type QuerySearching, readQuery } from "./search.js";
import type { SlowQueryLog } from "./slow-query-log.js";

/** A query's body, with the user and logging members separated from the query itself. */
export interface QueryBody {
  /** The query without its user. Bodies with equal bytes have equal answers. */
  readonly bytes: Uint8Array;
  readonly askedBy: AskedBy;
  /** Null if the body has to be parsed. */
  readonly scan: BodyScan | null;
  /** The parsed body. Throws SkeinError if the bytes are not JSON. */
  value(): unknown;
}

/** The services that an observed search needs. */
interface ObservedSearching extends QuerySearching {
  /** False if answers are neither taken from the cache nor put there. */
  readonly remembersAnswers: boolean;
  readonly queriedIndexes: QueriedIndexes;
  readonly preparedShapes: PreparedShapes;
  readonly recorder: Recorder;
  readonly slowQueries: SlowQueryLog;
  readonly logWriter: LogWriter;
  readonly hitSizes: HitSizes;
  readonly replies: ReplyBuffers;
}

/** The request that a search belongs to. */
export interface SearchedFor {
  /** Identifies the request in the slow query log. */
  readonly id: string;
  /** The work ends with this life. */
  readonly life: RequestLife;
  readonly reserve: Reserve;
}

/**
 * Returns the JSON answer to a query, from the cache or by searching, in a buffer that the caller releases.
 * It is at most `bytesMax` bytes long, except that a single document is always returned. A search that needs
 * more memory than there is waits; until then only its body is kept. Throws SkeinError.
 */
export function* observedSearch(
  searching: ObservedSearching,
  contents: IndexContents,
  body: QueryBody,
  bounds: QueryBounds,
  { id: requestId, life, reserve }: SearchedFor,
): Work<ReplyWriter> {
  const { record } = contents;
  const trace = new QueryTrace();
  const id = searching.logWriter.ids.next(logNowMs());
  const index = searching.queriedIndexes.of(contents);
  const { bytesMax, understood, within } = bounds;
  const question: Question = { state: index.state, body: body.bytes, bytesMax, understood, within };
  const known = searching.remembersAnswers ? searching.reads.recall(record.uid, question) : null;
  if (known !== null) {
    trace.enter("respond");
    const reply = searching.replies.take();
    respondAgain(known.content, id, trace.elapsedMs(), reply);
    countAnswered(searching, record, id, body, trace, known.answered);
    return reply;
  }
  try {
    const { scan } = body;
    let request = scan === null ? null : searching.preparedShapes.read(scan, index, within);
    let value = request === null ? body.value() : undefined;
    const waits = reserve(costOf(searching, record, body, request, value));
    if (waits !== undefined) {
      request = value = null;
      yield* settled(waits);
      value = body.value();
    }
    if (request === null) {
      request = yield* readQuery(searching, index, value, within, life);
      if (scan !== null) searching.preparedShapes.remember(scan, index, within, request);
    }
    const found = yield* find(searching, index, request, bounds, life, trace);
    trace.enter("respond");
    const reply = replied(searching, record, id, body, trace, question, found);
    searching.slowQueries.ended(requestId, record, body, trace);
    return reply;
  } catch (error) {
    trace.stop();
    searching.slowQueries.ended(requestId, record, body, trace, error);
    throw error;
  }
}

/** Estimated memory (bytes) that the query needs. `value` is its parsed body if `request` is null. */
function costOf(
  { hitSizes, reads, limits }: ObservedSearching,
  record: IndexRecord,
  body: QueryBody,
  request: QueryRequest | null,
  value: unknown,
): number {
  const bodyBytes = body.bytes.length;
  const scale = { bodyBytes, hitBytes: hitSizes.of(record), documents: reads.documents(record.uid) };
  return request === null ? costOfQuery(value, scale, limits) : costOfRequest(request, scale, limits);
}

/** Writes the reply, and counts, logs and remembers it. */
function replied(
  searching: ObservedSearching,
  record: IndexRecord,
  id: QueryId,
  body: QueryBody,
  trace: QueryTrace,
  question: Question,
  found: Found,
): ReplyWriter {
  const reply = searching.replies.take();
  try {
    const contentStart = respond(found, id, trace.elapsedMs(), reply, question.bytesMax);
    searching.hitSizes.answered(record, reply.length, found.hits.documents.length);
    const answered = answeredOf(found);
    if (searching.remembersAnswers)
      found.memory?.remember(question, { content: reply.bytes.subarray(contentStart), answered });
    countAnswered(searching, record, id, body, trace, answered);
    return reply;
  } catch (error) {
    reply.release();
    throw error;
  }
}

function countAnswered(
  { recorder, logWriter }: ObservedSearching,
  record: IndexRecord,
  id: QueryId,
  { askedBy }: QueryBody,
  trace: QueryTrace,
  answered: Uint8Array | null,
): void {
  trace.stop();
  recorder.queryAnswered(trace);
  if (answered !== null && askedBy.logged) logWriter.searched(record, id, trace.totalMs, askedBy, answered);
}

/**
 * Returns the answer in the form in which the query log records it. Null for a query without words, which is
 * not logged.
 */
function answeredOf({ request, mode, foundByWords, hits }: Found): Uint8Array | null {
  const { q: text, filter, page, browse } = request;
  if (browse) return null;
  const ids: Uint8Array[] = [];
  for (let i = 0; i < Math.min(hits.documents.length, HITS_MAX); i++) ids.push(hits.documents[i]!.id);
  return encodeAnswered({ text, mode, filtered: operationsIn(filter) > 0, found: foundByWords, page }, ids);
}
