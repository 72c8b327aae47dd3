// Scans of a multi-valued column into a bitset: the elements of all rows lie one behind the other, so they are
// compared several at a time, and rows are looked up only for those that fit.
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";

const SKIPPED: u32 = 64; // rows passed over at a time

let offsets: usize = 0; // u32[rows + 1]
let rows: u32 = 0;
let row: u32 = 0; // where the last element that fitted was
let to: usize = 0;

/** Names the column whose elements come next and the bitset that gets the rows. Returns the first element. */
export function elementsUse(offsetsOfRows: usize, rowCount: u32, bits: usize): u32 {
  offsets = offsetsOfRows;
  rows = rowCount;
  row = 0;
  to = bits;
  return Mem.u32At(offsets);
}

/** One more than the last element of the column. */
function elementsEnd(): u32 {
  return Mem.u32At(offsets + ((<usize>rows) << 2));
}

/** Adds the row of element `i`; elements come in order. */
function addRowOf(i: u32): void {
  while (row + SKIPPED < rows && Mem.u32At(offsets + ((<usize>(row + SKIPPED)) << 2)) <= i) row += SKIPPED;
  while (Mem.u32At(offsets + ((<usize>row) << 2) + 4) <= i) row++;
  Bits.add(to, row);
}

/** Adds the rows of the elements from `i` on whose bits are set. */
function addRowsOf(mask: u32, i: u32): void {
  for (; mask != 0; mask &= mask - 1) addRowOf(i + <u32>ctz(mask));
}

/** Rows with an i32 in [low, high]. */
export function scanInt32Elements(values: usize, from: u32, low: i32, high: i32): void {
  const lows = i32x4.splat(low);
  const highs = i32x4.splat(high);
  const end = elementsEnd();
  let i = from;
  for (; i + 4 <= end; i += 4) {
    const lanes = Mem.v128At(values + ((<usize>i) << 2));
    addRowsOf(i32x4.bitmask(v128.and(i32x4.ge_s(lanes, lows), i32x4.le_s(lanes, highs))), i);
  }
  for (; i < end; i++) {
    const value = Mem.i32At(values + ((<usize>i) << 2));
    if (value >= low && value <= high) addRowOf(i);
  }
}

/** Rows with a u32 in [first, limit). */
export function scanOrdinalElements(ordinals: usize, from: u32, first: u32, limit: u32): void {
  const firsts = i32x4.splat(first);
  const spans = i32x4.splat(limit - first);
  const end = elementsEnd();
  let i = from;
  for (; i + 4 <= end; i += 4) {
    const lanes = i32x4.sub(Mem.v128At(ordinals + ((<usize>i) << 2)), firsts);
    addRowsOf(i32x4.bitmask(i32x4.lt_u(lanes, spans)), i);
  }
  for (; i < end; i++) if (Mem.u32At(ordinals + ((<usize>i) << 2)) - first < limit - first) addRowOf(i);
}

/** Rows with an f64 in [low, high]; none when one of them is NaN. */
export function scanFloatElements(values: usize, from: u32, low: f64, high: f64): void {
  const lows = f64x2.splat(low);
  const highs = f64x2.splat(high);
  const end = elementsEnd();
  let i = from;
  for (; i + 2 <= end; i += 2) {
    const lanes = Mem.v128At(values + ((<usize>i) << 3));
    addRowsOf(i64x2.bitmask(v128.and(f64x2.ge(lanes, lows), f64x2.le(lanes, highs))), i);
  }
  for (; i < end; i++) {
    const value = Mem.f64At(values + ((<usize>i) << 3));
    if (value >= low && value <= high) addRowOf(i);
  }
}

/** Rows with a u64 equal to `hash`. */
export function scanHashElements(hashes: usize, from: u32, hash: u64): void {
  const wanted = i64x2.splat(hash);
  const end = elementsEnd();
  let i = from;
  for (; i + 2 <= end; i += 2) {
    addRowsOf(i64x2.bitmask(i64x2.eq(Mem.v128At(hashes + ((<usize>i) << 3)), wanted)), i);
  }
  for (; i < end; i++) if (Mem.u64At(hashes + ((<usize>i) << 3)) == hash) addRowOf(i);
}
