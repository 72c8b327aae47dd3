// A segment's codes in the database, in pieces. Codes are derived from the stored vectors, so they are
// written only when the index is quiet or closed, and made again if they are unreadable.
//
//   each piece: | origin u32 | number of pieces u32 | part of the codes region |     in an envelope

import { codesLength } from "../../engine-wasm/host/vectors/codes.js";
import type { SegmentRecord } from "../segments/manifest.js";
import { DamagedBytesError, ENVELOPE_CODES, seal, unseal } from "../storage/envelope.js";
import { codesKey, codesOf, codesRange, describeKey, segmentOfKey } from "../storage/keyspace.js";
import type { Store, StoreOp } from "../storage/store.js";

const CODES_VERSION = 1;
const AT_PIECES = 4;
const AT_PART = AT_PIECES + 4;
const PART_BYTES = 512 * 1024;
const PIECES_PER_BATCH = 8;

export interface StoredCodes {
  origin: number;
  /** The codes region. */
  bytes: Uint8Array;
}

/** Part of a codes region as stored. */
export interface CodesPiece {
  origin: number;
  pieces: number;
  part: Uint8Array;
}

/** Throws the envelope's errors. */
export function decodeCodesPiece(value: Uint8Array, what: string): CodesPiece {
  const payload = unseal(ENVELOPE_CODES, CODES_VERSION, value, what);
  if (payload.length < AT_PART) throw new DamagedBytesError(`${what}: wrong length`);
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  return {
    origin: view.getUint32(0, true),
    pieces: view.getUint32(AT_PIECES, true),
    part: payload.subarray(AT_PART),
  };
}

/** Returns null unless all pieces are stored. Throws the envelope's errors. */
export async function readCodes(store: Store, uid: number, segment: number): Promise<StoredCodes | null> {
  const parts: Uint8Array[] = [];
  let first: CodesPiece | null = null;
  for (let piece = 0; piece < (first?.pieces ?? 1); piece++) {
    const key = codesKey(uid, segment, piece);
    const stored = await store.get(key);
    if (stored === undefined) return null;
    const found = decodeCodesPiece(stored, describeKey(key));
    first ??= found;
    if (found.origin !== first.origin || found.pieces !== first.pieces) return null;
    parts.push(found.part);
  }
  return first === null ? null : { origin: first.origin, bytes: Buffer.concat(parts) };
}

/** Yields put operations for the pieces of a segment's codes. */
export function* putCodes(uid: number, segment: number, { origin, bytes }: StoredCodes): Iterable<StoreOp> {
  const pieces = Math.ceil(bytes.length / PART_BYTES);
  for (let piece = 0; piece < pieces; piece++) {
    const part = bytes.subarray(piece * PART_BYTES, (piece + 1) * PART_BYTES);
    const payload = Buffer.allocUnsafe(AT_PART + part.length);
    payload.writeUInt32LE(origin, 0);
    payload.writeUInt32LE(pieces, AT_PIECES);
    payload.set(part, AT_PART);
    const value = seal(ENVELOPE_CODES, CODES_VERSION, payload);
    yield { type: "put", key: codesKey(uid, segment, piece), value };
  }
}

/**
 * Stores codes, replacing existing ones. After a crash the stored codes may be incomplete, and `readCodes`
 * returns null.
 */
export async function writeCodes(
  store: Store,
  uid: number,
  segment: number,
  codes: StoredCodes,
): Promise<void> {
  await store.clear(codesRange(uid, segment));
  let ops: StoreOp[] = [];
  for (const op of putCodes(uid, segment, codes)) {
    if (ops.push(op) < PIECES_PER_BATCH) continue;
    await store.batch(ops, { sync: false, adds: true });
    ops = [];
  }
  if (ops.length > 0) await store.batch(ops, { sync: false, adds: true });
}

/** Returns delete operations for all pieces that a segment's codes may have. */
export function deleteCodes(uid: number, { id, rows }: Pick<SegmentRecord, "id" | "rows">): StoreOp[] {
  const pieces = Math.ceil(codesLength(rows) / PART_BYTES);
  return Array.from({ length: pieces }, (_, piece) => ({ type: "del", key: codesKey(uid, id, piece) }));
}

/** Deletes the codes of segments that no longer exist: leftovers of a crash between two batches. */
export async function deleteStrayCodes(
  store: Store,
  uid: number,
  segments: ReadonlySet<number>,
): Promise<void> {
  const stray: StoreOp[] = [];
  for await (const key of store.keys(codesOf(uid)))
    if (!segments.has(segmentOfKey(key))) stray.push({ type: "del", key: Uint8Array.from(key) });
  if (stray.length > 0) await store.batch(stray, { sync: false });
}
