// Writes of a tenant whose plan limits its documents. For a write that might exceed the limit, the shards are first asked
// which of its documents are new. New documents over the limit are refused one by one, and the others are written.
import { Action, NO_SLOT } from "../../shards/protocol/ops.js";
import {
  askAdditions,
  askWrite,
  decodeAdditionsReply,
  withoutDocuments,
} from "../../shards/protocol/write.js";
import type { IndexRecord } from "../catalog/types.js";
import type { Reads } from "../cluster/reads.js";
import type { DocumentQuota } from "../tenants/document-quota.js";
import { asDocumentError } from "../threads/shard-errors.js";
import { DOC_OVER_QUOTA, type Refusal } from "./document-errors.js";
import type { PreparedWrite } from "./prepare.js";

/** Whether the action may add documents. */
export function mayAdd(action: Action): boolean {
  return action !== Action.UPDATE && action !== Action.DELETE;
}

/** Calls `write` once, with what the quota allows of the prepared write. */
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

/** Positions in the request of the documents that the write would add, ascending. */
async function additions(reads: Reads, uid: number, { messages }: PreparedWrite): Promise<number[]> {
  try {
    const replies = await Promise.all(
      messages.map(({ shard, message }) => {
        askAdditions(message, uid);
        return reads.one(uid, shard, message, decodeAdditionsReply);
      }),
    );
    return replies.flat().sort((a, b) => a - b);
  } catch (error) {
    throw asDocumentError(error);
  } finally {
    for (const { message } of messages) askWrite(message);
  }
}

/** Positions of all documents with an id that is new and comes after the `free` first new ones. */
function overQuota({ ids, refusals }: PreparedWrite, added: readonly number[], free: number): Set<number> {
  const newIds = [...new Set(added.map((index) => ids[index]))];
  const over = new Set(newIds.slice(free));
  const refused = new Set(refusals.map(({ index }) => index));
  return new Set([...ids.keys()].filter((index) => over.has(ids[index]) && !refused.has(index)));
}

function withoutThese(prepared: PreparedWrite, over: ReadonlySet<number>): PreparedWrite {
  if (over.size === 0) return prepared;
  const refusals = Array.from(
    over,
    (index): Refusal => ({
      index,
      id: prepared.ids[index] ?? null,
      code: DOC_OVER_QUOTA,
      slot: NO_SLOT,
      at: 0,
    }),
  );
  const messages = prepared.messages.flatMap(({ shard, message }) => {
    const rest = withoutDocuments(message, over);
    return rest === null ? [] : [{ shard, message: rest }];
  });
  return { ...prepared, refusals: [...prepared.refusals, ...refusals], messages };
}
