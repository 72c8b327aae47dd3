// Tells for 64 rows at a time which of them could still be among the best, by the sort keys that columns hold: they
// are compared with those of the worst row kept, key by key, as `compareSortKeys` does. Rows that pass are compared
// in full afterwards, so a key that columns do not hold - relevance - may let too many through, never too few.

import {
  orderBool,
  orderFloat,
  orderInt32,
  orderInt64,
  orderOrdinals,
  rowsBeyond,
  rowsEqual,
} from "../columns/column-order";
import { codeOf, zoneLargest, zoneLeast } from "../columns/column-summary";
import { SORT_CLASS, SORT_FIELD, SORT_SEQ, TYPE_BOOL, TYPE_INT32 } from "../layout";
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { classPlain, rankPlain } from "../program/rank-program";
import { SortKey, sortCount, sortKeyAt, wordCount } from "../program/search-program";
import { foldedBound } from "../segment/dictionary";
import { Seg } from "../segment/segment";
import { KIND_FLOAT, KIND_STRING, numberKey, numberOfKey } from "./sort-keys";
import { topChanges, topFull, topWorstHas, topWorstKey, topWorstSeq } from "./topk";

const COMPARED_SINGLY: u64 = 6; // up to so many rows of 64, each is looked at
const NEVER: u32 = 0xffffffff;

let segment: usize = 0;
let rows: u32 = 0;
let bounds: usize = 0; // {u32 first, u32 end} by key: ordinals of the worst row's string in the segment at hand
let boundsAsOf: u32 = NEVER; // what `topChanges` was
let boundsFirst: u32 = NEVER; // the key from which the bounds were found
let zones: usize = 0; // of the first key that decides, 0 = none to look at
let zonesDescending: bool = false;
let zoneBound: u64 = 0; // what a zone must reach
let codedKey: u32 = NEVER; // number of that key when it has codes and is a number
let worstCode: u32 = 0; // of the worst row kept
let tiesBySeq: bool = false; // of rows that are equal in that key the newer one comes first

let beyond: u64 = 0; // of the rows compared last: those that are better than the worst row kept
let same: u64 = 0; // those that are equal to it

/** Takes the scratch that every segment of a query shares. */
export function sieveSetUp(): void {
  bounds = scratch((<usize>sortCount) << 3);
}

/** Names the segment whose rows come next; its columns are those of `sortKeysUse`. */
export function sieveUse(used: usize): void {
  segment = used;
  rows = Seg.rows(used);
  boundsAsOf = NEVER;
}

/** All rows have the same value: it decides nothing. */
function isConstant(key: SortKey): bool {
  return key.by == SORT_CLASS ? classPlain : wordCount == 0 && rankPlain;
}

/** True when the first key that decides anything is one that columns hold. */
export function sieveHelps(): bool {
  for (let i: u32 = 0; i < sortCount; i++) {
    const key = sortKeyAt(i);
    if (key.by == SORT_FIELD || key.by == SORT_SEQ) return true;
    if (!isConstant(key)) return false;
  }
  return true;
}

/**
 * Those of `among`, bit i for row `from` + i, that could displace a kept row. `from` is a multiple of 64. By the keys
 * from number `first` on: by those before it the rows must equal the worst row kept.
 */
export function sieve(among: u64, from: u32, first: u32): u64 {
  if (!topFull() || from + 64 > rows) return among; // what lies behind a column's end is not its own
  if (boundsAsOf != topChanges || boundsFirst != first) findBounds(first);
  if (zones != 0 && zoneIsWorse(among, from)) return 0;
  let better: u64 = 0;
  let equal = among;
  for (let i = first; i < sortCount && equal != 0; i++) {
    const key = sortKeyAt(i);
    if (key.by == SORT_SEQ) return better | (key.descending != 0 ? newer(equal, from) : equal);
    if (key.by != SORT_FIELD) {
      if (isConstant(key)) continue;
      return better | equal;
    }
    const present = key.present == 0 ? 0 : Bits.word(key.present, from >> 6);
    if (!topWorstHas(i)) {
      better |= equal & present;
      equal &= ~present;
      continue;
    }
    if ((equal & present) == 0) return better;
    equal &= present;
    if (popcnt(equal) <= COMPARED_SINGLY) compareSingly(key, i, equal, from);
    else compare(key, i, from);
    better |= equal & beyond;
    equal &= same;
  }
  return better | newer(equal, from);
}

/** Rows of a segment ascend by sequence number: `equal`, unless all of the 64 are older than the worst row. */
function newer(equal: u64, from: u32): u64 {
  return equal != 0 && Seg.seq(segment, from + 63 - <u32>clz(equal)) > topWorstSeq() ? equal : 0;
}

/** Sets `beyond` and `same` for the rows of `some`, which have a value. */
function compareSingly(key: SortKey, number: u32, some: u64, from: u32): void {
  beyond = 0;
  same = 0;
  const flip: u64 = key.descending != 0 ? 0 : ~(<u64>0);
  const worst = topWorstKey(number);
  const bound = bounds + ((<usize>number) << 3);
  const coded = number == codedKey;
  for (; some != 0; some &= some - 1) {
    const row = from + <u32>ctz(some);
    const bit = some & (~some + 1);
    if (key.kind == KIND_STRING) {
      const ordinal = Mem.u32At(key.ordinals + ((<usize>row) << 2));
      const below = ordinal < Mem.u32At(bound);
      const above = ordinal >= Mem.u32At(bound + 4);
      if (key.descending != 0 ? above : below) beyond |= bit;
      else if (!above && !below) same |= bit;
      continue;
    }
    if (coded) {
      const code = Mem.u8At(key.codes + <usize>row);
      if (code != worstCode) {
        if (code > worstCode == (key.descending != 0)) beyond |= bit;
        continue;
      }
    }
    const value = numberKey(key, row) ^ flip;
    if (value > worst) beyond |= bit;
    else if (value == worst) same |= bit;
  }
}

/** Sets `beyond` and `same` for 64 rows. */
function compare(key: SortKey, number: u32, from: u32): void {
  compareColumn(key, number, from);
  beyond = rowsBeyond;
  same = rowsEqual;
}

function compareColumn(key: SortKey, number: u32, from: u32): void {
  const descending = key.descending != 0;
  if (key.kind == KIND_STRING) {
    const bound = bounds + ((<usize>number) << 3);
    return orderOrdinals(
      key.ordinals + ((<usize>from) << 2),
      Mem.u32At(bound),
      Mem.u32At(bound + 4),
      descending,
    );
  }
  const value = numberOfKey(key, topWorstKey(number));
  if (key.kind == KIND_FLOAT) {
    return orderFloat(key.values + ((<usize>from) << 3), reinterpret<f64>(value), descending);
  }
  if (key.type == TYPE_BOOL) return orderBool(key.values + from, value != 0, descending);
  if (key.type == TYPE_INT32) return orderInt32(key.values + ((<usize>from) << 2), <i32>value, descending);
  orderInt64(key.values + ((<usize>from) << 3), <i64>value, descending);
}

/** No row of `among` can be better than the worst one kept by the first key that decides. */
function zoneIsWorse(among: u64, from: u32): bool {
  const key = zonesDescending ? zoneLargest(zones, from) : zoneLeast(zones, from);
  if (key == zoneBound) return tiesBySeq && newer(among, from) == 0;
  return zonesDescending ? key < zoneBound : key > zoneBound;
}

/** Finds the worst row's strings in the segment at hand, and what a zone must reach. */
function findBounds(first: u32): void {
  boundsAsOf = topChanges;
  boundsFirst = first;
  for (let i: u32 = 0; i < sortCount; i++) {
    const key = sortKeyAt(i);
    if (key.by != SORT_FIELD || key.kind != KIND_STRING || key.present == 0 || !topWorstHas(i)) continue;
    const text = topWorstKey(i); // as `stringKey` packs it
    const bound = bounds + ((<usize>i) << 3);
    Mem.putU32(bound, foldedBound(key.dictionary, <usize>(text >> 32), <u32>text, false));
    Mem.putU32(bound + 4, foldedBound(key.dictionary, <usize>(text >> 32), <u32>text, true));
  }
  findZones(first);
}

/** Zones help when the first key that decides is a field's. */
function findZones(first: u32): void {
  const number = deciding(first);
  zones = 0;
  codedKey = NEVER;
  if (number == sortCount) return;
  const key = sortKeyAt(number);
  if (key.by != SORT_FIELD || key.present == 0 || !topWorstHas(number)) return;
  zones = key.zones;
  zonesDescending = key.descending != 0;
  const next = deciding(number + 1);
  tiesBySeq = next == sortCount || (sortKeyAt(next).by == SORT_SEQ && sortKeyAt(next).descending != 0);
  if (key.kind == KIND_STRING) {
    const bound = bounds + ((<usize>number) << 3);
    zoneBound = zonesDescending ? <u64>Mem.u32At(bound) : <u64>Mem.u32At(bound + 4) - 1;
    tiesBySeq = false; // several ordinals may be the same string
    return;
  }
  zoneBound = zonesDescending ? topWorstKey(number) : ~topWorstKey(number);
  if (key.codes == 0) return;
  codedKey = number;
  worstCode = codeOf(zoneBound, key.codeBounds);
}

/** The first key from number `i` on of which rows can have different values. */
function deciding(i: u32): u32 {
  while (
    i < sortCount &&
    sortKeyAt(i).by != SORT_FIELD &&
    sortKeyAt(i).by != SORT_SEQ &&
    isConstant(sortKeyAt(i))
  )
    i++;
  return i;
}
