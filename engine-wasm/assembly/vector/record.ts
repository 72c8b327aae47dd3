// Converts vectors from outside to the index's form. They are rotated, scaled to length 1 and, for rows,
// stored as records of small integers.

import { VECTOR_BYTES, VECTOR_NUMBERS, VECTOR_SCALE, VECTOR_SIZE } from "../layout";
import { Mem } from "../memory/mem";
import { rotate } from "./rotation";

const FLOAT_BYTES: usize = VECTOR_SIZE << 2;
const NUMBERS_END: usize = VECTOR_BYTES;
const LARGEST: f32 = 127;

/** Writes the parts of a vector record: first its numbers, then its scale. */
export abstract class RecordPart {
  /**
   * Writes sixteen numbers from -127 to 127 to `to`. Returns the sum of their squares as four partial sums.
   */
  @inline static put(to: usize, a: v128, b: v128, c: v128, d: v128): v128 {
    const low = i16x8.narrow_i32x4_s(a, b);
    const high = i16x8.narrow_i32x4_s(c, d);
    Mem.putV128(to, i8x16.narrow_i16x8_s(low, high));
    return i32x4.add(i32x4.dot_i16x8_s(low, low), i32x4.dot_i16x8_s(high, high));
  }

  /** Writes the scale that normalises numbers with these squares to length 1; 0 if all are 0. */
  static putScale(record: usize, squares: v128): void {
    const square =
      i32x4.extract_lane(squares, 0) +
      i32x4.extract_lane(squares, 1) +
      i32x4.extract_lane(squares, 2) +
      i32x4.extract_lane(squares, 3);
    Mem.putF32(record + VECTOR_SCALE, square == 0 ? 0 : <f32>(1.0 / Math.sqrt(<f64>square)));
  }
}

/**
 * Normalises f64[VECTOR_SIZE] at `values` to length 1, rotates it and writes it to `vector` as
 * f32[VECTOR_SIZE]. Returns false and writes nothing if any value is not finite or all are 0.
 */
export function turnVector(values: usize, vector: usize): bool {
  let largest: f64 = 0;
  for (let i: usize = 0; i < FLOAT_BYTES << 1; i += 8) {
    const value = Mem.f64At(values + i);
    if (!isFinite(value)) return false;
    largest = max(largest, abs(value));
  }
  if (largest == 0) return false;
  let square: f64 = 0; // the values are first divided by the largest, so the sum of squares cannot overflow
  for (let i: usize = 0; i < FLOAT_BYTES << 1; i += 8) {
    const share = Mem.f64At(values + i) / largest;
    square += share * share;
  }
  const length = Math.sqrt(square);
  for (let i: usize = 0; i < FLOAT_BYTES; i += 4)
    Mem.putF32(vector + i, <f32>(Mem.f64At(values + (i << 1)) / largest / length));
  rotate(vector);
  return true;
}

/**
 * Writes the record for the vector f32[VECTOR_SIZE], which must not be all 0. Its largest number becomes 127
 * or -127.
 */
export function putVectorRecord(vector: usize, record: usize): void {
  let most = f32x4.splat(0);
  for (let i: usize = 0; i < FLOAT_BYTES; i += 16) most = f32x4.max(most, f32x4.abs(Mem.v128At(vector + i)));
  const largest = max(
    max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1)),
    max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)),
  );
  const scale = f32x4.splat(LARGEST / largest);
  let squares: v128 = i32x4.splat(0);
  let from = vector;
  for (let at = record + VECTOR_NUMBERS; at < record + NUMBERS_END; at += 16) {
    const a = whole(from, scale);
    const b = whole(from + 16, scale);
    const c = whole(from + 32, scale);
    const d = whole(from + 48, scale);
    squares = i32x4.add(squares, RecordPart.put(at, a, b, c, d));
    from += 64;
  }
  RecordPart.putScale(record, squares);
}

/** Multiplies four numbers by the scale and rounds to the nearest integers. */
function whole(from: usize, scale: v128): v128 {
  return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(Mem.v128At(from), scale)));
}
