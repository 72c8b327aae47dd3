// Finds rows in which one field contains given terms in order: adjacent (phrases), or in sequence inside one
// element (token filters). Leapfrogs over the posting lists to find rows with all terms, and reads positions
// for those rows only.

import { checkDeadline } from "../env";
import { scratch, scratchMark, scratchRewind, scratchZeroed } from "../memory/arena";
import { Bits, bitsNext } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { termAt } from "../program/program-terms";
import { termIs, termLowerBound } from "../segment/dictionary";
import { Positions } from "../segment/positions";
import { CURSOR_BYTES, Cursor, cursorAddTo, cursorSeek, listOpen, TERMINATED } from "../segment/postings";
import { Seg } from "../segment/segment";
import { failed } from "../status";

/** Returned in place of a position if the row has no further one. */
export const NOWHERE: u32 = 0xffffffff;

const ROWS_A_CHECK: u32 = 255;
// A run is one term's positions in the current row: u32 index of the first, u32 end index, u32 index of the
// next one to read.
const RUN_BYTES: usize = 12;

/**
 * Reads one phrase in one field of one segment at a time. `open` switches to another phrase, field or
 * segment. Allocated in scratch memory.
 */
@unmanaged
export class PhraseReader {
  positions: Positions;
  segment: usize;
  cursors: usize;
  count: u32;
  lead: u32; // index of the term with the shortest list
  runs: usize;
  rowsFound: u32;
  elementCursor: Cursor; // cursor on the empty term's list, whose positions mark where array elements start

  static make(): PhraseReader {
    return changetype<PhraseReader>(scratchZeroed(offsetof<PhraseReader>()));
  }

  private cursorAt(i: u32): Cursor {
    return changetype<Cursor>(this.cursors + <usize>i * CURSOR_BYTES);
  }

  private runAt(i: u32): usize {
    return this.runs + <usize>i * RUN_BYTES;
  }

  /** Adds to `bits` the rows with these terms at consecutive positions of the slot. */
  addRows(from: usize, terms: usize, termCount: u32, slot: u32, bits: usize): void {
    const mark = scratchMark();
    if (this.open(from, terms, termCount, slot)) {
      if (termCount == 1) cursorAddTo(this.cursorAt(0), bits);
      else this.leap(bits, false, false);
    }
    scratchRewind(mark);
  }

  /** Adds to `bits` the rows in which one element of the slot contains these terms in this order. */
  addRowsInOrder(from: usize, terms: usize, termCount: u32, slot: u32, hasElements: bool, bits: usize): void {
    const mark = scratchMark();
    if (this.open(from, terms, termCount, slot)) {
      if (termCount == 1) {
        cursorAddTo(this.cursorAt(0), bits);
      } else {
        this.elementCursor = changetype<Cursor>(scratch(CURSOR_BYTES));
        if (!hasElements || this.openElements(slot)) this.leap(bits, true, hasElements);
      }
    }
    scratchRewind(mark);
  }

  /**
   * Opens a cursor on each term's list in the slot. Returns false if a term has no list there. Must be called
   * before any rows or positions are read.
   */
  open(from: usize, terms: usize, termCount: u32, slot: u32): bool {
    for (let i: u32 = 0; i < termCount; i++) {
      const term = termAt(terms, i);
      term.findIn(from);
      if (term.first == term.end) return false;
    }
    this.segment = from;
    this.count = termCount;
    this.cursors = scratch(<usize>this.count * CURSOR_BYTES);
    this.runs = scratch(<usize>this.count * RUN_BYTES);
    this.positions = Positions.make();
    for (let i: u32 = 0; i < this.count; i++)
      if (!this.openList(this.cursorAt(i), termAt(terms, i).first, slot)) return false;
    this.lead = 0;
    for (let i: u32 = 1; i < this.count; i++)
      if (this.cursorAt(i).count < this.cursorAt(this.lead).count) this.lead = i;
    return true;
  }

  /** Upper bound on the number of rows with all terms. */
  rowsMax(): u32 {
    return this.cursorAt(this.lead).count;
  }

  /** The first term's cursor. */
  first(): Cursor {
    return this.cursorAt(0);
  }

  /** Opens the cursor on the element starts of one slot. Returns false if no row has elements there. */
  private openElements(slot: u32): bool {
    const empty = termLowerBound(this.segment, 0, 0);
    return termIs(this.segment, empty, 0, 0) && this.openList(this.elementCursor, empty, slot);
  }

  /** Opens a cursor on a term's list in one slot. Returns false if there is no such list. */
  private openList(cursor: Cursor, term: u32, slot: u32): bool {
    const end = Seg.listsAt(this.segment, term + 1);
    let list = Seg.listsAt(this.segment, term);
    while (list < end) {
      list = listOpen(cursor, list, end, Seg.rows(this.segment));
      if (list == 0) return false;
      if (cursor.slot == slot) return true;
    }
    return false;
  }

  /** Visits the rows with all terms and adds the matching ones to `bits`. */
  private leap(bits: usize, ordered: bool, hasElements: bool): void {
    for (let row = this.nextRow(0, 0); row != TERMINATED; row = this.nextRow(row + 1, 0)) {
      if (this.standsAt(row, ordered, hasElements)) Bits.add(bits, row);
    }
  }

  /**
   * The first row >= target in the bitset `among` with all terms, or TERMINATED. If `among` is 0, all rows
   * are in it. Targets must not decrease.
   */
  nextRow(target: u32, among: usize): u32 {
    const lead = this.cursorAt(this.lead);
    let row = cursorSeek(lead, target);
    while (row != TERMINATED && !failed()) {
      if (among != 0 && !Bits.has(among, row)) {
        const rows = Seg.rows(this.segment);
        const next = bitsNext(among, row + 1, rows);
        row = next == rows ? TERMINATED : cursorSeek(lead, next);
        continue;
      }
      let next = row;
      for (let i: u32 = 0; i < this.count && next == row; i++)
        if (i != this.lead) next = cursorSeek(this.cursorAt(i), row);
      if (next == row) {
        if ((++this.rowsFound & ROWS_A_CHECK) == 0) checkDeadline();
        return row;
      }
      if (next == TERMINATED) return TERMINATED;
      row = cursorSeek(lead, next);
    }
    return TERMINATED;
  }

  /** Reads the positions of all terms in the cursors' current row. */
  readRow(): bool {
    const positions = this.positions;
    this.positions.clear();
    for (let i: u32 = 0; i < this.count; i++) {
      const first = positions.used;
      positions.read(this.cursorAt(i));
      if (failed()) return false;
      Mem.putU32(this.runAt(i), first);
      Mem.putU32(this.runAt(i) + 4, positions.used);
      Mem.putU32(this.runAt(i) + 8, first);
    }
    return true;
  }

  /** Starts over with the current row's positions, after `readRow`. */
  rereadRow(): void {
    for (let i: u32 = 0; i < this.count; i++) Mem.putU32(this.runAt(i) + 8, Mem.u32At(this.runAt(i)));
  }

  /** True if the row has at least one match of the phrase. */
  private standsAt(row: u32, ordered: bool, hasElements: bool): bool {
    const positions = this.positions;
    if (!this.readRow()) return false;
    if (!ordered) return this.placeFrom(0) != NOWHERE;
    if (!hasElements) return this.inOrder(0, NOWHERE);
    if (cursorSeek(this.elementCursor, row) != row) return false;
    const firstElement = positions.used;
    const elements = positions.read(this.elementCursor);
    for (let i: u32 = 0; i < elements && !failed(); i++) {
      const start = Mem.u32At(positions.at(firstElement + i));
      const end = i + 1 < elements ? Mem.u32At(positions.at(firstElement + i + 1)) : NOWHERE;
      if (this.inOrder(start, end)) return true;
    }
    return false;
  }

  /** Moves a term's run to its first position >= from. Returns that position, or NOWHERE if there is none. */
  private advance(i: u32, from: u32): u32 {
    const positions = this.positions;
    const run = this.runAt(i);
    const end = Mem.u32At(run + 4);
    let next = Mem.u32At(run + 8);
    while (next < end && Mem.u32At(positions.at(next)) < from) next++;
    Mem.putU32(run + 8, next);
    return next < end ? Mem.u32At(positions.at(next)) : NOWHERE;
  }

  /**
   * The first position >= from at which the terms are adjacent, or NOWHERE. `from` must not decrease between
   * calls.
   */
  placeFrom(from: u32): u32 {
    let start = this.advance(0, from);
    while (start != NOWHERE) {
      let i: u32 = 1;
      let found = start;
      for (; i < this.count; i++) {
        found = this.advance(i, start + i);
        if (found != start + i) break;
      }
      if (i == this.count) return start;
      if (found == NOWHERE) return NOWHERE;
      start = this.advance(0, max(start + 1, found - i));
    }
    return NOWHERE;
  }

  /**
   * True if the terms occur in sequence within [from, to). Uses each term's earliest occurrence after the
   * previous term. Runs only move forward.
   */
  private inOrder(from: u32, to: u32): bool {
    for (let i: u32 = 0; i < this.count; i++) {
      const position = this.advance(i, from);
      if (position >= to) return false;
      from = position + 1;
    }
    return true;
  }
}
