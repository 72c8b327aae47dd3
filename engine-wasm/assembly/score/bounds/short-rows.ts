// Finds the rows in a range that are short enough to be among the best. A row's score for its words falls as
// its length rises, so an upper bound on the words' sum yields a length beyond which no row scores enough. A
// lower bound on a row's length comes from the norm bytes of the two fields with the largest spread. It is
// computed for 16 rows at a time, without reading postings.
//
//   length >= base + first * (norm byte in one field) + second * (norm byte in the other)
//
// Length is a convex function of the norm byte, so a line that touches the curve at one point lies below it
// everywhere.

import { checkDeadline } from "../../env";
import { listAt } from "../../match/alternative-lists";
import { scratch, scratchZeroed } from "../../memory/arena";
import { Bits, bitsNew } from "../../memory/bitset";
import { Mem } from "../../memory/mem";
import { Alternative, alternativeAt, SearchProgram, TIER_BEST, Word } from "../../program/search-program";
import { ListBounds } from "./list-bounds";
import { RowLengths } from "./row-lengths";

// Argument of `among`: which alternatives can contribute to a row's score.
export const ALL_ALTERNATIVES: u32 = 0;
// Only TIER_BEST; but for rows in a word's `behind` bitset, all alternatives.
export const BEST_ALTERNATIVES: u32 = 1;
export const WORDS_LEFT: u32 = 2; // all alternatives of the words whose `rows` is not 0

// If an alternative has more lists, they are not examined, because that would take too long.
const LISTS_MOST: u32 = 64;
const SHARE: u32 = 2; // dropping long rows is worthwhile if at most 1 / SHARE of the rows remain
// The same for a one-word query. The condition is stricter because promising.ts can select such a query's
// rows instead.
const SHARE_OF_ONE_WORD: u32 = 16;
const MISSES_MOST: u32 = 2; // after this many ranges in which it was not worthwhile, stop trying
// If at most this many of 64 rows are to be checked, they are checked one by one.
const LOOKED_AT_SINGLY: u64 = 4;
const SUM_MOST: f64 = 65535;
const HALVINGS: u32 = 20;
// Factor above 1; the difference is far larger than a score's relative rounding error.
const ROUNDING: f64 = 1.000000001;

/** Finds the rows in a range that are short enough to reach a cut. Allocated in scratch memory. */
@unmanaged
export class ShortRows {
  program: SearchProgram;
  lengths: RowLengths;
  lists: ListBounds;
  alternatives: u32; // total number of alternatives of all words
  sums: usize; // f64 by alternative, word by word: the most that all its lists together add to a row's sum
  mosts: usize; // f64 by alternative, word by word: the most that one of its lists adds to a row's sum
  known: bool; // whether `sums` and `mosts` have been computed for the current segment
  several: usize; // bitset: rows in several of the word's lists, if the query has one word; 0 = unknown
  misses: u32;
  share: u32; // SHARE or SHARE_OF_ONE_WORD
  rows: usize; // bitset: the rows that `among` returns
  // The current limits, and the arguments of `among` from which they were computed.
  cut: f64;
  which: u32;
  // Largest sum of the two norm products at which a row that is in only one list per word may score enough.
  single: i32;
  any: i32; // the same for a row in any number of lists; negative = no row can score enough

  static make(program: SearchProgram, lengths: RowLengths, lists: ListBounds): ShortRows {
    const made = changetype<ShortRows>(scratchZeroed(offsetof<ShortRows>()));
    made.program = program;
    made.lengths = lengths;
    made.lists = lists;
    made.share = program.wordCount == 1 ? SHARE_OF_ONE_WORD : SHARE;
    for (let i: u32 = 0; i < program.wordCount; i++) made.alternatives += program.wordAt(i).alternativeCount;
    return made;
  }

  /** Starts a new segment. The words' lists must be open. */
  beginSegment(): void {
    this.known = false;
    this.wordsChanged();
  }

  /**
   * Must be called when the set of remaining words (WORDS_LEFT) has changed, because the limits depend on it.
   */
  wordsChanged(): void {
    this.misses = 0;
    this.cut = NaN;
  }

  /**
   * Returns the rows of `set` in [from, to) (`count` rows) that are short enough for their words to score
   * `cut`: a bitset valid for this range until the next call, or `set` itself if dropping long rows is not
   * worthwhile. `which` says which alternatives can contribute.
   */
  among(set: usize, count: u32, from: u32, to: u32, cut: f64, which: u32): usize {
    if (this.misses == MISSES_MOST) return set;
    if (!this.known) this.begin();
    if (cut != this.cut || which != this.which) this.findLimits(cut, which);
    if (this.single >= <i32>SUM_MOST) return set;
    const kept = this.keep(set, from, to);
    if (which == BEST_ALTERNATIVES) this.keepBehind(set, from, to);
    if (kept <= count / this.share) return this.rows;
    this.misses++;
    return set;
  }

  private begin(): void {
    const program = this.program;
    this.known = true;
    this.lengths.need();
    this.rows = bitsNew(this.lengths.rows);
    if (this.sums == 0) {
      this.sums = scratch((<usize>this.alternatives) << 3);
      this.mosts = scratch((<usize>this.alternatives) << 3);
    }
    this.several = program.wordCount == 1 ? program.wordAt(0).several : 0;
    let at: usize = 0;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const word = program.wordAt(i);
      checkDeadline();
      for (let j: u32 = 0; j < word.alternativeCount; j++) {
        this.boundLists(alternativeAt(word, j), at);
        at += 8;
      }
    }
  }

  private boundLists(alternative: Alternative, at: usize): void {
    let sum: f64 = alternative.listCount > LISTS_MOST ? Infinity : 0;
    let most = sum;
    for (let i: u32 = 0; i < alternative.listCount && sum != Infinity; i++) {
      const added = this.lists.mostOf(listAt(alternative.lists, i));
      sum += added;
      most = max(most, added);
    }
    Mem.putF64(this.sums + at, sum);
    Mem.putF64(this.mosts + at, most);
  }

  private findLimits(cut: f64, which: u32): void {
    this.cut = cut;
    this.which = which;
    this.any = this.limitOf(this.sums);
    this.single = this.several != 0 ? this.limitOf(this.mosts) : this.any;
  }

  /**
   * The largest value of (first norm * firstFactor + second norm * secondFactor) at which a row may score
   * enough, given upper bounds on its alternatives' sums.
   */
  private limitOf(sums: usize): i32 {
    const lengths = this.lengths;
    let high = this.program.longest;
    if (lengths.scale == 0 || this.scoreMost(sums, high) >= this.cut) return <i32>SUM_MOST;
    let low: f64 = 0;
    for (let i: u32 = 0; i < HALVINGS; i++) {
      const middle = (low + high) / 2;
      if (this.scoreMost(sums, middle) < this.cut) high = middle;
      else low = middle;
    }
    const limit = ceil((high - lengths.base) * lengths.scale) + 1;
    return <i32>max<f64>(-1, min<f64>(SUM_MOST, limit));
  }

  /**
   * Upper bound on the word score of a row with this length, given upper bounds on its alternatives' sums.
   */
  private scoreMost(sums: usize, length: f64): f64 {
    const program = this.program;
    const saturation = this.lengths.saturation(length);
    let score: f64 = 0;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const word = program.wordAt(i);
      if (this.which != WORDS_LEFT || word.rows != 0) score += this.wordMost(word, sums, saturation);
      sums += (<usize>word.alternativeCount) << 3;
    }
    return score * ROUNDING;
  }

  /**
   * Writes an upper bound on what each word adds to any row's score in the current segment, f64 by word.
   * `among` must have been called in the segment.
   */
  putWordMosts(to: usize): void {
    const program = this.program;
    let sums = this.sums;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const word = program.wordAt(i);
      Mem.putF64(to + ((<usize>i) << 3), this.wordMost(word, sums, this.lengths.leastSaturation) * ROUNDING);
      sums += (<usize>word.alternativeCount) << 3;
    }
  }

  private wordMost(word: Word, sums: usize, saturation: f64): f64 {
    let most: f64 = 0;
    for (let i: u32 = 0; i < word.alternativeCount; i++) {
      const alternative = alternativeAt(word, i);
      const sum = Mem.f64At(sums + ((<usize>i) << 3));
      if (sum == 0 || (this.which == BEST_ALTERNATIVES && alternative.tier != TIER_BEST)) continue;
      const part = sum == Infinity ? 1 : sum / (sum + saturation);
      most = max(most, alternative.boost * part);
    }
    return most;
  }

  /** Keeps the rows of `set` that are short enough. Returns their number. */
  private keep(set: usize, from: u32, to: u32): u32 {
    const lengths = this.lengths;
    const rows = this.rows;
    const first = lengths.firstNorms;
    const second = lengths.secondNorms;
    const several = this.several;
    const firstFactors = i8x16.splat(<i8>lengths.firstFactor);
    const secondFactors = i8x16.splat(<i8>lengths.secondFactor);
    const singles = i16x8.splat(<i16>max(this.single, 0));
    const anys = i16x8.splat(<i16>max(this.any, 0));
    const differ = this.any != this.single;
    const end = Bits.words(to);
    const whole = lengths.rows >> 6; // number of bitset words whose 64 bits all stand for rows of the segment
    let count: u32 = 0;
    for (let word = from >> 6; word < end; word++) {
      const some = Bits.word(set, word);
      let short: u64 = 0;
      if (word >= whole || some == 0) {
        short = some;
      } else if (popcnt(some) <= LOOKED_AT_SINGLY) {
        short = this.shortOf(some, word);
      } else {
        let shortAny: u64 = 0;
        for (let i = <usize>(word << 6); i < <usize>((word + 1) << 6); i += 16) {
          const one = Mem.v128At(first + i);
          const other = Mem.v128At(second + i);
          const low = i16x8.add(
            i16x8.extmul_low_i8x16_u(one, firstFactors),
            i16x8.extmul_low_i8x16_u(other, secondFactors),
          );
          const high = i16x8.add(
            i16x8.extmul_high_i8x16_u(one, firstFactors),
            i16x8.extmul_high_i8x16_u(other, secondFactors),
          );
          short |= Fitting.mask(low, high, singles) << (<u64>i & 63);
          if (differ) shortAny |= Fitting.mask(low, high, anys) << (<u64>i & 63);
        }
        if (differ) short |= shortAny & Bits.word(several, word);
        short &= some;
      }
      count += <u32>popcnt(short);
      Bits.putWord(rows, word, short);
    }
    return count;
  }

  /** Returns the rows of `some`, a few bits of one bitset word, that are short enough. */
  private shortOf(some: u64, word: u32): u64 {
    const lengths = this.lengths;
    const first = lengths.firstNorms + ((<usize>word) << 6);
    const second = lengths.secondNorms + ((<usize>word) << 6);
    const several = this.several == 0 ? 0 : Bits.word(this.several, word);
    let short: u64 = 0;
    for (; some != 0; some &= some - 1) {
      const bit = some & (~some + 1);
      const i = <usize>ctz(some);
      const sum = Mem.u8At(first + i) * lengths.firstFactor + Mem.u8At(second + i) * lengths.secondFactor;
      const limit = (several & bit) != 0 ? this.any : this.single;
      short |= select<u64>(bit, 0, <i32>sum <= limit);
    }
    return short;
  }

  /**
   * Also keeps the rows of `set` in which alternatives below TIER_BEST may score more (Word.behind), whatever
   * their length.
   */
  private keepBehind(set: usize, from: u32, to: u32): void {
    const end = Bits.words(to);
    for (let i: u32 = 0; i < this.program.wordCount; i++) {
      const behind = this.program.wordAt(i).behind;
      if (behind == 0) continue;
      for (let word = from >> 6; word < end; word++) {
        const both = Bits.word(behind, word) & Bits.word(set, word);
        if (both != 0) Bits.putWord(this.rows, word, Bits.word(this.rows, word) | both);
      }
    }
  }
}

abstract class Fitting {
  /** Bit mask of the sums that do not exceed a limit: 16 sums, eight per vector. */
  @inline static mask(low: v128, high: v128, limits: v128): u64 {
    const fit = i8x16.narrow_i16x8_s(i16x8.le_u(low, limits), i16x8.le_u(high, limits));
    return <u64>(<u32>i8x16.bitmask(fit) & 0xffff);
  }
}
