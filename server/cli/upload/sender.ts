// Sends documents in batches over a few connections and finds out which were rejected. Retries batches, and
// isolates a single document that makes the server refuse a whole request. Holds at most `parallel` + 1
// batches in memory.

import type { InputDocument } from "../../documents/formats/documents.js";
import { messageOf } from "../../documents/formats/input-error.js";
import type { ApiClient, ApiReply, Body } from "../api.js";
import { ConnectionError, refusal } from "../api.js";
import { CliError } from "../failure.js";
import { grouped } from "../table.js";

export const ACTIONS = ["upsert", "create", "update", "emplace", "delete"] as const;
export type ImportAction = (typeof ACTIONS)[number];

export interface Rejection {
  readonly at: number;
  readonly id: string | null;
  readonly code: string;
  readonly error: string;
}

export interface UploadOptions {
  readonly index: string;
  readonly action: ImportAction;
  readonly batchSize: number;
  readonly parallel: number;
  /** Called after each batch. */
  onProgress(sent: UploadCounts): void;
  onRejected(rejection: Rejection): void;
}

export interface UploadCounts {
  succeeded: number;
  rejected: number;
  bytes: number;
}

/** The upload ended early: the input broke off, the server was unreachable, or the server refused. */
export class UploadStopped extends CliError {
  constructor(
    reason: unknown,
    readonly counts: Readonly<UploadCounts>,
    done: "stored" | "deleted",
  ) {
    const stored = counts.succeeded === 1 ? "1 document is" : `${grouped(counts.succeeded)} documents are`;
    super(`${messageOf(reason)}; ${stored} known to be ${done}`, { cause: reason });
  }
}

/** Maximum size of a batch. Well below the default limit for the body of a batch request. */
const BATCH_BYTES_MAX = 8 * 1024 * 1024;
const ATTEMPTS_MAX = 8;
const RETRY_SECONDS_MAX = 10;

/**
 * Sends all documents. Throws UploadStopped if the input is unreadable, the server cannot be reached, or it
 * refuses for a reason unrelated to a document. No request is in flight when this returns or throws.
 */
export async function upload(
  client: ApiClient,
  groups: AsyncIterable<InputDocument[]>,
  options: UploadOptions,
): Promise<UploadCounts> {
  const counts: UploadCounts = { succeeded: 0, rejected: 0, bytes: 0 };
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  const reject = (rejection: Rejection) => {
    counts.rejected++;
    options.onRejected(rejection);
  };
  const start = (batch: InputDocument[]) => {
    const work = sendBatch(client, batch, options, counts, reject)
      .then(() => options.onProgress(counts))
      .catch((error: unknown) => void failures.push(error))
      .finally(() => running.delete(work));
    running.add(work);
  };
  const room = async () => {
    while (running.size >= options.parallel) await Promise.race(running);
    if (failures.length > 0) throw failures[0];
  };
  let batch: InputDocument[] = [];
  let bytes = 0;
  try {
    for await (const group of groups) {
      for (const document of group) {
        if (document.problem !== undefined) {
          reject({ at: document.at, id: null, code: "", error: document.problem });
          continue;
        }
        if (
          batch.length >= options.batchSize ||
          (batch.length > 0 && bytes + document.bytes.length > BATCH_BYTES_MAX)
        ) {
          await room();
          start(batch);
          batch = [];
          bytes = 0;
        }
        batch.push(document);
        bytes += document.bytes.length + 1;
      }
    }
  } catch (error) {
    failures.push(error);
  }
  if (batch.length > 0 && failures.length === 0) start(batch);
  await Promise.all(running);
  if (failures.length > 0) {
    throw new UploadStopped(failures[0], counts, options.action === "delete" ? "deleted" : "stored");
  }
  return counts;
}

async function sendBatch(
  client: ApiClient,
  batch: readonly InputDocument[],
  options: UploadOptions,
  counts: UploadCounts,
  reject: (rejection: Rejection) => void,
): Promise<void> {
  const reply = await exchangeWithRetry(client, batch, options);
  if (reply.status === 200) {
    const failed = readFailures(reply, batch);
    const later = refusedByShard(failed, batch, options.action);
    for (const rejection of failed) if (!later.has(rejection.at)) reject(rejection);
    for (const { at, bytes } of batch) if (!later.has(at)) counts.bytes += bytes.length;
    counts.succeeded += batch.length - failed.length;
    const again = batch.filter(({ at }) => later.has(at));
    if (again.length > 0) {
      await seconds(pauseAfter(1));
      await sendBatch(client, again, options, counts, reject);
    }
    return;
  }
  const error = refusal(reply);
  if (reply.status !== 400 && reply.status !== 413) throw error;
  if (batch.length === 1) {
    reject({ at: batch[0]!.at, id: null, code: error.code, error: error.message });
    return;
  }
  // The server refused the whole request, perhaps because of a single document. Halving the batch repeatedly
  // isolates that document and sends all the others.
  const middle = batch.length >> 1;
  await sendBatch(client, batch.slice(0, middle), options, counts, reject);
  await sendBatch(client, batch.slice(middle), options, counts, reject);
}

/**
 * Positions of the documents to send again because their shard was busy. Empty if that would be the whole
 * batch, because each retry must send fewer documents than the last.
 */
function refusedByShard(
  failed: readonly Rejection[],
  batch: readonly InputDocument[],
  action: ImportAction,
): Set<number> {
  // A document that failed with SK-DOC-503 may have been stored after all. With "create", a second attempt
  // would then fail because the document exists.
  const busy = failed.filter(
    ({ code }) => code === "SK-SYS-503" || (code === "SK-DOC-503" && action !== "create"),
  );
  return new Set(busy.length < batch.length ? busy.map(({ at }) => at) : []);
}

/**
 * Sends the batch. Retries while the server is busy or restarting, unless sending the batch twice would do
 * harm.
 */
async function exchangeWithRetry(
  client: ApiClient,
  batch: readonly InputDocument[],
  options: UploadOptions,
): Promise<ApiReply> {
  const path = `/v1/indexes/${encodeURIComponent(options.index)}/documents/batch`;
  const body = batchBody(batch, options.action);
  for (let attempt = 1; ; attempt++) {
    const pause = pauseAfter(attempt);
    try {
      const reply = await client.exchange("POST", path, body);
      if ((reply.status !== 429 && reply.status !== 503) || attempt === ATTEMPTS_MAX) return reply;
      await seconds(Math.min(RETRY_SECONDS_MAX, Math.max(pause, reply.retryAfter)));
    } catch (error) {
      // If the first attempt did store a document, a second attempt with "create" would report that document
      // as failed.
      const repeatable =
        error instanceof ConnectionError && (!error.mayHaveArrived || options.action !== "create");
      if (!repeatable || attempt === ATTEMPTS_MAX) throw error;
      await seconds(pause);
    }
  }
}

/** Seconds to wait between this attempt (the first is 1) and the next one. */
function pauseAfter(attempt: number): number {
  return Math.min(RETRY_SECONDS_MAX, 0.25 * 2 ** attempt);
}

const COMMA = Buffer.from(",");
const END = Buffer.from("]}");

function batchBody(batch: readonly InputDocument[], action: ImportAction): Body {
  const pieces: Buffer[] = [Buffer.from(`{"action":"${action}","documents":[`)];
  for (let i = 0; i < batch.length; i++) {
    if (i > 0) pieces.push(COMMA);
    pieces.push(batch[i]!.bytes);
  }
  pieces.push(END);
  return { parts: [Buffer.concat(pieces)], contentType: "application/json" };
}

function readFailures(reply: ApiReply, batch: readonly InputDocument[]): Rejection[] {
  const data = member(JSON.parse(reply.body.toString("utf8")), "data");
  const errors = member(data, "errors");
  if (!Array.isArray(errors) || member(data, "received") !== batch.length) {
    throw new CliError(
      "the server's reply to a batch is not understood; do the server and this command have the same version?",
    );
  }
  return errors.map((entry: unknown): Rejection => {
    const index = member(entry, "index");
    const id = member(entry, "id");
    return {
      at: typeof index === "number" ? (batch[index]?.at ?? 0) : 0,
      id: typeof id === "string" ? id : null,
      code: String(member(entry, "code") ?? ""),
      error: String(member(entry, "error") ?? "rejected"),
    };
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function seconds(count: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, count * 1000));
}
