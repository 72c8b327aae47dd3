// Adds up term vectors. Coefficients become whole numbers relative to the largest one, and sums are whole numbers, so the
// result does not depend on the order of the terms: coefficient 32767 times a number of 8 bits, of 64 terms, is below 2^31.

import { VECTOR_NUMBERS, VECTOR_SIZE } from "../layout";
import { Mem } from "../memory/mem";
import { RecordPart } from "../vector/record";
import { Heaviest } from "./heaviest";
import { Model } from "./model";

export const SUMS_BYTES: usize = VECTOR_SIZE * 4;
const LARGEST: f32 = 32767;

/** Four sums at a time. */
abstract class Four {
  @inline static add(sums: usize, values: v128): void {
    Mem.putV128(sums, i32x4.add(Mem.v128At(sums), values));
  }

  /** Times the scale, as the nearest whole numbers. */
  @inline static scaled(sums: usize, scale: v128): v128 {
    return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(f32x4.convert_i32x4_s(Mem.v128At(sums)), scale)));
  }
}

/** i32[VECTOR_SIZE] at `sums`: the sum of the terms' vectors by their coefficients. */
export function combine(model: usize, heaviest: usize, sums: usize): void {
  Mem.fill(sums, 0, SUMS_BYTES);
  const count = Heaviest.count(heaviest);
  let largest: f32 = 0;
  for (let i: u32 = 0; i < count; i++) largest = max(largest, Heaviest.coefficient(heaviest, i));
  if (largest == 0) return;
  for (let i: u32 = 0; i < count; i += 2) {
    const a = Model.numbers(model, Heaviest.term(heaviest, i));
    const factorA = whole(Heaviest.coefficient(heaviest, i), largest);
    if (i + 1 == count) {
      addPair(sums, a, a, factorA);
      return;
    }
    const b = Model.numbers(model, Heaviest.term(heaviest, i + 1));
    addPair(sums, a, b, factorA | (whole(Heaviest.coefficient(heaviest, i + 1), largest) << 16));
  }
}

/** A coefficient as a whole number, LARGEST for the largest. */
function whole(coefficient: f32, largest: f32): i32 {
  return <i32>nearest<f32>((coefficient / largest) * LARGEST);
}

/** Adds the numbers at a times the lower half of `factors`, and those at b times the upper half. */
function addPair(sums: usize, a: usize, b: usize, factors: i32): void {
  const pair = i32x4.splat(factors);
  const end = a + VECTOR_SIZE;
  for (; a < end; a += 16) {
    const x = Mem.v128At(a);
    const y = Mem.v128At(b);
    const low = v128.shuffle<u8>(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const high = v128.shuffle<u8>(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    Four.add(sums, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(low), pair));
    Four.add(sums + 16, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(low), pair));
    Four.add(sums + 32, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(high), pair));
    Four.add(sums + 48, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(high), pair));
    sums += 64;
    b += 16;
  }
}

/** The largest magnitude among the sums. */
function largestOf(sums: usize): u32 {
  let most = i32x4.splat(0);
  for (let at = sums; at < sums + SUMS_BYTES; at += 16) most = i32x4.max_u(most, i32x4.abs(Mem.v128At(at)));
  return max(
    max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 1)),
    max(<u32>i32x4.extract_lane(most, 2), <u32>i32x4.extract_lane(most, 3)),
  );
}

/** Writes the record (VECTOR_BYTES) of the sums' direction to `record`; one of no vector when they are all 0. */
export function putRecord(sums: usize, record: usize): void {
  const largest = largestOf(sums);
  const scale = f32x4.splat(largest == 0 ? 0 : <f32>127 / <f32>largest);
  let squares: v128 = i32x4.splat(0);
  let to = record + VECTOR_NUMBERS;
  for (let at = sums; at < sums + SUMS_BYTES; at += 64) {
    const a = Four.scaled(at, scale);
    const b = Four.scaled(at + 16, scale);
    const c = Four.scaled(at + 32, scale);
    const d = Four.scaled(at + 48, scale);
    squares = i32x4.add(squares, RecordPart.put(to, a, b, c, d));
    to += 16;
  }
  RecordPart.putScale(record, squares);
}

/** Turns the sums into f32[VECTOR_SIZE] of length 1, in place; false when they are all 0. */
export function normaliseSums(sums: usize): bool {
  let square: f64 = 0;
  for (let at = sums; at < sums + SUMS_BYTES; at += 4) square += <f64>Mem.i32At(at) * <f64>Mem.i32At(at);
  if (square == 0) return false;
  const scale = 1.0 / Math.sqrt(square);
  for (let at = sums; at < sums + SUMS_BYTES; at += 4) Mem.putF32(at, <f32>(<f64>Mem.i32At(at) * scale));
  return true;
}
