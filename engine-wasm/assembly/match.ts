// Which rows of one segment match a query: opens the posting lists of every alternative, turns words into
// bitsets and intersects them with the live rows, the filter and the phrases. The opened lists stay with the
// alternatives, in scoring order, for the kernels that score.
import { scratch } from "./arena";
import {
  Bits, bitsAll, bitsAnd, bitsNone, bitsRemove,
} from "./bitset";
import { termIs, termLowerBound, termPrefixEnd } from "./dictionary";
import { checkDeadline } from "./env";
import { filterRows } from "./filter";
import { Mem } from "./mem";
import { addPhrase } from "./phrase";
import {
  BLOCK_BUFFER_BYTES, CURSOR_BYTES, Cursor, cursorAddTo, cursorRestart, cursorUseBuffer, listOpen,
} from "./postings";
import { termAt } from "./program-terms";
import {
  Alternative, Phrase, alternativeAt, anySequence, anyWord, excludeAt, excludeCount, mainFilter, phraseAt, phraseCount, slotCount, wordAt,
  wordCount,
} from "./query";
import { pinCount, ruleCount } from "./rank-program";
import { rulesApply, rulesSetUp, rulesUse } from "./rules";
import { sequenceEnd, sequenceList, sequencesSetUp } from "./sequence";
import { NOT_QUERIED, slotAt, slotIndex } from "./slots";
import { Seg } from "./segment";
import { failed } from "./status";

const TERMS_A_CHECK: u32 = 255;

let segment: usize = 0;
let rows: u32 = 0;
let listOfSlot: usize = 0; // u32 address by slot index, of the term at hand
let header: Cursor = changetype<Cursor>(0);
let blockBuffer: usize = 0;

/** All lists that the words of the query have in the segment at hand. */
export let matchLists: u32 = 0;

/** Takes the scratch that every segment of a query shares. */
export function matchSetUp(): void {
  listOfSlot = scratch(<usize>slotCount << 2);
  header = changetype<Cursor>(scratch(CURSOR_BYTES));
  blockBuffer = scratch(BLOCK_BUFFER_BYTES);
  rulesSetUp();
  if (anySequence) sequencesSetUp();
}

/** A cursor of alternative lists or near lists. */
export function listAt(lists: usize, i: u32): Cursor {
  return changetype<Cursor>(lists + <usize>i * CURSOR_BYTES);
}

/** Bitset of the rows of a segment that are in the result, in scratch. `live` 0 means all rows. */
export function matchRows(matched: usize, live: usize): usize {
  segment = matched;
  rows = Seg.rows(matched);
  matchLists = 0;
  const candidates = filterRows(matched, mainFilter);
  const bits = candidates != 0 ? candidates : bitsAll(rows);
  if (live != 0) bitsAnd(bits, live, rows);
  rulesUse(matched, bits);
  if (wordCount > 0) matchWords(bits);
  if (phraseCount + excludeCount > 0) matchPhrases(bits);
  if (ruleCount + pinCount > 0) rulesApply(bits);
  return bits;
}

function matchWords(bits: usize): void {
  const union = bitsNone(rows);
  for (let i: u32 = 0; i < wordCount && !failed(); i++) {
    const word = wordAt(i);
    if (!anyWord && i > 0) Mem.fill(union, 0, Bits.bytes(rows));
    for (let j: u32 = 0; j < word.alternativeCount && !failed(); j++) {
      const alternative = alternativeAt(word, j);
      if (alternative.sequence != 0) openSequence(alternative, bits);
      else openLists(alternative);
      matchLists += alternative.listCount;
      addRows(alternative, union);
    }
    if (!anyWord) bitsAnd(bits, union, rows);
  }
  if (anyWord) bitsAnd(bits, union, rows);
}

/** Opens the lists of an alternative: by program term, dictionary term, slot. */
function openLists(alternative: Alternative): void {
  alternative.lists = scratch(0);
  alternative.listCount = 0;
  for (let i: u32 = 0; i < alternative.termCount; i++) {
    const term = termAt(alternative.terms, i);
    const first = termLowerBound(segment, term.at, term.length);
    let end = first;
    if (term.prefix != 0) end = termPrefixEnd(segment, first, term.at, term.length);
    else if (termIs(segment, first, term.at, term.length)) end = first + 1;
    for (let found = first; found < end && !failed(); found++) {
      if ((found & TERMS_A_CHECK) == 0) checkDeadline();
      openTerm(alternative, found);
    }
  }
}

/** Makes the lists of a sequence, by slot: only of rows among `bits`. */
function openSequence(alternative: Alternative, bits: usize): void {
  alternative.lists = scratch(<usize>slotCount * CURSOR_BYTES);
  alternative.listCount = 0;
  for (let index: u32 = 0; index < slotCount && !failed(); index++) {
    const list = sequenceList(segment, alternative.terms, alternative.termCount, slotAt(index), bits);
    if (list == 0) continue;
    const cursor = listAt(alternative.lists, alternative.listCount++);
    listOpen(cursor, list, sequenceEnd, rows);
    cursor.slotIndex = index;
  }
}

function openTerm(alternative: Alternative, term: u32): void {
  const end = Seg.listsAt(segment, term + 1);
  let at = Seg.listsAt(segment, term);
  Mem.fill(listOfSlot, 0, <usize>slotCount << 2);
  while (at < end) {
    const next = listOpen(header, at, end, rows);
    if (next == 0) return;
    const index = slotIndex(header.slot);
    if (index != NOT_QUERIED) Mem.putU32(listOfSlot + (<usize>index << 2), <u32>at);
    at = next;
  }
  for (let index: u32 = 0; index < slotCount; index++) {
    const list = <usize>Mem.u32At(listOfSlot + (<usize>index << 2));
    if (list == 0) continue;
    const cursor = changetype<Cursor>(scratch(CURSOR_BYTES)); // one behind the other
    listOpen(cursor, list, end, rows);
    cursor.slotIndex = index;
    cursor.term = term;
    alternative.listCount++;
  }
}

function addRows(alternative: Alternative, union: usize): void {
  for (let i: u32 = 0; i < alternative.listCount && !failed(); i++) {
    const cursor = listAt(alternative.lists, i);
    checkDeadline();
    cursorUseBuffer(cursor, blockBuffer);
    cursorAddTo(cursor, union);
    cursorRestart(cursor);
    cursor.rowBuffer = 0;
  }
}

function matchPhrases(bits: usize): void {
  const found = bitsNone(rows);
  for (let i: u32 = 0; i < phraseCount && !failed(); i++) {
    Mem.fill(found, 0, Bits.bytes(rows));
    addInAnySlot(phraseAt(i), found);
    bitsAnd(bits, found, rows);
  }
  Mem.fill(found, 0, Bits.bytes(rows));
  for (let i: u32 = 0; i < excludeCount && !failed(); i++) addInAnySlot(excludeAt(i), found);
  if (excludeCount > 0) bitsRemove(bits, found, rows);
}

function addInAnySlot(phrase: Phrase, bits: usize): void {
  for (let i: u32 = 0; i < slotCount && !failed(); i++) addPhrase(segment, phrase.terms, phrase.count, slotAt(i), bits);
}
