// Stores a segment's bytes in the database as pieces of half a MiB, each in an envelope, because LevelDB's
// compaction handles large values badly. This file interprets only the counts in the segment header and the
// first and last seq.
import {
  SEG_BYTES,
  SEG_HEADER_BYTES,
  SEG_MAGIC,
  SEG_ROWS,
  SEG_SEQS,
  SEG_TERMS,
  SEG_VERSION,
  SEGMENT_MAGIC,
  SEGMENT_VERSION,
} from "../../engine-wasm/assembly/layout.js";
import {
  DamagedBytesError,
  ENVELOPE_PIECE,
  ENVELOPE_UNFINISHED,
  OtherVersionError,
  seal,
  unseal,
} from "../storage/envelope.js";
import { describeKey, pieceKey, segmentOfKey, unfinishedKey, unfinishedRange } from "../storage/keyspace.js";
import { lazily } from "../storage/lazy-ops.js";
import { Scratch } from "../storage/scratch.js";
import type { Store, StoreOp } from "../storage/store.js";
import type { SegmentRecord } from "./manifest.js";

const PIECE_VERSION = 1;
const UNFINISHED_VERSION = 1;
const PIECE_BYTES = 512 * 1024;
const PIECES_PER_READ = 8;
const PIECES_PER_BATCH = 8;

export function pieceCount(segmentBytes: number): number {
  return Math.ceil(segmentBytes / PIECE_BYTES);
}

/**
 * Returns put operations for a segment's pieces. Each put calls `bytes` again, because the returned bytes may
 * be a view of memory that moves.
 */
export function putPieces(
  uid: number,
  segment: number,
  bytes: () => Uint8Array,
  first = 0,
  end = pieceCount(bytes().length),
): Iterable<StoreOp> {
  return lazily(function* (): Iterable<StoreOp> {
    const scratch = new Scratch();
    for (let piece = first; piece < end; piece++) {
      const part = bytes().subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      const value = seal(ENVELOPE_PIECE, PIECE_VERSION, part, scratch);
      yield { type: "put", key: pieceKey(uid, segment, piece), value };
    }
  });
}

export function deletePieces(uid: number, segment: number, pieces: number): StoreOp[] {
  return Array.from({ length: pieces }, (_, piece) => ({ type: "del", key: pieceKey(uid, segment, piece) }));
}

/**
 * Writes a large segment's pieces, a few MiB at a time, before the manifest that will refer to them. A mark
 * accompanies the pieces until the manifest's batch removes it (`finishedOp`). Opening the index deletes
 * marked pieces. For `bytes`, see putPieces.
 */
export async function writePiecesAhead(
  store: Store,
  uid: number,
  segment: number,
  bytes: () => Uint8Array,
  sync: boolean,
): Promise<void> {
  const pieces = pieceCount(bytes().length);
  const mark = new Uint8Array(4);
  new DataView(mark.buffer).setUint32(0, pieces, true);
  const value = seal(ENVELOPE_UNFINISHED, UNFINISHED_VERSION, mark);
  await store.batch([{ type: "put", key: unfinishedKey(uid, segment), value }], { sync });
  for (let first = 0; first < pieces; first += PIECES_PER_BATCH) {
    const end = Math.min(pieces, first + PIECES_PER_BATCH);
    await store.batch(putPieces(uid, segment, bytes, first, end), { sync, adds: true });
  }
}

export function finishedOp(uid: number, segment: number): StoreOp {
  return { type: "del", key: unfinishedKey(uid, segment) };
}

/** Returns an unfinished segment's number of pieces. Throws the envelope's errors. */
export function decodeUnfinished(bytes: Uint8Array, what: string): number {
  const mark = unseal(ENVELOPE_UNFINISHED, UNFINISHED_VERSION, bytes, what);
  if (mark.length !== 4) throw new DamagedBytesError(`${what}: wrong length`);
  return new DataView(mark.buffer, mark.byteOffset).getUint32(0, true);
}

/** Returns the bytes of one stored piece. Throws the envelope's errors. */
export function decodePiece(bytes: Uint8Array, what: string): Uint8Array {
  return unseal(ENVELOPE_PIECE, PIECE_VERSION, bytes, what);
}

/** Deletes the pieces of segments whose writing was interrupted. */
export async function deleteUnfinished(store: Store, uid: number): Promise<void> {
  for await (const [key, value] of store.entries(unfinishedRange(uid))) {
    const segment = segmentOfKey(key);
    const pieces = decodeUnfinished(value, describeKey(key));
    await store.batch([...deletePieces(uid, segment, pieces), finishedOp(uid, segment)], { sync: false });
  }
}

/** Reads a whole segment. Throws the same errors as readSegmentParts. */
export async function readSegment(store: Store, uid: number, segment: SegmentRecord): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(segment.bytes);
  await readSegmentParts(store, uid, segment, (at, part) => bytes.set(part, at));
  return bytes;
}

/**
 * Reads a whole segment and passes its bytes to `put` part by part, reading one part ahead. Throws the
 * envelope's errors, and DamagedBytesError if a piece is missing or wrong.
 */
export async function readSegmentParts(
  store: Store,
  uid: number,
  segment: SegmentRecord,
  put: (at: number, part: Uint8Array) => void,
): Promise<void> {
  const what = `index ${uid}, segment ${segment.id}`;
  if (pieceCount(segment.bytes) !== segment.pieces) throw new DamagedBytesError(`${what}: wrong length`);
  const read = (first: number): Promise<(Uint8Array | undefined)[]> => {
    const count = Math.min(PIECES_PER_READ, segment.pieces - first);
    return store.getMany(Array.from({ length: count }, (_, i) => pieceKey(uid, segment.id, first + i)));
  };
  let at = 0;
  let ahead = read(0);
  for (let first = 0; first < segment.pieces; first += PIECES_PER_READ) {
    const values = await ahead;
    ahead = first + PIECES_PER_READ < segment.pieces ? read(first + PIECES_PER_READ) : Promise.resolve([]);
    ahead.catch(() => undefined); // any error is thrown when this part is reached
    for (const [i, value] of values.entries()) {
      const name = `${what}, piece ${first + i}`;
      if (value === undefined) throw new DamagedBytesError(`${name}: missing`);
      const part = decodePiece(value, name);
      if (part.length !== Math.min(PIECE_BYTES, segment.bytes - at)) {
        throw new DamagedBytesError(`${name}: wrong length`);
      }
      put(at, part);
      at += part.length;
    }
  }
}

export interface SegmentSummary {
  rows: number;
  terms: number;
  firstSeq: number;
  lastSeq: number;
}

/** Reads the seq of each row. Requires bytes that `summarize` accepts. */
export function readSeqs(bytes: Uint8Array): Float64Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const seqs = view.getUint32(SEG_SEQS, true);
  return Float64Array.from({ length: view.getUint32(SEG_ROWS, true) }, (_, row) =>
    Number(view.getBigUint64(seqs + row * 8, true)),
  );
}

/**
 * Reads the counts from a segment's header, and the first and last seq from its seq table. Throws
 * DamagedBytesError.
 */
export function summarize(bytes: Uint8Array, what: string): SegmentSummary {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (
    bytes.length < SEG_HEADER_BYTES ||
    view.getUint32(SEG_MAGIC, true) !== SEGMENT_MAGIC ||
    view.getUint32(SEG_BYTES, true) !== bytes.length
  ) {
    throw new DamagedBytesError(`${what}: not a segment`);
  }
  const version = view.getUint32(SEG_VERSION, true);
  if (version !== SEGMENT_VERSION) {
    throw new OtherVersionError(`${what}: format version ${version}, this build reads ${SEGMENT_VERSION}`);
  }
  const rows = view.getUint32(SEG_ROWS, true);
  const seqs = view.getUint32(SEG_SEQS, true);
  if (rows === 0 || seqs + rows * 8 > bytes.length) throw new DamagedBytesError(`${what}: no rows`);
  return {
    rows,
    terms: view.getUint32(SEG_TERMS, true),
    firstSeq: Number(view.getBigUint64(seqs, true)),
    lastSeq: Number(view.getBigUint64(seqs + (rows - 1) * 8, true)),
  };
}
