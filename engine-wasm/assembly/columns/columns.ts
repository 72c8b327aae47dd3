// Scans a single-valued column into a bitset, 64 rows per step. Compares four to sixteen values at a time and
// combines the resulting masks into one word. Rows without a value are compared too; the caller intersects
// the result with the rows that have one.
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";

/** Tests whether numbers are in a range of i32, i64 or f64, depending on `T`. NaN is never in a range. */
export abstract class Range {
  /**
   * One bit per value in the 16 bytes at `at`, set if the value is in the range whose bounds fill `lows` and
   * `highs`.
   */
  @inline static lanes<T>(at: usize, lows: v128, highs: v128): u32 {
    const values = Mem.v128At(at);
    const inside = v128.and(v128.ge<T>(values, lows), v128.le<T>(values, highs));
    return sizeof<T>() == 4 ? i32x4.bitmask(inside) : i64x2.bitmask(inside);
  }

  /** True if the value at `at` is in the range. */
  @inline static has<T>(at: usize, low: T, high: T): bool {
    if (isFloat<T>()) {
      const value = Mem.f64At(at);
      return value >= <f64>low && value <= <f64>high;
    }
    if (sizeof<T>() == 4) {
      const value = Mem.i32At(at);
      return value >= <i32>low && value <= <i32>high;
    }
    const value = Mem.i64At(at);
    return value >= <i64>low && value <= <i64>high;
  }
}

/** Sets in `to` the bits of rows whose value is in [low, high]. */
export function scanRange<T>(values: usize, rows: u32, low: T, high: T, to: usize): void {
  const lows = v128.splat<T>(low);
  const highs = v128.splat<T>(high);
  const count = <u32>(16 / sizeof<T>());
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    const at = values + <usize>from * sizeof<T>();
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += count)
      word |= (<u64>Range.lanes<T>(at + <usize>i * sizeof<T>(), lows, highs)) << (<u64>i);
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++)
    if (Range.has<T>(values + <usize>from * sizeof<T>(), low, high)) Bits.add(to, from);
}

/** Sets in `to` the bits of rows whose u32 is in [first, end). */
export function scanOrdinals(ordinals: usize, rows: u32, first: u32, end: u32, to: usize): void {
  const firsts = i32x4.splat(first);
  const spans = i32x4.splat(end - first);
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    const at = ordinals + ((<usize>from) << 2);
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 4) {
      const lanes = i32x4.sub(Mem.v128At(at + ((<usize>i) << 2)), firsts);
      word |= (<u64>(<u32>i32x4.bitmask(i32x4.lt_u(lanes, spans)))) << (<u64>i);
    }
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++) {
    if (Mem.u32At(ordinals + ((<usize>from) << 2)) - first < end - first) Bits.add(to, from);
  }
}

/** Sets in `to` the bits of rows whose u8 is 0 (if `zero`) or not 0 (if `one`). */
export function scanBool(values: usize, rows: u32, zero: bool, one: bool, to: usize): void {
  const zeros = i8x16.splat(zero ? -1 : 0);
  const ones = i8x16.splat(one ? -1 : 0);
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 16) {
      const isZero = i8x16.eq(Mem.v128At(values + from + i), i8x16.splat(0));
      word |= (<u64>(<u32>i8x16.bitmask(v128.bitselect(zeros, ones, isZero)) & 0xffff)) << (<u64>i);
    }
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++) if (Mem.u8At(values + from) == 0 ? zero : one) Bits.add(to, from);
}

/** Sets in `to` the bits of rows whose u64 equals `hash`. */
export function scanHashes(hashes: usize, rows: u32, hash: u64, to: usize): void {
  const wanted = i64x2.splat(hash);
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    const at = hashes + ((<usize>from) << 3);
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 2) {
      word |= (<u64>(<u32>i64x2.bitmask(i64x2.eq(Mem.v128At(at + ((<usize>i) << 3)), wanted)))) << (<u64>i);
    }
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++) if (Mem.u64At(hashes + ((<usize>from) << 3)) == hash) Bits.add(to, from);
}
