// The codes of a segment in the database, in pieces. They follow from the stored vectors, so they are written when the index
// is quiet, and what cannot be read is made anew.
//
//   piece 0, then the others: | origin u32 | count of pieces u32 | part of the codes region |     in an envelope

import type { OpenSegment } from "../segments/open-segment.js";
import { ENVELOPE_CODES, EnvelopeError, seal, unseal } from "../storage/envelope.js";
import { codesKey, codesOf, codesRange, segmentOfKey } from "../storage/keyspace.js";
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

/** Null when they are not stored, or not as they were written. */
export async function readCodes(store: Store, uid: number, segment: number): Promise<StoredCodes | null> {
  const parts: Uint8Array[] = [];
  let origin = 0;
  let pieces = 1;
  for (let piece = 0; piece < pieces; piece++) {
    const stored = await store.get(codesKey(uid, segment, piece));
    const payload = stored === undefined ? null : payloadOf(stored);
    if (payload === null || payload.length < AT_PART) return null;
    const first = payload.readUInt32LE(0);
    if (piece > 0 && (first !== origin || payload.readUInt32LE(AT_PIECES) !== pieces)) return null;
    origin = first;
    pieces = payload.readUInt32LE(AT_PIECES);
    parts.push(payload.subarray(AT_PART));
  }
  return { origin, bytes: Buffer.concat(parts) };
}

function payloadOf(stored: Uint8Array): Buffer | null {
  try {
    const payload = decodeCodesPiece(stored, "codes");
    return Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  } catch (error) {
    if (error instanceof EnvelopeError) return null;
    throw error;
  }
}

/** The payload of a piece. Throws the envelope's errors, which name `what`. */
export function decodeCodesPiece(stored: Uint8Array, what: string): Uint8Array {
  return unseal(ENVELOPE_CODES, CODES_VERSION, stored, what);
}

/** Stores codes in the place of those that are there. A crash meanwhile leaves what `readCodes` does not take. */
export async function writeCodes(
  store: Store,
  uid: number,
  segment: number,
  { origin, bytes }: StoredCodes,
): Promise<void> {
  await store.clear(codesRange(uid, segment));
  const pieces = Math.ceil(bytes.length / PART_BYTES);
  let ops: StoreOp[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    const part = bytes.subarray(piece * PART_BYTES, (piece + 1) * PART_BYTES);
    const payload = Buffer.allocUnsafe(AT_PART + part.length);
    payload.writeUInt32LE(origin, 0);
    payload.writeUInt32LE(pieces, AT_PIECES);
    payload.set(part, AT_PART);
    ops.push({
      type: "put",
      key: codesKey(uid, segment, piece),
      value: seal(ENVELOPE_CODES, CODES_VERSION, payload),
    });
    if (ops.length < PIECES_PER_BATCH && piece + 1 < pieces) continue;
    await store.batch(ops, { sync: false, adds: true });
    ops = [];
  }
}

/** Deletes of the stored codes of a segment that is replaced. */
export function deleteCodes(uid: number, { record, codes }: OpenSegment): StoreOp[] {
  if (codes === null) return [];
  const pieces = Math.ceil(codes.bytes / PART_BYTES);
  return Array.from({ length: pieces }, (_, piece) => ({
    type: "del",
    key: codesKey(uid, record.id, piece),
  }));
}

/** Deletes the codes of segments that are not there any more: what a crash between two batches may have left. */
export async function deleteStrayCodes(
  store: Store,
  uid: number,
  segments: ReadonlySet<number>,
): Promise<void> {
  const stray: StoreOp[] = [];
  for await (const key of store.keys(codesOf(uid)))
    if (!segments.has(segmentOfKey(key))) stray.push({ type: "del", key });
  if (stray.length > 0) await store.batch(stray, { sync: false });
}
