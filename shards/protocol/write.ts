// WRITE writes a batch of documents to one index. The reply is sent once the batch is durable.
//
//   request  u8 op, head (write-head.ts), u8 action, u32 count,
//            count x {u32 index, f64 seq, u64 idHash, u16 + id, u32 + raw JSON}
//   reply    u8 0, u8 recorded, f64 liveDocs, u32 unchanged,
//            u32 failures, failures x {u32 index, u8 code, u16 slot, u32 at}, u32 kept, kept x f64 seq
//
// ADDITIONS returns the documents that a WRITE would add if it ran now. It writes nothing.
//
//   request  as WRITE      reply    u8 0, u32 count, count x u32 index
import { MessageReader, MessageWriter } from "./bytes.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Action, Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";
import { putWriteHead, readWriteHead, WRITE_HEAD_BYTES, type WriteHead } from "./write-head.js";

export interface WriteDocument {
  /** Position in the client's request. Failures refer to it. */
  index: number;
  /** Ascending within a request, and larger than any seq sent before. */
  seq: number;
  id: string;
  /** hash64 of the id's UTF-8. */
  hash: bigint;
  /** The document's JSON bytes; empty for deletes and for a SYNC's marks. */
  raw: Uint8Array;
}

export interface WriteRequest extends WriteHead {
  action: Action;
  /** Applied in order, so the last of several documents with the same id wins. */
  documents: WriteDocument[];
}

export interface WriteFailure {
  index: number;
  /** One of the engine's DOC_* codes, DOC_EXISTS, DOC_MISSING, DOC_TOO_LARGE or DOC_BATCH_TOO_LARGE. */
  code: number;
  /** Slot of the field concerned; NO_SLOT if there is none. */
  slot: number;
  /** Byte offset in the raw document; 0 if unknown. */
  at: number;
}

export interface WriteReply {
  /** False if the write changed nothing here, so that this shard has no trace of it. */
  recorded: boolean;
  failures: WriteFailure[];
  /** Number of a SYNC's documents that are already stored with the same value. */
  unchanged: number;
  /**
   * Seqs of the stored versions that a SYNC left in place, because the document was unchanged, a mark, or
   * failed.
   */
  kept: number[];
  /** Number of live documents in this shard after the write. */
  liveDocs: number;
}

const HEAD_BYTES = 1 + WRITE_HEAD_BYTES + 1 + 4;
const DOCUMENT_HEAD_BYTES = 4 + 8 + 8 + 2 + 4;
const FAILURE_BYTES = 4 + 1 + 2 + 4;

function checkAction(action: number): Action {
  if (action > Action.SYNC) throw new ShardError(SHARD_BAD_MESSAGE, `unknown action ${action}`);
  return action as Action;
}

export function encodeWrite(request: WriteRequest): Uint8Array<ArrayBuffer> {
  let bytes = HEAD_BYTES;
  for (const document of request.documents) {
    bytes += DOCUMENT_HEAD_BYTES + Buffer.byteLength(document.id, "utf8") + document.raw.length;
  }
  const writer = new MessageWriter(bytes);
  putWriteHead(writer.u8(Op.WRITE), request).u8(request.action).u32(request.documents.length);
  for (const { index, seq, hash, id, raw } of request.documents) {
    writer.u32(index).whole(seq).u64(hash).text(id).block(raw);
  }
  return writer.finish();
}

/** Header fields of a message that was encoded in advance. They are filled in just before it is sent. */
export interface WriteStamp extends WriteHead {
  /** Added to every seq in the message. */
  firstSeq: number;
}

/** Fills in the header of an encoded WRITE and makes its relative seqs absolute. */
export function stampWrite(message: Uint8Array, stamp: WriteStamp): void {
  const { firstSeq } = stamp;
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  bytes.set(putWriteHead(new MessageWriter(WRITE_HEAD_BYTES), stamp).finish(), 1);
  let at = HEAD_BYTES;
  while (at < bytes.length) {
    bytes.writeDoubleLE(bytes.readDoubleLE(at + 4) + firstSeq, at + 4);
    at += 4 + 8 + 8;
    at += 2 + bytes.readUInt16LE(at);
    at += 4 + bytes.readUInt32LE(at);
  }
}

/** Turns an encoded WRITE into an ADDITIONS request for this index; `askWrite` reverts this. */
export function askAdditions(message: Uint8Array, uid: number): void {
  message[0] = Op.ADDITIONS;
  Buffer.from(message.buffer, message.byteOffset, message.byteLength).writeUInt32LE(uid, 1);
}

export function askWrite(message: Uint8Array): void {
  message[0] = Op.WRITE;
}

/** Returns an encoded WRITE without the documents at these positions in the request; null if none is left. */
export function withoutDocuments(
  message: Uint8Array,
  positions: ReadonlySet<number>,
): Uint8Array<ArrayBuffer> | null {
  const request = decodeWrite(new MessageReader(message.subarray(1)));
  const documents = request.documents.filter(({ index }) => !positions.has(index));
  return documents.length === 0 ? null : encodeWrite({ ...request, documents });
}

/** Returns an encoded WRITE's documents. Their raw bytes are views into it. */
export function writtenDocuments(message: Uint8Array): readonly WriteDocument[] {
  return decodeWrite(new MessageReader(message.subarray(1))).documents;
}

/** Turns an encoded SYNC's documents into marks, which keep whatever is stored under their ids. */
export function asMarks(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const request = decodeWrite(new MessageReader(message.subarray(1)));
  const documents = request.documents.map((document) => ({ ...document, raw: new Uint8Array(0) }));
  return encodeWrite({ ...request, documents });
}

export function encodeAdditionsReply(positions: readonly number[]): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + positions.length * 4);
  writer.u8(REPLY_OK).u32(positions.length);
  for (const position of positions) writer.u32(position);
  return writer.finish();
}

export function decodeAdditionsReply(reply: Uint8Array): number[] {
  const reader = openReply(reply);
  const positions = Array.from({ length: reader.count(4) }, () => reader.u32());
  reader.end();
  return positions;
}

/** Decodes the payload, which follows the op byte. The raw documents are views into the message. */
export function decodeWrite(reader: MessageReader): WriteRequest {
  const head = readWriteHead(reader);
  const action = checkAction(reader.u8());
  const documents: WriteDocument[] = [];
  let previous = -1;
  for (let left = reader.count(DOCUMENT_HEAD_BYTES); left > 0; left--) {
    const index = reader.u32();
    const seq = reader.whole();
    const hash = reader.u64();
    if (seq <= previous) throw new ShardError(SHARD_BAD_MESSAGE, `seq ${seq} after ${previous}`);
    previous = seq;
    documents.push({ index, seq, hash, id: reader.text(), raw: reader.block() });
  }
  reader.end();
  return { ...head, action, documents };
}

/** A queued WRITE. Until it is read, its documents are one buffer rather than thousands of objects. */
export class UnreadWrite {
  readonly uid: number;
  readonly oldestGeneration: number;
  readonly #payload: Uint8Array;

  /** `reader` contains the payload after the op byte. */
  constructor(reader: MessageReader) {
    this.#payload = reader.rest();
    const { uid, oldestGeneration } = readWriteHead(new MessageReader(this.#payload));
    this.uid = uid;
    this.oldestGeneration = oldestGeneration;
  }

  get bytes(): number {
    return this.#payload.length;
  }

  /** Throws SHARD_BAD_MESSAGE if the message is malformed. */
  read(): WriteRequest {
    return decodeWrite(new MessageReader(this.#payload));
  }
}

export function encodeWriteReply(reply: WriteReply): Uint8Array<ArrayBuffer> {
  const { recorded, liveDocs, unchanged, failures, kept } = reply;
  const writer = new MessageWriter(2 + 8 + 4 + 4 + failures.length * FAILURE_BYTES + 4 + kept.length * 8);
  writer
    .u8(REPLY_OK)
    .u8(recorded ? 1 : 0)
    .whole(liveDocs)
    .u32(unchanged)
    .u32(failures.length);
  for (const { index, code, slot, at } of failures) writer.u32(index).u8(code).u16(slot).u32(at);
  writer.u32(kept.length);
  for (const seq of kept) writer.whole(seq);
  return writer.finish();
}

export function decodeWriteReply(reply: Uint8Array): WriteReply {
  const reader = openReply(reply);
  const recorded = reader.u8() === 1;
  const liveDocs = reader.whole();
  const unchanged = reader.u32();
  const failures: WriteFailure[] = [];
  for (let left = reader.count(FAILURE_BYTES); left > 0; left--) {
    failures.push({ index: reader.u32(), code: reader.u8(), slot: reader.u16(), at: reader.u32() });
  }
  const kept = Array.from({ length: reader.count(8) }, () => reader.whole());
  reader.end();
  return { recorded, liveDocs, unchanged, failures, kept };
}
