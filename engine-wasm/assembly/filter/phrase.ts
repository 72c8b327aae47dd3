// Rows in which terms stand in a given order in one field: next to each other (phrases), or one after the
// other inside one element (the filter on tokens). The rows that hold all terms are found by leapfrogging over
// the posting lists, their positions are read only then.

import { checkDeadline } from "../env";
import { scratch, scratchMark, scratchRewind } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { termAt } from "../program/program-terms";
import { termIs, termLowerBound } from "../segment/dictionary";
import { positionsAt, positionsRead, positionsReset, positionsUsed } from "../segment/positions";
import { CURSOR_BYTES, Cursor, cursorAddTo, cursorSeek, listOpen, TERMINATED } from "../segment/postings";
import { Seg } from "../segment/segment";
import { failed } from "../status";

/** No further place in the row. */
export const NOWHERE: u32 = 0xffffffff;

const ROWS_A_CHECK: u32 = 255;
const RUN_BYTES: usize = 12; // positions of one term: u32 first, u32 end (indices), u32 next

let segment: usize = 0;
let cursors: usize = 0;
let count: u32 = 0;
let lead: u32 = 0; // the term with the shortest list
let runs: usize = 0;
let rowsFound: u32 = 0;
let elementCursor: Cursor = changetype<Cursor>(0); // of the empty term, whose positions are element starts

function cursorAt(i: u32): Cursor {
  return changetype<Cursor>(cursors + <usize>i * CURSOR_BYTES);
}
function runAt(i: u32): usize {
  return runs + <usize>i * RUN_BYTES;
}

/** Adds the rows with these terms at consecutive positions of the slot to `bits`. */
export function addPhrase(from: usize, terms: usize, termCount: u32, slot: u32, bits: usize): void {
  const mark = scratchMark();
  if (phraseOpen(from, terms, termCount, slot)) {
    if (termCount == 1) cursorAddTo(cursorAt(0), bits);
    else leap(bits, false, false);
  }
  scratchRewind(mark);
}

/** Adds the rows with these terms in this order in one element of the slot to `bits`. */
export function addTokens(
  from: usize,
  terms: usize,
  termCount: u32,
  slot: u32,
  hasElements: bool,
  bits: usize,
): void {
  const mark = scratchMark();
  if (phraseOpen(from, terms, termCount, slot)) {
    if (termCount == 1) {
      cursorAddTo(cursorAt(0), bits);
    } else {
      elementCursor = changetype<Cursor>(scratch(CURSOR_BYTES));
      if (!hasElements || openTerm(elementCursor, 0, 0, slot)) leap(bits, true, hasElements);
    }
  }
  scratchRewind(mark);
}

/** Opens a cursor on every term's list of the slot; false when one has none. Rows and places are then asked for. */
export function phraseOpen(from: usize, terms: usize, termCount: u32, slot: u32): bool {
  segment = from;
  count = termCount;
  cursors = scratch(<usize>count * CURSOR_BYTES);
  runs = scratch(<usize>count * RUN_BYTES);
  positionsReset(true);
  for (let i: u32 = 0; i < count; i++) {
    const term = termAt(terms, i);
    if (!openTerm(cursorAt(i), term.at, term.length, slot)) return false;
  }
  lead = 0;
  for (let i: u32 = 1; i < count; i++) if (cursorAt(i).count < cursorAt(lead).count) lead = i;
  return true;
}

/** No more rows than this have all terms. */
export function phraseRowsMax(): u32 {
  return cursorAt(lead).count;
}

/** The cursor of the first term. */
export function phraseFirst(): Cursor {
  return cursorAt(0);
}

/** Puts a cursor on a term's list of one slot; false when there is none. */
function openTerm(cursor: Cursor, at: usize, length: u32, slot: u32): bool {
  const term = termLowerBound(segment, at, length);
  if (!termIs(segment, term, at, length)) return false;
  const end = Seg.listsAt(segment, term + 1);
  let list = Seg.listsAt(segment, term);
  while (list < end) {
    list = listOpen(cursor, list, end, Seg.rows(segment));
    if (list == 0) return false;
    if (cursor.slot == slot) return true;
  }
  return false;
}

/** Visits the rows that have all terms. */
function leap(bits: usize, ordered: bool, hasElements: bool): void {
  for (let row = phraseNextRow(0); row != TERMINATED; row = phraseNextRow(row + 1)) {
    if (standsAt(row, ordered, hasElements)) Bits.add(bits, row);
  }
}

/** The first row >= target with all terms, or TERMINATED. Targets must not fall. */
export function phraseNextRow(target: u32): u32 {
  let row = cursorSeek(cursorAt(lead), target);
  while (row != TERMINATED && !failed()) {
    let next = row;
    for (let i: u32 = 0; i < count && next == row; i++) next = cursorSeek(cursorAt(i), row);
    if (next == row) {
      if ((++rowsFound & ROWS_A_CHECK) == 0) checkDeadline();
      return row;
    }
    if (next == TERMINATED) return TERMINATED;
    row = cursorSeek(cursorAt(lead), next);
  }
  return TERMINATED;
}

/** Reads the positions of all terms in the row on which they stand. */
export function phraseReadRow(): bool {
  positionsReset(false);
  for (let i: u32 = 0; i < count; i++) {
    const first = positionsUsed();
    positionsRead(cursorAt(i));
    if (failed()) return false;
    Mem.putU32(runAt(i), first);
    Mem.putU32(runAt(i) + 4, positionsUsed());
    Mem.putU32(runAt(i) + 8, first);
  }
  return true;
}

/** Looks for one match in the row. */
function standsAt(row: u32, ordered: bool, hasElements: bool): bool {
  if (!phraseReadRow()) return false;
  if (!ordered) return phrasePlace(0) != NOWHERE;
  if (!hasElements) return inOrder(0, NOWHERE);
  if (cursorSeek(elementCursor, row) != row) return false;
  const firstElement = positionsUsed();
  const elements = positionsRead(elementCursor);
  for (let i: u32 = 0; i < elements && !failed(); i++) {
    const start = Mem.u32At(positionsAt(firstElement + i));
    const end = i + 1 < elements ? Mem.u32At(positionsAt(firstElement + i + 1)) : NOWHERE;
    if (inOrder(start, end)) return true;
  }
  return false;
}

/** Moves a term's run to its first position >= from; NOWHERE when there is none. */
function advance(i: u32, from: u32): u32 {
  const run = runAt(i);
  const end = Mem.u32At(run + 4);
  let next = Mem.u32At(run + 8);
  while (next < end && Mem.u32At(positionsAt(next)) < from) next++;
  Mem.putU32(run + 8, next);
  return next < end ? Mem.u32At(positionsAt(next)) : NOWHERE;
}

/** The first position >= from at which the terms stand one behind the other, or NOWHERE. It must not fall. */
export function phrasePlace(from: u32): u32 {
  let start = advance(0, from);
  while (start != NOWHERE) {
    let i: u32 = 1;
    let found = start;
    for (; i < count; i++) {
      found = advance(i, start + i);
      if (found != start + i) break;
    }
    if (i == count) return start;
    if (found == NOWHERE) return NOWHERE;
    start = advance(0, max(start + 1, found - i));
  }
  return NOWHERE;
}

/** Earliest occurrences one after the other, all in [from, to). Runs only move forward. */
function inOrder(from: u32, to: u32): bool {
  for (let i: u32 = 0; i < count; i++) {
    const position = advance(i, from);
    if (position >= to) return false;
    from = position + 1;
  }
  return true;
}
