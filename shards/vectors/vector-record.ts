// Encodes and decodes stored vectors, which are the values of vector keys.
//
//   | crc32 u32 | origin u32 | scale f32 | i8[512] |
//
// The checksum covers the key and everything after the checksum. The origin identifies what made the vector,
// because vectors with different origins cannot always be compared (space.ts). Scale 0 means that the
// document has no vector.
import { crc32 } from "node:zlib";
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import { DamagedBytesError } from "../storage/envelope.js";
import { describeKey, renumberKey, vectorKey } from "../storage/keyspace.js";
import { lazily } from "../storage/lazy-ops.js";
import type { StoreOp } from "../storage/store.js";

// ON DISK - never renumber
const AT_ORIGIN = 4;
const AT_VECTOR = AT_ORIGIN + 4;
/** Size of a stored value in bytes. */
export const VALUE_BYTES = AT_VECTOR + VECTOR_BYTES;

export interface VectorRecord {
  origin: number;
  /** VECTOR_BYTES bytes. After decoding, these are a view into the stored value. */
  vector: Uint8Array;
}

/** Documents' vectors, concatenated in the order of the seqs. */
export interface Vectors {
  origin: number;
  seqs: readonly number[];
  vectors: Uint8Array;
}

/** The vectors of a new segment's rows. */
export interface NewVectors {
  origin: number;
  /** Concatenated in row order; empty if all vectors arrive later. */
  vectors: Uint8Array;
  /** Seqs of live rows whose vectors arrive later. */
  waiting: Set<number>;
  /** The vectors to store: those of documents that are visible in at least one generation. */
  shown: Vectors;
}

/**
 * Yields put operations for vectors. They all reuse one object and its memory, because an import makes one
 * put per document.
 */
export function vectorPuts(uid: number, vectors: Vectors): Iterable<StoreOp> {
  return lazily(() => puts(uid, vectors));
}

function* puts(uid: number, { origin, seqs, vectors }: Vectors): Iterable<StoreOp> {
  const key = Buffer.from(vectorKey(uid, 0));
  // The key is placed right before the origin, so that one pass computes the checksum. The checksum then
  // overwrites the end of the key.
  const memory = Buffer.allocUnsafeSlow(key.length - AT_ORIGIN + VALUE_BYTES);
  const value = memory.subarray(key.length - AT_ORIGIN);
  const put: StoreOp = { type: "put", key, value };
  value.writeUInt32LE(origin, AT_ORIGIN);
  for (const [i, seq] of seqs.entries()) {
    renumberKey(key, seq);
    memory.set(key);
    value.set(vectors.subarray(i * VECTOR_BYTES, (i + 1) * VECTOR_BYTES), AT_VECTOR);
    value.writeUInt32LE(crc32(memory), 0);
    yield put;
  }
}

/**
 * Throws DamagedBytesError, with a message that names the key, if the value is not what was stored under it.
 */
export function decodeVector(key: Uint8Array, value: Uint8Array): VectorRecord {
  const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  if (view.length !== VALUE_BYTES || checksum(key, view) !== view.readUInt32LE(0))
    throw new DamagedBytesError(`${describeKey(key)}: damaged (length or checksum)`);
  return { origin: view.readUInt32LE(AT_ORIGIN), vector: view.subarray(AT_VECTOR) };
}

export function isNone(vector: Uint8Array): boolean {
  return new DataView(vector.buffer, vector.byteOffset, 4).getFloat32(0, true) === 0;
}

function checksum(key: Uint8Array, value: Buffer): number {
  return crc32(value.subarray(AT_ORIGIN), crc32(key));
}
