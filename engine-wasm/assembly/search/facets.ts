// Counts the matching documents' values. Each segment counts by ordinal; the values that occur become
// entries in dictionary order, and the segments' entries are merged by value.
//
//   entry: | u32 count, u32 raw address, u32 raw length, u32 folded address, u32 folded length, u32 0 |  strings
//          | u32 count, u32 0, u64 bits of the value, u64 0 |                                            numbers

import {
  countElements,
  countOthers,
  countRows,
  countRowsOnce,
  countsAboveZero,
  countsAddUp,
  countsOf,
  nextCount,
} from "../columns/facet-counts";
import { countSets, countsOfSets } from "../columns/facet-sets";
import {
  hasNoRepeats,
  SUMMARY_SET_NUMBERS,
  SUMMARY_SET_ROWS,
  SUMMARY_TOTALS,
  setsOf,
  summaryOfSlot,
  summaryTable,
} from "../columns/summaries";
import { checkDeadline } from "../env";
import { scratch } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { heapRise, heapSink, heapSort } from "../memory/heap";
import { Mem } from "../memory/mem";
import { compareBytes, equalBytes, floatKey, intKey } from "../memory/order";
import { Result } from "../memory/result";
import { Facet } from "../program/search-program";
import { Dict } from "../segment/dictionary";
import { isArrayType, KIND_FLOAT, KIND_STRING } from "../segment/field-type";
import { Field, findField, Seg } from "../segment/segment";

// With at most this many values, a shard returns all of them instead of only the most frequent.
const SHARE_LEAST: u32 = 64;

const ENTRY_BYTES: usize = 24;
const ENTRY_RAW: usize = 4;
const ENTRY_VALUE: usize = 8;
const ENTRY_FOLDED: usize = 12;

/**
 * Adds one segment's matching rows (`found` of them) to a facet's counts. `summary` is 0 if the segment has
 * no summary.
 */
export function facetAdd(facet: Facet, segment: usize, summary: usize, bits: usize, found: u32): void {
  checkDeadline();
  const field = findField(segment, facet.slot);
  if (field == 0 || Field.ordinals(segment, field) == 0) return;
  const dictionary = Field.dictionary(segment, field);
  const values = Dict.count(dictionary);
  const counts = countField(segment, field, summary, facet.slot, bits, found);
  const occurring = countsAboveZero(counts, values);
  const entries = scratch(<usize>occurring * ENTRY_BYTES);
  let count: u32 = 0;
  for (
    let ordinal = nextCount(counts, 0, values);
    ordinal < values;
    ordinal = nextCount(counts, ordinal + 1, values)
  ) {
    putEntry(
      entryAt(entries, count++),
      facet.kind,
      dictionary,
      ordinal,
      Mem.u32At(counts + ((<usize>ordinal) << 2)),
    );
  }
  if (facet.entryCount == 0) {
    facet.entries = entries;
    facet.entryCount = count;
  } else if (count > 0) {
    merge(facet, entries, count);
  }
}

/**
 * Returns the counts, u32 by ordinal. If most rows match, it counts the other rows and subtracts their counts
 * from the totals in the summary.
 */
function countField(segment: usize, field: usize, summary: usize, slot: u32, bits: usize, found: u32): usize {
  const ordinals = Field.ordinals(segment, field);
  const values = Dict.count(Field.dictionary(segment, field));
  const rows = Seg.rows(segment);
  const known = summaryOfSlot(summary, slot);
  const table = summaryTable(summary, known, SUMMARY_TOTALS);
  const others = table != 0 && found > rows >> 1;
  const counted = others ? rows - found : found;
  const flip: u64 = others ? ~(<u64>0) : 0;
  const sets = setsOf(known);
  let counts: usize = 0;
  if (sets > 0 && sets < counted) {
    const numbers = summaryTable(summary, known, SUMMARY_SET_NUMBERS);
    const firstRows = summaryTable(summary, known, SUMMARY_SET_ROWS);
    const times = countSets(numbers, sets, counted, bits, flip, rows);
    counts = countsOfSets(ordinals, Field.offsets(segment, field), times, firstRows, sets, values);
  } else {
    const tables = countsOf(values, counted);
    if (!isArrayType(Field.type(field))) {
      countRows(ordinals, bits, flip, rows, tables);
    } else {
      const offsets = Field.offsets(segment, field);
      if (hasNoRepeats(known)) countElements(ordinals, offsets, bits, flip, rows, tables);
      else countRowsOnce(ordinals, offsets, values, bits, flip, rows, tables.counts);
    }
    counts = tables.sum(values);
  }
  if (others) countOthers(counts, table, values);
  if (CHECKED && !isArrayType(Field.type(field))) {
    assert(countsAddUp(counts, values, ordinals, bits, rows), "every matching row counts once for its value");
  }
  return counts;
}

function entryAt(entries: usize, i: u32): usize {
  return entries + <usize>i * ENTRY_BYTES;
}

function copyEntry(to: usize, from: usize): void {
  // faster than memory.copy, which would be a function call
  Mem.putV128(to, Mem.v128At(from));
  Mem.putU64(to + 16, Mem.u64At(from + 16));
}

function putEntry(entry: usize, kind: u32, dictionary: usize, ordinal: u32, times: u32): void {
  Mem.putU32(entry, times);
  if (kind != KIND_STRING) {
    Mem.putU64(entry + ENTRY_VALUE, Mem.u64At(Dict.value(dictionary, ordinal)));
    return;
  }
  Mem.putU32(entry + ENTRY_RAW, <u32>Dict.rawAt(dictionary, ordinal));
  Mem.putU32(entry + ENTRY_RAW + 4, Dict.rawLength(dictionary, ordinal));
  Mem.putU32(entry + ENTRY_FOLDED, <u32>Dict.foldedAt(dictionary, ordinal));
  Mem.putU32(entry + ENTRY_FOLDED + 4, Dict.foldedLength(dictionary, ordinal));
}

function compareSpans(a: usize, b: usize, at: usize): i32 {
  return compareBytes(Mem.u32At(a + at), Mem.u32At(a + at + 4), Mem.u32At(b + at), Mem.u32At(b + at + 4));
}

function sameRaw(a: usize, b: usize): bool {
  const length = Mem.u32At(a + ENTRY_RAW + 4);
  return (
    length == Mem.u32At(b + ENTRY_RAW + 4) &&
    equalBytes(Mem.u32At(a + ENTRY_RAW), Mem.u32At(b + ENTRY_RAW), length)
  );
}

function compareNumbers(a: usize, b: usize, kind: u32): i32 {
  const x = numberKey(Mem.u64At(a + ENTRY_VALUE), kind);
  const y = numberKey(Mem.u64At(b + ENTRY_VALUE), kind);
  return x < y ? -1 : x > y ? 1 : 0;
}

function numberKey(bits: u64, kind: u32): u64 {
  return kind == KIND_FLOAT ? floatKey(bits) : intKey(<i64>bits);
}

/** Compares two values in dictionary order. */
function compareValues(a: usize, b: usize, kind: u32): i32 {
  if (kind != KIND_STRING) return compareNumbers(a, b, kind);
  if (sameRaw(a, b)) return 0;
  const order = compareSpans(a, b, ENTRY_FOLDED);
  return order != 0 ? order : compareSpans(a, b, ENTRY_RAW);
}

function merge(facet: Facet, others: usize, otherCount: u32): void {
  const merged = scratch(<usize>(facet.entryCount + otherCount) * ENTRY_BYTES);
  let count: u32 = 0;
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < facet.entryCount || j < otherCount) {
    const a = entryAt(facet.entries, i);
    const b = entryAt(others, j);
    const order = i == facet.entryCount ? 1 : j == otherCount ? -1 : compareValues(a, b, facet.kind);
    const to = entryAt(merged, count++);
    copyEntry(to, order <= 0 ? a : b);
    if (order == 0) Mem.putU32(to, Mem.u32At(a) + Mem.u32At(b));
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  facet.entries = merged;
  facet.entryCount = count;
}

/** Entry order in a facet that has a limit: larger counts first, then smaller values. */
function before(a: usize, b: usize, kind: usize): bool {
  const x = Mem.u32At(a);
  const y = Mem.u32At(b);
  if (x != y) return x > y;
  return (kind == KIND_STRING ? compareSpans(a, b, ENTRY_RAW) : compareNumbers(a, b, <u32>kind)) < 0;
}

/** Chooses the entries of a facet that has a limit. Must be called before the result is opened. */
export function facetFinish(facet: Facet): void {
  if (facet.share != 0) chooseShare(facet);
  else if (facet.limit > 0) chooseBest(facet);
}

function moreOften(a: usize, b: usize, _: usize): bool {
  return Mem.u32At(a) > Mem.u32At(b);
}

/** The `rank`-th largest count. There must be more than `rank` entries. */
function countOfRank(facet: Facet, rank: u32): u32 {
  const heap = scratch((<usize>rank) << 2);
  for (let i: u32 = 0; i < facet.entryCount; i++) {
    const entry = entryAt(facet.entries, i);
    if (i < rank) {
      Mem.putU32(heap + ((<usize>i) << 2), <u32>entry);
      heapRise(heap, i + 1, moreOften, 0);
    } else if (moreOften(entry, <usize>Mem.u32At(heap), 0)) {
      Mem.putU32(heap, <u32>entry);
      heapSink(heap, rank, moreOften, 0);
    }
  }
  return Mem.u32At(<usize>Mem.u32At(heap));
}

/**
 * Cuts the counts to this shard's share: drops values too rare on this shard to be among the first over all
 * shards. A value is kept if its count is at least half the `limit`-th largest count, minus an allowance for
 * chance. That can be wrong only if a value's documents are very unevenly distributed, and the coordinator
 * detects it.
 */
function chooseShare(facet: Facet): void {
  if (facet.entryCount <= max(facet.limit, SHARE_LEAST)) return;
  const last = <f64>countOfRank(facet, facet.limit);
  const least = last / 2 - 2 * sqrt(last);
  let kept: u32 = 0;
  for (let i: u32 = 0; i < facet.entryCount; i++) {
    const entry = entryAt(facet.entries, i);
    const times = Mem.u32At(entry);
    if (<f64>times < least) facet.bound = max(facet.bound, times);
    else copyEntry(entryAt(facet.entries, kept++), entry);
  }
  facet.entryCount = kept;
}

/** Replaces the entries with the u32 addresses of the best entries, best first. */
function chooseBest(facet: Facet): void {
  const wanted = min(facet.limit, facet.entryCount);
  const heap = scratch((<usize>wanted) << 2);
  const kind = <usize>facet.kind;
  for (let i: u32 = 0; i < facet.entryCount; i++) {
    const entry = entryAt(facet.entries, i);
    if (i < wanted) {
      Mem.putU32(heap + ((<usize>i) << 2), <u32>entry);
      heapRise(heap, i + 1, before, kind);
    } else if (before(entry, <usize>Mem.u32At(heap), kind)) {
      Mem.putU32(heap, <u32>entry);
      heapSink(heap, wanted, before, kind);
    }
  }
  heapSort(heap, wanted, before, kind);
  facet.entries = heap;
  facet.entryCount = wanted;
}

/** Writes a finished facet. */
export function facetWrite(result: Result, facet: Facet): void {
  result.putU32(facet.entryCount);
  if (facet.share != 0) result.putU32(facet.bound);
  // True if entries are in dictionary order rather than best first.
  const inOrder = facet.limit == 0 || facet.share != 0;
  for (let i: u32 = 0; i < facet.entryCount; i++) {
    const entry = inOrder ? entryAt(facet.entries, i) : <usize>Mem.u32At(facet.entries + ((<usize>i) << 2));
    result.putU32(Mem.u32At(entry));
    if (facet.kind != KIND_STRING) {
      result.putU64(Mem.u64At(entry + ENTRY_VALUE));
      continue;
    }
    result.putU32(Mem.u32At(entry + ENTRY_RAW + 4));
    result.putBytes(Mem.u32At(entry + ENTRY_RAW), Mem.u32At(entry + ENTRY_RAW + 4));
  }
}
