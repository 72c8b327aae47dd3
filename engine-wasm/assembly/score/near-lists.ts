// The posting lists whose positions count for closeness, as copies of the cursors that scoring moves on. Reads
// positions, so it is asked only about rows that may be among the best, in any order.

import { checkDeadline } from "../env";
import { listAt } from "../match/match";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Numbered, numberedNew, numberedRows, numberRows } from "../memory/numbered";
import { alternativeAt, Word, wordAt, wordCount } from "../program/search-program";
import { positionsRead, positionsReset, positionsUsed } from "../segment/positions";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorFind,
  cursorNextBlock,
  cursorRestart,
  cursorSeek,
  cursorUseBuffer,
  TERMINATED,
} from "../segment/postings";

export const RUN_BYTES: usize = 12; // u32 slot index, u32 first and end of the positions

const LISTS_PROBED: u32 = 8; // a word with more lists notes which of them each row is in
const SEEK_ABOVE: u32 = 12; // with so many postings for each row that may be asked about, rows are sought in a list
const LISTS_A_CHECK: u32 = 63; // of the deadline
const LINK_BYTES: usize = 8; // u32 next link, u32 cursor
const LINKS_BYTES: usize = 0x4000; // links are taken from scratch by so much

let asked: Numbered = changetype<Numbered>(0); // the rows that may be asked about, numbered when that is needed
let bits: usize = 0;
let from: u32 = 0;
let to: u32 = 0;
let opened: bool = false; // near lists of the segment at hand
let linked: bool = false; // for the rows that may be asked about
let buffers: usize = 0; // room for the runs of two words
let linkBuffer: usize = 0;
let freeLink: usize = 0;
let linksEnd: usize = 0;

/** Room that the runs of one word take at most; good once `nearRunBuffers` was called for the segment. */
export let nearRunBytes: usize = 0;

/** Begins with a new segment; the lists of the words must be open. */
export function nearUse(): void {
  opened = false;
  linked = false;
}

/** Names the rows that may be asked about from now on: those of `some` in [first, end), bounds as for `numberRows`. */
export function nearAsk(some: usize, first: u32, end: u32): void {
  bits = some;
  from = first;
  to = end;
  linked = false;
}

/** Opens the lists; returns room for the runs of two words, `nearRunBytes` each. */
export function nearRunBuffers(): usize {
  if (!opened) open();
  if (!linked) link();
  return buffers;
}

/** Copies the cursors that count for closeness: scoring moves its own past the rows asked about. */
function open(): void {
  let most: u32 = 0;
  for (let i: u32 = 0; i < wordCount; i++) {
    const word = wordAt(i);
    word.nearLists = scratch(0);
    word.nearCount = 0;
    for (let j: u32 = 0; j < word.alternativeCount; j++) {
      const alternative = alternativeAt(word, j);
      if (alternative.near == 0) continue;
      for (let list: u32 = 0; list < alternative.listCount; list++)
        copyCursor(word, listAt(alternative.lists, list));
    }
    most = max(most, word.nearCount);
  }
  nearRunBytes = <usize>most * RUN_BYTES;
  buffers = scratch(2 * nearRunBytes);
  positionsReset(true);
  opened = true;
}

function copyCursor(word: Word, from: Cursor): void {
  const copy = changetype<Cursor>(scratch(CURSOR_BYTES)); // one behind the other
  Mem.copy(changetype<usize>(copy), changetype<usize>(from), CURSOR_BYTES);
  cursorRestart(copy);
  copy.rowBuffer = 0;
  word.nearCount++;
}

/** Links the lists of the words that have many. */
function link(): void {
  let numbered = false;
  for (let i: u32 = 0; i < wordCount; i++) {
    wordAt(i).nearLinks = 0;
    if (wordAt(i).nearCount <= LISTS_PROBED) continue;
    if (!numbered) {
      asked = numberedNew();
      numberRows(asked, bits, from, to);
      linkBuffer = scratch(BLOCK_BUFFER_BYTES);
      freeLink = 0;
      linksEnd = 0;
      numbered = true;
    }
    linkRows(wordAt(i));
  }
  linked = true;
}

/** Makes a chain for every row that may be asked about of the word's lists that have it: to ask each takes too long. */
function linkRows(word: Word): void {
  word.nearLinks = scratchZeroed((<usize>asked.count) << 2);
  for (let i: u32 = 0; i < word.nearCount; i++) {
    const cursor = listAt(word.nearLists, i);
    if ((i & LISTS_A_CHECK) == 0) checkDeadline();
    cursorUseBuffer(cursor, linkBuffer);
    cursorRestart(cursor);
    if (cursor.count / SEEK_ABOVE > asked.count) seekLinks(word, cursor);
    else scanLinks(word, cursor);
    cursorRestart(cursor);
    cursor.rowBuffer = 0;
  }
}

function seekLinks(word: Word, cursor: Cursor): void {
  const list = numberedRows(asked);
  for (let i: u32 = 0; i < asked.count; i++) {
    const row = Mem.u32At(list + ((<usize>i) << 2));
    const reached = cursorSeek(cursor, row);
    if (reached == TERMINATED) return;
    if (reached == row) addLink(word, cursor, i);
  }
}

function scanLinks(word: Word, cursor: Cursor): void {
  let reached = cursorSeek(cursor, from);
  while (reached < to) {
    const held = cursor.held;
    for (let i = cursor.at; i < held; i++) {
      const row = cursor.rowAt(i);
      if (row < to && asked.has(row)) addLink(word, cursor, asked.numberOf(row));
    }
    reached = cursorNextBlock(cursor) ? cursor.row() : TERMINATED;
  }
}

function addLink(word: Word, cursor: Cursor, number: u32): void {
  if (freeLink == linksEnd) {
    freeLink = scratch(LINKS_BYTES);
    linksEnd = freeLink + LINKS_BYTES;
  }
  const head = word.nearLinks + ((<usize>number) << 2);
  Mem.putU32(freeLink, Mem.u32At(head));
  Mem.putU32(freeLink + 4, <u32>changetype<usize>(cursor));
  Mem.putU32(head, <u32>freeLink);
  freeLink += LINK_BYTES;
}

/** Reads the positions of a word in the row, one run for each list that has it. Returns the number of runs. */
export function nearRuns(word: Word, row: u32, runs: usize): u32 {
  let count: u32 = 0;
  if (word.nearLinks != 0) {
    let link = <usize>Mem.u32At(word.nearLinks + ((<usize>asked.numberOf(row)) << 2));
    for (; link != 0; link = <usize>Mem.u32At(link)) {
      count += readRun(changetype<Cursor>(<usize>Mem.u32At(link + 4)), row, runs + <usize>count * RUN_BYTES);
    }
    return count;
  }
  for (let i: u32 = 0; i < word.nearCount; i++) {
    count += readRun(listAt(word.nearLists, i), row, runs + <usize>count * RUN_BYTES);
  }
  return count;
}

/** Reads the positions of one list in the row into a run; 0 when it has none. */
function readRun(cursor: Cursor, row: u32, run: usize): u32 {
  if (!cursorFind(cursor, row)) return 0;
  Mem.putU32(run, cursor.slotIndex);
  Mem.putU32(run + 4, positionsUsed());
  positionsRead(cursor);
  Mem.putU32(run + 8, positionsUsed());
  return 1;
}
