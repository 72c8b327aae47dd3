// For a one-word query, finds the rows in a range whose scores can reach a cut. It reads only posting lists
// and scores no row (Turtle and Flood's MaxScore, 1995, over an alternative's lists, with Ding and Suel's
// block maxima, 2011). An alternative's lists are read in descending order of what they can add. A row
// qualifies if its posting in the first list that contains it, plus the most that the remaining lists can
// add, reaches the cut. Rows in small lists are found once for all ranges.

import { checkDeadline } from "../../env";
import { BLOCK_ENTRY_BYTES, BLOCK_MAX_TF, BLOCK_MIN_NORM, BLOCK_ROWS } from "../../layout";
import { listAt, postingsOfSmall } from "../../match/alternative-lists";
import { scratch, scratchZeroed } from "../../memory/arena";
import { Bits, bitsCopy, bitsNew, bitsNone, bitsOr } from "../../memory/bitset";
import { Mem } from "../../memory/mem";
import { NORMS } from "../../program/length-tables";
import { Alternative, alternativeAt, SearchProgram } from "../../program/search-program";
import { RELEVANCE_SCALE } from "../../rank/final-key";
import { Cursor, cursorBlockFrom, cursorBlockOf } from "../../segment/postings";
import { failed } from "../../status";
import { WordScores } from "../score-words";
import { Signals } from "../signals";
import { ListBounds, TF_UNKNOWN } from "./list-bounds";
import { RowLengths } from "./row-lengths";

// If the word has more lists, they are not read, because that would take too long.
const LISTS_MOST: u32 = 1024;
const LARGE_FROM: u32 = 1024; // a list with at least this many postings is large: it is read range by range
const LEAST_NORMS: u32 = 128; // number of entries per table; the last one serves all larger norm bytes
const LEAST_BYTES: usize = 256;
const LEAST_SINGLE: usize = LEAST_BYTES; // offset of the table for rows that are in only one list
// Offset of the table for rows that are in several lists, at least one of them small.
const LEAST_SMALL: usize = 2 * LEAST_BYTES;
// If more than 1 / SMALL_SHARE of the word's postings are in small lists, do not search.
const SMALL_SHARE: u32 = 4;
const UNSURE_MOST: u32 = 64; // with more unsure rows than this, look up which of them have a bonus
const LISTS_A_CHECK: u32 = 63; // bit mask: a deadline check every 64 lists
const CUT_MARGIN: f64 = 0.000001; // how far a cut is lowered; far more than a score's rounding error

/** One of an alternative's lists, with bounds on what it and the lists after it can add. */
@unmanaged
class Reach {
  most: f64; // the most that the list adds to a row's sum
  rest: f64; // the most that the alternative's later large lists can add
  small: f64; // the most that its small lists can add: the later ones or, if this list is large, all of them
  cursor: Cursor;
}

const REACH_BYTES: usize = (offsetof<Reach>() + 7) & ~7;

/** Finds the rows in a range whose scores can reach a cut. Allocated in scratch memory. */
@unmanaged
export class Promising {
  program: SearchProgram;
  signals: Signals;
  words: WordScores;
  lengths: RowLengths;
  lists: ListBounds;
  // Whether reading lists seems worthwhile in the current segment; false if there are several words.
  pays: bool;
  prepared: bool; // whether `prepare` has run for the current segment
  tests: u32; // number of rows in the range whose exact length has been read
  testsMost: u32; // above this many `tests`, scoring the rows would have been faster
  rows: usize; // bitset: the rows that `among` returns
  unsure: usize; // bitset: rows that can reach the cut only with a bonus, which they may not have
  unsureCount: u32;
  inSmall: usize; // bitset: all rows that are in small lists
  small: usize; // bitset: rows of `inSmall` that may reach `smallCut`
  smallCut: f64; // value of `cutLow` when `small` was computed; Infinity = not computed
  reaches: usize; // one Reach per list, grouped by alternative; within a group, in descending order of `most`
  set: usize; // bitset: the argument `set` of `among`
  from: u32; // the range is [from, to)
  to: u32;
  state: u32; // the state (row-state.ts) that all these rows have
  cut: f64; // score that a row without a bonus must reach
  cutLow: f64; // score that a row with the largest possible bonus must reach
  bonusKnown: bool; // whether it is known which rows in the range can have a bonus
  several: usize; // bitset: rows in several of the word's lists; 0 = unknown, so any row may be
  // State for the list that is being read.
  boost: f64;
  needed: f64; // sum that a row needs to reach `cut`, divided by the row's saturation
  neededLow: f64; // the same for `cutLow`
  reach: Reach;
  norms: usize;
  occurrences: usize;
  least: usize; // u8 by norm byte: the least frequency with which a posting can reach `cutLow`
  passed: usize; // u8[]: indices of the current block's postings that may reach `cutLow`

  static make(
    program: SearchProgram,
    signals: Signals,
    words: WordScores,
    lengths: RowLengths,
    lists: ListBounds,
  ): Promising {
    const made = changetype<Promising>(scratchZeroed(offsetof<Promising>()));
    made.program = program;
    made.signals = signals;
    made.words = words;
    made.lengths = lengths;
    made.lists = lists;
    return made;
  }

  /** Starts a new segment; the word's lists must be open. */
  beginSegment(): void {
    this.prepared = false;
    this.pays = this.program.wordCount == 1;
  }

  /**
   * Returns a bitset of the rows of `set` in [from, to) (`count` rows) whose word score plus possible bonus
   * may reach `cut`. The bitset is valid for this range until the next call. All rows must have the word and
   * share one state. Returns `set` itself if searching would take longer than scoring the rows.
   */
  among(set: usize, count: u32, from: u32, to: u32, cut: f64, state: u32): usize {
    if (!this.pays || cut <= CUT_MARGIN) return set;
    if (!this.prepared) this.prepare();
    if (!this.pays || failed()) return set;
    checkDeadline();
    const signals = this.signals;
    this.state = state;
    this.cut = cut - CUT_MARGIN;
    this.cutLow = this.cut - signals.bonusMost(state) / RELEVANCE_SCALE;
    if (this.cutLow < this.smallCut) this.findSmall();
    this.from = from;
    this.to = to;
    this.bonusKnown = signals.rowsWithBonusKnown(from, to, state);
    this.tests = 0;
    this.testsMost = (count >> 1) + (count >> 3);
    this.set = set;
    this.find();
    if (!this.pays) return set;
    this.keep(set);
    return this.rows;
  }

  /**
   * Prepares the search in a segment. Clears `pays` if the word has too many lists there, or too many
   * postings in small lists.
   */
  private prepare(): void {
    const program = this.program;
    const word = program.wordAt(0);
    let lists: u32 = 0;
    for (let i: u32 = 0; i < word.alternativeCount; i++) lists += alternativeAt(word, i).listCount;
    this.pays = lists <= LISTS_MOST && postingsOfSmall(word, LARGE_FROM) <= word.cost / SMALL_SHARE;
    if (!this.pays) return;
    if (this.least == 0) {
      this.least = scratch(3 * LEAST_BYTES);
      this.passed = scratch(BLOCK_ROWS);
    }
    this.several = word.several;
    this.smallCut = Infinity;
    this.lengths.need();
    this.reaches = scratch(<usize>lists * REACH_BYTES);
    let first: u32 = 0;
    for (let i: u32 = 0; i < word.alternativeCount; i++) {
      this.findReaches(alternativeAt(word, i), first);
      first += alternativeAt(word, i).listCount;
    }
    this.rows = bitsNew(this.words.rows);
    this.unsure = bitsNew(this.words.rows);
    this.inSmall = bitsNone(this.words.rows);
    this.small = bitsNone(this.words.rows);
    this.prepared = true;
  }

  private reachAt(i: u32): Reach {
    return changetype<Reach>(this.reaches + <usize>i * REACH_BYTES);
  }

  /** Fills in the Reach of each of an alternative's lists, starting at index `first`. */
  private findReaches(alternative: Alternative, first: u32): void {
    const end = first + alternative.listCount;
    for (let i: u32 = 0; i < alternative.listCount; i++) {
      if ((i & LISTS_A_CHECK) == 0) checkDeadline();
      const cursor = listAt(alternative.lists, i);
      const most = this.lists.mostOf(cursor);
      let to = first + i;
      for (; to > first && this.reachAt(to - 1).most < most; to--) {
        this.reachAt(to).most = this.reachAt(to - 1).most;
        this.reachAt(to).cursor = this.reachAt(to - 1).cursor;
      }
      this.reachAt(to).most = most;
      this.reachAt(to).cursor = cursor;
    }
    let large: f64 = 0;
    let small: f64 = 0;
    for (let i = end; i > first; i--) {
      const reach = this.reachAt(i - 1);
      reach.rest = large;
      reach.small = small;
      if (isLarge(reach)) large += reach.most;
      else small += reach.most;
    }
    for (let i = first; i < end; i++) if (isLarge(this.reachAt(i))) this.reachAt(i).small = small;
  }

  /**
   * Finds the rows in small lists that may score enough to reach `cutLow`, in the whole segment. The result
   * is valid for all ranges until `cutLow` falls below `smallCut`.
   */
  private findSmall(): void {
    this.smallCut = this.cutLow;
    this.from = 0;
    this.to = this.words.rows;
    this.bonusKnown = false;
    this.unsureCount = 0;
    Mem.fill(this.rows, 0, Bits.bytes(this.to));
    Mem.fill(this.unsure, 0, Bits.bytes(this.to));
    this.lookThrough(false);
    bitsCopy(this.small, this.rows, this.to);
    bitsOr(this.small, this.unsure, this.to);
  }

  /** Finds the rows in the range that may score enough to reach `cut`, with a bonus if they may have one. */
  private find(): void {
    const first = <usize>(this.from >> 3);
    const bytes = Bits.bytes(this.to) - first;
    Mem.copy(this.rows + first, this.small + first, bytes);
    Mem.fill(this.unsure + first, 0, bytes);
    this.unsureCount = 0;
    this.lookThrough(true);
  }

  /** Searches the word's large lists if `large`, otherwise its small lists. */
  private lookThrough(large: bool): void {
    const word = this.program.wordAt(0);
    const least = this.lengths.leastSaturation;
    let first: u32 = 0;
    for (let i: u32 = 0; i < word.alternativeCount && !failed(); i++) {
      const alternative = alternativeAt(word, i);
      const end = first + alternative.listCount;
      this.boost = alternative.boost;
      this.needed = sumNeeded(this.boost, this.cut);
      this.neededLow = sumNeeded(this.boost, this.cutLow);
      for (let j = first; j < end && this.pays; j++) {
        const reach = this.reachAt(j);
        if (isLarge(reach) != large) continue;
        const reaches = reach.most + reach.rest + reach.small >= this.neededLow * least;
        if (!large || reaches) this.addRows(reach, large, reaches);
      }
      first = end;
    }
  }

  /**
   * Adds those of a list's rows whose sum may be large enough. `large` says whether the list is large. If it
   * is small, all its rows are also added to `inSmall`. `reaches` is true if some row in the list may reach
   * the cut.
   */
  private addRows(reach: Reach, large: bool, reaches: bool): void {
    const cursor = reach.cursor;
    const slotIndex = cursor.slotIndex;
    const to = this.to;
    this.norms = this.words.normsOf(slotIndex);
    if (this.norms == 0) return;
    this.reach = reach;
    this.occurrences = this.program.slotOccurrences(slotIndex);
    if (large) {
      this.putLeast(this.least, reach.rest, slotIndex);
      this.putLeast(this.least + LEAST_SINGLE, 0, slotIndex);
      this.putLeast(this.least + LEAST_SMALL, reach.rest + reach.small, slotIndex);
    }
    let block = cursorBlockOf(cursor, this.from);
    for (; block <= cursor.blocks && cursorBlockFrom(cursor, block) < to; block++) {
      if (large && block < cursor.blocks && !this.mayHave(cursor, block)) continue;
      if (!this.lists.goToBlock(cursor, block)) return;
      if (large) {
        const passed = this.pass(cursor);
        this.tests += passed;
        this.pays = this.tests <= this.testsMost;
        if (!this.pays) return;
        for (let i: u32 = 0; i < passed; i++) this.addRow(cursor, <u32>Mem.u8At(this.passed + <usize>i));
        continue;
      }
      for (let i: u32 = 0; i < cursor.held; i++) {
        Bits.add(this.inSmall, cursor.rowAt(i));
        if (reaches) this.addRow(cursor, i);
      }
    }
  }

  /**
   * True if some posting in a packed block may be enough for a row with the largest bonus to reach the cut.
   */
  private mayHave(cursor: Cursor, block: u32): bool {
    const entry = cursor.directory + <usize>block * BLOCK_ENTRY_BYTES;
    const tf = Mem.u8At(entry + BLOCK_MAX_TF);
    return (
      tf >= TF_UNKNOWN || tf >= Mem.u8At(this.least + LEAST_SMALL + <usize>Mem.u8At(entry + BLOCK_MIN_NORM))
    );
  }

  /**
   * Fills a u8 table by norm byte with the lowest frequency at which a posting may be enough to reach
   * `cutLow`, if other lists add `rest`. The values never fall as the norm rises.
   */
  private putLeast(to: usize, rest: f64, slotIndex: u32): void {
    const saturations = this.lengths.leastSaturations(slotIndex);
    const factor = f64x2.splat(this.neededLow);
    const rests = f64x2.splat(rest);
    for (let norm: usize = 0; norm < LEAST_NORMS; norm += 2) {
      const sums = f64x2.sub(f64x2.mul(factor, Mem.v128At(saturations + (norm << 3))), rests);
      const tfs = f64x2.ceil(f64x2.div(sums, Mem.v128At(this.occurrences + (norm << 3))));
      const whole = i32x4.trunc_sat_f64x2_u_zero(tfs);
      Mem.putU8(to + norm, min<u32>(i32x4.extract_lane(whole, 0), TF_UNKNOWN));
      Mem.putU8(to + norm + 1, min<u32>(i32x4.extract_lane(whole, 1), TF_UNKNOWN));
    }
    Mem.fill(to + LEAST_NORMS, <u8>Mem.u8At(to + LEAST_NORMS - 1), NORMS - LEAST_NORMS);
  }

  /**
   * Writes the indices (u8) of the block's postings that may be enough to reach `cutLow` to `passed`, and
   * returns their number. Does not branch per posting, because the processor could not predict the branch.
   */
  private pass(cursor: Cursor): u32 {
    const passed = this.passed;
    const several = this.several;
    const inSmall = this.inSmall;
    const norms = this.norms;
    const least = this.least;
    const set = this.set;
    let i: u32 = 0;
    let end = cursor.held;
    while (i < end && cursor.rowAt(i) < this.from) i++;
    while (i < end && cursor.rowAt(end - 1) >= this.to) end--;
    let count: usize = 0;
    for (; i < end; i++) {
      const row = cursor.rowAt(i);
      const byte = <usize>(row >> 3);
      const bit = row & 7;
      const single: usize = several == 0 ? 0 : ~(Mem.u8At(several + byte) >> bit) & 1;
      const small: usize = (Mem.u8At(inSmall + byte) >> bit) & 1;
      const table = select<usize>(LEAST_SINGLE, small * LEAST_SMALL, single != 0);
      const needed = Mem.u8At(least + table + <usize>Mem.u8At(norms + row));
      Mem.putU8(passed + count, i);
      const asked: usize = (Mem.u8At(set + byte) >> bit) & 1;
      count += select<usize>(0, asked, cursor.tfAt(i) < needed);
    }
    return <u32>count;
  }

  /** Adds a posting's row if, given the row's exact length, the posting may be enough to reach the cut. */
  private addRow(cursor: Cursor, i: u32): void {
    const row = cursor.rowAt(i);
    const norm = <usize>Mem.u8At(this.norms + row);
    let most = <f64>cursor.tfAt(i) * Mem.f64At(this.occurrences + (norm << 3));
    if (this.several == 0 || Bits.has(this.several, row)) {
      most += this.reach.rest;
      if (Bits.has(this.inSmall, row)) most += this.reach.small;
    }
    const saturation = this.lengths.saturationOf(row, most, this.neededLow);
    if (!(most < this.needed * saturation)) return Bits.add(this.rows, row);
    if (most < this.neededLow * saturation) return;
    if (!this.bonusKnown) {
      this.unsureCount++;
      return Bits.add(this.unsure, row);
    }
    if (!this.signals.getsBonus(row)) return;
    const bonus = this.signals.bonusBound(row, this.state) / RELEVANCE_SCALE;
    if (!(most < sumNeeded(this.boost, this.cut - bonus) * saturation)) Bits.add(this.rows, row);
  }

  /**
   * Intersects the result, including unsure rows, with `set`. If there are many unsure rows, first looks up
   * which of them have a bonus and drops the others.
   */
  private keep(set: usize): void {
    const rows = this.rows;
    const unsure = this.unsure;
    const asks = this.unsureCount > UNSURE_MOST;
    if (asks) this.signals.findRowsWithBonus(this.from, this.to);
    const end = Bits.words(this.to);
    for (let word = this.from >> 6; word < end; word++) {
      let may = Bits.word(unsure, word);
      if (asks) may &= this.signals.rowsWithBonus(word);
      Bits.putWord(rows, word, (Bits.word(rows, word) | may) & Bits.word(set, word));
    }
  }
}

function isLarge(reach: Reach): bool {
  return reach.cursor.count >= LARGE_FROM;
}

/**
 * The smallest sum that yields the score `cut` at a saturation of 1. It scales linearly with the saturation.
 */
function sumNeeded(boost: f64, cut: f64): f64 {
  return cut <= 0 ? 0 : cut < boost ? cut / (boost - cut) : Infinity;
}
