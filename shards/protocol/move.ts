// Messages that copy documents to new shards when the number of shards changes, or to other shards when an
// index outgrows its home. Nobody reads the copies yet.
//
//   STORED request  u8 op, u32 uid, f64 afterSeq, u32 bytesMax
//          reply    u8 0, f64 generation, f64 maxSeq, f64 liveDocs, u8 more, u32 count,
//                   count x {f64 seq, u16 + id, u32 + raw JSON, u32 + vector}
//   ADOPT  request  u8 op, u32 uid, f64 generation, f64 maxSeq, u32 count, documents as in STORED's reply
//          reply    u8 0
//   STORED_MODEL request u8 op, u32 uid; reply as for MODEL_OF
//
// A vector is a u32 origin and a vector record (docs/FORMATS.md). Zero bytes mean that there is no vector.
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import { type MessageReader, MessageWriter } from "./bytes.js";
import { SHARD_BAD_MESSAGE, ShardError } from "./errors.js";
import { Op, REPLY_OK } from "./ops.js";
import { openReply } from "./reply.js";

/** A live document with its permanent sequence number. */
export interface MovedDocument {
  seq: number;
  id: string;
  raw: Uint8Array;
  /** The stored vector; null if there is none. */
  vector: MovedVector | null;
}

export interface MovedVector {
  /** The vector's origin. The vector is useless unless this is the current origin. */
  origin: number;
  /** VECTOR_BYTES bytes. */
  vector: Uint8Array;
}

export interface StoredRequest {
  uid: number;
  /** Returns only documents with a larger seq; 0 for the first page. */
  afterSeq: number;
  /** The page ends with the document that brings it to this size. */
  bytesMax: number;
}

export interface StoredPage {
  /** Values from the index's manifest. */
  generation: number;
  maxSeq: number;
  liveDocs: number;
  /** True if there may be more documents after this page. */
  more: boolean;
  /** Ascending by seq. */
  documents: MovedDocument[];
}

export interface AdoptRequest {
  uid: number;
  generation: number;
  /** At least the documents' largest seq. The next write's seqs are larger. */
  maxSeq: number;
  /** Ascending by seq. All seqs are larger than those adopted earlier. */
  documents: MovedDocument[];
}

const DOCUMENT_HEAD_BYTES = 8 + 2 + 4 + 4;
const MOVED_VECTOR_BYTES = 4 + VECTOR_BYTES;
const NO_BYTES = new Uint8Array(0);

export function encodeStored({ uid, afterSeq, bytesMax }: StoredRequest): Uint8Array<ArrayBuffer> {
  return new MessageWriter(1 + 4 + 8 + 4).u8(Op.STORED).u32(uid).whole(afterSeq).u32(bytesMax).finish();
}

export function encodeStoredModel(uid: number): Uint8Array<ArrayBuffer> {
  return new MessageWriter(5).u8(Op.STORED_MODEL).u32(uid).finish();
}

/** Decodes the payload, which follows the op byte. */
export function decodeStored(reader: MessageReader): StoredRequest {
  const request = { uid: reader.u32(), afterSeq: reader.whole(), bytesMax: reader.u32() };
  reader.end();
  return request;
}

export function encodeStoredReply(page: StoredPage): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 3 * 8 + 1 + bytesOf(page.documents)).u8(REPLY_OK);
  writer
    .whole(page.generation)
    .whole(page.maxSeq)
    .whole(page.liveDocs)
    .u8(page.more ? 1 : 0);
  return writeDocuments(writer, page.documents).finish();
}

/** The documents are views into the reply. */
export function decodeStoredReply(reply: Uint8Array): StoredPage {
  const reader = openReply(reply);
  const head = { generation: reader.whole(), maxSeq: reader.whole(), liveDocs: reader.whole() };
  return { ...head, more: reader.u8() === 1, documents: readDocuments(reader) };
}

export function encodeAdopt({ uid, generation, maxSeq, documents }: AdoptRequest): Uint8Array<ArrayBuffer> {
  const writer = new MessageWriter(1 + 4 + 8 + 8 + bytesOf(documents));
  writer.u8(Op.ADOPT).u32(uid).whole(generation).whole(maxSeq);
  return writeDocuments(writer, documents).finish();
}

/** Decodes the payload, which follows the op byte. The raw documents are views into the message. */
export function decodeAdopt(reader: MessageReader): AdoptRequest {
  const head = { uid: reader.u32(), generation: reader.whole(), maxSeq: reader.whole() };
  return { ...head, documents: readDocuments(reader) };
}

function bytesOf(documents: readonly MovedDocument[]): number {
  return documents.reduce(
    (sum, document) =>
      sum + DOCUMENT_HEAD_BYTES + Buffer.byteLength(document.id, "utf8") + movedBytes(document),
    4,
  );
}

/** Size of a document's JSON and vector in a message. */
export function movedBytes({ raw, vector }: MovedDocument): number {
  return raw.length + (vector === null ? 0 : MOVED_VECTOR_BYTES);
}

function vectorBytes(moved: MovedVector | null): Uint8Array {
  if (moved === null) return NO_BYTES;
  const bytes = Buffer.allocUnsafe(MOVED_VECTOR_BYTES);
  bytes.writeUInt32LE(moved.origin, 0);
  bytes.set(moved.vector, 4);
  return bytes;
}

function readVector(bytes: Uint8Array): MovedVector | null {
  if (bytes.length === 0) return null;
  if (bytes.length !== MOVED_VECTOR_BYTES) throw new ShardError(SHARD_BAD_MESSAGE, "not a vector");
  const origin = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  return { origin, vector: bytes.subarray(4) };
}

function writeDocuments(writer: MessageWriter, documents: readonly MovedDocument[]): MessageWriter {
  writer.u32(documents.length);
  for (const { seq, id, raw, vector } of documents)
    writer.whole(seq).text(id).block(raw).block(vectorBytes(vector));
  return writer;
}

function readDocuments(reader: MessageReader): MovedDocument[] {
  const documents: MovedDocument[] = [];
  let previous = 0;
  for (let left = reader.count(DOCUMENT_HEAD_BYTES); left > 0; left--) {
    const seq = reader.whole();
    if (seq <= previous) throw new ShardError(SHARD_BAD_MESSAGE, `seq ${seq} after ${previous}`);
    previous = seq;
    documents.push({ seq, id: reader.text(), raw: reader.block(), vector: readVector(reader.block()) });
  }
  reader.end();
  return documents;
}
