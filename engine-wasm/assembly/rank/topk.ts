// Keeps the best rows found so far, at most k. They are compared by the query's sort keys, then by sequence
// number, larger first. A row "enters" when it becomes one of them. Memory usage grows with the number of
// rows kept, not with k.
//
//   row: | u64 seq | f64 text match | f64 bonus | u64 flags | u64 presence bits | u64 key ... |

import { checkDeadline } from "../env";
import { SORT_CLASS, SORT_RELEVANCE, SORT_SEQ } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { heapRise, heapSink, heapSort } from "../memory/heap";
import { Mem } from "../memory/mem";

import { SearchProgram } from "../program/search-program";
import { Seg } from "../segment/segment";
import { SortKeys } from "./sort-keys";

const ROW_SEQ: usize = 0;
const ROW_TEXT_MATCH: usize = 8;
const ROW_BONUS: usize = 16;
const ROW_FLAGS: usize = 24; // flags such as ROW_MATCHED (layout.ts)
const ROW_PRESENCE: usize = 32;
const ROW_KEYS: usize = 40;
const HEAP_FIRST: u32 = 256;
const CHANGES_A_CHECK: u32 = 255;

/** True if row `a` comes before row `b`. `sortKeys` is the address of the search's sort keys. */
function before(a: usize, b: usize, sortKeys: usize): bool {
  const order = changetype<SortKeys>(sortKeys).compare(
    a + ROW_KEYS,
    Mem.u64At(a + ROW_PRESENCE),
    b + ROW_KEYS,
    Mem.u64At(b + ROW_PRESENCE),
  );
  return order != 0 ? order > 0 : Mem.u64At(a + ROW_SEQ) > Mem.u64At(b + ROW_SEQ);
}

/** One search's best rows so far. Allocated in scratch memory. */
@unmanaged
export class TopK {
  program: SearchProgram;
  sortKeys: SortKeys;
  wanted: u32; // maximum number of rows to keep (k)
  rowBytes: usize;
  heap: usize; // u32 addresses of the kept rows
  capacity: u32;
  /** Number of rows kept. */
  kept: u32;
  candidate: usize; // space for the row being offered
  segment: usize;
  ordered: bool; // true if rows are offered in final order, best first
  neighboursFirst: bool;
  /** Number of changes to the kept rows so far. */
  changes: u32;
  /** True if text match plus bonus is the first sort criterion, larger first. */
  bySum: bool;
  /** Valid with `bySum`: number of the first sort key that can decide between rows with equal sums. */
  tieKey: u32;
  /**
   * Valid with `bySum`: true if, of rows with equal sums, the one with the larger sequence number ranks
   * first.
   */
  tiesBySeq: bool;

  /**
   * Starts without rows. With `bestFirst`, the caller guarantees that each row is worse than all earlier
   * rows.
   */
  static make(program: SearchProgram, sortKeys: SortKeys, bestFirst: bool): TopK {
    const made = changetype<TopK>(scratchZeroed(offsetof<TopK>()));
    made.program = program;
    made.sortKeys = sortKeys;
    made.wanted = program.rowsWanted;
    made.rowBytes = ROW_KEYS + ((<usize>program.sortCount) << 3);
    made.ordered = bestFirst;
    made.neighboursFirst = program.neighbours.first;
    made.decideOrder();
    made.candidate = scratch(made.rowBytes);
    return made;
  }

  /** Determines whether text match plus bonus is the first sort criterion, and which criterion follows. */
  private decideOrder(): void {
    const program = this.program;
    const ranking = program.ranking;
    const count = program.sortCount;
    let first: u32 = 0;
    while (first < count && program.sortKeyAt(first).by == SORT_CLASS) first++;
    // If `classIsPlain`, all rows have the same class, so class keys do not order them, and no row is in the
    // result only because it is pinned.
    this.bySum =
      ranking.classIsPlain &&
      ranking.sumIsPlain &&
      first < count &&
      program.sortKeyAt(first).by == SORT_RELEVANCE &&
      program.sortKeyAt(first).descending != 0;
    let tie = first;
    while (
      tie < count &&
      (program.sortKeyAt(tie).by == SORT_RELEVANCE || program.sortKeyAt(tie).by == SORT_CLASS)
    )
      tie++;
    this.tieKey = tie;
    const newestFirst =
      tie == count || (program.sortKeyAt(tie).by == SORT_SEQ && program.sortKeyAt(tie).descending != 0);
    this.tiesBySeq = this.bySum && newestFirst;
  }

  /** Valid with `bySum`: rows whose text match plus bonus is below this cannot enter; 0 while any row can. */
  leastSum(): f64 {
    return this.isFull() && this.kept > 0 ? this.worstSum() : 0;
  }

  /** Starts a segment, whose rows are offered next. */
  beginSegment(used: usize): void {
    this.segment = used;
  }

  /** True if as many rows as wanted are kept, so that a further row must displace one of them. */
  isFull(): bool {
    return this.kept == this.wanted;
  }

  /**
   * Sequence number of the worst kept row. Valid only once as many rows as wanted, and at least one, are
   * kept.
   */
  worstSeq(): u64 {
    return Mem.u64At(this.rowAt(0) + ROW_SEQ);
  }

  worstHas(key: u32): bool {
    return this.hasKey(0, key);
  }

  worstKey(key: u32): u64 {
    return this.keyOf(0, key);
  }

  private fillCandidate(row: u32, textMatch: f64, bonus: f64): void {
    const candidate = this.candidate;
    Mem.putU64(candidate + ROW_SEQ, Seg.seq(this.segment, row));
    Mem.putF64(candidate + ROW_TEXT_MATCH, textMatch);
    Mem.putF64(candidate + ROW_BONUS, bonus);
    Mem.putU64(candidate + ROW_PRESENCE, this.sortKeys.read(row, textMatch, bonus, candidate + ROW_KEYS));
    // Not part of `read` because the call would use registers in that loop and slow down every query.
    if (this.neighboursFirst) this.sortKeys.lowerRelevance(row, textMatch, bonus, candidate + ROW_KEYS);
  }

  /**
   * The worst row's text match plus bonus. With small bonuses and no boosts, this sum orders rows as the
   * final key does: the bonus cannot carry into the part of the text match above the score, and the sum stays
   * below 2^53.
   */
  private worstSum(): f64 {
    const worst = <usize>Mem.u32At(this.heap);
    return Mem.f64At(worst + ROW_TEXT_MATCH) + Mem.f64At(worst + ROW_BONUS);
  }

  /** False if a row with this text match and bonus cannot become one of the best. */
  wouldEnter(row: u32, textMatch: f64, bonus: f64): bool {
    if (!this.isFull()) return true;
    if (this.kept == 0) return false;
    if (this.bySum && textMatch + bonus < this.worstSum()) return false;
    this.fillCandidate(row, textMatch, bonus);
    return before(this.candidate, <usize>Mem.u32At(this.heap), changetype<usize>(this.sortKeys));
  }

  /**
   * Offers a row, which is kept if it is among the best so far. `flags` are flags such as ROW_MATCHED
   * (layout.ts), which are kept with the row.
   */
  offer(row: u32, textMatch: f64, bonus: f64, flags: u32): void {
    if (this.isFull()) {
      if (!this.wouldEnter(row, textMatch, bonus)) return;
      if (CHECKED) assert(!this.ordered, "of rows that come best first none displaces another");
      Mem.putU32(this.candidate + ROW_FLAGS, flags);
      const worst = <usize>Mem.u32At(this.heap);
      Mem.putU32(this.heap, <u32>this.candidate);
      this.candidate = worst;
      this.change();
      return heapSink(this.heap, this.kept, before, changetype<usize>(this.sortKeys));
    }
    this.fillCandidate(row, textMatch, bonus);
    Mem.putU32(this.candidate + ROW_FLAGS, flags);
    if (CHECKED) assert(!this.ordered || this.comesLast(), "rows that come best first are in order");
    if (this.kept == this.capacity) this.growHeap();
    Mem.putU32(this.heap + ((<usize>this.kept) << 2), <u32>this.candidate);
    this.kept++;
    this.change();
    this.candidate = scratch(this.rowBytes);
    if (!this.ordered) heapRise(this.heap, this.kept, before, changetype<usize>(this.sortKeys));
  }

  /**
   * Counts a change to the kept rows. Checks the deadline regularly, because changing a large heap takes
   * about a microsecond.
   */
  private change(): void {
    if ((++this.changes & CHANGES_A_CHECK) == 0) checkDeadline();
  }

  /** True if the candidate is worse than all rows kept. The last row in the heap must be the worst. */
  private comesLast(): bool {
    return (
      this.kept == 0 || before(this.rowAt(this.kept - 1), this.candidate, changetype<usize>(this.sortKeys))
    );
  }

  private growHeap(): void {
    this.capacity = max(HEAP_FIRST, this.capacity * 2);
    const grown = scratch((<usize>this.capacity) << 2);
    Mem.copy(grown, this.heap, (<usize>this.kept) << 2);
    this.heap = grown;
  }

  /** Sorts the rows, best first. No row may be offered afterwards. */
  finish(): void {
    if (!this.ordered) heapSort(this.heap, this.kept, before, changetype<usize>(this.sortKeys));
  }

  private rowAt(i: u32): usize {
    if (CHECKED) assert(i < this.kept, "a row is one of those kept");
    return <usize>Mem.u32At(this.heap + ((<usize>i) << 2));
  }

  seqOf(i: u32): f64 {
    return <f64>Mem.u64At(this.rowAt(i) + ROW_SEQ);
  }

  textMatchOf(i: u32): f64 {
    return Mem.f64At(this.rowAt(i) + ROW_TEXT_MATCH);
  }

  bonusOf(i: u32): f64 {
    return Mem.f64At(this.rowAt(i) + ROW_BONUS);
  }

  flagsOf(i: u32): u32 {
    return Mem.u32At(this.rowAt(i) + ROW_FLAGS);
  }

  hasKey(i: u32, key: u32): bool {
    return (Mem.u64At(this.rowAt(i) + ROW_PRESENCE) << key) >> 63 != 0;
  }

  keyOf(i: u32, key: u32): u64 {
    return Mem.u64At(this.rowAt(i) + ROW_KEYS + ((<usize>key) << 3));
  }
}
