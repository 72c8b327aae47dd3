// The keys of a shard's database. All of an index's keys start with its uid, so one range delete drops it.
// Numbers are big-endian, so byte order is number order. The manifest is the index's first key.
//
//   | uid u32 | kind u8 | rest                                 |
//   |         | 00 manifest                                    |
//   |         | 01 schema                                      |
//   |         | 02 model                                       |
//   |         | 03 model piece   | model number u32 | piece u32 |
//   |         | 10 segment piece | segment id u32 | piece u32  |
//   |         | 11 deleted rows  | segment id u32              |
//   |         | 12 dead documents | generation u64             |
//   |         | 13 unfinished segment | segment id u32         |
//   |         | 14 codes piece   | segment id u32 | piece u32  |
//   |         | 15 released documents                       |
//   |         | 20 document      | seq u64                     |
//   |         | 21 vector        | seq u64                     |
//   |         | ff being dropped                               |
import type { KeyRange } from "./store.js";

// ON DISK - never renumber
const KIND_MANIFEST = 0x00;
const KIND_SCHEMA = 0x01;
const KIND_MODEL = 0x02;
const KIND_MODEL_PIECE = 0x03;
const KIND_PIECE = 0x10;
const KIND_DELETED_ROWS = 0x11;
const KIND_DEAD_DOCUMENTS = 0x12;
const KIND_UNFINISHED = 0x13;
const KIND_CODES = 0x14;
const KIND_RELEASED_DOCUMENTS = 0x15;
const KIND_DOCUMENT = 0x20;
const KIND_VECTOR = 0x21;
const KIND_DROPPING = 0xff;

const REST = 5;
const UID_LIMIT = 0xffffffff;

function head(uid: number, kind: number, restBytes: number): Buffer {
  const key = Buffer.allocUnsafe(REST + restBytes);
  key.writeUInt32BE(uid, 0);
  key[4] = kind;
  return key;
}

/** Writes a whole number below 2^53 as u64 big-endian. */
function writeWhole(key: Buffer, value: number, at: number): void {
  key.writeUInt32BE(Math.floor(value / 0x100000000), at);
  key.writeUInt32BE(value % 0x100000000, at + 4);
}

/** Changes a document or vector key to the key for `seq` in the same index. */
export function renumberKey(key: Buffer, seq: number): void {
  writeWhole(key, seq, REST);
}

function readWhole(key: Uint8Array, at: number): number {
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  return view.getUint32(at) * 0x100000000 + view.getUint32(at + 4);
}

export function manifestKey(uid: number): Uint8Array {
  return head(uid, KIND_MANIFEST, 0);
}

export function schemaKey(uid: number): Uint8Array {
  return head(uid, KIND_SCHEMA, 0);
}

function pieceOf(uid: number, kind: number, whole: number, piece: number): Uint8Array {
  const key = head(uid, kind, 8);
  key.writeUInt32BE(whole, REST);
  key.writeUInt32BE(piece, REST + 4);
  return key;
}

export function pieceKey(uid: number, segment: number, piece: number): Uint8Array {
  return pieceOf(uid, KIND_PIECE, segment, piece);
}

/** Key of the record that names the active model's pieces. */
export function modelKey(uid: number): Uint8Array {
  return head(uid, KIND_MODEL, 0);
}

export function modelPieceKey(uid: number, number: number, piece: number): Uint8Array {
  return pieceOf(uid, KIND_MODEL_PIECE, number, piece);
}

export function codesKey(uid: number, segment: number, piece: number): Uint8Array {
  return pieceOf(uid, KIND_CODES, segment, piece);
}

export function deletedRowsKey(uid: number, segment: number): Uint8Array {
  const key = head(uid, KIND_DELETED_ROWS, 4);
  key.writeUInt32BE(segment, REST);
  return key;
}

export function deadDocumentsKey(uid: number, generation: number): Uint8Array {
  const key = head(uid, KIND_DEAD_DOCUMENTS, 8);
  writeWhole(key, generation, REST);
  return key;
}

/** Key of the count of deleted documents whose disk space has not been reclaimed yet. */
export function releasedDocumentsKey(uid: number): Uint8Array {
  return head(uid, KIND_RELEASED_DOCUMENTS, 0);
}

/** Key of the mark for a segment whose pieces are written before the manifest that will refer to them. */
export function unfinishedKey(uid: number, segment: number): Uint8Array {
  const key = head(uid, KIND_UNFINISHED, 4);
  key.writeUInt32BE(segment, REST);
  return key;
}

export function documentKey(uid: number, seq: number): Uint8Array {
  const key = head(uid, KIND_DOCUMENT, 8);
  writeWhole(key, seq, REST);
  return key;
}

export function vectorKey(uid: number, seq: number): Uint8Array {
  const key = head(uid, KIND_VECTOR, 8);
  writeWhole(key, seq, REST);
  return key;
}

/** Key of the mark for an index that is being dropped. It is deleted after all of the index's other keys. */
export function droppingKey(uid: number): Uint8Array {
  return head(uid, KIND_DROPPING, 0);
}

function kinds(uid: number, from: number, to: number): KeyRange {
  return { from: head(uid, from, 0), to: head(uid, to, 0) };
}

/** All keys of one index. */
export function indexRange(uid: number): KeyRange {
  return { from: head(uid, 0, 0), to: uid === UID_LIMIT ? Buffer.alloc(6, 0xff) : head(uid + 1, 0, 0) };
}

/** All keys in a database, including those that Skein never writes. */
export const EVERY_KEY: KeyRange = { from: new Uint8Array(0), to: Buffer.alloc(64, 0xff) };

/** All keys of all indexes whose uid is >= `uid`. */
export function indexesFrom(uid: number): KeyRange {
  return { from: head(uid, 0, 0), to: Buffer.alloc(6, 0xff) };
}

export function deadDocumentsRange(uid: number): KeyRange {
  return kinds(uid, KIND_DEAD_DOCUMENTS, KIND_DEAD_DOCUMENTS + 1);
}

export function unfinishedRange(uid: number): KeyRange {
  return kinds(uid, KIND_UNFINISHED, KIND_UNFINISHED + 1);
}

/** All segment pieces of one index. */
export function piecesRange(uid: number): KeyRange {
  return kinds(uid, KIND_PIECE, KIND_PIECE + 1);
}

/** The pieces of segments whose id is >= `segment`. */
export function piecesFrom(uid: number, segment: number): KeyRange {
  return { from: pieceKey(uid, segment, 0), to: head(uid, KIND_PIECE + 1, 0) };
}

/** Documents with a larger seq. */
export function documentsAfter(uid: number, seq: number): KeyRange {
  return { from: documentKey(uid, seq + 1), to: head(uid, KIND_DOCUMENT + 1, 0) };
}

/** Documents with first <= seq <= last. */
export function documentRange(uid: number, first: number, last: number): KeyRange {
  return { from: documentKey(uid, first), to: documentKey(uid, last + 1) };
}

/** Vectors with first <= seq <= last. */
export function vectorRange(uid: number, first: number, last: number): KeyRange {
  return { from: vectorKey(uid, first), to: vectorKey(uid, last + 1) };
}

/** The vectors of all documents. */
export function vectorsOf(uid: number): KeyRange {
  return kinds(uid, KIND_VECTOR, KIND_VECTOR + 1);
}

/** The active model's record, and the pieces of all models. */
export function modelsOf(uid: number): KeyRange {
  return kinds(uid, KIND_MODEL, KIND_MODEL_PIECE + 1);
}

/** The pieces of all models. */
export function allModelPieces(uid: number): KeyRange {
  return kinds(uid, KIND_MODEL_PIECE, KIND_MODEL_PIECE + 1);
}

/** The pieces of one model. */
export function modelPieces(uid: number, number: number): KeyRange {
  return { from: modelPieceKey(uid, number, 0), to: modelPieceKey(uid, number + 1, 0) };
}

/** The codes of all segments. */
export function codesOf(uid: number): KeyRange {
  return kinds(uid, KIND_CODES, KIND_CODES + 1);
}

/** The codes of one segment. */
export function codesRange(uid: number, segment: number): KeyRange {
  return { from: codesKey(uid, segment, 0), to: codesKey(uid, segment + 1, 0) };
}

export function uidOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(0);
}

export function isManifestKey(key: Uint8Array): boolean {
  return key.length === REST && key[4] === KIND_MANIFEST;
}

const KINDS = [
  { code: KIND_MANIFEST, name: "manifest", restBytes: 0 },
  { code: KIND_SCHEMA, name: "schema", restBytes: 0 },
  { code: KIND_PIECE, name: "segment", restBytes: 8 },
  { code: KIND_DELETED_ROWS, name: "deleted rows of segment", restBytes: 4 },
  { code: KIND_DEAD_DOCUMENTS, name: "dead documents of generation", restBytes: 8 },
  { code: KIND_UNFINISHED, name: "unfinished segment", restBytes: 4 },
  { code: KIND_MODEL, name: "model", restBytes: 0 },
  { code: KIND_MODEL_PIECE, name: "piece of model", restBytes: 8 },
  { code: KIND_CODES, name: "codes of segment", restBytes: 8 },
  { code: KIND_RELEASED_DOCUMENTS, name: "released documents", restBytes: 0 },
  { code: KIND_DOCUMENT, name: "document", restBytes: 8 },
  { code: KIND_VECTOR, name: "vector", restBytes: 8 },
  { code: KIND_DROPPING, name: "mark of a drop", restBytes: 0 },
] as const;

/** Kinds whose keys end with a segment or model number, followed by a piece number. */
const IN_PIECES: ReadonlySet<string> = new Set(["segment", "piece of model", "codes of segment"]);

export type KeyKind = (typeof KINDS)[number]["name"];

/** Describes a key for log lines and reports, for example "index 7, segment 1, piece 0". */
export function describeKey(key: Uint8Array): string {
  const kind = kindOfKey(key);
  if (kind === null) return `unknown key ${Buffer.from(key).toString("hex")}`;
  const what = `index ${uidOfKey(key)}, ${kind}`;
  if (key.length === REST) return what;
  if (IN_PIECES.has(kind)) return `${what} ${segmentOfKey(key)}, piece ${pieceOfKey(key)}`;
  return `${what} ${key.length === REST + 8 ? numberOfKey(key) : segmentOfKey(key)}`;
}

/** Returns a key's kind; null if Skein never writes such a key. */
export function kindOfKey(key: Uint8Array): KeyKind | null {
  const kind = KINDS.find((one) => one.code === key[4]);
  return kind !== undefined && key.length === REST + kind.restBytes ? kind.name : null;
}

/**
 * Returns the segment id in an unfinished-segment, deleted-rows, codes or piece key, or the model number in a
 * model piece key.
 */
export function segmentOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(REST);
}

function pieceOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset, key.byteLength).getUint32(REST + 4);
}

/** Returns the seq in a document or vector key, or the generation in a dead-documents key. */
export function numberOfKey(key: Uint8Array): number {
  return readWhole(key, REST);
}
