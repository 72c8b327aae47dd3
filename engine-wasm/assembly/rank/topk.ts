// The best rows found so far: at most k, compared by the query's sort keys, then by sequence number, larger
// first. Memory grows with the rows that are kept, never with k.
//
//   row: | u64 seq | f64 text match | f64 bonus | u64 flags | u64 presence bits | u64 key ... |

import { SORT_CLASS, SORT_RELEVANCE, SORT_SEQ } from "../layout";
import { scratch } from "../memory/arena";
import { heapRise, heapSink, heapSort } from "../memory/heap";
import { Mem } from "../memory/mem";
import { classPlain, sumPlain } from "../program/rank-program";
import { rowsWanted, sortCount, sortKeyAt } from "../program/search-program";
import { Seg } from "../segment/segment";
import { compareSortKeys, sortKeysOf } from "./sort-keys";

const ROW_SEQ: usize = 0;
const ROW_TEXT_MATCH: usize = 8;
const ROW_BONUS: usize = 16;
const ROW_FLAGS: usize = 24; // ROW_MATCHED, ROW_PINNED
const ROW_PRESENCE: usize = 32;
const ROW_KEYS: usize = 40;
const HEAP_FIRST: u32 = 256;

let rowBytes: usize = 0;
let heap: usize = 0; // u32 addresses of rows
let capacity: u32 = 0;
let kept: u32 = 0;
let candidate: usize = 0; // a row that is not in the heap
let segment: usize = 0;
let ordered: bool = false; // rows come best first already
/** Goes up whenever the rows kept change. */
export let topChanges: u32 = 0;
let bySum: bool = false; // text match and bonus together decide first, larger first
let tieKey: u32 = 0; // ... and next this key
let tiesBySeq: bool = false; // or the sequence number, larger first

/** Starts without rows. With `bestFirst` the caller promises that every row is worse than those before. */
export function topReset(bestFirst: bool): void {
  rowBytes = ROW_KEYS + ((<usize>sortCount) << 3);
  capacity = 0;
  kept = 0;
  heap = 0;
  topChanges = 0;
  ordered = bestFirst;
  let first: u32 = 0;
  while (first < sortCount && sortKeyAt(first).by == SORT_CLASS) first++;
  // of a plain class: all rows have the same, and none is there without its text
  bySum =
    classPlain &&
    sumPlain &&
    first < sortCount &&
    sortKeyAt(first).by == SORT_RELEVANCE &&
    sortKeyAt(first).descending != 0;
  tieKey = first;
  while (tieKey < sortCount && (sortKeyAt(tieKey).by == SORT_RELEVANCE || sortKeyAt(tieKey).by == SORT_CLASS))
    tieKey++;
  tiesBySeq =
    bySum && (tieKey == sortCount || (sortKeyAt(tieKey).by == SORT_SEQ && sortKeyAt(tieKey).descending != 0));
  candidate = scratch(rowBytes);
}

/** Text match and bonus together decide first, larger first. */
export function topBySum(): bool {
  return bySum;
}

/** With `topBySum`: of rows with the same sum the one with the larger sequence number comes first. */
export function topTiesBySeq(): bool {
  return tiesBySeq;
}

/** With `topBySum`: number of the first key that orders rows with the same sum. */
export function topTieKey(): u32 {
  return tieKey;
}

/** With `topBySum`: no row below this sum of text match and bonus can enter; 0 while any can. */
export function topLeastSum(): f64 {
  return topFull() && kept > 0 ? worstSum() : 0;
}

/** Names the segment whose rows are offered next. */
export function topUse(used: usize): void {
  segment = used;
}

/** True when a new row must displace another. */
export function topFull(): bool {
  return kept == rowsWanted;
}
export function topCount(): u32 {
  return kept;
}

/** Values of the worst row kept; there is one once the rows wanted, at least one, are kept. */
export function topWorstSeq(): u64 {
  return Mem.u64At(rowAt(0) + ROW_SEQ);
}
export function topWorstHas(key: u32): bool {
  return topHasKey(0, key);
}
export function topWorstKey(key: u32): u64 {
  return topKey(0, key);
}

function before(a: usize, b: usize): bool {
  const order = compareSortKeys(
    a + ROW_KEYS,
    Mem.u64At(a + ROW_PRESENCE),
    b + ROW_KEYS,
    Mem.u64At(b + ROW_PRESENCE),
  );
  return order != 0 ? order > 0 : Mem.u64At(a + ROW_SEQ) > Mem.u64At(b + ROW_SEQ);
}

function fillCandidate(row: u32, textMatch: f64, bonus: f64): void {
  Mem.putU64(candidate + ROW_SEQ, Seg.seq(segment, row));
  Mem.putF64(candidate + ROW_TEXT_MATCH, textMatch);
  Mem.putF64(candidate + ROW_BONUS, bonus);
  Mem.putU64(candidate + ROW_PRESENCE, sortKeysOf(row, textMatch, bonus, candidate + ROW_KEYS));
}

/**
 * Text match and bonus of the worst row. With small bonuses and without boosts their sum orders rows as the final
 * key does: neither comes near the part of the text match above the score, and the sum stays below 2^53.
 */
function worstSum(): f64 {
  const worst = <usize>Mem.u32At(heap);
  return Mem.f64At(worst + ROW_TEXT_MATCH) + Mem.f64At(worst + ROW_BONUS);
}

/** False when a row with this text match and bonus could not enter. */
export function topWouldEnter(row: u32, textMatch: f64, bonus: f64): bool {
  if (!topFull()) return true;
  if (kept == 0) return false;
  if (bySum && textMatch + bonus < worstSum()) return false;
  fillCandidate(row, textMatch, bonus);
  return before(candidate, <usize>Mem.u32At(heap));
}

/** Offers a row; it is kept when it is among the best. `flags`: ROW_MATCHED, ROW_PINNED. */
export function topOffer(row: u32, textMatch: f64, bonus: f64, flags: u32): void {
  if (topFull()) {
    if (!topWouldEnter(row, textMatch, bonus)) return;
    Mem.putU32(candidate + ROW_FLAGS, flags);
    const worst = <usize>Mem.u32At(heap);
    Mem.putU32(heap, <u32>candidate);
    candidate = worst;
    topChanges++;
    return heapSink(heap, kept, before);
  }
  fillCandidate(row, textMatch, bonus);
  Mem.putU32(candidate + ROW_FLAGS, flags);
  if (kept == capacity) growHeap();
  Mem.putU32(heap + ((<usize>kept) << 2), <u32>candidate);
  kept++;
  topChanges++;
  candidate = scratch(rowBytes);
  if (!ordered) heapRise(heap, kept, before);
}

function growHeap(): void {
  capacity = max(HEAP_FIRST, capacity * 2);
  const grown = scratch((<usize>capacity) << 2);
  Mem.copy(grown, heap, (<usize>kept) << 2);
  heap = grown;
}

/** Puts the rows in order, best first; no row may be offered afterwards. */
export function topFinish(): void {
  if (!ordered) heapSort(heap, kept, before);
}

function rowAt(i: u32): usize {
  return <usize>Mem.u32At(heap + ((<usize>i) << 2));
}
export function topSeq(i: u32): f64 {
  return <f64>Mem.u64At(rowAt(i) + ROW_SEQ);
}
export function topTextMatch(i: u32): f64 {
  return Mem.f64At(rowAt(i) + ROW_TEXT_MATCH);
}
export function topBonus(i: u32): f64 {
  return Mem.f64At(rowAt(i) + ROW_BONUS);
}
export function topFlags(i: u32): u32 {
  return Mem.u32At(rowAt(i) + ROW_FLAGS);
}
export function topHasKey(i: u32, key: u32): bool {
  return (Mem.u64At(rowAt(i) + ROW_PRESENCE) << key) >> 63 != 0;
}
export function topKey(i: u32, key: u32): u64 {
  return Mem.u64At(rowAt(i) + ROW_KEYS + ((<usize>key) << 3));
}
