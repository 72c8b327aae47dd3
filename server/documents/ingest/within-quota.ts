// Writes documents for a tenant whose plan limits its documents or bytes. If a write might exceed the
// document limit, the shards first report which of its documents are new. New documents over the limit are
// refused individually, and the rest are written. If a write does not fit into the plan's bytes, all its
// documents are refused.
import { Action, NO_SLOT } from "../../../shards/protocol/ops.js";
import {
  askAdditions,
  askWrite,
  asMarks,
  decodeAdditionsReply,
  withoutDocuments,
} from "../../../shards/protocol/write.js";
import type { DocumentQuota } from "../../access/tenants/document-quota.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import type { Location } from "../../catalog/schema/placement.js";
import type { Reads } from "../../fleet/reads/reads.js";
import { asDocumentError } from "../../fleet/threads/shard-errors.js";
import { DOC_OVER_BYTES, DOC_OVER_QUOTA, type Refusal } from "./document-errors.js";
import type { PreparedWrite } from "./prepare.js";

/** True if the action may add documents. */
export function mayAdd(action: Action): boolean {
  return action !== Action.UPDATE && action !== Action.DELETE;
}

/** Calls `write` once, with the prepared write minus the documents that exceed the quota. */
export async function withinQuota<T>(
  reads: Reads,
  record: IndexRecord,
  prepared: PreparedWrite,
  quota: DocumentQuota,
  write: (allowed: PreparedWrite) => Promise<T>,
): Promise<T> {
  const leave = quota.enter(prepared.seqs);
  if (leave !== null) return write(prepared).finally(leave);
  return quota.alone(async (free) => {
    if (prepared.seqs <= free) return write(prepared);
    const added = await additions(reads, record.uid, prepared);
    return write(withoutThese(prepared, overQuota(prepared, added, free)));
  });
}

/**
 * Asks the shards which documents the write would add. Returns their positions in the request, in ascending
 * order.
 */
async function additions(reads: Reads, uid: number, { messages }: PreparedWrite): Promise<number[]> {
  try {
    const replies = await Promise.all(
      messages.map(({ shard, message }) => {
        const ask = ({ data, places }: Location) => {
          askAdditions(message, data);
          return { shard: places[shard]!, request: message };
        };
        return reads.one(uid, ask, decodeAdditionsReply);
      }),
    );
    return replies.flat().sort((a, b) => a - b);
  } catch (error) {
    throw asDocumentError(error);
  } finally {
    for (const { message } of messages) askWrite(message);
  }
}

/**
 * Returns the positions of the documents that exceed the quota. The quota covers the first `free` new ids, so
 * these are the documents with any other new id.
 */
function overQuota({ ids, refusals }: PreparedWrite, added: readonly number[], free: number): Set<number> {
  const newIds = [...new Set(added.map((index) => ids[index]))];
  const over = new Set(newIds.slice(free));
  const refused = new Set(refusals.map(({ index }) => index));
  return new Set([...ids.keys()].filter((index) => over.has(ids[index]) && !refused.has(index)));
}

function withoutThese(prepared: PreparedWrite, over: ReadonlySet<number>): PreparedWrite {
  if (over.size === 0) return prepared;
  const refusals = Array.from(over, (index) => refusalOf(prepared, index, DOC_OVER_QUOTA));
  const messages = prepared.messages.flatMap(({ shard, message }) => {
    const rest = withoutDocuments(message, over);
    return rest === null ? [] : [{ shard, message: rest }];
  });
  return { ...prepared, refusals: [...prepared.refusals, ...refusals], messages };
}

/** Total bytes of the messages, which contain the documents and their ids. */
export function writeBytes({ messages }: PreparedWrite): number {
  return messages.reduce((sum, { message }) => sum + message.length, 0);
}

/**
 * Returns the prepared write with every document refused; `why` is the reason. A SYNC still sends the shards
 * the ids in its feed, so that the documents stored under them stay.
 */
export function withoutRoom(prepared: PreparedWrite, why: string): PreparedWrite {
  const refused = new Set(prepared.refusals.map(({ index }) => index));
  const over = prepared.ids.flatMap((id, index) =>
    id === null || refused.has(index) ? [] : [{ ...refusalOf(prepared, index, DOC_OVER_BYTES), why }],
  );
  const messages =
    prepared.action === Action.SYNC
      ? prepared.messages.map(({ shard, message }) => ({ shard, message: asMarks(message) }))
      : [];
  return { ...prepared, refusals: [...prepared.refusals, ...over], messages };
}

function refusalOf({ ids }: PreparedWrite, index: number, code: number): Refusal {
  return { index, id: ids[index] ?? null, code, slot: NO_SLOT, at: 0 };
}
