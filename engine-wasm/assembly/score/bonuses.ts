// The bonus of a row: for terms it has in certain fields, and for a field that begins with the words or consists of
// them. Positions are read only for rows that could be among the best with the largest bonus.

import { scratch } from "../memory/arena";
import { Bits, bitsNone, bitsOr } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { termAt } from "../program/program-terms";
import {
  BONUS_LINE,
  BonusTerm,
  bonusTermAt,
  bonusTermCount,
  startsBonus,
  wholeBonus,
} from "../program/rank-program";
import { slotCount, wordAt, wordCount } from "../program/search-program";
import { slotAt } from "../program/slots";
import { termIs, termLowerBound, termPrefixEnd } from "../segment/dictionary";
import { positionsAt, positionsReset } from "../segment/positions";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorAddTo,
  cursorUseBuffer,
  listOpen,
} from "../segment/postings";
import { Field, findField, Seg } from "../segment/segment";
import { failed } from "../status";
import { nearRunBuffers, nearRuns, RUN_BYTES } from "./near-lists";
import { lengthIsWords, mayBeWhole, mayStart, startsIn, startsKnown, startsSetUp, startsUse } from "./starts";

let segment: usize = 0;
let rows: u32 = 0;
let withTerm: usize = 0; // rows with any bonus term, 0 = none
let lifted: usize = 0; // rows with a bonus that lifts over everything, 0 = none
let termMost: f64 = 0; // the most that other bonus terms can give a row
let cursor: Cursor = changetype<Cursor>(0);
let buffer: usize = 0;
let norms: usize = 0; // u32 address by slot index, 0 = no document has a value
let reached: usize = 0; // u32 by slot index: words that stand at their places so far

/** Takes the scratch that every segment of a query shares. */
export function bonusesSetUp(): void {
  startsSetUp();
  norms = scratch((<usize>slotCount) << 2);
  reached = scratch((<usize>slotCount) << 2);
  if (bonusTermCount == 0) return;
  cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
  buffer = scratch(BLOCK_BUFFER_BYTES);
}

/** Finds the rows of a segment that have bonus terms. */
export function bonusesUse(used: usize): void {
  segment = used;
  rows = Seg.rows(used);
  startsUse(used);
  withTerm = 0;
  lifted = 0;
  termMost = 0;
  for (let i: u32 = 0; i < slotCount; i++) {
    const field = findField(used, slotAt(i));
    Mem.putU32(norms + ((<usize>i) << 2), field == 0 ? 0 : <u32>Field.norms(used, field));
  }
  for (let i: u32 = 0; i < bonusTermCount && !failed(); i++) {
    const one = bonusTermAt(i);
    addRows(one);
    if (one.bits == 0) continue;
    if (withTerm == 0) withTerm = bitsNone(rows);
    bitsOr(withTerm, one.bits, rows);
    if (one.bonus >= BONUS_LINE) lift(one.bits);
    else termMost += one.bonus; // more than one of a group, perhaps
  }
}

function lift(bits: usize): void {
  if (lifted == 0) lifted = bitsNone(rows);
  bitsOr(lifted, bits, rows);
}

/** Rows of the segment with a bonus term that lifts over all others, 0 = none. */
export function liftedRows(): usize {
  return lifted;
}

/** Rows of a word of a bitset that may get a bonus; starts.ts must know them when there are bonuses of place. */
export function rowsWithBonus(word: u32): u64 {
  const placed = startsBonus + wholeBonus > 0 ? startsIn(word) : 0;
  return withTerm == 0 ? placed : placed | Bits.word(withTerm, word);
}

/** The most that `termBonusOf` can answer for other rows. */
export function termBonusMost(): f64 {
  return termMost;
}

function addRows(one: BonusTerm): void {
  one.bits = 0;
  const term = termAt(one.term, 0);
  const first = termLowerBound(segment, term.at, term.length);
  let end = first;
  if (term.prefix != 0) end = termPrefixEnd(segment, first, term.at, term.length);
  else if (termIs(segment, first, term.at, term.length)) end = first + 1;
  for (let found = first; found < end && !failed(); found++) {
    const listsEnd = Seg.listsAt(segment, found + 1);
    let list = Seg.listsAt(segment, found);
    while (list < listsEnd) {
      list = listOpen(cursor, list, listsEnd, rows);
      if (list == 0) return;
      if (cursor.slot != one.slot) continue;
      if (one.bits == 0) one.bits = bitsNone(rows);
      cursorUseBuffer(cursor, buffer);
      cursorAddTo(cursor, one.bits);
      break;
    }
  }
}

/** Sum over the groups of the largest bonus whose term the row has. */
export function termBonusOf(row: u32): f64 {
  if (withTerm == 0 || !Bits.has(withTerm, row)) return 0;
  let sum: f64 = 0;
  for (let i = bonusTermFrom(row, 0); i < bonusTermCount; i = bonusTermFrom(row, groupEnd(i))) {
    sum += bonusTermAt(i).bonus;
  }
  return sum;
}

/** The first term, from number `i` on, that the row has; bonusTermCount when it has none. */
export function bonusTermFrom(row: u32, i: u32): u32 {
  while (i < bonusTermCount && (bonusTermAt(i).bits == 0 || !Bits.has(bonusTermAt(i).bits, row))) i++;
  return i;
}

/** Number of the first term of the group after that of term `i`. */
export function groupEnd(i: u32): u32 {
  const group = bonusTermAt(i).group;
  while (i < bonusTermCount && bonusTermAt(i).group == group) i++;
  return i;
}

/** The most that `placeBonusOf` can answer; it reads no positions. */
export function placeBonusBound(row: u32, isExact: bool): f64 {
  if (!mayStart(row)) return 0;
  if (!isExact || wholeBonus <= startsBonus || !mayBeWhole(row)) return startsBonus;
  for (let i: u32 = 0; i < slotCount; i++) if (isWhole(i, row)) return wholeBonus;
  return startsBonus;
}

/** The slot with this index has as many tokens as the query has words. */
function isWhole(index: u32, row: u32): bool {
  const lengths = <usize>Mem.u32At(norms + ((<usize>index) << 2));
  return lengths != 0 && lengthIsWords(Mem.u8At(lengths + row));
}

/**
 * The larger of `starts`, when the words stand at the first places of a queried slot in their order, and `whole`,
 * when such a slot has no further tokens and the row has every word as written. The row has every word.
 */
export function placeBonusOf(row: u32, isExact: bool): f64 {
  if (wordCount == 1 && startsKnown(row)) return placeBonusBound(row, isExact);
  const runs = nearRunBuffers();
  Mem.fill(reached, 0, (<usize>slotCount) << 2);
  positionsReset(false);
  for (let i: u32 = 0; i < wordCount; i++) {
    const count = nearRuns(wordAt(i), row, runs);
    let on = false;
    for (let run: usize = 0; run < <usize>count; run++) {
      if (advance(runs + run * RUN_BYTES, i)) on = true;
    }
    if (!on) return 0;
  }
  for (let i: u32 = 0; i < slotCount; i++) {
    if (isExact && Mem.u32At(reached + ((<usize>i) << 2)) == wordCount && isWhole(i, row)) {
      return max(startsBonus, wholeBonus);
    }
  }
  return startsBonus;
}

/** Counts word `word` for the slot of a run that has it at position `word`, when all words before are there. */
function advance(run: usize, word: u32): bool {
  const place = reached + ((<usize>Mem.u32At(run)) << 2);
  if (Mem.u32At(place) != word) return Mem.u32At(place) == word + 1; // another run of the slot was there
  const end = Mem.u32At(run + 8);
  for (let i = Mem.u32At(run + 4); i < end; i++) {
    const position = Mem.u32At(positionsAt(i));
    if (position > word) return false;
    if (position < word) continue;
    Mem.putU32(place, word + 1);
    return true;
  }
  return false;
}
