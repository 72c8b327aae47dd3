// Selects the rows in a range that may still be among the best, judging by upper bounds on their scores, and
// offers the most promising ones first (a threshold algorithm as in Broder and others, 2003). score-sets.ts
// determines the order in which ranges are visited.

import { scratchZeroed } from "../memory/arena";
import { Bits, bitsNew, bitsNextWord } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Numbered } from "../memory/numbered";
import { SearchProgram } from "../program/search-program";
import { RELEVANCE_SCALE } from "../rank/final-key";
import { Sieve } from "../rank/sieve";
import { TopK } from "../rank/topk";
import { failed } from "../status";
import { BestFirst } from "./best-first";
import { allBelow, countFrom } from "./cuts";
import { NearLists } from "./near-lists";
import { ALL_WORDS } from "./row-state";
import { WordScores } from "./score-words";
import { Signals } from "./signals";

const ROWS_ASKED: u32 = 32; // with more candidates than this, look up which of them can get a place bonus
const POSTINGS_A_ROW: u64 = 256; // unless the look-up would read more than this many postings per candidate
// Number of rows in the first part of a range. Offering a part's rows may raise `least`, the sum that rows of
// later parts must reach.
const PART_FIRST: u32 = 4096;
// Each part is this many times as large as the previous one: as `least` rises, fewer rows of a part become
// candidates.
const PART_GROWTH: u32 = 16;
// A score cut derived from a text match is lowered by this much to allow for rounding.
const SCORE_MARGIN: f64 = 0.000001;

/** Number of set bits below `bit`. */
function rankOf(bits: u64, bit: u64): u32 {
  return <u32>popcnt(bits & (((<u64>1) << bit) - 1));
}

/** A range's candidate rows. Allocated in scratch memory. */
@unmanaged
export class Candidates {
  program: SearchProgram;
  top: TopK;
  sieve: Sieve;
  signals: Signals;
  words: WordScores;
  near: NearLists;
  queue: BestFirst;
  growing: bool; // whether the current range has more rows than all earlier ranges together
  scored: Numbered; // the rows to score in the current range
  chosen: usize; // bitset: rows of a range that may enter `top`
  chosenBefore: usize; // `chosen` of the previous range, which scoring may still be using

  static make(sieve: Sieve, signals: Signals, words: WordScores, near: NearLists): Candidates {
    const made = changetype<Candidates>(scratchZeroed(offsetof<Candidates>()));
    made.program = signals.program;
    made.top = signals.top;
    made.sieve = sieve;
    made.signals = signals;
    made.words = words;
    made.near = near;
    made.queue = BestFirst.make();
    return made;
  }

  /**
   * Starts a segment of `rows` rows. This object may overwrite the buffers `scored` and `chosen` (a bitset).
   */
  beginSegment(scored: Numbered, chosen: usize, rows: u32): void {
    this.scored = scored;
    this.chosen = chosen;
    this.chosenBefore = bitsNew(rows);
  }

  /**
   * Offers the rows in the range that may enter `top`, part by part, starting with the newest rows. All rows
   * are in `state`.
   */
  offerParts(state: u32): void {
    const scored = this.scored;
    const top = this.top;
    const words = this.words;
    const queue = this.queue;
    let least = this.leastSum(state);
    this.findRowsWithBonus(words.scores, least, state);
    this.begin();
    let part = PART_FIRST;
    for (let to = scored.to; to > scored.from && !failed(); part *= PART_GROWTH) {
      const from = to - scored.from > part ? (to - part) & ~63 : scored.from;
      queue.clear();
      this.addFull(words.scores, least, state, from, to);
      if (queue.any()) this.offerBestFirst(state, 0, from, to);
      if (top.isFull()) least = max(least, top.leastSum());
      to = from;
    }
  }

  /**
   * The smallest sum (text match plus bonus) with which a row can still be among the best, judging by the
   * scores computed so far.
   */
  leastSum(state: u32): f64 {
    const top = this.top;
    const kept = top.leastSum();
    if (top.isFull() && !this.growing) return kept;
    const score = this.queue.kthLargest(this.words.scores, this.scored.count, this.program.rowsWanted);
    return score > -Infinity ? max(kept, this.signals.textMatch(score, state)) : kept;
  }

  /** Clears the candidates for a new range. */
  begin(): void {
    const scored = this.scored;
    const other = this.chosen;
    this.chosen = this.chosenBefore;
    this.chosenBefore = other;
    const at = (<usize>(scored.from >> 6)) << 3;
    Mem.fill(this.chosen + at, 0, Bits.bytes(scored.to) - at);
    this.queue.clear();
  }

  /**
   * Lower bound on the word score, without closeness, that a row needs for its sum to reach `least` without a
   * bonus.
   */
  scoreCut(least: f64, state: u32): f64 {
    const signals = this.signals;
    return (least - signals.textMatch(0, state)) / RELEVANCE_SCALE - signals.scoreMost() - SCORE_MARGIN;
  }

  /** Looks up which rows in the range can get a bonus, if there are many candidates. */
  findRowsWithBonus(scores: usize, least: f64, state: u32): void {
    const scored = this.scored;
    const signals = this.signals;
    if (signals.rowsWithBonusKnown(scored.from, scored.to, state)) return;
    const cut = this.scoreCut(least, state) - signals.bonusMost(state) / RELEVANCE_SCALE;
    const asked = countFrom(scores, scored.count, cut);
    if (asked > ROWS_ASKED && signals.postingsToFind(scored.from, scored.to) < asked * POSTINGS_A_ROW)
      signals.findRowsWithBonus(scored.from, scored.to);
  }

  /**
   * Adds to the candidates those rows of [from, to) whose upper bound reaches `least`. Computes the bound
   * only for rows whose score is high enough for that.
   */
  addFull(scores: usize, least: f64, state: u32, from: u32, to: u32): void {
    const scored = this.scored;
    const top = this.top;
    const signals = this.signals;
    const cut = this.scoreCut(least, state);
    const bonus = signals.bonusMost(state) / RELEVANCE_SCALE;
    const asked = bonus > 0 && signals.rowsWithBonusKnown(scored.from, scored.to, state);
    // Minimum score for rows that are not known to get a bonus. Without a look-up, any of them may still get
    // one.
    const plainCut = asked ? cut : cut - bonus;
    const tied = top.isFull() && least == top.leastSum(); // whether `least` is the sum of the worst kept row
    const end = Bits.words(to);
    for (
      let word = bitsNextWord(scored.bits, from >> 6, end);
      word < end;
      word = bitsNextWord(scored.bits, word + 1, end)
    ) {
      const all = Bits.word(scored.bits, word);
      const number = scored.before(word);
      const count = <u32>popcnt(all);
      const at = scores + ((<usize>number) << 3);
      const withBonus = asked ? all & signals.rowsWithBonus(word) : 0;
      let picked = withBonus;
      if (!allBelow(at, count, plainCut)) picked = all;
      let ties: u64 = 0; // rows whose bound equals the worst kept row's sum
      for (; picked != 0; picked &= picked - 1) {
        const i = rankOf(all, ctz(picked));
        const score = Mem.f64At(at + ((<usize>i) << 3));
        if (score < ((withBonus >> ctz(picked)) & 1 ? cut - bonus : plainCut)) continue;
        const row = (word << 6) + <u32>ctz(picked);
        const most = signals.sumBound(row, score, state, ALL_WORDS);
        if (most < least) continue;
        if (most == least && tied) ties |= picked & (~picked + 1);
        else this.add(row, number + i, most);
      }
      const passed = ties == 0 ? 0 : this.sieve.pass(ties, word << 6, top.tieKey);
      if (CHECKED)
        assert(
          this.noneEnters(ties & ~passed, word << 6, least),
          "the sieve holds back no row that can enter",
        );
      ties = passed;
      for (; ties != 0; ties &= ties - 1) {
        const row = (word << 6) + <u32>ctz(ties);
        if (top.wouldEnter(row, least, 0)) this.add(row, number + rankOf(all, ctz(ties)), least);
      }
    }
  }

  /** True if no row of `some` (bit i represents row `from` + i) could enter `top` with the sum `sum`. */
  private noneEnters(some: u64, from: u32, sum: f64): bool {
    for (; some != 0; some &= some - 1) if (this.top.wouldEnter(from + <u32>ctz(some), sum, 0)) return false;
    return true;
  }

  add(row: u32, number: u32, bound: f64): void {
    Bits.add(this.chosen, row);
    this.queue.add(bound, row, number);
  }

  /** True if the skipped alternatives cannot raise any candidate's score. */
  allScored(): bool {
    const words = this.words;
    const queue = this.queue;
    for (let i: u32 = 0; i < queue.count(); i++) {
      const at = (<usize>queue.numberAt(i)) << 3;
      if (Mem.f64At(words.uppers + at) > Mem.f64At(words.scores + at)) return false;
    }
    return true;
  }

  /**
   * Offers the rows of [from, to) that may enter `top`. `states` contains the rows' states by number; if it
   * is 0, all rows are in `state` and have every word.
   */
  offerBestFirst(state: u32, states: usize, from: u32, to: u32): void {
    const top = this.top;
    const queue = this.queue;
    queue.ready();
    this.near.ask(this.chosen, from, to);
    while (queue.any() && !failed()) {
      const bound = queue.bound();
      const row = queue.row();
      const number = <usize>queue.number();
      if (top.isFull() && bound <= top.leastSum()) {
        if (bound < top.leastSum() || (top.tiesBySeq && !top.wouldEnter(row, bound, 0))) return;
      }
      queue.drop();
      const score = Mem.f64At(this.words.scores + (number << 3));
      const itsState = states == 0 ? state : Mem.u32At(states + (number << 2));
      const itsWords = states == 0 ? ALL_WORDS : Mem.u64At(this.words.rowWords + (number << 3));
      if (CHECKED)
        assert(
          bound >= this.signals.sumBound(row, score, itsState, itsWords),
          "a row is chosen by its bound or a larger one",
        );
      this.signals.offer(row, score, itsState, itsWords);
    }
  }
}
