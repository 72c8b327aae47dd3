// Looks up terms in a segment's sorted terms, and values in a column's sorted dictionary.
import { DICT_COUNT, DICT_FOLDED_OFFSETS, DICT_RAW_OFFSETS, DICT_VALUES } from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { compareBytes, equalBytes, prefixKey } from "../memory/order";
import { Seg } from "./segment";

/** The first term >= the `length` bytes at `at`, or the number of terms if there is none. */
export function termLowerBound(segment: usize, at: usize, length: u32): u32 {
  const key = prefixKey(at, length);
  let low: u32 = 0;
  let high = Seg.terms(segment);
  while (low < high) {
    const middle = (low + high) >> 1;
    const own = Seg.termAt(segment, middle);
    const ownLength = Seg.termLength(segment, middle);
    const ownKey = prefixKey(own, ownLength);
    if (ownKey < key || (ownKey == key && compareBytes(own, ownLength, at, length) < 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True if term number `term` exists and has exactly these bytes. */
export function termIs(segment: usize, term: u32, at: usize, length: u32): bool {
  if (term >= Seg.terms(segment) || Seg.termLength(segment, term) != length) return false;
  return equalBytes(Seg.termAt(segment, term), at, length);
}

/** The first term >= `from` that does not start with the bytes; `from` must be their lower bound. */
export function termPrefixEnd(segment: usize, from: u32, at: usize, length: u32): u32 {
  let low = from;
  let high = Seg.terms(segment);
  let step: u32 = 1; // doubled until it is too large, because most prefixes have few terms
  while (low + step <= high && startsWith(segment, low + step - 1, at, length)) {
    low += step;
    step <<= 1;
  }
  high = min(high, low + step - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (startsWith(segment, middle, at, length)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function startsWith(segment: usize, term: u32, at: usize, length: u32): bool {
  return Seg.termLength(segment, term) >= length && equalBytes(Seg.termAt(segment, term), at, length);
}

export abstract class Dict {
  @inline static count(dictionary: usize): u32 {
    return Mem.u32At(dictionary + DICT_COUNT);
  }

  @inline static value(dictionary: usize, ordinal: u32): usize {
    return dictionary + <usize>Mem.u32At(dictionary + DICT_VALUES) + ((<usize>ordinal) << 3);
  }

  @inline static rawAt(dictionary: usize, ordinal: u32): usize {
    return dictionary + <usize>Mem.u32At(Dict.entry(dictionary, DICT_RAW_OFFSETS, ordinal));
  }

  @inline static rawLength(dictionary: usize, ordinal: u32): u32 {
    const entry = Dict.entry(dictionary, DICT_RAW_OFFSETS, ordinal);
    return Mem.u32At(entry + 4) - Mem.u32At(entry);
  }

  @inline static foldedAt(dictionary: usize, ordinal: u32): usize {
    return dictionary + <usize>Mem.u32At(Dict.entry(dictionary, DICT_FOLDED_OFFSETS, ordinal));
  }

  @inline static foldedLength(dictionary: usize, ordinal: u32): u32 {
    const entry = Dict.entry(dictionary, DICT_FOLDED_OFFSETS, ordinal);
    return Mem.u32At(entry + 4) - Mem.u32At(entry);
  }

  @inline static entry(dictionary: usize, table: usize, ordinal: u32): usize {
    if (CHECKED) assert(ordinal < Dict.count(dictionary), "an ordinal is one of its dictionary's");
    return dictionary + <usize>Mem.u32At(dictionary + table) + ((<usize>ordinal) << 2);
  }
}

/** The first ordinal whose folded value is >= the bytes, or > the bytes if `after`. */
export function foldedBound(dictionary: usize, at: usize, length: u32, after: bool): u32 {
  let low: u32 = 0;
  let high = Dict.count(dictionary);
  const limit = after ? 1 : 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    const order = compareBytes(
      Dict.foldedAt(dictionary, middle),
      Dict.foldedLength(dictionary, middle),
      at,
      length,
    );
    if (order < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
