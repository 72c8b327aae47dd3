// Stores vector codes, one bit per number, for one segment's rows, contiguous in a region. The host frees
// the region, or moves it to another instance. docs/FORMATS.md shows the byte layout.

import {
  CODE_BYTES,
  CODES_PRESENT,
  CODES_ROWS,
  CODES_ZERO,
  STATUS_BAD_PROGRAM,
  STATUS_DAMAGED,
  STATUS_OK,
  VECTOR_BYTES,
  VECTOR_NUMBERS,
  VECTOR_SCALE,
} from "../layout";
import { reserve } from "../memory/arena";
import { Bits, bitsCount, bitsCountBoth, bitsEndClean } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Seg } from "../segment/segment";

const CODE: usize = CODE_BYTES;
const BYTES_MAX: u64 = 0xffffffff;

export abstract class Codes {
  @inline static rows(codes: usize): u32 {
    return Mem.u32At(codes + CODES_ROWS);
  }
  /** Bitset of the rows with a code. */
  @inline static present(codes: usize): usize {
    return codes + CODES_PRESENT;
  }
  @inline static first(codes: usize): usize {
    return codes + CODES_PRESENT + Bits.bytes(Codes.rows(codes));
  }
  @inline static at(codes: usize, row: u32): usize {
    if (CHECKED) assert(row < Codes.rows(codes), "a code is that of a row of its segment");
    return Codes.first(codes) + <usize>row * CODE;
  }
}

function regionBytesOf(rows: u32): u64 {
  return CODES_PRESENT + <u64>Bits.bytes(rows) + <u64>rows * CODE_BYTES;
}

/**
 * Allocates a region for `rows` rows, none of which has a code yet. Leaves the space for codes uninitialised,
 * so that a large region is not touched before it is needed.
 */
export function codesNew(rows: u32): usize {
  const codes = reserve(<usize>min<u64>(regionBytesOf(rows), BYTES_MAX));
  Mem.putU32(codes + CODES_ROWS, rows);
  Mem.putU32(codes + CODES_ZERO, 0);
  Mem.fill(Codes.present(codes), 0, Bits.bytes(rows));
  return codes;
}

/**
 * Zeroes the space of each row without a code among the `count` rows starting at `first`, as the stored form
 * requires.
 */
export function codesTidy(codes: usize, first: u32, count: u32): void {
  const end = min(first + count, Codes.rows(codes));
  for (let row = first; row < end; row++)
    if (!Bits.has(Codes.present(codes), row)) Mem.fill(Codes.at(codes, row), 0, CODE_BYTES);
}

/** Returns STATUS_OK if the `bytes` untrusted bytes at `codes` are a codes region. */
export function checkCodes(codes: usize, bytes: u32): i32 {
  if (bytes < <u32>CODES_PRESENT || Mem.u32At(codes + CODES_ZERO) != 0) return STATUS_DAMAGED;
  const rows = Codes.rows(codes);
  if (regionBytesOf(rows) != <u64>bytes) return STATUS_DAMAGED;
  return bitsEndClean(Codes.present(codes), rows) ? STATUS_OK : STATUS_DAMAGED;
}

/** Number of live rows with a code. 0 as `live` means that all rows are live. */
export function codesCount(codes: usize, live: usize): u32 {
  const rows = Codes.rows(codes);
  const present = Codes.present(codes);
  return live == 0 ? bitsCount(present, rows) : bitsCountBoth(present, live, rows);
}

/**
 * Sets the codes for the `count` rows starting at `first` from `count` vector records; an empty record
 * removes a row's code. Returns STATUS_BAD_PROGRAM if the region has too few rows.
 */
export function codesFill(codes: usize, first: u32, records: usize, count: u32): i32 {
  const rows = Codes.rows(codes);
  if (first > rows || count > rows - first) return STATUS_BAD_PROGRAM;
  for (let row = first; row < first + count; row++) {
    fillRow(codes, row, records);
    records += VECTOR_BYTES;
  }
  return STATUS_OK;
}

/**
 * Clears the row's bit first and sets it last, so that a thread that compares codes concurrently sees either
 * a row without a code or the complete code.
 */
function fillRow(codes: usize, row: u32, record: usize): void {
  if (Bits.has(Codes.present(codes), row)) putPresent(codes, row, false);
  if (!(Mem.f32At(record + VECTOR_SCALE) > 0)) return;
  const code = Codes.at(codes, row);
  const numbers = record + VECTOR_NUMBERS;
  for (let i: usize = 0; i < CODE; i += 2)
    Mem.putU16(code + i, ~(<u32>i8x16.bitmask(Mem.v128At(numbers + (i << 3)))));
  putPresent(codes, row, true);
}

function putPresent(codes: usize, row: u32, present: bool): void {
  const at = Codes.present(codes) + <usize>(row >> 3);
  const bit: u32 = 1 << (row & 7);
  const others = Mem.u8At(at) & ~bit;
  Mem.putU8Last(at, present ? others | bit : others);
}

/**
 * Copies codes from another segment to a segment's `count` rows starting at `first`. Rows correspond if they
 * have the same sequence number. Leaves a row unchanged if the other segment lacks it or has no code for it.
 * Returns the row from which to continue: no row before it is left to copy.
 */
export function codesCopy(
  toSegment: usize,
  to: usize,
  fromSegment: usize,
  from: usize,
  first: u32,
  count: u32,
): u32 {
  const rows = Seg.rows(toSegment);
  const fromRows = Seg.rows(fromSegment);
  if (CHECKED) assert(Codes.rows(to) == rows && Codes.rows(from) == fromRows, "codes are those of a segment");
  if (first >= rows || fromRows == 0) return rows;
  const end = first + min(count, rows - first);
  let there = rowFrom(fromSegment, Seg.seq(toSegment, first));
  for (let row = first; row < end; row++) {
    const seq = Seg.seq(toSegment, row);
    while (there < fromRows && Seg.seq(fromSegment, there) < seq) there++;
    if (there == fromRows) return rows;
    if (Seg.seq(fromSegment, there) != seq || !Bits.has(Codes.present(from), there)) continue;
    Mem.copy(Codes.at(to, row), Codes.at(from, there), CODE_BYTES);
    putPresent(to, row, true);
  }
  return end == rows ? rows : max(end, rowFrom(toSegment, Seg.seq(fromSegment, there)));
}

/** Returns the first row whose sequence number is at least `seq`, or the number of rows. */
function rowFrom(segment: usize, seq: u64): u32 {
  let low: u32 = 0;
  let high = Seg.rows(segment);
  while (low < high) {
    const middle = low + ((high - low) >> 1);
    if (Seg.seq(segment, middle) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
