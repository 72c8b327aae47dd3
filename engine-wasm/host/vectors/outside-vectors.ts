// Vectors from outside (of a client or of an endpoint) made into vectors of the index, and exact cosines of stored ones. The record and
// the rotation are drawn in docs/FORMATS.md.
import { VECTOR_BYTES, VECTOR_SIZE } from "../../assembly/layout.js";
import type { EngineInstance } from "../wasm/memory.js";

const FLOAT_BYTES = 4;

/**
 * The cosine of a query vector, of length 1 and rotated, with each of these vector records; NaN for a record of no vector.
 * Throws EngineError("program") when the bytes are no records.
 */
export function similarities(
  instance: EngineInstance,
  query: Float32Array,
  records: Uint8Array,
): Float32Array<ArrayBuffer> {
  checkSize(query);
  const queryBytes = VECTOR_SIZE * FLOAT_BYTES;
  const bytes = queryBytes + records.length;
  const p = instance.room(bytes);
  instance.view().set(new Uint8Array(query.buffer, query.byteOffset, query.byteLength), p);
  instance.view().set(records, p + queryBytes);
  const result = instance.result(instance.run((kernels) => kernels.similarities(p, bytes)));
  return new Float32Array(result.buffer as ArrayBuffer, 0, Math.floor(records.length / VECTOR_BYTES));
}

/** The vector record of 512 numbers of any length; null when one is not finite, or all are 0. */
export function vectorOf(
  instance: EngineInstance,
  vector: Float32Array | Float64Array,
): Uint8Array<ArrayBuffer> | null {
  const record = instance.exchange(valuesOf(vector), (kernels, p, bytes) => kernels.outsideRecord(p, bytes));
  return record.length === 0 ? null : new Uint8Array(record.buffer as ArrayBuffer);
}

/** The vector of a query, of length 1 and rotated, from 512 numbers of any length; null when one is not finite, or all are 0. */
export function queryVector(
  instance: EngineInstance,
  vector: Float32Array | Float64Array,
): Float32Array<ArrayBuffer> | null {
  const turned = instance.exchange(valuesOf(vector), (kernels, p, bytes) => kernels.outsideVector(p, bytes));
  return turned.length === 0 ? null : new Float32Array(turned.buffer as ArrayBuffer);
}

/** The vector record of a document's member `embedding`; null when it has none, or none of 512 finite numbers that are not all 0. */
export function vectorOfJson(instance: EngineInstance, raw: Uint8Array): Uint8Array<ArrayBuffer> | null {
  const record = instance.exchange(raw, (kernels, p, bytes) => kernels.documentRecord(p, bytes));
  return record.length === 0 ? null : new Uint8Array(record.buffer as ArrayBuffer);
}

function checkSize(vector: Float32Array | Float64Array): void {
  if (vector.length !== VECTOR_SIZE)
    throw new RangeError(`a vector has ${VECTOR_SIZE} numbers, not ${vector.length}`);
}

function valuesOf(vector: Float32Array | Float64Array): Uint8Array {
  checkSize(vector);
  return new Uint8Array(Float64Array.from(vector).buffer);
}
