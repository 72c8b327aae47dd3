// The ranking signal "term": a bonus for rows that have given terms in certain fields. Within a group of
// terms only the largest bonus applies; the groups' bonuses are added up. `of` computes it without reading
// positions, so it is also its own bound for a row; `most` is the bound for any row. `explain` lists the
// terms whose bonuses apply.

import { scratch, scratchZeroed } from "../memory/arena";
import { Bits, bitsNone, bitsOr } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { termAt } from "../program/program-terms";
import { BONUS_LINE, BonusTerm, RankProgram } from "../program/rank-program";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorAddTo,
  cursorUseBuffer,
  listOpen,
} from "../segment/postings";
import { Seg } from "../segment/segment";
import { failed } from "../status";

/** The current segment's rows with bonus terms. Allocated in scratch memory. */
@unmanaged
export class TermBonus {
  ranking: RankProgram;
  segment: usize;
  rows: u32;
  rowsWith: usize; // bitset: rows with at least one bonus term; 0 = none
  lifted: usize; // bitset: rows with a term whose bonus is at least BONUS_LINE; 0 = none
  most: f64; // upper bound on `of` for rows that are not in `lifted`
  cursor: Cursor;
  buffer: usize;

  static make(ranking: RankProgram): TermBonus {
    const made = changetype<TermBonus>(scratchZeroed(offsetof<TermBonus>()));
    made.ranking = ranking;
    if (ranking.bonusTermCount == 0) return made;
    made.cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
    made.buffer = scratch(BLOCK_BUFFER_BYTES);
    return made;
  }

  /** Finds a segment's rows that have bonus terms. */
  beginSegment(used: usize): void {
    const ranking = this.ranking;
    this.segment = used;
    this.rows = Seg.rows(used);
    this.rowsWith = 0;
    this.lifted = 0;
    this.most = 0;
    for (let i: u32 = 0; i < ranking.bonusTermCount && !failed(); i++) {
      const one = ranking.bonusTermAt(i);
      this.addRows(one);
      if (one.bits == 0) continue;
      if (this.rowsWith == 0) this.rowsWith = bitsNone(this.rows);
      bitsOr(this.rowsWith, one.bits, this.rows);
      if (one.bonus >= BONUS_LINE) this.lift(one.bits);
      else this.most += one.bonus; // an upper bound: only one term per group applies to a row
    }
  }

  private lift(bits: usize): void {
    if (this.lifted == 0) this.lifted = bitsNone(this.rows);
    bitsOr(this.lifted, bits, this.rows);
  }

  private addRows(one: BonusTerm): void {
    one.bits = 0;
    const term = termAt(one.term, 0);
    term.findIn(this.segment);
    for (let found = term.first; found < term.end && !failed(); found++) {
      const listsEnd = Seg.listsAt(this.segment, found + 1);
      let list = Seg.listsAt(this.segment, found);
      while (list < listsEnd) {
        list = listOpen(this.cursor, list, listsEnd, this.rows);
        if (list == 0) return;
        if (this.cursor.slot != one.slot) continue;
        if (one.bits == 0) one.bits = bitsNone(this.rows);
        cursorUseBuffer(this.cursor, this.buffer);
        cursorAddTo(this.cursor, one.bits);
        break;
      }
    }
  }

  /**
   * The row's bonus: for each group, the largest bonus among the terms that the row has, added up over all
   * groups.
   */
  of(row: u32): f64 {
    const ranking = this.ranking;
    if (this.rowsWith == 0 || !Bits.has(this.rowsWith, row)) return 0;
    let sum: f64 = 0;
    for (
      let i = this.termFrom(row, 0);
      i < ranking.bonusTermCount;
      i = this.termFrom(row, this.groupEnd(i))
    ) {
      sum += ranking.bonusTermAt(i).bonus;
    }
    return sum;
  }

  /** Returns the rows in one bitset word that get a bonus. */
  rowsIn(word: u32): u64 {
    return this.rowsWith == 0 ? 0 : Bits.word(this.rowsWith, word);
  }

  /** The first term >= `i` that the row has, or bonusTermCount if there is none. */
  private termFrom(row: u32, i: u32): u32 {
    const ranking = this.ranking;
    while (
      i < ranking.bonusTermCount &&
      (ranking.bonusTermAt(i).bits == 0 || !Bits.has(ranking.bonusTermAt(i).bits, row))
    )
      i++;
    return i;
  }

  /** Index after the last term in the group of term `i`. */
  private groupEnd(i: u32): u32 {
    const ranking = this.ranking;
    const group = ranking.bonusTermAt(i).group;
    while (i < ranking.bonusTermCount && ranking.bonusTermAt(i).group == group) i++;
    return i;
  }

  /**
   * Writes the numbers (u32) of the bonus terms that apply to the row to `numbers`. Returns how many there
   * are.
   */
  explain(row: u32, numbers: usize): u32 {
    const end = this.ranking.bonusTermCount;
    let count: u32 = 0;
    for (let i = this.termFrom(row, 0); i < end; i = this.termFrom(row, this.groupEnd(i))) {
      Mem.putU32(numbers + ((<usize>count) << 2), i);
      count++;
    }
    return count;
  }
}
