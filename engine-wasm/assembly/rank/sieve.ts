// Determines which of 64 rows could still be among the best. Compares the sort keys that are stored in
// columns with the worst kept row's keys, one key at a time, as `SortKeys.compare` does. Rows that pass are
// later compared in full, so a key that is not stored in a column, such as relevance, may let too many rows
// through, but never too few.

import { orderOrdinals, RowOrder } from "../columns/column-order";
import { codeOf, zoneLargest, zoneLeast } from "../columns/column-summary";
import { orderNumbers, valueKey } from "../columns/column-values";
import { SORT_CLASS, SORT_FIELD, SORT_SEQ } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";

import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { RankProgram } from "../program/rank-program";
import { SearchProgram, SortKey } from "../program/search-program";
import { foldedBound } from "../segment/dictionary";
import { KIND_STRING } from "../segment/field-type";
import { Seg } from "../segment/segment";
import { numberOfKey } from "./sort-keys";
import { TopK } from "./topk";

// If at most this many of 64 rows are to be compared, they are compared one by one.
const COMPARED_SINGLY: u64 = 6;
const NEVER: u32 = 0xffffffff;

/** Compares the current segment's rows with the worst kept row. Allocated in scratch memory. */
@unmanaged
export class Sieve {
  program: SearchProgram;
  ranking: RankProgram;
  top: TopK;
  order: RowOrder;
  segment: usize;
  rows: u32;
  bounds: usize; // {u32 first, u32 end} by sort key: range of ordinals of the worst kept row's string
  boundsAsOf: u32; // value of `top.changes` when the bounds were computed
  boundsFirst: u32; // argument `first` of `pass` when the bounds were computed
  zones: usize; // zones of the deciding key, which is the first one in which rows can differ; 0 = none
  zonesDescending: bool;
  zoneBound: u64; // the worst kept row's value; rows in a zone that does not reach it cannot enter the top k
  codedKey: u32; // index of the deciding key if it is a number with codes, otherwise NEVER
  worstCode: u32; // code of the worst kept row's value
  tiesBySeq: bool; // of rows with equal values of the deciding key, the newest ranks first

  static make(program: SearchProgram, top: TopK): Sieve {
    const made = changetype<Sieve>(scratchZeroed(offsetof<Sieve>()));
    made.program = program;
    made.ranking = program.ranking;
    made.top = top;
    made.order = changetype<RowOrder>(scratch(offsetof<RowOrder>()));
    made.bounds = scratch((<usize>program.sortCount) << 3);
    made.boundsAsOf = NEVER;
    made.boundsFirst = NEVER;
    made.codedKey = NEVER;
    return made;
  }

  /** Starts a segment. The columns in the sort keys must already belong to it. */
  beginSegment(used: usize): void {
    this.segment = used;
    this.rows = Seg.rows(used);
    this.boundsAsOf = NEVER;
  }

  /** True if all rows have the same value, so that the key has no effect on the order. */
  private isConstant(key: SortKey): bool {
    return key.by == SORT_CLASS ? this.ranking.classIsPlain : this.program.browses && this.ranking.isPlain;
  }

  /** True if the sieve can reject rows: the first key that affects the order is stored in a column. */
  helps(): bool {
    const program = this.program;
    for (let i: u32 = 0; i < program.sortCount; i++) {
      const key = program.sortKeyAt(i);
      if (key.by == SORT_FIELD || key.by == SORT_SEQ) return true;
      if (!this.isConstant(key)) return false;
    }
    return true;
  }

  /**
   * Returns the rows in `among` that could displace a kept row, judging by the keys from number `first` on.
   * Bit i represents row `from` + i, and `from` must be a multiple of 64. The rows must equal the worst kept
   * row in all keys before `first`.
   */
  pass(among: u64, from: u32, first: u32): u64 {
    const top = this.top;
    if (from + 64 > this.rows) return among; // reading 64 rows here would go past the end of the column
    if (this.boundsAsOf != top.changes || this.boundsFirst != first) {
      if (!top.isFull()) return among; // while the top k has room, any row can enter
      this.findBounds(first);
    }
    const zones = this.zones;
    if (zones != 0 && this.zoneIsWorse(zones, among, from)) return 0;
    const program = this.program;
    const count = program.sortCount;
    let better: u64 = 0;
    let equal = among;
    for (let i = first; i < count && equal != 0; i++) {
      const key = program.sortKeyAt(i);
      if (key.by == SORT_SEQ) return better | (key.descending != 0 ? this.newer(equal, from) : equal);
      if (key.by != SORT_FIELD) {
        if (this.isConstant(key)) continue;
        return better | equal;
      }
      const present = key.present == 0 ? 0 : Bits.word(key.present, from >> 6);
      if (!top.worstHas(i)) {
        better |= equal & present;
        equal &= ~present;
        continue;
      }
      if ((equal & present) == 0) return better;
      equal &= present;
      if (popcnt(equal) <= COMPARED_SINGLY) this.compareSingly(key, i, equal, from);
      else this.compare(key, i, from);
      better |= equal & this.order.beyond;
      equal &= this.order.equal;
    }
    return better | this.newer(equal, from);
  }

  /**
   * Returns `equal`, or 0 if all its rows are older than the worst row. A segment's rows are in ascending
   * sequence number order.
   */
  private newer(equal: u64, from: u32): u64 {
    return equal != 0 && Seg.seq(this.segment, from + 63 - <u32>clz(equal)) > this.top.worstSeq() ? equal : 0;
  }

  /** Sets `order` for the rows in `some`, one by one. All of them must have a value. */
  private compareSingly(key: SortKey, number: u32, some: u64, from: u32): void {
    if (key.kind == KIND_STRING) return this.compareOrdinals(key, number, some, from);
    const descending = key.descending != 0;
    let beyond: u64 = 0;
    let same: u64 = 0;
    let undecided = some;
    if (number == this.codedKey) {
      const codes = key.codes + from;
      const worstCode = this.worstCode;
      undecided = 0;
      for (let rest = some; rest != 0; rest &= rest - 1) {
        const code = Mem.u8At(codes + <usize>ctz(rest));
        const bit = rest & (~rest + 1);
        if (code == worstCode) undecided |= bit;
        else if (code > worstCode == descending) beyond |= bit;
      }
    }
    const flip: u64 = descending ? 0 : ~(<u64>0);
    const worst = this.top.worstKey(number);
    for (; undecided != 0; undecided &= undecided - 1) {
      const value = valueKey(key.type, key.values, from + <u32>ctz(undecided)) ^ flip;
      const bit = undecided & (~undecided + 1);
      if (value > worst) beyond |= bit;
      else if (value == worst) same |= bit;
    }
    this.order.beyond = beyond;
    this.order.equal = same;
  }

  /** Like `compareSingly`, for a string field. */
  private compareOrdinals(key: SortKey, number: u32, some: u64, from: u32): void {
    const descending = key.descending != 0;
    const bound = this.bounds + ((<usize>number) << 3);
    const first = Mem.u32At(bound);
    const end = Mem.u32At(bound + 4);
    let beyond: u64 = 0;
    let same: u64 = 0;
    for (; some != 0; some &= some - 1) {
      const ordinal = Mem.u32At(key.ordinals + ((<usize>from + <usize>ctz(some)) << 2));
      const bit = some & (~some + 1);
      const below = ordinal < first;
      const above = ordinal >= end;
      if (descending ? above : below) beyond |= bit;
      else if (!above && !below) same |= bit;
    }
    this.order.beyond = beyond;
    this.order.equal = same;
  }

  /** Sets `order` for the 64 rows from `from` on. */
  private compare(key: SortKey, number: u32, from: u32): void {
    const descending = key.descending != 0;
    if (key.kind == KIND_STRING) {
      const bound = this.bounds + ((<usize>number) << 3);
      return orderOrdinals(
        key.ordinals + ((<usize>from) << 2),
        Mem.u32At(bound),
        Mem.u32At(bound + 4),
        descending,
        this.order,
      );
    }
    const value = numberOfKey(key, this.top.worstKey(number));
    orderNumbers(key.type, key.values, from, value, descending, this.order);
  }

  /** True if the deciding key's zone shows that no row in `among` can beat the worst kept row. */
  private zoneIsWorse(zones: usize, among: u64, from: u32): bool {
    const descending = this.zonesDescending;
    const bound = this.zoneBound;
    const key = descending ? zoneLargest(zones, from) : zoneLeast(zones, from);
    if (key == bound) return this.tiesBySeq && this.newer(among, from) == 0;
    return descending ? key < bound : key > bound;
  }

  /**
   * Looks up the worst row's strings in the current segment, and computes the value that a zone must reach.
   */
  private findBounds(first: u32): void {
    const program = this.program;
    const top = this.top;
    this.boundsAsOf = top.changes;
    this.boundsFirst = first;
    for (let i: u32 = 0; i < program.sortCount; i++) {
      const key = program.sortKeyAt(i);
      if (key.by != SORT_FIELD || key.kind != KIND_STRING || key.present == 0 || !top.worstHas(i)) continue;
      const text = top.worstKey(i); // a string packed by `stringKey`
      const bound = this.bounds + ((<usize>i) << 3);
      Mem.putU32(bound, foldedBound(key.dictionary, <usize>(text >> 32), <u32>text, false));
      Mem.putU32(bound + 4, foldedBound(key.dictionary, <usize>(text >> 32), <u32>text, true));
    }
    this.findZones(first);
  }

  /**
   * Finds the deciding key, starting from key `first`. If it is a field in which the worst kept row has a
   * value, sets `zones` and the fields after it. Otherwise sets `zones` to 0.
   */
  private findZones(first: u32): void {
    const program = this.program;
    const top = this.top;
    const number = this.deciding(first);
    this.zones = 0;
    this.codedKey = NEVER;
    if (number == program.sortCount) return;
    const key = program.sortKeyAt(number);
    if (key.by != SORT_FIELD || key.present == 0 || !top.worstHas(number)) return;
    this.zones = key.zones;
    this.zonesDescending = key.descending != 0;
    const next = this.deciding(number + 1);
    this.tiesBySeq =
      next == program.sortCount ||
      (program.sortKeyAt(next).by == SORT_SEQ && program.sortKeyAt(next).descending != 0);
    if (key.kind == KIND_STRING) {
      const bound = this.bounds + ((<usize>number) << 3);
      this.zoneBound = this.zonesDescending ? <u64>Mem.u32At(bound) : <u64>Mem.u32At(bound + 4) - 1;
      this.tiesBySeq = false; // rows with different ordinals may have equal strings
      return;
    }
    this.zoneBound = this.zonesDescending ? top.worstKey(number) : ~top.worstKey(number);
    if (key.codes == 0) return;
    this.codedKey = number;
    this.worstCode = codeOf(this.zoneBound, key.codeBounds);
  }

  /** The first key >= `i` in which rows can differ. */
  private deciding(i: u32): u32 {
    const program = this.program;
    while (
      i < program.sortCount &&
      program.sortKeyAt(i).by != SORT_FIELD &&
      program.sortKeyAt(i).by != SORT_SEQ &&
      this.isConstant(program.sortKeyAt(i))
    )
      i++;
    return i;
  }
}
