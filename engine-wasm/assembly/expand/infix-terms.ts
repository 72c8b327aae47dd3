// Finds the terms in one segment that contain a word. The dictionary stores all terms contiguously, so the
// search scans that memory as a whole for the word's first and last byte, 16 positions at a time. It
// determines the term only at the few positions where all of the word's bytes match.
import { SEG_TERM_BYTES, SEG_TERM_OFFSETS, TERM_BYTES_MAX, TERM_TEXT } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { termLowerBound } from "../segment/dictionary";
import { Seg } from "../segment/segment";

// Text terms start here in the sorted dictionary; marker terms come before them.
const TEXT_BEGINS: usize = memory.data<u8>([<u8>TERM_TEXT]);

/** Term numbers in scratch memory, sorted by length, then in byte order. */
@unmanaged
export class InfixTerms {
  numbers: usize; // u32[]: term numbers
  count: u32;

  /**
   * Finds the terms that contain the word and are longer, except marker terms. Unless `atStart`, terms that
   * start with the word are left out. The word has at least one byte.
   */
  static find(segment: usize, word: usize, length: u32, atStart: bool): InfixTerms {
    const found = changetype<InfixTerms>(scratchZeroed(offsetof<InfixTerms>()));
    found.numbers = scratch(0);
    const terms = Seg.terms(segment);
    if (terms == 0) return found;
    const offsets = Seg.at(segment, SEG_TERM_OFFSETS);
    const bytes = Seg.at(segment, SEG_TERM_BYTES);
    const end = bytes + <usize>offsetOf(offsets, terms);
    let term = termLowerBound(segment, TEXT_BEGINS, 1);
    let at = bytes + <usize>offsetOf(offsets, term);
    while (true) {
      at = nextPlace(at, end, word, length);
      if (at == end) break;
      term = termAround(offsets, term, terms, <u32>(at - bytes));
      const start = bytes + <usize>offsetOf(offsets, term);
      const termEnd = bytes + <usize>offsetOf(offsets, term + 1);
      if (at + <usize>length > termEnd) {
        at++; // not a match: these bytes extend into the next term
        continue;
      }
      if (at > start || (atStart && start + <usize>length < termEnd)) found.add(term);
      at = termEnd;
    }
    found.sortByLength(segment);
    return found;
  }

  at(index: u32): u32 {
    return Mem.u32At(this.numbers + ((<usize>index) << 2));
  }

  /**
   * Adds a term. The numbers are contiguous only if nothing else allocates scratch memory between calls.
   * Allocates space for four numbers at a time.
   */
  private add(term: u32): void {
    const index = this.count++;
    if ((index & 3) == 0) scratch(16);
    Mem.putU32(this.numbers + ((<usize>index) << 2), term);
  }

  /** Counting sort by length; stable, so terms of equal length stay in byte order. */
  private sortByLength(segment: usize): void {
    // u32 by term length: output index for the next term of that length.
    const places = scratchZeroed((<usize>TERM_BYTES_MAX + 2) << 2);
    const sorted = scratch((<usize>this.count) << 2);
    for (let i: u32 = 0; i < this.count; i++) {
      const next = places + ((<usize>Seg.termLength(segment, this.at(i)) + 1) << 2);
      Mem.putU32(next, Mem.u32At(next) + 1);
    }
    for (let length: usize = 1; length <= <usize>TERM_BYTES_MAX; length++) {
      const place = places + (length << 2);
      Mem.putU32(place, Mem.u32At(place) + Mem.u32At(place - 4));
    }
    for (let i: u32 = 0; i < this.count; i++) {
      const place = places + ((<usize>Seg.termLength(segment, this.at(i))) << 2);
      const to = Mem.u32At(place);
      Mem.putU32(place, to + 1);
      Mem.putU32(sorted + ((<usize>to) << 2), this.at(i));
    }
    this.numbers = sorted;
  }
}

function offsetOf(offsets: usize, term: u32): u32 {
  return Mem.u32At(offsets + ((<usize>term) << 2));
}

/** The first position >= `at` where the whole word matches, or `end`. */
function nextPlace(at: usize, end: usize, word: usize, length: u32): usize {
  const last = <usize>length - 1;
  const firstByte = Mem.u8At(word);
  const lastByte = Mem.u8At(word + last);
  const firsts = i8x16.splat(<i8>firstByte);
  const lasts = i8x16.splat(<i8>lastByte);
  for (; at + last + 16 <= end; at += 16) {
    const both = v128.and(i8x16.eq(Mem.v128At(at), firsts), i8x16.eq(Mem.v128At(at + last), lasts));
    for (let places = i8x16.bitmask(both); places != 0; places &= places - 1) {
      const place = at + <usize>ctz(places);
      if (isAt(place, word, last)) return place;
    }
  }
  for (; at + last < end; at++) {
    if (Mem.u8At(at) == firstByte && Mem.u8At(at + last) == lastByte && isAt(at, word, last)) return at;
  }
  return end;
}

/**
 * True if bytes 1 to `length` - 1 of the word match at the position. The caller has compared the first and
 * the last byte.
 */
function isAt(place: usize, word: usize, length: usize): bool {
  for (let i: usize = 1; i < length; i++) if (Mem.u8At(place + i) != Mem.u8At(word + i)) return false;
  return true;
}

/**
 * Number of the term that contains the byte at `offset`; it must be term `from` or later. Searches from
 * `from` in doubling steps, because the term is usually near.
 */
function termAround(offsets: usize, from: u32, terms: u32, offset: u32): u32 {
  let low = from;
  let step: u32 = 1;
  while (low + step < terms && offsetOf(offsets, low + step) <= offset) {
    low += step;
    step <<= 1;
  }
  let high = min(low + step, terms);
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (offsetOf(offsets, middle) <= offset) low = middle;
    else high = middle;
  }
  return low;
}
