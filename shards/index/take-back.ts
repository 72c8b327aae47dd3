// Takes back an index's last writes in one shard, because some other shard does not have them: the documents
// that they stored die, and those that they replaced or deleted live again. Works on the database alone,
// before the index is opened. One batch does everything, so a crash leaves the old or the new state.
import { decodeDeadDocuments, putDeadDocuments } from "../segments/dead-documents.js";
import { DeletedRows, readDeletedRows } from "../segments/deleted-rows.js";
import { decodeManifest, encodeManifest, type SegmentRecord } from "../segments/manifest.js";
import { deletePieces, readSegment, readSeqs, summarize } from "../segments/segment-pieces.js";
import { DamagedBytesError } from "../storage/envelope.js";
import {
  deadDocumentsKey,
  deadDocumentsRange,
  deletedRowsKey,
  describeKey,
  documentsAfter,
  manifestKey,
  numberOfKey,
} from "../storage/keyspace.js";
import type { Store, StoreOp } from "../storage/store.js";
import { deleteCodes } from "../vectors/stored-codes.js";

/**
 * Takes back all writes after `generation`, if any of them are in doubt here. Durable when the promise
 * resolves. Throws the envelope's errors.
 */
export async function takeBack(store: Store, uid: number, generation: number): Promise<void> {
  const what = `index ${uid}, manifest`;
  const stored = await store.get(manifestKey(uid));
  if (stored === undefined) throw new DamagedBytesError(`${what}: missing`);
  const manifest = decodeManifest(stored, what);
  const first = manifest.inDoubt.find((write) => write.generation > generation);
  if (first === undefined) return;
  const { maxSeqBefore } = first;
  const last = first.generation - 1; // later than `generation` if writes to this shard alone are in between
  const ops: StoreOp[] = [];
  const revived = new Set<number>();
  const dying: number[] = [];
  for await (const [key, value] of store.entries(deadDocumentsRange(uid))) {
    const seqs = decodeDeadDocuments(value, describeKey(key));
    if (numberOfKey(key) === last) dying.push(...seqs);
    if (numberOfKey(key) <= last) continue;
    ops.push({ type: "del", key: deadDocumentsKey(uid, numberOfKey(key)) });
    for (const seq of seqs) if (seq <= maxSeqBefore) revived.add(seq);
  }
  for await (const key of store.keys(documentsAfter(uid, maxSeqBefore))) dying.push(numberOfKey(key));
  // Opening the index deletes dead documents, together with their vectors.
  if (dying.length > 0) ops.push(putDeadDocuments(uid, last, dying));
  const segments: SegmentRecord[] = [];
  for (const record of manifest.segments) {
    const { id, firstSeq, lastSeq } = record;
    if (firstSeq > maxSeqBefore) {
      ops.push(...deletePieces(uid, id, record.pieces), { type: "del", key: deletedRowsKey(uid, id) });
      ops.push(...deleteCodes(uid, record));
      continue;
    }
    const isTouched = lastSeq > maxSeqBefore || hasSeqBetween(revived, firstSeq, lastSeq);
    const deleted = isTouched ? await deletedAfter(store, uid, record, maxSeqBefore, revived) : null;
    segments.push(deleted === null ? record : { ...record, deleted: deleted.count });
    if (deleted === null) continue;
    const key = deletedRowsKey(uid, id);
    ops.push(deleted.count === 0 ? { type: "del", key } : { type: "put", key, value: deleted.encode() });
    ops.push(...deleteCodes(uid, record)); // revived rows may have none
  }
  const inDoubt = manifest.inDoubt.filter((write) => write.generation <= generation);
  const value = encodeManifest({ ...manifest, generation: last, segments, inDoubt });
  await store.batch([...ops, { type: "put", key: manifestKey(uid), value }], { sync: true });
}

function hasSeqBetween(seqs: ReadonlySet<number>, first: number, last: number): boolean {
  for (const seq of seqs) if (seq >= first && seq <= last) return true;
  return false;
}

/** Returns the segment's deleted rows once rows after `maxSeq` are deleted and the revived ones are not. */
async function deletedAfter(
  store: Store,
  uid: number,
  record: SegmentRecord,
  maxSeq: number,
  revived: ReadonlySet<number>,
): Promise<DeletedRows> {
  const bytes = await readSegment(store, uid, record);
  summarize(bytes, `index ${uid}, segment ${record.id}`);
  const before = await readDeletedRows(store, uid, record);
  const rows: number[] = [];
  for (const [row, seq] of readSeqs(bytes).entries())
    if (seq > maxSeq || (before.has(row) && !revived.has(seq))) rows.push(row);
  return DeletedRows.none(record.rows).with(rows);
}
