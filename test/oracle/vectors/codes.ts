// Vector records, codes and nearest neighbours, computed one number, one bit and one row at a time.
import { scaleOf, singleEstimate } from "./singles.js";

const SIZE = 512;

/** A stored vector: integers from -127 to 127. Null if the row has no vector. */
export type PlainVector = readonly number[] | null;

/** The concatenated bytes of vector records. */
export function plainRecords(vectors: readonly PlainVector[]): Uint8Array {
  const out = Buffer.alloc(vectors.length * (4 + SIZE));
  for (const [i, numbers] of vectors.entries()) {
    if (numbers === null) continue;
    const at = i * (4 + SIZE);
    out.writeFloatLE(scaleOf(numbers), at);
    for (const [j, number] of numbers.entries()) out.writeInt8(number, at + 4 + j);
  }
  return new Uint8Array(out);
}

/** The cosine of a vector and a query of length 1. */
export function plainCosine(query: ArrayLike<number>, numbers: readonly number[]): number {
  return numbers.reduce((sum, number, i) => sum + number * query[i]!, 0) / Math.hypot(...numbers);
}

/** The bytes of a codes region. */
export function plainCodes(vectors: readonly PlainVector[]): Uint8Array {
  const present = 8;
  const first = present + 8 * Math.ceil(vectors.length / 64);
  const out = Buffer.alloc(first + 64 * vectors.length);
  out.writeUInt32LE(vectors.length, 0);
  for (const [row, numbers] of vectors.entries()) {
    if (numbers === null) continue;
    out[present + (row >> 3)]! |= 1 << (row & 7);
    for (const [i, number] of numbers.entries())
      if (number >= 0) out[first + 64 * row + (i >> 3)]! |= 1 << (i & 7);
  }
  return new Uint8Array(out);
}

export interface PlainNearest {
  seq: number;
  distance: number;
  estimate: number;
  /** Estimate from the signs, rounded exactly as in the product. */
  singleEstimate: number;
}

/**
 * Returns the rows that have a vector. Those whose signs differ least from the query's signs come first; on a
 * tie, the newer row.
 */
export function plainNearest(
  rows: readonly { seq: number; vector: PlainVector }[],
  query: Float32Array,
): PlainNearest[] {
  return rows
    .flatMap(({ seq, vector }): PlainNearest[] => {
      if (vector === null) return [];
      let distance = 0;
      let signed = 0;
      for (const [i, number] of vector.entries()) {
        if (number >= 0 !== query[i]! >= 0) distance++;
        signed += number >= 0 ? query[i]! : -query[i]!;
      }
      const estimate = signed / Math.sqrt(SIZE) / Math.sqrt(2 / Math.PI);
      return [{ seq, distance, estimate, singleEstimate: singleEstimate(query, vector) }];
    })
    .sort((a, b) => a.distance - b.distance || b.seq - a.seq);
}
