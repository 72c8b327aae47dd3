// Converts vectors from a client or an embedding endpoint to the form in which an index stores and compares
// them. docs/FORMATS.md describes the record and the rotation.
import { VECTOR_SIZE } from "../../assembly/layout.js";
import type { EngineInstance } from "../wasm/memory.js";

/**
 * Returns the vector record for 512 numbers, which need not be normalised. Null if a number is not finite, or
 * all numbers are 0.
 */
export function vectorOf(
  instance: EngineInstance,
  vector: Float32Array | Float64Array,
): Uint8Array<ArrayBuffer> | null {
  const record = instance.exchange(valuesOf(vector), (kernels, p, bytes) => kernels.outsideRecord(p, bytes));
  return record.length === 0 ? null : new Uint8Array(record.buffer as ArrayBuffer);
}

/**
 * Returns a query's vector, of length 1 and rotated, for 512 numbers, which need not be normalised. Null if a
 * number is not finite, or all numbers are 0.
 */
export function queryVector(
  instance: EngineInstance,
  vector: Float32Array | Float64Array,
): Float32Array<ArrayBuffer> | null {
  const turned = instance.exchange(valuesOf(vector), (kernels, p, bytes) => kernels.outsideVector(p, bytes));
  return turned.length === 0 ? null : new Float32Array(turned.buffer as ArrayBuffer);
}

/**
 * Returns the vector record for a document's `embedding`. Null unless `embedding` consists of 512 finite
 * numbers that are not all 0.
 */
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
