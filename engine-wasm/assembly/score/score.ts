// Ranks one segment's matching rows: scores the rows that may be among the best and offers them to the top k.
// If text match plus bonus is the first sort criterion, score-sets.ts selects the rows. Otherwise rows are
// visited in order, range by range, and scored only if the best possible text match would let them enter the
// top k. signals.ts computes a row's worth.

import { checkDeadline } from "../env";
import { Matches } from "../match/match";
import { scratchZeroed } from "../memory/arena";
import { Bits, bitsNew } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Numbered, numberedNew, numberRows } from "../memory/numbered";
import { SearchProgram } from "../program/search-program";
import { Sieve } from "../rank/sieve";
import { TopK } from "../rank/topk";
import { Seg } from "../segment/segment";
import { failed } from "../status";
import { SetVisitor } from "./score-sets";
import { WordScores } from "./score-words";
import { Signals } from "./signals";

const RANGE_ROWS: u32 = 32768; // usual number of rows in a range; the rows' arrays then fit in the CPU cache
// Minimum number of rows in the first range. Later ranges are larger, because the rows kept by then rule out
// most others.
const RANGE_FIRST: u32 = 1024;
const RANGE_MATCHING: u32 = 1024; // a range is enlarged, if necessary, to have about this many matching rows
// The same for the first range; smaller ranges would restart the posting lists too often.
const RANGE_MATCHING_FIRST: u32 = 64;
// With more posting lists than this, restarting all of them for every range takes too long.
const LISTS_IN_RANGES: u32 = 256;
// There are then two ranges: the first has 1 / WIDE_FIRST of the rows, the second the rest.
const WIDE_FIRST: u32 = 16;

/**
 * Rows per range: at least `least`, and enough to include about `matching` of the `found` rows. A multiple of
 * 64, or all rows.
 */
function rangeOf(rows: u32, found: u32, least: u32, matching: u32): u32 {
  const wanted = max<u64>(least, (<u64>rows * matching) / found);
  return wanted >= <u64>rows ? rows : (<u32>wanted + 63) & ~63;
}

/** Ranks matching rows, one segment at a time. Allocated in scratch memory. */
@unmanaged
export class Scorer {
  program: SearchProgram;
  top: TopK;
  sieve: Sieve;
  matches: Matches;
  signals: Signals;
  words: WordScores;
  sets: SetVisitor;
  scored: Numbered;
  chosen: usize; // bitset: rows of the range that may enter the top k
  mostText: f64; // largest text match that the query can give any row

  static make(matches: Matches, signals: Signals, sieve: Sieve): Scorer {
    const made = changetype<Scorer>(scratchZeroed(offsetof<Scorer>()));
    made.program = signals.program;
    made.top = signals.top;
    made.sieve = sieve;
    made.matches = matches;
    made.signals = signals;
    made.words = signals.words;
    made.sets = SetVisitor.make(matches, signals, signals.words, signals.near, sieve);
    made.scored = numberedNew();
    made.mostText = signals.mostText();
    return made;
  }

  /**
   * Scores the rows in `matching` (`found` > 0 of them) and offers those that may be among the best.
   * `summary` is 0 if the segment has no summary.
   */
  scoreRows(segment: usize, summary: usize, matching: usize, found: u32): void {
    const rows = Seg.rows(segment);
    const wide = this.matches.lists > LISTS_IN_RANGES;
    const range = wide ? rows : rangeOf(rows, found, RANGE_ROWS, RANGE_MATCHING);
    const first = rangeOf(rows, found, RANGE_FIRST, RANGE_MATCHING_FIRST);
    this.chosen = bitsNew(rows);
    this.words.beginSegment(segment);
    this.sets.beginSegment(segment, summary);
    if (this.top.bySum) this.sets.visit(matching, rows, range, first, this.scored, this.chosen);
    else this.visitInOrder(matching, rows, range, wide ? ((rows / WIDE_FIRST) | 63) + 1 : first);
  }

  private visitInOrder(matching: usize, rows: u32, range: u32, first: u32): void {
    const signals = this.signals;
    let size = first;
    let to: u32 = 0;
    for (let from: u32 = 0; from < rows && !failed(); from = to) {
      to = from + min(size, rows - from);
      size = range == rows ? rows : min(range, size * 2);
      checkDeadline();
      this.choose(matching, from, to);
      numberRows(this.scored, this.chosen, from, to);
      if (this.scored.count == 0) continue;
      this.words.score(this.scored, true, false);
      signals.near.ask(this.chosen, from, to);
      signals.offerAll(this.scored);
    }
  }

  /** Selects the rows of [from, to) that could reach the top k. */
  private choose(matching: usize, from: u32, to: u32): void {
    const end = Bits.words(to);
    const sieve = this.sieve;
    const chosen = this.chosen;
    const sieving = sieve.helps();
    for (let word = from >> 6; word < end; word++) {
      const among = Bits.word(matching, word);
      if (among == 0) {
        Bits.putWord(chosen, word, 0);
        continue;
      }
      const passed = sieving ? sieve.pass(among, word << 6, 0) : among;
      if (CHECKED)
        assert(
          this.holdsBackLosers(among & ~passed, word << 6),
          "the sieve holds back no row that can enter",
        );
      Bits.putWord(chosen, word, this.enterers(passed, word << 6));
    }
  }

  /** True if no row of `some` could reach the top k even with the best possible text match and bonus. */
  private holdsBackLosers(some: u64, from: u32): bool {
    return some == 0 || this.signals.lowerIsBetter || this.enterers(some, from) == 0;
  }

  /**
   * Returns the rows of `among` that could reach the top k with the best possible text match and bonus. Bit i
   * represents row `from` + i.
   */
  private enterers(among: u64, from: u32): u64 {
    const signals = this.signals;
    const top = this.top;
    if (among == 0 || signals.lowerIsBetter || !top.isFull()) return among;
    const mostText = this.mostText;
    let could: u64 = 0;
    for (let rest = among; rest != 0; rest &= rest - 1) {
      const row = from + <u32>ctz(rest);
      if (top.wouldEnter(row, mostText, signals.rowBonusMost(row))) could |= (<u64>1) << (row & 63);
    }
    return could;
  }
}
