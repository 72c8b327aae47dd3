// Reads everything that a database stores about one index, and records which parts are unreadable. Changes
// nothing. check-index compares the parts.
import { SEG_ID_HASHES, SEG_ID_ROWS, SEG_SEQS } from "../../engine-wasm/assembly/layout.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { ShardSchema } from "../protocol/control.js";
import type { LostDocument } from "../protocol/offline.js";
import { decodeDeadDocuments, decodeReleasedDocuments } from "../segments/dead-documents.js";
import { type DeletedRows, readDeletedRows } from "../segments/deleted-rows.js";
import { decodeDocument, idOfDamaged, isChecked } from "../segments/document-record.js";
import { decodeManifest, type Manifest, type SegmentRecord } from "../segments/manifest.js";
import { decodeSchema } from "../segments/schema-record.js";
import { decodePiece, decodeUnfinished, readSegment, summarize } from "../segments/segment-pieces.js";
import { DamagedBytesError, OtherVersionError } from "../storage/envelope.js";
import {
  describeKey,
  documentKey,
  indexRange,
  kindOfKey,
  modelKey,
  numberOfKey,
  segmentOfKey,
} from "../storage/keyspace.js";
import type { Store } from "../storage/store.js";
import { decodeModelPiece, decodeModelRecord, type ModelRecord, readModel } from "../vectors/model-store.js";
import { decodeCodesPiece } from "../vectors/stored-codes.js";
import { decodeVector } from "../vectors/vector-record.js";

export interface StoredSegment {
  record: SegmentRecord;
  /** By row; null if the segment is unreadable. */
  rows: { seq: number; hash: bigint }[] | null;
  /** Null if the record is unreadable. */
  deleted: DeletedRows | null;
}

export interface StoredIndex {
  uid: number;
  /** One sentence for each unreadable record, and for each key that Skein never writes. */
  problems: string[];
  /**
   * True if another version of Skein wrote one of the records. This version must then not touch the index.
   */
  foreign: boolean;
  /** True if a drop was interrupted. The next server start finishes it. */
  dropping: boolean;
  manifest: Manifest | null;
  schema: ShardSchema | null;
  /** The segments listed in the manifest. */
  segments: StoredSegment[];
  /** Ids of readable documents, by seq. */
  documents: Map<number, string>;
  unreadable: LostDocument[];
  /** Number of documents without a checksum. */
  unchecked: number;
  /** Seqs in readable lists of dead documents. */
  dead: Set<number>;
  /** Generations whose list of dead documents is unreadable. */
  deadUnreadable: number[];
  generationMax: number;
  seqMax: number;
  segmentMax: number;
  /** Ids of segments that have pieces, marks or deleted rows. */
  pieceSegments: Set<number>;
  unfinished: Set<number>;
  /** The active embedded model's record. */
  model: ModelRecord | null;
  /**
   * Keys of unreadable vectors, codes or models. A repair deletes these records; they are then made again.
   */
  unusable: Uint8Array[];
  /** Seqs with a readable vector. */
  vectors: Set<number>;
  /** Keys that Skein never writes. */
  strange: Uint8Array[];
}

export async function readContents(store: Store, uid: number, module: EngineModule): Promise<StoredIndex> {
  const contents: StoredIndex = {
    uid,
    problems: [],
    foreign: false,
    dropping: false,
    manifest: null,
    schema: null,
    segments: [],
    documents: new Map(),
    unreadable: [],
    unchecked: 0,
    dead: new Set(),
    deadUnreadable: [],
    generationMax: 0,
    seqMax: 0,
    segmentMax: 0,
    pieceSegments: new Set(),
    unfinished: new Set(),
    model: null,
    unusable: [],
    vectors: new Set(),
    strange: [],
  };
  for await (const [key, value] of store.entries(indexRange(uid))) readEntry(contents, key, value);
  for (const record of contents.manifest?.segments ?? []) {
    contents.segments.push(await readStoredSegment(store, contents, record, module));
  }
  await checkVectors(store, contents);
  return contents;
}

/** Runs a decoder. If the decoder throws, records a problem and returns null. */
function attempt<T>(contents: StoredIndex, decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof OtherVersionError) contents.foreign = true;
    const found = error instanceof Error ? error.message : String(error);
    if (!contents.problems.includes(found)) contents.problems.push(found);
    return null;
  }
}

/** Like `attempt`, for a value that is being read from the store. */
async function attemptRead<T>(contents: StoredIndex, reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    return attempt(contents, () => {
      throw error;
    });
  }
}

function readEntry(contents: StoredIndex, key: Uint8Array, value: Uint8Array): void {
  const what = describeKey(key);
  const kind = kindOfKey(key);
  switch (kind) {
    case "manifest":
      contents.manifest = attempt(contents, () => decodeManifest(value, what));
      break;
    case "schema":
      contents.schema = attempt(contents, () => decodeSchema(value, what));
      break;
    case "document":
      readDocument(contents, key, value);
      break;
    case "dead documents of generation": {
      const generation = numberOfKey(key);
      contents.generationMax = Math.max(contents.generationMax, generation);
      const seqs = attempt(contents, () => decodeDeadDocuments(value, what));
      for (const seq of seqs ?? []) contents.dead.add(seq);
      if (seqs === null) contents.deadUnreadable.push(generation);
      break;
    }
    case "released documents":
      usable(contents, key, () => decodeReleasedDocuments(value, what));
      break;
    case "segment":
    case "deleted rows of segment":
    case "unfinished segment": {
      const segment = segmentOfKey(key);
      contents.segmentMax = Math.max(contents.segmentMax, segment);
      contents.pieceSegments.add(segment);
      if (kind === "segment") attempt(contents, () => decodePiece(value, what));
      if (kind !== "unfinished segment") break;
      contents.unfinished.add(segment);
      attempt(contents, () => decodeUnfinished(value, what));
      break;
    }
    case "model":
      contents.model = attempt(contents, () => decodeModelRecord(value, what));
      if (contents.model === null) contents.unusable.push(Uint8Array.from(key));
      break;
    case "piece of model":
      usable(contents, key, () => decodeModelPiece(value, what));
      break;
    case "codes of segment":
      usable(contents, key, () => decodeCodesPiece(value, what));
      break;
    case "vector":
      if (usable(contents, key, () => decodeVector(key, value))) contents.vectors.add(numberOfKey(key));
      break;
    case "mark of a drop":
      contents.dropping = true;
      break;
    default:
      contents.problems.push(what);
      contents.strange.push(Uint8Array.from(key));
  }
}

/** Returns true if the value can be decoded; otherwise records its key as unusable. */
function usable(contents: StoredIndex, key: Uint8Array, decode: () => unknown): boolean {
  if (attempt(contents, decode) !== null) return true;
  contents.unusable.push(Uint8Array.from(key));
  return false;
}

/**
 * Checks that the active model is complete. Codes are not checked: incomplete codes are normal after a crash
 * and are made again.
 */
async function checkVectors(store: Store, contents: StoredIndex): Promise<void> {
  const { uid, model } = contents;
  if (model === null) return;
  if ((await attemptRead(contents, readModel(store, uid, model))) === null)
    contents.unusable.push(modelKey(uid));
}

function readDocument(contents: StoredIndex, key: Uint8Array, value: Uint8Array): void {
  const seq = numberOfKey(key);
  contents.seqMax = Math.max(contents.seqMax, seq);
  const record = attempt(contents, () => decodeDocument(key, value));
  if (record === null) contents.unreadable.push({ seq, id: idOfDamaged(value) });
  else contents.documents.set(seq, record.id);
  if (record !== null && !isChecked(value)) contents.unchecked++;
}

async function readStoredSegment(
  store: Store,
  contents: StoredIndex,
  record: SegmentRecord,
  module: EngineModule,
): Promise<StoredSegment> {
  const { uid } = contents;
  const bytes = await attemptRead(contents, readSegment(store, uid, record));
  const rows = bytes === null ? null : attempt(contents, () => readRows(bytes, record, uid, module));
  const deleted = await attemptRead(contents, readDeletedRows(store, uid, record));
  return { record, rows, deleted };
}

/**
 * Reads a segment's rows. Throws DamagedBytesError if the segment is not the one that the manifest lists, or
 * if the engine refuses it.
 */
function readRows(
  bytes: Uint8Array,
  record: SegmentRecord,
  uid: number,
  module: EngineModule,
): { seq: number; hash: bigint }[] {
  const what = `index ${uid}, segment ${record.id}`;
  const { rows, firstSeq, lastSeq } = summarize(bytes, what);
  if (rows !== record.rows || firstSeq !== record.firstSeq || lastSeq !== record.lastSeq) {
    throw new DamagedBytesError(`${what}: not the one the manifest names`);
  }
  try {
    module.engine().attach(bytes);
  } catch (error) {
    throw new DamagedBytesError(`${what}: ${(error as Error).message}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const seqs = view.getUint32(SEG_SEQS, true);
  const hashes = view.getUint32(SEG_ID_HASHES, true);
  const hashRows = view.getUint32(SEG_ID_ROWS, true);
  const found = Array.from({ length: rows }, (_, row) => {
    return { seq: Number(view.getBigUint64(seqs + row * 8, true)), hash: -1n };
  });
  for (let i = 0; i < rows; i++) {
    const row = found[view.getUint32(hashRows + i * 4, true)];
    if (row === undefined) throw new DamagedBytesError(`${what}: a row that it does not have`);
    row.hash = view.getBigUint64(hashes + i * 8, true);
  }
  return found;
}

/** Describes a document's key in words. */
export function documentName(uid: number, seq: number): string {
  return describeKey(documentKey(uid, seq));
}
