// The ranking signal "place": a bonus for a field that starts with the query's words, and a larger bonus for
// a field that consists of exactly these words. Only rows with every word get it. `of` computes it and reads
// positions. `most` bounds it for any row with a given state, `bound` for one row. `explain` names the bonus.

import { leastNormOf, summaryOfSlot } from "../columns/summaries";
import { PLACE_STARTS, PLACE_WHOLE } from "../layout";
import { listAt } from "../match/alternative-lists";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { decodeNorm } from "../memory/norm";
import { RankProgram } from "../program/rank-program";
import { alternativeAt, SearchProgram } from "../program/search-program";
import { Field, findField } from "../segment/segment";
import { NearLists, RUN_BYTES } from "./near-lists";
import { isExact, wordsMatched } from "./row-state";
import { Starts } from "./starts";

/** Place bonuses in the current segment. Allocated in scratch memory. */
@unmanaged
export class PlaceBonus {
  program: SearchProgram;
  ranking: RankProgram;
  near: NearLists;
  starts: Starts;
  given: bool; // whether the query gives place bonuses
  wholes: bool; // whether any field in the current segment may consist of exactly the query's words
  norms: usize; // u32 address of the norm bytes by slot index; 0 = no row has a value in the slot
  reached: usize; // u32 by slot index: number of leading words found at their position in the slot so far

  static make(program: SearchProgram, near: NearLists): PlaceBonus {
    const made = changetype<PlaceBonus>(scratchZeroed(offsetof<PlaceBonus>()));
    const ranking = program.ranking;
    made.program = program;
    made.ranking = ranking;
    made.near = near;
    made.starts = Starts.make(program);
    made.given = program.fullFirst && ranking.startsBonus + ranking.wholeBonus > 0;
    made.norms = scratch((<usize>program.slotCount) << 2);
    made.reached = scratch((<usize>program.slotCount) << 2);
    return made;
  }

  /** Starts a new segment. `summary` is 0 if the segment has no summary. The words' lists must be open. */
  beginSegment(used: usize, summary: usize): void {
    const slots = this.program.slots;
    this.wholes = this.given && this.mayHaveWholes(summary);
    this.starts.beginSegment(used);
    for (let i: u32 = 0; i < slots.count; i++) {
      const field = findField(used, slots.at(i));
      Mem.putU32(this.norms + ((<usize>i) << 2), field == 0 ? 0 : <u32>Field.norms(used, field));
    }
  }

  /** False if the first word occurs only in fields longer than the query. */
  private mayHaveWholes(summary: usize): bool {
    if (this.program.wordCount == 0) return false;
    const word = this.program.wordAt(0);
    for (let i: u32 = 0; i < word.alternativeCount; i++) {
      const alternative = alternativeAt(word, i);
      if (alternative.near == 0) continue;
      for (let list: u32 = 0; list < alternative.listCount; list++) {
        const entry = summaryOfSlot(summary, listAt(alternative.lists, list).slot);
        if (decodeNorm(leastNormOf(entry)) <= this.program.wordCount) return true;
      }
    }
    return false;
  }

  /** True if rows in this state may get a place bonus. */
  applies(state: u32): bool {
    return this.given && wordsMatched(state) == this.program.wordCount;
  }

  /** The largest place bonus for rows in this state. */
  most(state: u32): f64 {
    if (!this.applies(state)) return 0;
    const starts = this.ranking.startsBonus;
    return isExact(state) && this.wholes ? max(starts, this.ranking.wholeBonus) : starts;
  }

  /** Upper bound on `of` for the row, without reading positions. */
  bound(row: u32, state: u32): f64 {
    const ranking = this.ranking;
    if (!this.applies(state) || !this.starts.mayStart(row)) return 0;
    if (
      !isExact(state) ||
      !this.wholes ||
      !this.starts.mayBeWhole(row) ||
      ranking.wholeBonus <= ranking.startsBonus
    )
      return ranking.startsBonus;
    for (let i: u32 = 0; i < this.program.slotCount; i++) if (this.isWhole(i, row)) return ranking.wholeBonus;
    return ranking.startsBonus;
  }

  /**
   * Returns the rows in bitset word number `word` that may get a place bonus. `starts.find` must have covered
   * these rows.
   */
  rowsWith(word: u32): u64 {
    return this.given ? this.starts.among(word) : 0;
  }

  /** True if the row's field in the slot has as many tokens as the query has words. */
  private isWhole(index: u32, row: u32): bool {
    const lengths = <usize>Mem.u32At(this.norms + ((<usize>index) << 2));
    return lengths != 0 && this.starts.lengthIsWords(Mem.u8At(lengths + row));
  }

  /**
   * Returns the larger of the two place bonuses if a queried slot consists of exactly the query's words and
   * the row has every word as written. Otherwise returns `startsBonus` if a queried slot begins with the
   * words in order, else 0. Must not be called for a row whose `bound` is 0, which gets no bonus.
   */
  of(row: u32, state: u32): f64 {
    const program = this.program;
    const ranking = this.ranking;
    const near = this.near;
    if (program.wordCount == 1 && this.starts.isKnown(row)) return this.bound(row, state);
    const runs = near.runBuffers();
    Mem.fill(this.reached, 0, (<usize>program.slotCount) << 2);
    this.near.positions.clear();
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const count = near.runs(program.wordAt(i), row, runs);
      let on = false;
      for (let run: usize = 0; run < <usize>count; run++) {
        if (this.advance(runs + run * RUN_BYTES, i)) on = true;
      }
      if (!on) return 0;
    }
    for (let i: u32 = 0; i < program.slotCount; i++) {
      if (
        isExact(state) &&
        Mem.u32At(this.reached + ((<usize>i) << 2)) == program.wordCount &&
        this.isWhole(i, row)
      ) {
        return max(ranking.startsBonus, ranking.wholeBonus);
      }
    }
    return ranking.startsBonus;
  }

  /**
   * Checks whether word number `word` is at position `word` in the run's slot, and all earlier words are at
   * their positions. If so, counts the word in `reached` and returns true.
   */
  private advance(run: usize, word: u32): bool {
    const place = this.reached + ((<usize>Mem.u32At(run)) << 2);
    // Either an earlier run has already counted this word, or the slot lacks an earlier word.
    if (Mem.u32At(place) != word) return Mem.u32At(place) == word + 1;
    const end = Mem.u32At(run + 8);
    for (let i = Mem.u32At(run + 4); i < end; i++) {
      const position = Mem.u32At(this.near.positions.at(i));
      if (position > word) return false;
      if (position < word) continue;
      Mem.putU32(place, word + 1);
      return true;
    }
    return false;
  }

  /** The PLACE_* value for a bonus that `of` returned. */
  explain(bonus: f64): u32 {
    return bonus > this.ranking.startsBonus ? PLACE_WHOLE : bonus > 0 ? PLACE_STARTS : 0;
  }
}
