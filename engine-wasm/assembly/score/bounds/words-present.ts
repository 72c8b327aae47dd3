// Finds the rows in a range that have enough of a query's words to be among the best, if one matching word is
// enough. A row scores at most what its words can add, plus what closeness can add for each pair of
// neighbouring words. These bounds are added up for 64 rows at a time, from the bitsets of the words' rows,
// without reading postings: plane b holds bit b of each of the 64 sums, and a summand is added plane by plane
// with its carries.

import { scratch, scratchZeroed } from "../../memory/arena";
import { Bits, bitsNew } from "../../memory/bitset";
import { Mem } from "../../memory/mem";
import { SearchProgram } from "../../program/search-program";
import { Closeness } from "../closeness";
import { WORDS_WITH_BIT } from "../row-state";
import { ShortRows } from "./short-rows";

const UNITS: f64 = 1000; // the bound of a row with all words, before its summands are rounded up to integers
// Enough bits for UNITS plus one for each summand; there are fewer than 2 * WORDS_WITH_BIT summands.
const PLANES: usize = 11;
const SUM_MOST: f64 = 2047;
const SHARE: u32 = 2; // the search is worthwhile if at most 1 / SHARE of the rows remain
const MISSES_MOST: u32 = 2; // after this many ranges in which it was not worthwhile, stop trying
const KEPT_UNSEEN: u64 = 2; // if at most this many of 64 rows are asked for, they are kept

/** Finds rows that have enough words. Allocated in scratch memory. */
@unmanaged
export class WordsPresent {
  program: SearchProgram;
  closeness: Closeness;
  short: ShortRows;
  unit: f64; // the score that the integer 1 stands for
  mosts: usize; // f64 by word: the most that it adds to any row's score in the current segment
  units: usize; // u32 by word: the same as an integer, rounded up
  pairs: usize; // u32 by word: the most that closeness adds for the word and the one before it
  planes: usize; // u64[PLANES]
  rows: usize; // bitset: the rows that `among` returns
  known: bool; // whether the fields above have been set for the current segment and the words left
  misses: u32;

  static make(program: SearchProgram, closeness: Closeness, short: ShortRows): WordsPresent {
    const made = changetype<WordsPresent>(scratchZeroed(offsetof<WordsPresent>()));
    made.program = program;
    made.closeness = closeness;
    made.short = short;
    return made;
  }

  /** Starts a new segment. */
  beginSegment(): void {
    this.rows = 0;
    this.wordsChanged();
  }

  /** Must be called when the set of remaining words has changed (Word.rows). */
  wordsChanged(): void {
    this.known = false;
    this.misses = 0;
  }

  /**
   * Returns the rows of `set` in [from, to) that have enough of the remaining words to score `cut`, closeness
   * included: a bitset valid for this range until the next call, or `set` itself if searching is not
   * worthwhile. `short.among` must have been called in the segment.
   */
  among(set: usize, from: u32, to: u32, cut: f64): usize {
    if (this.misses == MISSES_MOST || this.program.wordCount > WORDS_WITH_BIT) return set;
    if (!this.known) this.begin();
    const least = <u32>max<f64>(0, min<f64>(SUM_MOST, floor(cut / this.unit)));
    if (least == 0) return set;
    const end = Bits.words(to);
    let asked: u32 = 0;
    let kept: u32 = 0;
    for (let word = from >> 6; word < end; word++) {
      let some = Bits.word(set, word);
      asked += <u32>popcnt(some);
      if (popcnt(some) > KEPT_UNSEEN) {
        this.addUp(some, word);
        some &= this.atLeast(least);
      }
      kept += <u32>popcnt(some);
      Bits.putWord(this.rows, word, some);
    }
    if (kept > asked / SHARE) this.misses++;
    return this.rows;
  }

  private begin(): void {
    const program = this.program;
    const count = <usize>program.wordCount;
    this.known = true;
    if (this.rows == 0) this.rows = bitsNew(this.short.lengths.rows);
    if (this.mosts == 0) {
      this.mosts = scratch(count << 3);
      this.units = scratch(count << 2);
      this.pairs = scratch(count << 2);
      this.planes = scratch(PLANES << 3);
    }
    this.short.putWordMosts(this.mosts);
    let most: f64 = 0;
    for (let i: u32 = 0; i < program.wordCount; i++) most += this.mostOf(i) + this.pairMost(i);
    this.unit = most == 0 ? 1 : most / UNITS;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      Mem.putU32(this.units + ((<usize>i) << 2), <u32>ceil(this.mostOf(i) / this.unit));
      Mem.putU32(this.pairs + ((<usize>i) << 2), <u32>ceil(this.pairMost(i) / this.unit));
    }
  }

  /** The most that the word adds to any of the remaining rows. */
  private mostOf(i: u32): f64 {
    return this.program.wordAt(i).rows == 0 ? 0 : Mem.f64At(this.mosts + ((<usize>i) << 3));
  }

  /** The most that closeness adds to any of the remaining rows for the word and the one before it. */
  private pairMost(i: u32): f64 {
    const program = this.program;
    if (i == 0 || program.wordAt(i).rows == 0 || program.wordAt(i - 1).rows == 0) return 0;
    return this.closeness.pairMost(i);
  }

  /** Adds up the bounds of the rows `some` in bitset word number `number`. */
  private addUp(some: u64, number: u32): void {
    const program = this.program;
    for (let at: usize = 0; at < PLANES << 3; at += 8) Mem.putU64(this.planes + at, 0);
    let before: u64 = 0; // the rows with the word before
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const rows = program.wordAt(i).rows;
      const having = rows == 0 ? 0 : Bits.word(rows, number) & some;
      this.add(having, Mem.u32At(this.units + ((<usize>i) << 2)));
      this.add(having & before, Mem.u32At(this.pairs + ((<usize>i) << 2)));
      before = having;
    }
  }

  /** Adds `summand` to the sums of `some` rows. */
  private add(some: u64, summand: u32): void {
    if (some == 0) return;
    let carry: u64 = 0;
    for (let at = this.planes; summand != 0 || carry != 0; at += 8) {
      const added = (summand & 1) != 0 ? some : 0;
      const plane = Mem.u64At(at);
      Mem.putU64(at, plane ^ added ^ carry);
      carry = (plane & added) | (carry & (plane ^ added));
      summand >>= 1;
    }
  }

  /** The rows whose sum is at least `least`. */
  private atLeast(least: u32): u64 {
    let below: u64 = 0;
    let equal = ~(<u64>0); // rows whose sum equals `least` in all planes so far
    for (let i = PLANES; i > 0; i--) {
      const plane = Mem.u64At(this.planes + ((i - 1) << 3));
      if (((least >> (<u32>i - 1)) & 1) != 0) {
        below |= equal & ~plane;
        equal &= plane;
      } else {
        equal &= ~plane;
      }
    }
    return ~below;
  }
}
