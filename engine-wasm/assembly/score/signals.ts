// Combines the ranking signals into a row's worth, its text match plus bonus, and into an upper bound on that
// worth, which lets the kernel skip rows without scoring them.
//
// Each signal is a class in its own file, with its value, its bounds and its explanation side by side:
// closeness.ts, place-bonus.ts, term-bonus.ts, neighbour-points.ts. Boosts, pins and burials come from rules
// and are in rank/rules.ts. To add a signal, write such a file, create the signal here, and include its value
// in `offer` and its bounds in the methods under "Bounds". A bound must never be below a value that a row can
// get. A signal that is part of the text match belongs in the score bounds. Any other signal belongs in the
// bonus bounds, and also clears `isPlain` and, if it is large, `sumIsPlain` (program/rank-program.ts). Code
// that skips rows uses only these methods; `boundsHold` checks each bound against a row's worth.

import { ROW_HAS_WORD, ROW_MATCHED, ROW_NEIGHBOUR, SORT_RELEVANCE } from "../layout";
import { Neighbours } from "../match/neighbours";
import { scratchZeroed } from "../memory/arena";
import { Bits, bitsCopyOf, bitsOr } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Numbered, numberedRows } from "../memory/numbered";
import { SearchProgram } from "../program/search-program";
import { Rules } from "../rank/rules";
import { TopK } from "../rank/topk";
import { Seg } from "../segment/segment";
import { failed } from "../status";
import { Closeness } from "./closeness";
import { NearLists } from "./near-lists";
import { NeighbourPoints } from "./neighbour-points";
import { PlaceBonus } from "./place-bonus";
import { rowState, textMatchIn, wordsMatched } from "./row-state";
import { WordScores } from "./score-words";
import { TermBonus } from "./term-bonus";

/** One search's ranking signals over the current segment's rows. Allocated in scratch memory. */
@unmanaged
export class Signals {
  program: SearchProgram;
  rules: Rules;
  neighbours: Neighbours;
  top: TopK;
  words: WordScores;
  near: NearLists;
  closeness: Closeness;
  place: PlaceBonus;
  term: TermBonus;
  points: NeighbourPoints;
  leastTypos: u32; // fewest typos that a row with all words can have
  bestState: u32; // the best state (row-state.ts) that any row can have
  mostScore: f64; // maximum score that any row can get for all words, closeness included
  rows: u32; // number of rows in the current segment
  // True if a sort key prefers small text matches, so an upper bound cannot exclude a row.
  lowerIsBetter: bool;

  static make(program: SearchProgram, rules: Rules, neighbours: Neighbours, top: TopK): Signals {
    const made = changetype<Signals>(scratchZeroed(offsetof<Signals>()));
    made.program = program;
    made.rules = rules;
    made.neighbours = neighbours;
    made.top = top;
    made.words = WordScores.make(program);
    made.near = NearLists.make(program);
    made.closeness = Closeness.make(program, made.near);
    made.place = PlaceBonus.make(program, made.near);
    made.term = TermBonus.make(program.ranking);
    made.points = NeighbourPoints.make(program, neighbours);
    made.boundWords();
    for (let i: u32 = 0; i < program.sortCount; i++) {
      const key = program.sortKeyAt(i);
      if (key.by == SORT_RELEVANCE && key.descending == 0) made.lowerIsBetter = true;
    }
    return made;
  }

  private boundWords(): void {
    const program = this.program;
    let exact = true;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const word = program.wordAt(i);
      this.leastTypos += word.leastTypos;
      if (word.canBeExact == 0) exact = false;
      this.mostScore += word.most;
    }
    this.mostScore += this.closeness.most;
    this.bestState = this.fullState(this.leastTypos, exact);
  }

  /** Starts a new segment. `summary` is 0 if the segment has no summary. The words' lists must be open. */
  beginSegment(segment: usize, summary: usize): void {
    this.rows = Seg.rows(segment);
    this.near.beginSegment();
    if (this.program.ranking.isPlain) return;
    this.place.beginSegment(segment, summary);
    this.term.beginSegment(segment);
  }

  /** Returns the state of a row that has every word, with `typos` typos in total. */
  fullState(typos: u32, exact: bool): u32 {
    return rowState(this.program.wordCount, typos, exact);
  }

  textMatch(score: f64, state: u32): f64 {
    return textMatchIn(score, state, this.program.wordsOfFull);
  }

  // Bounds.

  /** The most that closeness can add to any row's word score. */
  scoreMost(): f64 {
    return this.closeness.most;
  }

  /** The largest text match that any row can have, whether or not it is a neighbour. */
  mostText(): f64 {
    return this.points.textMost(this.mostScore, this.bestState);
  }

  /** Upper bound on the bonus of rows in this state, except rows in `term.lifted`. */
  bonusMost(state: u32): f64 {
    return this.program.ranking.isPlain ? 0 : this.place.most(state) + this.term.most;
  }

  /** Upper bound on the row's bonus in any state. */
  rowBonusMost(row: u32): f64 {
    return this.program.ranking.isPlain ? 0 : this.term.of(row) + this.place.most(this.bestState);
  }

  /**
   * Bitset of the rows that the other bounds on sums do not cover, or 0 if there are none. There are few such
   * rows: neighbours, and rows with a bonus of at least BONUS_LINE.
   */
  rowsApart(): usize {
    const lifted: usize = this.program.ranking.isPlain ? 0 : this.term.lifted;
    const listed = this.neighbours.listed;
    if (lifted == 0 || listed == 0) return lifted | listed;
    const both = bitsCopyOf(lifted, this.rows);
    bitsOr(both, listed, this.rows);
    return both;
  }

  /** True if `rowsWithBonus` is known for rows [from, to) in this state. */
  rowsWithBonusKnown(from: u32, to: u32, state: u32): bool {
    return this.place.most(state) == 0 || this.place.starts.areKnown(from, to);
  }

  /** Approximate number of postings that `findRowsWithBonus` would read. */
  postingsToFind(from: u32, to: u32): u64 {
    return this.place.starts.postings(from, to);
  }

  /** Finds the rows of [from, to) that may get a bonus. */
  findRowsWithBonus(from: u32, to: u32): void {
    this.place.starts.find(from, to);
  }

  /** Rows in one bitset word that may get a bonus. Valid only where `rowsWithBonusKnown` is true. */
  rowsWithBonus(word: u32): u64 {
    return this.place.rowsWith(word) | this.term.rowsIn(word);
  }

  /** True if the row may get a bonus. Valid only where `rowsWithBonusKnown` is true. */
  getsBonus(row: u32): bool {
    return ((this.rowsWithBonus(row >> 6) >> (row & 63)) & 1) != 0;
  }

  /** Upper bound on the row's bonus in this state. */
  bonusBound(row: u32, state: u32): f64 {
    return this.program.ranking.isPlain ? 0 : this.term.of(row) + this.place.bound(row, state);
  }

  /**
   * Upper bound on the row's text match plus bonus. `score` is its score or an upper bound on it; `words` are
   * the words that it has.
   */
  sumBound(row: u32, score: f64, state: u32, words: u64): f64 {
    const bound = this.textMatch(score + this.closeness.bound(state, words), state);
    return this.program.ranking.isPlain ? bound : bound + this.bonusBound(row, state);
  }

  // Values.

  /** Offers a row, which must be one of the rows that near-lists.ts may look up. */
  offer(row: u32, score: f64, state: u32, words: u64): void {
    if (!this.program.ranking.isPlain) return this.offerRanked(row, score, state, words);
    const top = this.top;
    const closeness = this.closeness;
    if (!closeness.applies(state)) return top.offer(row, this.textMatch(score, state), 0, ROW_MATCHED);
    const bound = this.textMatch(score + closeness.bound(state, words), state);
    if (!this.lowerIsBetter && !top.wouldEnter(row, bound, 0)) return;
    const text = this.textMatch(score + closeness.of(row, words), state);
    if (CHECKED)
      assert(this.boundsHold(row, score, state, words, text, 0), "no bound of a row lies below its value");
    top.offer(row, text, 0, ROW_MATCHED);
  }

  /** Like `offer`, for queries in which bonuses, rules or pins change the order of rows. */
  private offerRanked(row: u32, score: f64, state: u32, words: u64): void {
    const top = this.top;
    const closeness = this.closeness;
    const place = this.place;
    const flags = this.rules.flagsOf(row);
    let bonus = this.term.of(row);
    if ((flags & ROW_MATCHED) == 0) return top.offer(row, 0, bonus, flags);
    const ofWords = score;
    const near = closeness.applies(state);
    const placed = place.applies(state);
    if (near || placed) {
      const bound = this.textMatch(score + closeness.bound(state, words), state);
      const most = place.bound(row, state);
      if (!this.lowerIsBetter && !top.wouldEnter(row, bound, bonus + most)) return;
      if (near) score += closeness.of(row, words);
      if (most > 0) bonus += place.of(row, state);
    }
    const text = this.textMatch(score, state);
    if (CHECKED)
      assert(
        this.boundsHold(row, ofWords, state, words, text, bonus),
        "no bound of a row lies below its value",
      );
    top.offer(row, text, bonus, flags);
  }

  /** True if no bound used to skip rows is below the row's worth. `score` is the score of its words alone. */
  private boundsHold(row: u32, score: f64, state: u32, words: u64, text: f64, bonus: f64): bool {
    if (text > this.mostText() || text + bonus > this.sumBound(row, score, state, words)) return false;
    if (bonus > this.rowBonusMost(row)) return false;
    if (bonus > 0 && this.rowsWithBonusKnown(row, row + 1, state)) {
      if (((this.rowsWithBonus(row >> 6) >> (row & 63)) & 1) == 0) return false;
    }
    const isLifted = this.term.lifted != 0 && Bits.has(this.term.lifted, row);
    return isLifted || text + bonus <= this.textMatch(this.mostScore, state) + this.bonusMost(state);
  }

  /**
   * ROW_* flags for the row. For a neighbour that matches without words, they also depend on the number of
   * matched words in `state`.
   */
  flagsOf(row: u32, state: u32): u32 {
    const flags = this.rules.flagsOf(row);
    if (!this.neighbours.matches(row)) return flags;
    const program = this.program;
    const words = wordsMatched(state);
    const match = words > 0 && (program.anyWord || words == program.wordCount);
    return ROW_NEIGHBOUR | (words > 0 ? ROW_HAS_WORD : 0) | (match ? flags : flags & ~ROW_MATCHED);
  }

  /**
   * Like `offer`, for a neighbour, which may lack all words. In a query without words, also accepts rows that
   * are only pinned, and `score`, `state` and `words` are 0.
   */
  offerNeighbour(row: u32, score: f64, state: u32, words: u64): void {
    const points = this.points;
    const place = this.place;
    let bonus: f64 = 0;
    if (!points.areAll(row)) {
      if (this.closeness.applies(state)) score += this.closeness.of(row, words);
      bonus = this.term.of(row);
      if (wordsMatched(state) > 0 && place.bound(row, state) > 0) bonus += place.of(row, state);
    }
    const text = points.textMatch(row, score, state);
    if (CHECKED)
      assert(
        text <= this.mostText() && bonus <= this.rowBonusMost(row),
        "no bound of a neighbour lies below its value",
      );
    this.top.offer(row, text, bonus, this.flagsOf(row, state));
  }

  /** Offers all rows in a set that was scored with its rows' states. */
  offerAll(set: Numbered): void {
    if (this.neighbours.listed != 0) return this.offerWithNeighbours(set);
    const list = numberedRows(set);
    const scores = this.words.scores;
    const states = this.words.states;
    const words = this.words.rowWords;
    for (let i: usize = 0; i < <usize>set.count && !failed(); i++) {
      const row = Mem.u32At(list + (i << 2));
      const score = Mem.f64At(scores + (i << 3));
      this.offer(row, score, Mem.u32At(states + (i << 2)), Mem.u64At(words + (i << 3)));
    }
  }

  private offerWithNeighbours(set: Numbered): void {
    const list = numberedRows(set);
    for (let i: usize = 0; i < <usize>set.count && !failed(); i++) {
      const row = Mem.u32At(list + (i << 2));
      const score = Mem.f64At(this.words.scores + (i << 3));
      const state = Mem.u32At(this.words.states + (i << 2));
      const words = Mem.u64At(this.words.rowWords + (i << 3));
      if (this.neighbours.has(row)) this.offerNeighbour(row, score, state, words);
      else this.offer(row, score, state, words);
    }
  }

  /** Offers a row in a query with neither words nor neighbours. */
  offerWordless(row: u32): void {
    this.top.offer(row, 0, this.term.of(row), this.rules.flagsOf(row));
  }
}
