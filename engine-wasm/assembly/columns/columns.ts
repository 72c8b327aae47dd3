// Scans of a single-valued column into a bitset, 64 rows a step: four to sixteen values at a time, their
// comparison masks gathered into one word. What the values of rows without a value are does not matter: the
// caller intersects the result with the rows that have one.
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";

/** Rows whose i32 lies in [low, high]. */
export function scanInt32(values: usize, rows: u32, low: i32, high: i32, to: usize): void {
  const lows = i32x4.splat(low);
  const highs = i32x4.splat(high);
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    const at = values + ((<usize>from) << 2);
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 4) {
      const lanes = Mem.v128At(at + ((<usize>i) << 2));
      const inside = v128.and(i32x4.ge_s(lanes, lows), i32x4.le_s(lanes, highs));
      word |= (<u64>(<u32>i32x4.bitmask(inside))) << (<u64>i);
    }
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++) {
    const value = Mem.i32At(values + ((<usize>from) << 2));
    if (value >= low && value <= high) Bits.add(to, from);
  }
}

/** Rows whose u32 lies in [first, end). */
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

/** Rows whose i64 lies in [low, high]. */
export function scanInt64(values: usize, rows: u32, low: i64, high: i64, to: usize): void {
  const lows = i64x2.splat(low);
  const highs = i64x2.splat(high);
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    const at = values + ((<usize>from) << 3);
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 2) {
      const lanes = Mem.v128At(at + ((<usize>i) << 3));
      const inside = v128.and(i64x2.ge_s(lanes, lows), i64x2.le_s(lanes, highs));
      word |= (<u64>(<u32>i64x2.bitmask(inside))) << (<u64>i);
    }
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++) {
    const value = Mem.i64At(values + ((<usize>from) << 3));
    if (value >= low && value <= high) Bits.add(to, from);
  }
}

/** Rows whose f64 lies in [low, high]; none when one of them is NaN. */
export function scanFloat(values: usize, rows: u32, low: f64, high: f64, to: usize): void {
  const lows = f64x2.splat(low);
  const highs = f64x2.splat(high);
  let from: u32 = 0;
  for (; from + 64 <= rows; from += 64) {
    const at = values + ((<usize>from) << 3);
    let word: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 2) {
      const lanes = Mem.v128At(at + ((<usize>i) << 3));
      const inside = v128.and(f64x2.ge(lanes, lows), f64x2.le(lanes, highs));
      word |= (<u64>(<u32>i64x2.bitmask(inside))) << (<u64>i);
    }
    Bits.putWord(to, from >> 6, word);
  }
  for (; from < rows; from++) {
    const value = Mem.f64At(values + ((<usize>from) << 3));
    if (value >= low && value <= high) Bits.add(to, from);
  }
}

/** Rows whose u8 is 0 (when `zero`) or not 0 (when `one`). */
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

/** Rows whose u64 is equal to `hash`. */
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
