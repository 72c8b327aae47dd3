// Compares byte strings by their bytes and numbers by value, and sorts 16-byte records {u64 key, u32 entry}
// with a stable merge sort. A key is the first 8 bytes of a string, big-endian, or a number mapped to an
// unsigned integer.

import { scratch } from "./arena";
import { Mem } from "./mem";

export const RECORD_KEY = 0;
export const RECORD_ENTRY = 8;
export const RECORD_BYTES: usize = 16;

/** Passed to `sortRecords` as `first`, `second` or `tag` to omit that tie-breaker. */
export const NO_SPAN: i32 = -1;

/** First 8 bytes as a big-endian number, padded with zeros. Keys sort in the same order as the bytes. */
export function prefixKey(at: usize, length: u32): u64 {
  if (length >= 8) return bswap<u64>(Mem.u64At(at));
  if (length >= 4) {
    const end = (<u64>Mem.u32At(at + length - 4)) << ((length - 4) << 3); // may overlap the first 4 bytes
    return bswap<u64>(end | <u64>Mem.u32At(at));
  }
  let key: u64 = 0;
  for (let i: u32 = 0; i < length; i++) key |= (<u64>Mem.u8At(at + i)) << (56 - (i << 3));
  return key;
}

/** The prefixKey of a {u32 address, u32 length} span. */
export function spanKey(span: usize): u64 {
  return prefixKey(Mem.u32At(span), Mem.u32At(span + 4));
}

/** Maps a signed integer to an unsigned one, keeping the order. */
export function intKey(value: i64): u64 {
  return <u64>value ^ 0x8000000000000000;
}

/** Maps the bits of a finite float to an unsigned integer, keeping the order. */
export function floatKey(bits: u64): u64 {
  return <i64>bits < 0 ? ~bits : bits ^ 0x8000000000000000;
}

/** Returns a negative number, 0 or a positive number. A prefix comes before its continuations. */
export function compareBytes(a: usize, aLength: u32, b: usize, bLength: u32): i32 {
  const shared = min(aLength, bLength);
  if (shared >= 8) {
    for (let i: u32 = 0; i + 8 <= shared; i += 8) {
      const x = Mem.u64At(a + i);
      const y = Mem.u64At(b + i);
      if (x != y) return bswap<u64>(x) < bswap<u64>(y) ? -1 : 1;
    }
    const x = Mem.u64At(a + shared - 8); // the last 8 bytes; some of them may have been compared already
    const y = Mem.u64At(b + shared - 8);
    if (x != y) return bswap<u64>(x) < bswap<u64>(y) ? -1 : 1;
  } else if (shared >= 4) {
    let x = Mem.u32At(a);
    let y = Mem.u32At(b);
    if (x == y) {
      x = Mem.u32At(a + shared - 4);
      y = Mem.u32At(b + shared - 4);
    }
    if (x != y) return bswap<u32>(x) < bswap<u32>(y) ? -1 : 1;
  } else {
    for (let i: u32 = 0; i < shared; i++) {
      const difference = <i32>Mem.u8At(a + i) - <i32>Mem.u8At(b + i);
      if (difference != 0) return difference;
    }
  }
  return aLength < bLength ? -1 : aLength > bLength ? 1 : 0;
}

export function equalBytes(a: usize, b: usize, length: u32): bool {
  let i: u32 = 0;
  for (; i + 8 <= length; i += 8) if (Mem.u64At(a + i) != Mem.u64At(b + i)) return false;
  for (; i < length; i++) if (Mem.u8At(a + i) != Mem.u8At(b + i)) return false;
  return true;
}

/** Compares the {u32 address, u32 length} spans at offset `at` of two entries. */
export function compareSpans(a: usize, b: usize, at: usize): i32 {
  return compareBytes(Mem.u32At(a + at), Mem.u32At(a + at + 4), Mem.u32At(b + at), Mem.u32At(b + at + 4));
}

const RUN: usize = 16; // blocks of this many records are sorted by insertion, then merged

/**
 * The state of one sort: the offsets of the tie-breakers for equal keys, and space for the record being
 * inserted. Allocated in scratch memory.
 */
@unmanaged
class Sort {
  first: i32;
  second: i32;
  tag: i32;

  @inline get spare(): usize {
    return changetype<usize>(this) + SPARE_AT;
  }
}

const SPARE_AT: usize = (offsetof<Sort>() + 15) & ~15;

function comesAfter(sort: Sort, a: usize, b: usize): bool {
  const x = Mem.u64At(a);
  const y = Mem.u64At(b);
  if (x != y) return x > y;
  if (sort.first < 0) return false;
  const left = <usize>Mem.u32At(a + RECORD_ENTRY);
  const right = <usize>Mem.u32At(b + RECORD_ENTRY);
  let order = compareSpans(left, right, <usize>sort.first);
  if (order == 0 && sort.second >= 0) order = compareSpans(left, right, <usize>sort.second);
  if (order == 0 && sort.tag >= 0) return Mem.u32At(left + sort.tag) > Mem.u32At(right + sort.tag);
  return order > 0;
}

function sortShort(sort: Sort, records: usize, count: usize): void {
  const spare = sort.spare;
  for (let i: usize = 1; i < count; i++) {
    const at = records + i * RECORD_BYTES;
    const held = Mem.v128At(at);
    let to = at;
    Mem.putV128(spare, held);
    while (to > records && comesAfter(sort, to - RECORD_BYTES, spare)) {
      Mem.putV128(to, Mem.v128At(to - RECORD_BYTES));
      to -= RECORD_BYTES;
    }
    Mem.putV128(to, held);
  }
}

function mergeRuns(sort: Sort, from: usize, middle: usize, end: usize, to: usize): void {
  let left = from;
  let right = middle;
  while (left < middle && right < end) {
    if (comesAfter(sort, left, right)) {
      Mem.putV128(to, Mem.v128At(right));
      right += RECORD_BYTES;
    } else {
      Mem.putV128(to, Mem.v128At(left));
      left += RECORD_BYTES;
    }
    to += RECORD_BYTES;
  }
  Mem.copy(to, left, middle - left);
  Mem.copy(to + (middle - left), right, end - right);
}

/**
 * Sorts `count` records by key. Ties are broken by the entries' spans at `first` and then `second`, then by
 * their u32 at `tag` (each an offset in the entry or NO_SPAN), then by original order. Uses as much scratch
 * as the records occupy. Returns the sorted records' address.
 */
export function sortRecords(records: usize, count: usize, first: i32, second: i32, tag: i32): usize {
  const sort = changetype<Sort>(scratch(SPARE_AT + RECORD_BYTES));
  sort.first = first;
  sort.second = second;
  sort.tag = tag;
  for (let i: usize = 0; i < count; i += RUN)
    sortShort(sort, records + i * RECORD_BYTES, min(RUN, count - i));
  let from = records;
  let to = count > RUN ? scratch(count * RECORD_BYTES) : records;
  for (let run = RUN; run < count; run <<= 1) {
    for (let i: usize = 0; i < count; i += run << 1) {
      const middle = from + min(i + run, count) * RECORD_BYTES;
      const end = from + min(i + (run << 1), count) * RECORD_BYTES;
      mergeRuns(sort, from + i * RECORD_BYTES, middle, end, to + i * RECORD_BYTES);
    }
    const other = from;
    from = to;
    to = other;
  }
  return from;
}
