// Ranks rows by text match plus bonus, larger first. Rows fall into sets by their text match's state (whether
// they have all words, how many typos, whether they are as written). Sets are visited best first until no
// further set can change the result. Where alternatives below TIER_BEST may not matter, a set's rows are
// first scored with their best alternatives alone. The other alternatives, closeness and bonuses are then
// computed only for rows whose upper bound can still reach the top k (candidates.ts). Rows that lack a word
// are visited word by word, as in Turtle and Flood's MaxScore (1995).

import { checkDeadline } from "../env";
import { Matches } from "../match/match";
import { scratchZeroed } from "../memory/arena";
import { Bits, bitsCopyOf, bitsCount, bitsMove, bitsNew } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Numbered, numberedRows, numberRows } from "../memory/numbered";
import { SearchProgram } from "../program/search-program";
import { RELEVANCE_SCALE } from "../rank/final-key";
import { Sieve } from "../rank/sieve";
import { TopK } from "../rank/topk";
import { failed } from "../status";
import { ListBounds } from "./bounds/list-bounds";
import { Promising } from "./bounds/promising";
import { RowLengths } from "./bounds/row-lengths";
import { ALL_ALTERNATIVES, BEST_ALTERNATIVES, ShortRows, WORDS_LEFT } from "./bounds/short-rows";
import { WordsPresent } from "./bounds/words-present";
import { Candidates } from "./candidates";
import { NearLists } from "./near-lists";
import { WordScores } from "./score-words";
import { Signals } from "./signals";

const RANGE_GROWTH: u32 = 4;
const ROWS_LEAST: u32 = 512; // with fewer rows in a range, scoring all of them is faster than selecting some
const PART_MOST: u32 = 256; // with more candidates than this, offer a range's rows part by part

/** Visits the current segment's rows, set by set. Allocated in scratch memory. */
@unmanaged
export class SetVisitor {
  program: SearchProgram;
  top: TopK;
  matches: Matches;
  signals: Signals;
  words: WordScores;
  near: NearLists;
  candidates: Candidates;
  lengths: RowLengths;
  short: ShortRows;
  present: WordsPresent;
  promising: Promising;
  rows: u32;
  rangeRows: u32;
  rangeFirst: u32;
  size: u32; // number of rows in the next range to visit
  scored: Numbered; // the rows to score in the current range
  anyBehind: bool; // whether any word has alternatives below TIER_BEST

  static make(
    matches: Matches,
    signals: Signals,
    words: WordScores,
    near: NearLists,
    sieve: Sieve,
  ): SetVisitor {
    const made = changetype<SetVisitor>(scratchZeroed(offsetof<SetVisitor>()));
    const program = signals.program;
    made.program = program;
    made.top = signals.top;
    made.matches = matches;
    made.signals = signals;
    made.words = words;
    made.near = near;
    made.candidates = Candidates.make(sieve, signals, words, near);
    const lists = ListBounds.make(program, words);
    made.lengths = RowLengths.make(program, words);
    made.short = ShortRows.make(program, made.lengths, lists);
    made.present = WordsPresent.make(program, signals.closeness, made.short);
    made.promising = Promising.make(program, signals, words, made.lengths, lists);
    for (let i: u32 = 0; i < program.wordCount; i++)
      if (program.wordAt(i).mostBehind > 0) made.anyBehind = true;
    return made;
  }

  /** Starts a new segment. `summary` is 0 if the segment has no summary. The words' lists must be open. */
  beginSegment(segment: usize, summary: usize): void {
    this.lengths.beginSegment(segment, summary);
    this.short.beginSegment();
    this.present.beginSegment();
    this.promising.beginSegment();
  }

  /**
   * Visits the rows of `matching` in a segment of `count` rows. The first range has `first` rows, later
   * ranges have `range` rows. `numbered` and the bitset `some` are working space.
   */
  visit(matching: usize, count: u32, range: u32, first: u32, numbered: Numbered, some: usize): void {
    const matches = this.matches;
    const signals = this.signals;
    this.rows = count;
    this.rangeRows = range;
    this.rangeFirst = first;
    this.scored = numbered;
    this.candidates.beginSegment(numbered, some, count);
    const apart = signals.rowsApart();
    if (apart == 0 && matches.full == 0 && matches.best == 0 && matches.fewestTypos == 0) {
      this.visitFull(matching, signals.bestState, false);
      return;
    }
    const left = bitsCopyOf(matching, this.rows);
    const set = bitsNew(this.rows);
    if (apart != 0) {
      this.take(set, left, apart, 0);
      this.visitApart(set);
    }
    if (this.program.fullFirst && !this.visitTiers(set, left)) return;
    if (matches.full != 0) this.visitByWord(set, left);
  }

  /**
   * Visits the rows of `left` that have every word, tier by tier. Returns false if no remaining row can reach
   * the top k.
   */
  private visitTiers(set: usize, left: usize): bool {
    const matches = this.matches;
    const signals = this.signals;
    this.take(set, left, matches.full, matches.best);
    if (!this.visitFull(set, signals.bestState, this.anyBehind && matches.best != 0)) return false;
    if (matches.best != 0) {
      this.take(set, left, matches.full, matches.fewestTypos);
      if (!this.visitFull(set, signals.fullState(signals.leastTypos, false), false)) return false;
    }
    if (matches.fewestTypos != 0) {
      const most = signals.fullState(signals.leastTypos + 1, false);
      if (!this.canEnter(signals.mostScore, most)) return false;
      this.take(set, left, matches.full, 0);
      this.visitMixed(set, most, signals.mostScore, ALL_ALTERNATIVES);
    }
    return true;
  }

  /**
   * Moves the rows of `from` that are in both `a` and `b` to `set`. 0 in place of `a` or `b` stands for all
   * rows.
   */
  private take(set: usize, from: usize, a: usize, b: usize): void {
    bitsMove(set, from, a == 0 ? from : a, b == 0 ? from : b, this.rows);
  }

  private canEnter(score: f64, state: u32): bool {
    const signals = this.signals;
    return signals.textMatch(score, state) + signals.bonusMost(state) >= this.top.leastSum();
  }

  /** Visits the few rows that the bounds on sums do not cover (Signals.rowsApart). */
  private visitApart(set: usize): void {
    const scored = this.scored;
    for (let from = this.lastRange(); !failed(); from -= this.rangeRows) {
      const to = min(this.rows, from + this.rangeRows);
      numberRows(scored, set, from, to);
      if (scored.count > 0) {
        this.words.score(scored, true, false);
        this.near.ask(set, from, to);
        this.signals.offerAll(scored);
      }
      if (from == 0) return;
    }
  }

  /** First row of the last range. */
  private lastRange(): u32 {
    return this.rows == 0 ? 0 : ((this.rows - 1) / this.rangeRows) * this.rangeRows;
  }

  /** Restarts the ranges for a new set of rows. */
  private rangesBegin(): void {
    this.size = this.top.isFull() || this.rangeRows == this.rows ? this.rangeRows : this.rangeFirst;
  }

  /**
   * First row of the range that ends at `to`. The newest rows come first, so that few kept rows are replaced
   * by newer rows that are otherwise equal. Ranges stay small until enough rows are kept for the worst of
   * them to filter the rest.
   */
  private rangeBefore(to: u32): u32 {
    const from = ((to - 1) / this.size) * this.size;
    this.candidates.growing = this.rows - to < this.size;
    this.size = min(this.rangeRows, this.size * RANGE_GROWTH);
    return from;
  }

  /**
   * Visits rows that have every word and share one state. If `bestOnly`, these rows have a TIER_BEST
   * alternative for every word, and the words' other alternatives are scored only where they could raise a
   * score. Returns false if no row in a worse state can reach the top k.
   */
  private visitFull(set: usize, state: u32, bestOnly: bool): bool {
    const scored = this.scored;
    const which = bestOnly ? BEST_ALTERNATIVES : ALL_ALTERNATIVES;
    let to = this.rows;
    this.rangesBegin();
    while (to > 0 && !failed()) {
      if (!this.canEnter(this.signals.mostScore, state)) return false;
      const from = this.rangeBefore(to);
      numberRows(scored, this.enough(set, from, to, state, which, true), from, to);
      if (scored.count > 0) this.fullRange(state, bestOnly);
      to = from;
    }
    return !failed();
  }

  /**
   * Returns the rows of `set` in [from, to) that can score enough to reach the top k, judging by their
   * lengths and, if all rows are in the same state (`oneState`), by posting lists. Returns `set` itself if
   * selecting rows does not pay off. No row is in a better state than `state`. `which` says which
   * alternatives can contribute.
   */
  private enough(set: usize, from: u32, to: u32, state: u32, which: u32, oneState: bool): usize {
    const top = this.top;
    if (!top.isFull()) return set;
    const count = bitsCount(set + <usize>(from >> 3), to - from);
    if (count < ROWS_LEAST) return set;
    const least = top.leastSum();
    const cut = this.candidates.scoreCut(least, state);
    const bonus = this.signals.bonusMost(state) / RELEVANCE_SCALE;
    let some = this.short.among(set, count, from, to, cut - bonus, which);
    if (which == WORDS_LEFT)
      some = this.present.among(some, from, to, cut + this.signals.scoreMost() - bonus);
    if (some == set && oneState) some = this.promising.among(set, count, from, to, cut, state);
    if (CHECKED)
      assert(
        some == set || this.holdAll(some, set, from, to, least),
        "no row that can enter is left unscored",
      );
    return some;
  }

  /** True if `some` contains all rows of `set` in [from, to) that can reach a sum of `least`. */
  private holdAll(some: usize, set: usize, from: u32, to: u32, least: f64): bool {
    const scored = this.scored;
    numberRows(scored, set, from, to);
    this.words.score(scored, true, false);
    const list = numberedRows(scored);
    for (let i: usize = 0; i < <usize>scored.count; i++) {
      const row = Mem.u32At(list + (i << 2));
      const score = Mem.f64At(this.words.scores + (i << 3));
      const state = Mem.u32At(this.words.states + (i << 2));
      const words = Mem.u64At(this.words.rowWords + (i << 3));
      if (!Bits.has(some, row) && this.signals.sumBound(row, score, state, words) >= least) return false;
    }
    return true;
  }

  private fullRange(state: u32, bestOnly: bool): void {
    const scored = this.scored;
    const words = this.words;
    checkDeadline();
    words.score(scored, false, bestOnly);
    if (bestOnly) {
      const least = this.candidates.leastSum(state);
      this.candidates.findRowsWithBonus(words.uppers, least, state);
      this.candidates.begin();
      this.candidates.addFull(words.uppers, least, state, scored.from, scored.to);
      const complete = this.candidates.allScored();
      if (complete && this.candidates.queue.count() <= PART_MOST)
        return this.candidates.offerBestFirst(state, 0, scored.from, scored.to);
      if (!complete) {
        numberRows(scored, this.candidates.chosen, scored.from, scored.to);
        words.score(scored, false, false);
      }
    }
    this.candidates.offerParts(state);
  }

  /**
   * Visits rows in different states. No row is in a better state than `most` or has a higher score than
   * `mostScored`. `which` says which alternatives can contribute.
   */
  private visitMixed(set: usize, most: u32, mostScored: f64, which: u32): void {
    const scored = this.scored;
    let to = this.rows;
    this.rangesBegin();
    while (to > 0 && !failed()) {
      if (!this.canEnter(mostScored, most)) return;
      const from = this.rangeBefore(to);
      numberRows(scored, this.enough(set, from, to, most, which, false), from, to);
      if (scored.count > 0) this.mixedRange(this.signals.bonusMost(most));
      to = from;
    }
  }

  private mixedRange(bonus: f64): void {
    const scored = this.scored;
    const top = this.top;
    const signals = this.signals;
    const words = this.words;
    checkDeadline();
    words.score(scored, true, false);
    const count = scored.count;
    const sums = words.sums; // text matches, not including closeness
    for (let i: usize = 0; i < <usize>count; i++) {
      const state = Mem.u32At(words.states + (i << 2));
      Mem.putF64(sums + (i << 3), signals.textMatch(Mem.f64At(words.scores + (i << 3)), state));
    }
    const least = top.isFull()
      ? top.leastSum()
      : max(0, this.candidates.queue.kthLargest(sums, count, this.program.rowsWanted));
    const cut = least - (signals.scoreMost() * RELEVANCE_SCALE + 2) - bonus;
    this.candidates.begin();
    const list = numberedRows(scored);
    for (let i: u32 = 0; i < count; i++) {
      if (Mem.f64At(sums + ((<usize>i) << 3)) < cut) continue;
      const row = Mem.u32At(list + ((<usize>i) << 2));
      const score = Mem.f64At(words.scores + ((<usize>i) << 3));
      const state = Mem.u32At(words.states + ((<usize>i) << 2));
      const most = signals.sumBound(row, score, state, Mem.u64At(words.rowWords + ((<usize>i) << 3)));
      if (most > least || (most == least && (!top.isFull() || top.wouldEnter(row, most, 0))))
        this.candidates.add(row, i, most);
    }
    this.candidates.offerBestFirst(0, words.states, scored.from, scored.to);
  }

  /**
   * Visits rows that lack some word, or all rows if having every word gives no advantage. Goes through the
   * words in descending order of maximum score, and visits each word's remaining rows.
   */
  private visitByWord(set: usize, left: usize): void {
    this.words.leftOnly = true;
    for (let done: u32 = 0; done < this.program.wordCount && !failed(); done++) {
      let best = this.program.wordAt(0);
      let most: f64 = 0;
      for (let i: u32 = 0; i < this.program.wordCount; i++) {
        const word = this.program.wordAt(i);
        if (word.rows == 0) continue; // none of the remaining rows has the word
        most += word.most;
        if (best.rows == 0 || word.most > best.most) best = word;
      }
      most += this.signals.scoreMost();
      if (best.rows == 0 || !this.canEnter(most, 0)) return;
      this.take(set, left, best.rows, 0);
      this.short.wordsChanged();
      this.present.wordsChanged();
      this.visitMixed(set, 0, most, WORDS_LEFT);
      best.rows = 0;
    }
  }
}
