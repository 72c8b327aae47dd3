// Writes one request's documents: sends them to the shards, publishes one generation, and collects each
// document's result. A write is durable and visible before it is answered. One bad document never stops the
// rest.
import type { Workbench } from "../../../engine-wasm/host/instance/workbench.js";
import { Action } from "../../../shards/protocol/ops.js";
import type { ByteQuotas } from "../../access/tenants/byte-quota.js";
import type { DocumentQuota } from "../../access/tenants/document-quota.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { type Places, shardOf } from "../../catalog/schema/placement.js";
import { resolvedSchemaOf } from "../../catalog/schema/resolved-schema.js";
import type { WriteEntry, Writes } from "../../fleet/owner/writes.js";
import type { Reads } from "../../fleet/reads/reads.js";
import { asDocumentError } from "../../fleet/threads/shard-errors.js";
import type { Headroom } from "../../ground/data-dir/headroom.js";
import { SkeinError } from "../../ground/errors.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { Recorder } from "../../ground/metrics/recorder.js";
import { type DocumentError, documentError } from "./document-errors.js";
import type { Intake } from "./intake-pool.js";
import { divided, type PreparedWrite } from "./prepare.js";
import { mayAdd, withinQuota, withoutRoom, writeBytes } from "./within-quota.js";

/** What writing documents needs from the server. */
export interface Ingest {
  readonly workbench: Workbench;
  readonly intake: Intake;
  readonly headroom: Headroom;
  readonly byteQuotas: ByteQuotas;
  readonly reads: Reads;
  readonly writes: Writes;
  readonly limits: Limits;
  readonly log: Logger;
  readonly recorder: Recorder;
}

export interface BatchResult {
  readonly received: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Ordered by the document's position in the request. */
  readonly errors: readonly DocumentError[];
  readonly took_ms: number;
}

/** Result of a prepared write. */
export interface Written {
  /** Documents that were not stored, ordered by position in the request. */
  readonly errors: readonly DocumentError[];
  /** Number of documents in a SYNC that were already stored with the same content. */
  readonly unchanged: number;
  /** Sequence numbers of stored documents that a SYNC left as they were. */
  readonly kept: readonly number[];
  /**
   * True if some shard rejected all its documents. It is then unknown which of that shard's stored documents
   * the SYNC would have left as they were.
   */
  readonly partial: boolean;
}

/**
 * Writes the body of a batch request, `{"documents": [...], "action"?: "..."}`. Throws SkeinError if the body
 * itself is refused.
 */
export async function writeBatch(
  ingest: Ingest,
  record: IndexRecord,
  body: Uint8Array,
  quota: DocumentQuota | null,
): Promise<BatchResult> {
  const startedMs = performance.now();
  const { batchBodyBytesMax } = ingest.limits;
  if (body.length > batchBodyBytesMax) {
    throw new SkeinError("SK-DOC-413", `the body is larger than ${batchBodyBytesMax} bytes`);
  }
  ingest.recorder.documentBytes("batch", body.length);
  const prepared = await ingest.intake.prepare(body, null, ingest.writes.shards(record.uid));
  const { errors } = await writePrepared(ingest, record, prepared, quota);
  ingest.recorder.documentsTaken("batch", prepared.received - errors.length, errors.length);
  return {
    received: prepared.received,
    succeeded: prepared.received - errors.length,
    failed: errors.length,
    errors,
    took_ms: Math.round(performance.now() - startedMs),
  };
}

/**
 * Sends a prepared write, which must not be sent twice. Resolves once the write is published. The result's
 * errors include documents refused because of the document quota (null means no limit) or the plan's bytes.
 * Throws SkeinError: SK-DOC-503 or SK-SYS-503 if no shard accepted its documents, SK-SYS-503 also if memory
 * or disk space is short.
 */
export async function writePrepared(
  ingest: Ingest,
  record: IndexRecord,
  prepared: PreparedWrite,
  quota: DocumentQuota | null,
): Promise<Written> {
  const { location, leave } = await entered(ingest.writes, record.uid);
  try {
    const { length } = location.places;
    const fitting = prepared.shards === length ? prepared : divided(prepared, length);
    return await writeEntered(ingest, record, location.places, fitting, quota);
  } finally {
    leave();
  }
}

async function entered(writes: Writes, uid: number): Promise<WriteEntry> {
  try {
    return await writes.enter(uid);
  } catch (error) {
    throw asDocumentError(error);
  }
}

function writeEntered(
  ingest: Ingest,
  record: IndexRecord,
  places: Places,
  prepared: PreparedWrite,
  quota: DocumentQuota | null,
): Promise<Written> {
  const write = (allowed: PreparedWrite): Promise<Written> => writeAllowed(ingest, record, places, allowed);
  if (prepared.action === Action.DELETE) return write(prepared);
  return ingest.byteQuotas.run(record.tenant, writeBytes(prepared), (refused) => {
    if (refused !== null) return write(withoutRoom(prepared, refused));
    if (quota === null || !mayAdd(prepared.action)) return write(prepared);
    return withinQuota(ingest.reads, record, prepared, quota, write);
  });
}

const NOTHING_SENT = { failures: [], unchanged: 0, kept: [], refused: [] };

async function writeAllowed(
  ingest: Ingest,
  record: IndexRecord,
  places: Places,
  prepared: PreparedWrite,
): Promise<Written> {
  if (prepared.action !== Action.DELETE) ingest.headroom.check();
  const schema = resolvedSchemaOf(record);
  const { messages, refusals, ids, seqs } = prepared;
  const { failures, unchanged, kept, refused } = messages.length === 0 ? NOTHING_SENT : await send();
  const reported = failures.map((failure) => ({ ...failure, id: ids[failure.index] ?? null }));
  const errors = [...refusals, ...reported].map((refusal) =>
    documentError(refusal, schema, ingest.limits.documentBytesMax),
  );
  return {
    errors: [...errors, ...refused.flatMap(ofShard)].sort((a, b) => a.index - b.index),
    unchanged,
    kept,
    partial: refused.length > 0,
  };

  /**
   * Returns an error for each document sent to a shard that rejected its documents. Needed only if other
   * shards accepted theirs: otherwise the whole write fails.
   */
  function ofShard({ shard, error }: { shard: number; error: SkeinError }): DocumentError[] {
    const { code, message } = asDocumentError(error) as SkeinError;
    const unsent = new Set(refusals.map(({ index }) => index));
    return ids.flatMap((id, index) => {
      if (id === null || unsent.has(index)) return [];
      const owner = places[shardOf(ingest.workbench.hash(id), places.length)];
      return owner === shard ? [{ index, id, code, error: message }] : [];
    });
  }

  async function send() {
    try {
      const parts = new Map(messages.map(({ shard, message }) => [places[shard]!, message]));
      return await ingest.writes.write(record.uid, seqs, parts);
    } catch (error) {
      throw asDocumentError(error);
    }
  }
}
