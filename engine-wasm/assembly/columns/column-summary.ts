// Summary of a single-valued column, computed when its segment first appears in a snapshot, so that queries
// need not read all values: the smallest and largest value in each zone of rows, and a byte per row that
// approximates its value. Values are compared as u64 keys in the same order; a string's key is its ordinal.
//
//   zones:  { u64 least, u64 largest } per zone of ZONE_ROWS rows; least > largest if no row has a value
//   codes:  u8 per row, never decreasing as the value grows; undefined for rows without a value
//   ranges: { u64 least, u64 largest } per code, over the rows that have a value
//   bounds: u64 per code: the smallest key with that code; not used for code 0

import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { NO_SPAN, RECORD_BYTES, RECORD_KEY, sortRecords } from "../memory/order";
import { isArrayType, isStringType, valueBytes } from "../segment/field-type";
import { Field } from "../segment/segment";
import { valueKey } from "./column-values";

const ZONE_SHIFT: u32 = 7;
const ZONE_ROWS: u32 = 1 << ZONE_SHIFT;
const RANGE_BYTES: usize = 16;
const CODES: u32 = 256;
// Number of rows sampled to choose the codes' bounds, so that each code covers about equally many rows.
const SAMPLE_ROWS: u32 = 2048;

/**
 * The field's column if it is worth summarising, else 0. A column of booleans is not, because it already
 * takes only one byte per row.
 */
export function summarisedColumn(segment: usize, field: usize): usize {
  const type = Field.type(field);
  if (isArrayType(type) || valueBytes(type) == 1) return 0;
  return isStringType(type) ? Field.ordinals(segment, field) : Field.values(segment, field);
}

/** Size in bytes of the zones for `rows` rows. */
export function zonesBytes(rows: u32): usize {
  return <usize>((rows + ZONE_ROWS - 1) >> ZONE_SHIFT) * RANGE_BYTES;
}
/** Size in bytes of the codes for `rows` rows, rounded up because codes are read 64 at a time. */
export function codesBytes(rows: u32): usize {
  return (<usize>rows + 63) & ~63;
}
export const CODE_RANGES_BYTES: usize = <usize>CODES * RANGE_BYTES;
export const CODE_BOUNDS_BYTES: usize = (<usize>CODES) << 3;

/** Clears a column's zones and ranges and chooses its code bounds. Must be called before rows are added. */
export function columnBegin(
  type: u32,
  column: usize,
  present: usize,
  rows: u32,
  zones: usize,
  ranges: usize,
  bounds: usize,
): void {
  clearRanges(zones, zonesBytes(rows));
  clearRanges(ranges, CODE_RANGES_BYTES);
  findBounds(type, column, present, rows, bounds);
}

/** Adds a column's rows [from, to) to its zones, codes and ranges. */
export function columnAdd(
  type: u32,
  column: usize,
  present: usize,
  from: u32,
  to: u32,
  zones: usize,
  codes: usize,
  ranges: usize,
  bounds: usize,
): void {
  for (let row = from; row < to; row++) {
    if (!Bits.has(present, row)) {
      Mem.putU8(codes + <usize>row, 0);
      continue;
    }
    const key = valueKey(type, column, row);
    const code = codeOf(key, bounds);
    Mem.putU8(codes + <usize>row, code);
    widen(ranges + <usize>code * RANGE_BYTES, key);
    widen(zones + <usize>(row >> ZONE_SHIFT) * RANGE_BYTES, key);
  }
}

/** Returns the code of a sort key. */
export function codeOf(key: u64, bounds: usize): u32 {
  let code: usize = 0;
  for (let step: usize = CODES >> 1; step > 0; step >>= 1) {
    // Branch-free, because the processor could not predict the branch.
    code += select<usize>(step, 0, Mem.u64At(bounds + ((code + step) << 3)) <= key);
  }
  return <u32>code;
}

/** Chooses the bounds from a sample of the rows. */
function findBounds(type: u32, column: usize, present: usize, rows: u32, bounds: usize): void {
  const sample = min(rows, SAMPLE_ROWS);
  const records = scratch(<usize>sample * RECORD_BYTES);
  let count: u32 = 0;
  for (let i: u32 = 0; i < sample; i++) {
    const row = <u32>((<u64>i * rows) / sample);
    if (!Bits.has(present, row)) continue;
    const record = records + <usize>count * RECORD_BYTES;
    count++;
    Mem.putU64(record + RECORD_KEY, valueKey(type, column, row));
  }
  const sorted = sortRecords(records, count, NO_SPAN, NO_SPAN, NO_SPAN);
  for (let code: u32 = 0; code < CODES; code++) {
    const at = sorted + <usize>((code * count) / CODES) * RECORD_BYTES;
    Mem.putU64(bounds + ((<usize>code) << 3), count == 0 ? 0 : Mem.u64At(at + RECORD_KEY));
  }
}

function clearRanges(ranges: usize, bytes: usize): void {
  for (let at = ranges; at < ranges + bytes; at += RANGE_BYTES) {
    Mem.putU64(at, u64.MAX_VALUE);
    Mem.putU64(at + 8, 0);
  }
}

function widen(range: usize, key: u64): void {
  if (key < Mem.u64At(range)) Mem.putU64(range, key);
  if (key > Mem.u64At(range + 8)) Mem.putU64(range + 8, key);
}

/** The smallest and the largest key in a row's zone. */
export function zoneLeast(zones: usize, row: u32): u64 {
  return Mem.u64At(zones + <usize>(row >> ZONE_SHIFT) * RANGE_BYTES);
}
export function zoneLargest(zones: usize, row: u32): u64 {
  return Mem.u64At(zones + <usize>(row >> ZONE_SHIFT) * RANGE_BYTES + 8);
}

const NO_CODE: u32 = 0xffff;
// If at most this many of 64 rows are to be checked, they are checked one by one.
const LOOKED_AT_SINGLY: u64 = 6;
// Size in bytes of the buffer for the numbers of rows whose values must be read. The values are far apart in
// memory, so rows are collected first and then read in one loop, in which the processor can fetch many values
// at once.
const ASKED_BYTES: usize = 0x4000;
const ASKED_OF_WORD: usize = 256;

/**
 * Sets in `to`, which must be zeroed, the bits of the rows whose sort key is in [low, high]; requires low <=
 * high. Decides each row by its code, and reads its value only if keys outside the range have the same code.
 * If `among` is not 0, only rows in that bitset are considered.
 */
export function scanCodes(
  type: u32,
  column: usize,
  present: usize,
  rows: u32,
  codes: usize,
  ranges: usize,
  low: u64,
  high: u64,
  among: usize,
  to: usize,
): void {
  let first = NO_CODE; // every row with a code from `first` to `last` is in the range
  let last: u32 = 0;
  let partial = NO_CODE; // rows with code `partial` or `other` may be in the range: their values must be read
  let other = NO_CODE;
  for (let code: u32 = 0; code < CODES; code++) {
    const least = Mem.u64At(ranges + <usize>code * RANGE_BYTES);
    const largest = Mem.u64At(ranges + <usize>code * RANGE_BYTES + 8);
    if (least > largest || largest < low || least > high) continue;
    if (least < low || largest > high) {
      other = partial;
      partial = code;
      continue;
    }
    if (first == NO_CODE) first = code;
    last = code;
  }
  const span: u32 = first == NO_CODE ? 0 : last - first;
  const firsts = i8x16.splat(<i8>first);
  const spans = i8x16.splat(<i8>span);
  const partials = i8x16.splat(<i8>partial);
  const others = i8x16.splat(<i8>(other == NO_CODE ? partial : other));
  const asked = scratch(ASKED_BYTES);
  let askedEnd = asked;
  for (let from: u32 = 0; from < rows; from += 64) {
    // The last word's bits at and after `rows` are 0.
    const here = Bits.word(present, from >> 6) & (among == 0 ? ~(<u64>0) : Bits.word(among, from >> 6));
    if (here == 0) continue;
    const at = codes + <usize>from;
    let word: u64 = 0;
    let some: u64 = 0;
    if (popcnt(here) <= LOOKED_AT_SINGLY) {
      for (let rest = here; rest != 0; rest &= rest - 1) {
        const code = Mem.u8At(at + <usize>ctz(rest));
        if (code - first <= span) word |= rest & (~rest + 1);
        else if (code == partial || code == other) some |= rest & (~rest + 1);
      }
    } else {
      if (first != NO_CODE) word = Codes.within(at, firsts, spans) & here;
      if (partial != NO_CODE && Codes.anyIs(at, partials, others))
        some = Codes.are(at, partials, others) & here;
    }
    Bits.putWord(to, from >> 6, word);
    for (; some != 0; some &= some - 1) {
      Mem.putU32(askedEnd, from + <u32>ctz(some));
      askedEnd += 4;
    }
    if (askedEnd - asked <= ASKED_BYTES - ASKED_OF_WORD) continue;
    addInside(type, column, asked, askedEnd, low, high, to);
    askedEnd = asked;
  }
  addInside(type, column, asked, askedEnd, low, high, to);
}

/** For the rows at [at, end), u32 each, adds those whose sort key is in [low, high] to `to`. */
function addInside(type: u32, column: usize, at: usize, end: usize, low: u64, high: u64, to: usize): void {
  for (; at < end; at += 4) {
    const row = Mem.u32At(at);
    const bits = to + ((<usize>(row >> 6)) << 3);
    // Does not branch, because the processor could not predict the branch.
    const inside: u64 = valueKey(type, column, row) - low <= high - low ? 1 : 0;
    Mem.putU64(bits, Mem.u64At(bits) | (inside << (row & 63)));
  }
}

abstract class Codes {
  /**
   * Mask of the codes that are within the range, among the 64 codes at `at`. All lanes of `firsts` contain
   * the first code, all lanes of `spans` the last code minus the first.
   */
  @inline static within(at: usize, firsts: v128, spans: v128): u64 {
    return (
      Codes.masks(Codes.in(at, firsts, spans), Codes.in(at + 16, firsts, spans)) |
      (Codes.masks(Codes.in(at + 32, firsts, spans), Codes.in(at + 48, firsts, spans)) << 32)
    );
  }

  /** Mask of the codes equal to `one` or `other`, among the 64 codes at `at`. */
  @inline static are(at: usize, one: v128, other: v128): u64 {
    return (
      Codes.masks(Codes.is(at, one, other), Codes.is(at + 16, one, other)) |
      (Codes.masks(Codes.is(at + 32, one, other), Codes.is(at + 48, one, other)) << 32)
    );
  }

  /** True if any of the 64 codes at `at` is `one` or `other`. */
  @inline static anyIs(at: usize, one: v128, other: v128): bool {
    const low = v128.or(Codes.is(at, one, other), Codes.is(at + 16, one, other));
    const high = v128.or(Codes.is(at + 32, one, other), Codes.is(at + 48, one, other));
    return v128.any_true(v128.or(low, high));
  }

  @inline static in(at: usize, firsts: v128, spans: v128): v128 {
    return i8x16.le_u(i8x16.sub(Mem.v128At(at), firsts), spans);
  }

  @inline static is(at: usize, one: v128, other: v128): v128 {
    const lanes = Mem.v128At(at);
    return v128.or(i8x16.eq(lanes, one), i8x16.eq(lanes, other));
  }

  @inline static masks(low: v128, high: v128): u64 {
    return <u64>(<u32>i8x16.bitmask(low) & 0xffff) | ((<u64>(<u32>i8x16.bitmask(high) & 0xffff)) << 16);
  }
}
