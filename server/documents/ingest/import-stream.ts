// Imports NDJSON and replies with NDJSON. A stream of any length is cut into batches, a few of which are in
// flight at a time. The stream is read no faster than the batches are written, and other requests run between
// batches. The reply has one line per failed document, followed by a summary.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Action } from "../../../shards/protocol/ops.js";
import type { DocumentQuota } from "../../access/tenants/document-quota.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { SkeinError } from "../../ground/errors.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { type LineBatch, LineFramer } from "./line-framer.js";
import { readAction } from "./prepare.js";
import { type Ingest, writePrepared } from "./write.js";

/**
 * Maximum size of a batch, which is one write. Large enough to amortise the write's sync, small enough not to
 * occupy a shard for long.
 */
const BATCH_BYTES = 1024 * 1024;
const BATCH_LINES_MAX = 1_000;
const BATCHES_IN_FLIGHT_MAX = 4;

export interface ImportTarget {
  /** False once the index has been deleted. */
  exists(): boolean;
  /** The tenant's document quota. Null means no limit. */
  readonly quota: DocumentQuota | null;
}

interface LineFailure {
  readonly line: number;
  readonly id: string | null;
  readonly code: string;
  readonly error: string;
}

interface BatchOutcome {
  readonly received: number;
  readonly failures: readonly LineFailure[];
  /** True if the index has been deleted, which ends the import. */
  readonly gone: boolean;
}

/**
 * Yields a line `{line, id, code, error}` for each failed document, in stream order as batches complete, then
 * `{received, succeeded, failed, took_ms}`. Throws any error of `chunks` (once the batches already sent are
 * done), and SkeinError: SK-DOC-400 for an unknown action, SK-DOC-413 for too many consecutive blank lines,
 * SK-IX-404 once the index has been deleted.
 */
export async function* importDocuments(
  ingest: Ingest,
  record: IndexRecord,
  action: string,
  chunks: AsyncIterable<Uint8Array>,
  target: ImportTarget,
): AsyncGenerator<Uint8Array> {
  const startedMs = performance.now();
  const code = readAction(action);
  const { documentBytesMax: lineBytesMax } = ingest.limits;
  const framer = new LineFramer({ lineBytesMax, batchBytes: BATCH_BYTES, batchLinesMax: BATCH_LINES_MAX });
  const inFlight: Promise<BatchOutcome>[] = [];
  let received = 0;
  let failed = 0;

  async function* settleDownTo(count: number): AsyncGenerator<Uint8Array> {
    while (inFlight.length > count) {
      const outcome = await (inFlight.shift() as Promise<BatchOutcome>);
      if (outcome.gone) throw new SkeinError("SK-IX-404", "the index no longer exists");
      received += outcome.received;
      failed += outcome.failures.length;
      ingest.recorder.documentsTaken(
        "import",
        outcome.received - outcome.failures.length,
        outcome.failures.length,
      );
      if (outcome.failures.length > 0) yield jsonLines(outcome.failures);
    }
  }
  /**
   * Returns once this batch is prepared and its write has started. Only then may the next batch be sent, so
   * writes start in stream order.
   */
  async function* send(batch: LineBatch): AsyncGenerator<Uint8Array> {
    await yieldToEventLoop(); // a batch without valid documents would not yield otherwise
    yield* settleDownTo(BATCHES_IN_FLIGHT_MAX - 1);
    ingest.recorder.documentBytes("import", batch.bytes.length);
    const start = await prepareLinesOf(ingest, record, code, batch, target);
    inFlight.push(start());
  }

  try {
    for await (const chunk of chunks) {
      for (const batch of framer.push(chunk)) yield* send(batch);
      if (framer.blankLines > FIXED_LIMITS.blankLinesMax) throw tooManyBlankLines();
    }
    const rest = framer.finish();
    if (rest !== null) yield* send(rest);
    yield* settleDownTo(0);
  } finally {
    await Promise.all(inFlight);
  }
  const took_ms = Math.round(performance.now() - startedMs);
  yield jsonLines([{ received, succeeded: received - failed, failed, took_ms }]);
}

/**
 * Splits the batch into documents, and returns a function that starts the write. That function's promise
 * never rejects: see `failAll`.
 */
async function prepareLinesOf(
  ingest: Ingest,
  record: IndexRecord,
  action: Action,
  { bytes, numbers, tooLong }: LineBatch,
  { exists, quota }: ImportTarget,
): Promise<() => Promise<BatchOutcome>> {
  const received = numbers.length + tooLong.length;
  const outcome = (failures: readonly LineFailure[]): BatchOutcome => {
    const dropped = tooLong.map((line) => tooLongFailure(line, ingest.limits.documentBytesMax));
    return { received, failures: [...dropped, ...failures].sort((a, b) => a.line - b.line), gone: false };
  };
  /**
   * Turns an error that affects a whole batch into a failure of each of its documents, so that the stream
   * continues.
   */
  const failAll = (cause: unknown, ids: readonly (string | null)[]): BatchOutcome => {
    if (!exists()) return { received, failures: [], gone: true };
    const known = cause instanceof SkeinError;
    if (!known) ingest.log.error({ err: cause }, "an import batch failed");
    const code = known ? cause.code : "SK-SYS-500";
    const error = known
      ? cause.message
      : "the document was not stored because of an unexpected failure; see the server's log";
    return outcome(numbers.map((line, i) => ({ line, id: ids[i] ?? null, code, error })));
  };
  if (numbers.length === 0) return async () => outcome([]);
  try {
    const prepared = await ingest.intake.prepare(bytes, action, ingest.writes.shards(record.uid));
    if (prepared.received !== numbers.length) {
      throw new Error(`${numbers.length} lines were split into ${prepared.received} documents`);
    }
    return async () => {
      try {
        const { errors } = await writePrepared(ingest, record, prepared, quota);
        return outcome(
          errors.map(({ index, id, code, error }) => ({ line: numbers[index] as number, id, code, error })),
        );
      } catch (error) {
        return failAll(error, prepared.ids);
      }
    };
  } catch (error) {
    return async () => failAll(error, []);
  }
}

function tooLongFailure(line: number, lineBytesMax: number): LineFailure {
  return { line, id: null, code: "SK-DOC-413", error: `the line is longer than ${lineBytesMax} bytes` };
}

function tooManyBlankLines(): SkeinError {
  const { blankLinesMax } = FIXED_LIMITS;
  return new SkeinError("SK-DOC-413", `the body has more than ${blankLinesMax} consecutive blank lines`, {
    details: { limit: blankLinesMax },
  });
}

function jsonLines(values: readonly object[]): Uint8Array {
  return Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}
