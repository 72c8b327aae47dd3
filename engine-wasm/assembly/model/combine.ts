// Adds up term vectors. Coefficients are rounded to integers relative to the largest one, and sums are
// integers, so the result does not depend on the order of the terms. The sum of 64 terms with coefficients of
// at most 32767 and 8-bit numbers stays below 2^31.

import { DOCUMENT_TERMS_MAX, VECTOR_NUMBERS, VECTOR_SIZE } from "../layout";
import { Mem } from "../memory/mem";
import { RecordPart } from "../vector/record";
import { Heaviest } from "./heaviest";
import { Model } from "./model";

const SUMS_BYTES: usize = VECTOR_SIZE * 4;
const LARGEST: f32 = 32767;

/** Number of sums computed at a time. They stay in registers while all terms are added. */
const BLOCK_NUMBERS: usize = 32;
/**
 * Two terms with their integer coefficients: | u32 address of numbers | u32 address of numbers | i16
 * coefficient | i16 coefficient |
 */
const PAIR_BYTES: usize = 12;
/** Space for the sums, i32[VECTOR_SIZE], and for the pairs, which are needed only during the addition. */
export const COMBINATION_BYTES: usize = SUMS_BYTES + <usize>(DOCUMENT_TERMS_MAX / 2) * PAIR_BYTES;

/** SIMD operations on four i32 sums. */
abstract class Four {
  /** Multiplies by the scale and rounds to the nearest integers. */
  @inline static scaled(sums: usize, scale: v128): v128 {
    return i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(f32x4.convert_i32x4_s(Mem.v128At(sums)), scale)));
  }
}

/**
 * Writes the sum of the terms' vectors, weighted by their coefficients, to `sums` as i32[VECTOR_SIZE]. `sums`
 * has room for COMBINATION_BYTES.
 */
export function combine(model: usize, heaviest: usize, sums: usize): void {
  const pairs = sums + SUMS_BYTES;
  const end = pairs + putPairs(model, heaviest, pairs) * PAIR_BYTES;
  for (let first: usize = 0; first < <usize>VECTOR_SIZE; first += BLOCK_NUMBERS)
    addBlock(pairs, end, first, sums + (first << 2));
}

/** Writes the terms and their coefficients to `pairs`, two terms per pair. Returns the number of pairs. */
function putPairs(model: usize, heaviest: usize, pairs: usize): usize {
  const count = Heaviest.count(heaviest);
  let largest: f32 = 0;
  for (let i: u32 = 0; i < count; i++) largest = max(largest, Heaviest.coefficient(heaviest, i));
  if (largest == 0) return 0;
  for (let i: u32 = 0; i < count; i += 2) {
    const pair = pairs + <usize>(i >> 1) * PAIR_BYTES;
    // If the number of terms is odd, the last one is paired with itself, with coefficient 0.
    const second = min(i + 1, count - 1);
    Mem.putU32(pair, <u32>Model.numbers(model, Heaviest.term(heaviest, i)));
    Mem.putU32(pair + 4, <u32>Model.numbers(model, Heaviest.term(heaviest, second)));
    const other = second == i ? 0 : whole(Heaviest.coefficient(heaviest, second), largest);
    Mem.putU32(pair + 8, whole(Heaviest.coefficient(heaviest, i), largest) | (other << 16));
  }
  return (<usize>count + 1) >> 1;
}

/** Converts a coefficient to an integer; the largest becomes LARGEST. */
function whole(coefficient: f32, largest: f32): u32 {
  return <u32>nearest<f32>((coefficient / largest) * LARGEST);
}

/**
 * Computes BLOCK_NUMBERS sums, starting at number `first`, over all pairs up to `end`, and writes them to
 * `sums`.
 */
function addBlock(pairs: usize, end: usize, first: usize, sums: usize): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  let f = a;
  let g = a;
  let h = a;
  for (let pair = pairs; pair < end; pair += PAIR_BYTES) {
    const one = <usize>Mem.u32At(pair) + first;
    const other = <usize>Mem.u32At(pair + 4) + first;
    const factors = i32x4.splat(Mem.u32At(pair + 8));
    const low = Pair.first(one, other);
    a = i32x4.add(a, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(low), factors));
    b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(low), factors));
    const middle = Pair.second(one, other);
    c = i32x4.add(c, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(middle), factors));
    d = i32x4.add(d, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(middle), factors));
    const high = Pair.first(one + 16, other + 16);
    e = i32x4.add(e, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(high), factors));
    f = i32x4.add(f, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(high), factors));
    const last = Pair.second(one + 16, other + 16);
    g = i32x4.add(g, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(last), factors));
    h = i32x4.add(h, i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(last), factors));
  }
  Mem.putV128(sums, a);
  Mem.putV128(sums + 16, b);
  Mem.putV128(sums + 32, c);
  Mem.putV128(sums + 48, d);
  Mem.putV128(sums + 64, e);
  Mem.putV128(sums + 80, f);
  Mem.putV128(sums + 96, g);
  Mem.putV128(sums + 112, h);
}

/**
 * Interleaves two terms' numbers, which are at the two addresses. `first` takes the first eight of each,
 * `second` the next eight.
 */
abstract class Pair {
  @inline static first(one: usize, other: usize): v128 {
    const x = Mem.v128At(one);
    const y = Mem.v128At(other);
    return v128.shuffle<u8>(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  }
  @inline static second(one: usize, other: usize): v128 {
    const x = Mem.v128At(one);
    const y = Mem.v128At(other);
    return v128.shuffle<u8>(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

/** The largest absolute value among the sums. */
function largestOf(sums: usize): u32 {
  let most = i32x4.splat(0);
  for (let at = sums; at < sums + SUMS_BYTES; at += 16) most = i32x4.max_u(most, i32x4.abs(Mem.v128At(at)));
  return max(
    max(<u32>i32x4.extract_lane(most, 0), <u32>i32x4.extract_lane(most, 1)),
    max(<u32>i32x4.extract_lane(most, 2), <u32>i32x4.extract_lane(most, 3)),
  );
}

/**
 * Writes the vector record (VECTOR_BYTES) for the sums' direction to `record`, or an empty record if all sums
 * are 0.
 */
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

/** Converts the sums in place to f32[VECTOR_SIZE] of length 1. Returns false if all sums are 0. */
export function normaliseSums(sums: usize): bool {
  let square: f64 = 0;
  for (let at = sums; at < sums + SUMS_BYTES; at += 4) square += <f64>Mem.i32At(at) * <f64>Mem.i32At(at);
  if (square == 0) return false;
  const scale = 1.0 / Math.sqrt(square);
  for (let at = sums; at < sums + SUMS_BYTES; at += 4) Mem.putF32(at, <f32>(<f64>Mem.i32At(at) * scale));
  return true;
}
