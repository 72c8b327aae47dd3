// The posting lists whose positions count for closeness, as copies of the cursors that scoring moves on. Reads
// positions, so it is asked only about rows that may be among the best; rows come in ascending order within a
// segment.
import { scratch, scratchZeroed } from "./arena";
import { Bits } from "./bitset";
import { checkDeadline } from "./env";
import { listAt } from "./match";
import { Mem } from "./mem";
import { positionsRead, positionsReset, positionsUsed } from "./positions";
import {
  BLOCK_BUFFER_BYTES, CURSOR_BYTES, Cursor, cursorNextBlock, cursorRestart, cursorSeek, cursorUseBuffer,
} from "./postings";
import { Word, alternativeAt, wordAt, wordCount } from "./query";

export const RUN_BYTES: usize = 12; // u32 slot index, u32 first and end of the positions

const LISTS_PROBED: u32 = 8; // a word with more lists notes which of them each row is in
const LINK_BYTES: usize = 8; // u32 next link, u32 cursor
const LINKS_BYTES: usize = 0x4000; // links are taken from scratch by so much

let bits: usize = 0; // the rows that may be asked about
let rows: u32 = 0;
let opened: bool = false; // near lists of the segment at hand
let buffers: usize = 0; // room for the runs of two words

/** Room that the runs of one word take at most; good once `nearRunBuffers` was called for the segment. */
export let nearRunBytes: usize = 0;

/** Names the matching rows of a new segment of `count` rows; the lists of the words must be open. */
export function nearUse(matching: usize, count: u32): void {
  bits = matching;
  rows = count;
  opened = false;
}

/** Opens the lists; returns room for the runs of two words, `nearRunBytes` each. */
export function nearRunBuffers(): usize {
  if (!opened) open();
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
      for (let list: u32 = 0; list < alternative.listCount; list++) copyCursor(word, listAt(alternative.lists, list));
    }
    most = max(most, word.nearCount);
  }
  for (let i: u32 = 0; i < wordCount; i++) {
    wordAt(i).nearLinks = 0;
    if (wordAt(i).nearCount > LISTS_PROBED) linkRows(wordAt(i));
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

/** Makes a chain for every row to score of the word's lists that have it: asking each list would take too long. */
function linkRows(word: Word): void {
  const heads = scratchZeroed(<usize>rows << 2);
  const buffer = scratch(BLOCK_BUFFER_BYTES);
  let link: usize = 0;
  let linksEnd: usize = 0;
  for (let i: u32 = 0; i < word.nearCount; i++) {
    const cursor = listAt(word.nearLists, i);
    checkDeadline();
    cursorUseBuffer(cursor, buffer);
    while (cursorNextBlock(cursor)) {
      for (let j: u32 = 0; j < cursor.held; j++) {
        const row = cursor.rowAt(j);
        if (!Bits.has(bits, row)) continue;
        if (link == linksEnd) {
          link = scratch(LINKS_BYTES);
          linksEnd = link + LINKS_BYTES;
        }
        const head = heads + (<usize>row << 2);
        Mem.putU32(link, Mem.u32At(head));
        Mem.putU32(link + 4, <u32>changetype<usize>(cursor));
        Mem.putU32(head, <u32>link);
        link += LINK_BYTES;
      }
    }
    cursorRestart(cursor);
    cursor.rowBuffer = 0;
  }
  word.nearLinks = heads;
}

/** Reads the positions of a word in the row, one run for each list that has it. Returns the number of runs. */
export function nearRuns(word: Word, row: u32, runs: usize): u32 {
  let count: u32 = 0;
  if (word.nearLinks != 0) {
    let link = <usize>Mem.u32At(word.nearLinks + (<usize>row << 2));
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
  if (cursorSeek(cursor, row) != row) return 0;
  Mem.putU32(run, cursor.slotIndex);
  Mem.putU32(run + 4, positionsUsed());
  positionsRead(cursor);
  Mem.putU32(run + 8, positionsUsed());
  return 1;
}
