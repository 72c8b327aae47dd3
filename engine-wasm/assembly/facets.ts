// Counts the values of the matching documents. Each segment counts by ordinal; the values that occur become
// entries in dictionary order, and the segments' entries are merged by value.
//
//   entry: | u32 count, u32 raw address, u32 raw length, u32 folded address, u32 folded length, u32 0 |  strings
//          | u32 count, u32 0, u64 bits of the value, u64 0 |                                            numbers
import { scratch, scratchZeroed } from "./arena";
import { bitsNext } from "./bitset";
import { Dict } from "./dictionary";
import { checkDeadline } from "./env";
import { heapRise, heapSink, heapSort } from "./heap";
import { NO_ORDINAL } from "./layout";
import { Mem } from "./mem";
import { compareBytes, floatKey, intKey } from "./order";
import { Facet } from "./query";
import { putResultBytes, putResultU32, putResultU64 } from "./result";
import { Field, Seg, findField, isArrayType } from "./segment";
import { KIND_FLOAT, KIND_STRING } from "./sort-keys";

const ENTRY_BYTES: usize = 24;
const ENTRY_RAW: usize = 4;
const ENTRY_VALUE: usize = 8;
const ENTRY_FOLDED: usize = 12;

/** Adds the matching rows of one segment to a facet's counts. */
export function facetAdd(facet: Facet, segment: usize, bits: usize): void {
  checkDeadline();
  const field = findField(segment, facet.slot);
  if (field == 0) return;
  const ordinals = Field.ordinals(segment, field);
  if (ordinals == 0) return;
  const dictionary = Field.dictionary(segment, field);
  const values = Dict.count(dictionary);
  const rows = Seg.rows(segment);
  const isArray = isArrayType(Field.type(field));
  const counts = isArray
    ? countElements(ordinals, Field.offsets(segment, field), values, bits, rows)
    : countRows(ordinals, values, bits, rows);
  const step: usize = isArray ? 8 : 4;
  let occurring: u32 = 0;
  for (let ordinal: u32 = 0; ordinal < values; ordinal++) {
    occurring += <u32>(Mem.u32At(counts + <usize>ordinal * step) != 0);
  }
  const entries = scratch(<usize>occurring * ENTRY_BYTES);
  let count: u32 = 0;
  for (let ordinal: u32 = 0; count < occurring; ordinal++) {
    const times = Mem.u32At(counts + <usize>ordinal * step);
    if (times != 0) putEntry(entryAt(entries, count++), facet.kind, dictionary, ordinal, times);
  }
  if (facet.entryCount == 0) {
    facet.entries = entries;
    facet.entryCount = count;
  } else if (count > 0) {
    merge(facet, entries, count);
  }
}

/** u32 by ordinal. */
function countRows(ordinals: usize, values: u32, bits: usize, rows: u32): usize {
  const counts = scratchZeroed(<usize>values << 2);
  for (let row = bitsNext(bits, 0, rows); row < rows; row = bitsNext(bits, row + 1, rows)) {
    const ordinal = Mem.u32At(ordinals + (<usize>row << 2));
    if (ordinal == <u32>NO_ORDINAL) continue;
    const count = counts + (<usize>ordinal << 2);
    Mem.putU32(count, Mem.u32At(count) + 1);
  }
  return counts;
}

/** {u32 count, u32 last row + 1} by ordinal: a row counts once, however often it has the value. */
function countElements(ordinals: usize, offsets: usize, values: u32, bits: usize, rows: u32): usize {
  const counts = scratchZeroed(<usize>values << 3);
  for (let row = bitsNext(bits, 0, rows); row < rows; row = bitsNext(bits, row + 1, rows)) {
    const end = Mem.u32At(offsets + (<usize>row << 2) + 4);
    for (let i = Mem.u32At(offsets + (<usize>row << 2)); i < end; i++) {
      const count = counts + (<usize>Mem.u32At(ordinals + (<usize>i << 2)) << 3);
      if (Mem.u32At(count + 4) == row + 1) continue;
      Mem.putU32(count, Mem.u32At(count) + 1);
      Mem.putU32(count + 4, row + 1);
    }
  }
  return counts;
}

function entryAt(entries: usize, i: u32): usize { return entries + <usize>i * ENTRY_BYTES; }

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

function compareNumbers(a: usize, b: usize, kind: u32): i32 {
  const x = numberKey(Mem.u64At(a + ENTRY_VALUE), kind);
  const y = numberKey(Mem.u64At(b + ENTRY_VALUE), kind);
  return x < y ? -1 : x > y ? 1 : 0;
}

function numberKey(bits: u64, kind: u32): u64 {
  return kind == KIND_FLOAT ? floatKey(bits) : intKey(<i64>bits);
}

/** Dictionary order. */
function compareValues(a: usize, b: usize, kind: u32): i32 {
  if (kind != KIND_STRING) return compareNumbers(a, b, kind);
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
    Mem.copy(to, order <= 0 ? a : b, ENTRY_BYTES);
    if (order == 0) Mem.putU32(to, Mem.u32At(a) + Mem.u32At(b));
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  facet.entries = merged;
  facet.entryCount = count;
}

let orderKind: u32 = 0;

/** Order of limited counts: the larger count, then the smaller value. */
function before(a: usize, b: usize): bool {
  const x = Mem.u32At(a);
  const y = Mem.u32At(b);
  if (x != y) return x > y;
  return (orderKind == KIND_STRING ? compareSpans(a, b, ENTRY_RAW) : compareNumbers(a, b, orderKind)) < 0;
}

/** Best entries of a limited facet: u32 addresses, best first. Call before the result is opened. */
export function facetFinish(facet: Facet): void {
  if (facet.limit == 0) return;
  const wanted = min(facet.limit, facet.entryCount);
  const heap = scratch(<usize>wanted << 2);
  orderKind = facet.kind;
  for (let i: u32 = 0; i < facet.entryCount; i++) {
    const entry = entryAt(facet.entries, i);
    if (i < wanted) {
      Mem.putU32(heap + (<usize>i << 2), <u32>entry);
      heapRise(heap, i + 1, before);
    } else if (before(entry, <usize>Mem.u32At(heap))) {
      Mem.putU32(heap, <u32>entry);
      heapSink(heap, wanted, before);
    }
  }
  heapSort(heap, wanted, before);
  facet.entries = heap;
  facet.entryCount = wanted;
}

/** Writes a finished facet. */
export function facetWrite(facet: Facet): void {
  putResultU32(facet.entryCount);
  for (let i: u32 = 0; i < facet.entryCount; i++) {
    const entry = facet.limit == 0 ? entryAt(facet.entries, i) : <usize>Mem.u32At(facet.entries + (<usize>i << 2));
    putResultU32(Mem.u32At(entry));
    if (facet.kind != KIND_STRING) {
      putResultU64(Mem.u64At(entry + ENTRY_VALUE));
      continue;
    }
    putResultU32(Mem.u32At(entry + ENTRY_RAW + 4));
    putResultBytes(Mem.u32At(entry + ENTRY_RAW), Mem.u32At(entry + ENTRY_RAW + 4));
  }
}
