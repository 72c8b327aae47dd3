// Which rows of one segment match a query: opens the posting lists of every alternative, turns words into
// bitsets and intersects them with the live rows, the filter and the phrases. Words with few postings come first:
// once few rows are left, they are sought in the lists instead of reading them. The opened lists stay with the
// alternatives, in scoring order, for the kernels that score.

import { checkDeadline } from "../env";
import { filterRows } from "../filter/filter";
import { addPhrase } from "../filter/phrase";
import { scratch, scratchRewind } from "../memory/arena";
import {
  Bits,
  bitsAll,
  bitsAnd,
  bitsCopy,
  bitsCount,
  bitsNext,
  bitsNone,
  bitsOr,
  bitsRemove,
} from "../memory/bitset";
import { Mem } from "../memory/mem";
import { termAt } from "../program/program-terms";
import { pinCount, ruleCount } from "../program/rank-program";
import {
  Alternative,
  alternativeAt,
  anySequence,
  anyWord,
  excludeAt,
  excludeCount,
  mainFilter,
  Phrase,
  phraseAt,
  phraseCount,
  slotCount,
  TIER_BEST,
  TIER_FEWEST_TYPOS,
  TIER_MORE_TYPOS,
  Word,
  wordAt,
  wordCount,
} from "../program/search-program";
import { NOT_QUERIED, slotAt, slotIndex } from "../program/slots";
import { rulesApply, rulesSetUp, rulesUse } from "../rank/rules";
import { termIs, termLowerBound, termPrefixEnd } from "../segment/dictionary";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorAddTo,
  cursorRestart,
  cursorSeek,
  cursorUseBuffer,
  listOpen,
  TERMINATED,
} from "../segment/postings";
import { Seg } from "../segment/segment";
import { failed } from "../status";
import { sequenceEnd, sequenceList, sequencesSetUp } from "./sequence";

const TERMS_A_CHECK: u32 = 255; // of the deadline
const POSTINGS_A_CHECK: u32 = 0x10000;
const SEEK_ABOVE: u32 = 12; // with so many postings for each row that is left, rows are sought in a list
const ROWS_A_WORD: u32 = 32; // of the segment for each row with the words: with more, the filter comes last
const LEADER_LISTS_MAX: u32 = 16;
const SURELY_LESS: f64 = 0.999999; // far from what rounding can add to a score
const SEEK_ROWS_MAX: u32 = 0x10000;

let segment: usize = 0;
let rows: u32 = 0;
let blockBuffer: usize = 0;
let order: usize = 0; // u32: numbers of the words, in the order in which they are matched
let left: usize = 0; // u32: the rows that are left, 0 = not listed
let leftCount: u32 = 0; // rows that are left, at most; the rest is listed when it is worth it
let postings: u32 = 0; // read since the last look at the deadline
let tiered: bool = false; // the bitsets below are wanted

/** All lists that the words of the query have in the segment at hand. */
export let matchLists: u32 = 0;
// Bitsets of rows that have every word, in the segment at hand; 0 = all rows that have every word are in it. They
// know nothing of the filter, phrases and rules.
export let matchFull: usize = 0;
export let matchBest: usize = 0; // each word in TIER_BEST
export let matchFewestTypos: usize = 0; // each word in TIER_BEST or TIER_FEWEST_TYPOS

/** Takes the scratch that every segment of a query shares. `withTiers`: bitsets of the tiers are wanted as well. */
export function matchSetUp(withTiers: bool): void {
  blockBuffer = scratch(BLOCK_BUFFER_BYTES);
  order = scratch((<usize>wordCount) << 2);
  tiered = withTiers;
  rulesSetUp();
  if (anySequence) sequencesSetUp();
}

/** A cursor of alternative lists or near lists. */
export function listAt(lists: usize, i: u32): Cursor {
  return changetype<Cursor>(lists + <usize>i * CURSOR_BYTES);
}

/**
 * Bitset of the rows of a segment that are in the result, in scratch. `summary`: that of the segment, or 0. `live` 0
 * means all rows.
 */
export function matchRows(matched: usize, summary: usize, live: usize): usize {
  segment = matched;
  rows = Seg.rows(matched);
  if (wordCount > 0) openWords();
  const filtersLast = wordsAreRarer();
  const candidates: usize = filtersLast ? 0 : filterRows(matched, summary, mainFilter, live);
  const bits = candidates != 0 ? candidates : bitsAll(rows);
  if (live != 0) bitsAnd(bits, live, rows);
  rulesUse(matched, summary, bits);
  if (wordCount > 0) matchWords(bits);
  if (filtersLast) bitsAnd(bits, filterRows(matched, summary, mainFilter, bits), rows);
  if (phraseCount + excludeCount > 0) matchPhrases(bits);
  if (ruleCount + pinCount > 0) rulesApply(bits);
  return bits;
}

function openWords(): void {
  matchLists = 0;
  for (let i: u32 = 0; i < wordCount && !failed(); i++) openWord(wordAt(i));
  orderWords();
}

/** There is a filter, and so few rows have the words that it had better be asked about them alone. */
function wordsAreRarer(): bool {
  if (wordCount == 0 || mainFilter.count == 0 || anySequence || pinCount > 0) return false;
  let most: u32 = 0; // rows with the words
  for (let i: u32 = 0; i < wordCount; i++) {
    const cost = wordAt(orderAt(i)).cost;
    if (!anyWord) return cost < rows / ROWS_A_WORD;
    most += cost;
  }
  return most < rows / ROWS_A_WORD;
}

function matchWords(bits: usize): void {
  beginTiers(bits);
  leftCount = rows;
  left = 0;
  if (anyWord) matchAny(bits);
  else matchAll(bits);
}

/** Words with few postings first. */
function orderWords(): void {
  for (let i: u32 = 0; i < wordCount; i++) {
    const cost = wordAt(i).cost;
    let to = i;
    for (; to > 0 && wordAt(orderAt(to - 1)).cost > cost; to--)
      Mem.putU32(order + ((<usize>to) << 2), orderAt(to - 1));
    Mem.putU32(order + ((<usize>to) << 2), i);
  }
}

function orderAt(i: u32): u32 {
  return Mem.u32At(order + ((<usize>i) << 2));
}

/** Starts with all rows in the tiers that differ from one another in this query. */
function beginTiers(bits: usize): void {
  matchFull = 0;
  matchBest = 0;
  matchFewestTypos = 0;
  if (!tiered) return;
  let tiers = TIER_BEST;
  for (let i: u32 = 0; i < wordCount; i++) tiers = max(tiers, wordAt(i).tiers);
  if (anyWord && wordCount > 1) matchFull = copyOf(bits);
  if (tiers > TIER_BEST) matchBest = copyOf(bits);
  if (tiers == TIER_MORE_TYPOS) matchFewestTypos = copyOf(bits);
}

function copyOf(bits: usize): usize {
  const copy = scratch(Bits.bytes(rows));
  bitsCopy(copy, bits, rows);
  return copy;
}

function matchAll(bits: usize): void {
  const union = bitsNone(rows);
  for (let i: u32 = 0; i < wordCount && !failed(); i++) {
    if (i > 0) Mem.fill(union, 0, Bits.bytes(rows));
    leftCount = bitsCount(bits, rows);
    left = 0;
    if (leftCount == 0) return;
    addWord(wordAt(orderAt(i)), union, bits);
    bitsAnd(bits, union, rows);
  }
}

function matchAny(bits: usize): void {
  const union = bitsNone(rows);
  for (let i: u32 = 0; i < wordCount && !failed(); i++) {
    const word = wordAt(orderAt(i));
    word.rows = matchFull == 0 ? union : bitsNone(rows);
    addWord(word, word.rows, bits);
    if (matchFull == 0) continue;
    bitsAnd(matchFull, word.rows, rows);
    bitsOr(union, word.rows, rows);
  }
  bitsAnd(bits, union, rows);
}

/** Adds the rows of a word to `union`, tier by tier. */
function addWord(word: Word, union: usize, bits: usize): void {
  word.behind = matchBest != 0 && word.tiers > TIER_BEST ? bitsNone(rows) : 0;
  for (let tier = TIER_BEST; tier <= word.tiers && !failed(); tier++) {
    const to = tier == TIER_BEST || word.behind == 0 ? union : word.behind;
    for (let i: u32 = 0; i < word.alternativeCount && !failed(); i++) {
      const alternative = alternativeAt(word, i);
      if (alternative.tier != tier) continue;
      if (alternative.sequence != 0) openSequence(alternative, bits);
      addRows(alternative, to, bits, to == union ? alternative : leaderOf(word, alternative));
    }
    if (to != union) bitsOr(union, to, rows);
    if (tier == TIER_BEST && matchBest != 0) bitsAnd(matchBest, union, rows);
    if (tier == TIER_FEWEST_TYPOS && matchFewestTypos != 0) bitsAnd(matchFewestTypos, union, rows);
  }
  if (word.tiers == TIER_BEST && matchFewestTypos != 0) bitsAnd(matchFewestTypos, union, rows);
}

/**
 * An alternative of TIER_BEST that scores more than `behind` in every row where `behind` has none but its terms; `behind`
 * itself when there is none. A prefix has the terms of the word that it is the beginning of.
 */
function leaderOf(word: Word, behind: Alternative): Alternative {
  for (let i: u32 = 0; i < word.alternativeCount && behind.sequence == 0; i++) {
    const one = alternativeAt(word, i);
    if (one.tier != TIER_BEST || one.sequence != 0 || one.listCount > LEADER_LISTS_MAX) continue;
    if (behind.boost < one.boost * SURELY_LESS) return one;
  }
  return behind;
}

function hasTerm(alternative: Alternative, term: u32): bool {
  for (let i: u32 = 0; i < alternative.listCount; i++)
    if (listAt(alternative.lists, i).term == term) return true;
  return false;
}

/** Opens the lists of a word but for its sequences, which are made when the rows that can have them are known. */
function openWord(word: Word): void {
  word.cost = 0;
  for (let i: u32 = 0; i < word.alternativeCount && !failed(); i++) {
    const alternative = alternativeAt(word, i);
    if (alternative.sequence == 0) openLists(alternative);
    else alternative.listCount = 0;
    matchLists += alternative.listCount;
    for (let j: u32 = 0; j < alternative.listCount; j++) word.cost += listAt(alternative.lists, j).count;
  }
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
    matchLists++;
  }
}

/** Opens the lists of a term one behind the other, by slot; of two lists of a slot the last. */
function openTerm(alternative: Alternative, term: u32): void {
  const end = Seg.listsAt(segment, term + 1);
  const before = alternative.listCount;
  let at = Seg.listsAt(segment, term);
  while (at < end) {
    const cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
    at = listOpen(cursor, at, end, rows);
    cursor.slotIndex = at == 0 ? NOT_QUERIED : slotIndex(cursor.slot);
    cursor.term = term;
    if (cursor.slotIndex == NOT_QUERIED || !placeList(alternative, before, cursor)) {
      scratchRewind(changetype<usize>(cursor));
    }
    if (at == 0) return;
  }
}

/** Moves the cursor behind the last list of the alternative to its place; false when it took another's. */
function placeList(alternative: Alternative, first: u32, cursor: Cursor): bool {
  let to = alternative.listCount;
  while (to > first && listAt(alternative.lists, to - 1).slotIndex > cursor.slotIndex) to--;
  const isNew = to == first || listAt(alternative.lists, to - 1).slotIndex != cursor.slotIndex;
  if (isNew && to == alternative.listCount++) return true;
  const held = scratch(CURSOR_BYTES);
  Mem.copy(held, changetype<usize>(cursor), CURSOR_BYTES);
  if (isNew) {
    const moved = changetype<usize>(listAt(alternative.lists, to));
    Mem.copy(moved + CURSOR_BYTES, moved, changetype<usize>(cursor) - moved);
    Mem.copy(moved, held, CURSOR_BYTES);
  } else {
    Mem.copy(changetype<usize>(listAt(alternative.lists, to - 1)), held, CURSOR_BYTES);
  }
  scratchRewind(held);
  return isNew;
}

/**
 * Adds the rows of an alternative to `union`; of rows outside `bits`, perhaps only some. Leaves out the terms of another
 * one, `leader`, whose rows were added before.
 */
function addRows(alternative: Alternative, union: usize, bits: usize, leader: Alternative): void {
  for (let i: u32 = 0; i < alternative.listCount && !failed(); i++) {
    const cursor = listAt(alternative.lists, i);
    if (changetype<usize>(leader) != changetype<usize>(alternative) && hasTerm(leader, cursor.term)) continue;
    cursorUseBuffer(cursor, blockBuffer);
    if (leftCount <= SEEK_ROWS_MAX && cursor.count / SEEK_ABOVE > leftCount) {
      seekLeft(cursor, union, bits);
    } else {
      looked(cursor.count);
      cursorAddTo(cursor, union);
    }
    cursorRestart(cursor);
    cursor.rowBuffer = 0;
  }
}

/** Adds the rows that are left, `bits`, and that the list has. */
function seekLeft(cursor: Cursor, union: usize, bits: usize): void {
  if (left == 0) {
    left = scratch((<usize>leftCount) << 2);
    let to = left;
    for (let row = bitsNext(bits, 0, rows); row < rows; row = bitsNext(bits, row + 1, rows)) {
      Mem.putU32(to, row);
      to += 4;
    }
  }
  looked(leftCount);
  for (let i: u32 = 0; i < leftCount; i++) {
    const row = Mem.u32At(left + ((<usize>i) << 2));
    const reached = cursorSeek(cursor, row);
    if (reached == TERMINATED) return;
    if (reached == row) Bits.add(union, row);
  }
}

function looked(count: u32): void {
  postings += count;
  if (postings < POSTINGS_A_CHECK) return;
  postings = 0;
  checkDeadline();
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
  for (let i: u32 = 0; i < slotCount && !failed(); i++)
    addPhrase(segment, phrase.terms, phrase.count, slotAt(i), bits);
}
