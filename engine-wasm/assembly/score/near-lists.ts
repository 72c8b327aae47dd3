// The posting lists whose positions count toward closeness. Each list is read through its own copy of the
// cursor, because scoring moves the original. Reading positions is expensive, so callers look up only rows
// that may be among the best; rows may be looked up in any order.

import { checkDeadline } from "../env";
import { listAt } from "../match/alternative-lists";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Numbered, numberedNew, numberedRows, numberRows } from "../memory/numbered";
import { alternativeAt, SearchProgram, Word } from "../program/search-program";
import { Positions } from "../segment/positions";
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

// A run is one list's positions in a row: u32 slot index, u32 start and end in `positions`.
export const RUN_BYTES: usize = 12;

// A row is looked up in each of a word's lists if there are at most this many. Otherwise each row gets a
// chain of the lists that contain it.
const LISTS_PROBED: u32 = 8;
// If a list has more than this many postings per row to look up, each row is sought in the list. Otherwise
// the whole list is read.
const SEEK_ABOVE: u32 = 12;
const LISTS_A_CHECK: u32 = 63; // bit mask: a deadline check every 64 lists
const RUNS_A_CHECK: u32 = 1023; // bit mask: a deadline check every 1024 list lookups
const LINK_BYTES: usize = 8; // u32 address of the next link, u32 address of the cursor
const LINKS_BYTES: usize = 0x4000; // links are allocated in chunks of this many bytes

function copyCursor(word: Word, from: Cursor): void {
  const copy = changetype<Cursor>(scratch(CURSOR_BYTES)); // copies are contiguous
  Mem.copy(changetype<usize>(copy), changetype<usize>(from), CURSOR_BYTES);
  cursorRestart(copy);
  cursorUseBuffer(copy, 0);
  word.nearCount++;
}

/** The current segment's lists that count toward closeness. Allocated in scratch memory. */
@unmanaged
export class NearLists {
  program: SearchProgram;
  positions: Positions;
  asked: Numbered; // the rows that may be looked up; numbered only when needed
  bits: usize;
  from: u32;
  to: u32;
  opened: bool; // whether the near lists of the current segment have been opened
  linked: bool; // whether `link` has built the chains for the rows that may now be looked up
  buffers: usize; // two buffers of `runBytes`, one for each of the two words being compared
  linkBuffer: usize;
  freeLink: usize;
  linksEnd: usize;
  asks: u32; // number of times a row was looked up in a list
  /**
   * Maximum size in bytes of a word's runs in one row. Valid once `runBuffers` has been called in the
   * segment.
   */
  runBytes: usize;

  static make(program: SearchProgram): NearLists {
    const made = changetype<NearLists>(scratchZeroed(offsetof<NearLists>()));
    made.program = program;
    made.positions = Positions.make();
    return made;
  }

  /** Starts a new segment. The words' lists must be open. */
  beginSegment(): void {
    this.opened = false;
    this.linked = false;
  }

  /**
   * Sets the rows that may be looked up from now on: the rows of `some` in [first, end). `first` and `end`
   * must be valid bounds for `numberRows`.
   */
  ask(some: usize, first: u32, end: u32): void {
    this.bits = some;
    this.from = first;
    this.to = end;
    this.linked = false;
  }

  /** Opens the lists if necessary. Returns two buffers of `runBytes`, for the runs of two words. */
  runBuffers(): usize {
    if (!this.opened) this.open();
    if (!this.linked) this.link();
    return this.buffers;
  }

  /**
   * Copies the cursors whose positions count toward closeness, because scoring moves its own cursors past the
   * rows to look up.
   */
  private open(): void {
    const program = this.program;
    let most: u32 = 0;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const word = program.wordAt(i);
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
    this.runBytes = <usize>most * RUN_BYTES;
    this.buffers = scratch(2 * this.runBytes);
    this.opened = true;
  }

  /** Builds the chains of lists for the words that have more than LISTS_PROBED lists. */
  private link(): void {
    const program = this.program;
    let numbered = false;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      program.wordAt(i).nearLinks = 0;
      if (program.wordAt(i).nearCount <= LISTS_PROBED) continue;
      if (!numbered) {
        this.asked = numberedNew();
        numberRows(this.asked, this.bits, this.from, this.to);
        this.linkBuffer = scratch(BLOCK_BUFFER_BYTES);
        this.freeLink = 0;
        this.linksEnd = 0;
        numbered = true;
      }
      this.linkRows(program.wordAt(i));
    }
    this.linked = true;
  }

  /**
   * Builds, for each row that may be looked up, a chain of the word's lists that contain it. Searching every
   * list would take too long.
   */
  private linkRows(word: Word): void {
    word.nearLinks = scratchZeroed((<usize>this.asked.count) << 2);
    for (let i: u32 = 0; i < word.nearCount; i++) {
      const cursor = listAt(word.nearLists, i);
      if ((i & LISTS_A_CHECK) == 0) checkDeadline();
      cursorUseBuffer(cursor, this.linkBuffer);
      cursorRestart(cursor);
      if (cursor.count / SEEK_ABOVE > this.asked.count) this.seekLinks(word, cursor);
      else this.scanLinks(word, cursor);
      cursorRestart(cursor);
      cursorUseBuffer(cursor, 0);
    }
  }

  private seekLinks(word: Word, cursor: Cursor): void {
    const list = numberedRows(this.asked);
    for (let i: u32 = 0; i < this.asked.count; i++) {
      const row = Mem.u32At(list + ((<usize>i) << 2));
      const reached = cursorSeek(cursor, row);
      if (reached == TERMINATED) return;
      if (reached == row) this.addLink(word, cursor, i);
    }
  }

  private scanLinks(word: Word, cursor: Cursor): void {
    let reached = cursorSeek(cursor, this.from);
    while (reached < this.to) {
      const held = cursor.held;
      for (let i = cursor.at; i < held; i++) {
        const row = cursor.rowAt(i);
        if (row < this.to && this.asked.has(row)) this.addLink(word, cursor, this.asked.numberOf(row));
      }
      reached = cursorNextBlock(cursor) ? cursor.row() : TERMINATED;
    }
  }

  private addLink(word: Word, cursor: Cursor, number: u32): void {
    if (this.freeLink == this.linksEnd) {
      this.freeLink = scratch(LINKS_BYTES);
      this.linksEnd = this.freeLink + LINKS_BYTES;
    }
    const head = word.nearLinks + ((<usize>number) << 2);
    Mem.putU32(this.freeLink, Mem.u32At(head));
    Mem.putU32(this.freeLink + 4, <u32>changetype<usize>(cursor));
    Mem.putU32(head, <u32>this.freeLink);
    this.freeLink += LINK_BYTES;
  }

  /**
   * Reads a word's positions in the row into `runs`, as one run per list that contains the row. Returns the
   * number of runs.
   */
  runs(word: Word, row: u32, runs: usize): u32 {
    let count: u32 = 0;
    if (word.nearLinks != 0) {
      let link = <usize>Mem.u32At(word.nearLinks + ((<usize>this.asked.numberOf(row)) << 2));
      for (; link != 0; link = <usize>Mem.u32At(link)) {
        count += this.readRun(
          changetype<Cursor>(<usize>Mem.u32At(link + 4)),
          row,
          runs + <usize>count * RUN_BYTES,
        );
      }
      return count;
    }
    for (let i: u32 = 0; i < word.nearCount; i++) {
      count += this.readRun(listAt(word.nearLists, i), row, runs + <usize>count * RUN_BYTES);
    }
    return count;
  }

  /**
   * Reads one list's positions in the row into `run`. Returns the number of runs read: 1, or 0 if the list
   * lacks the row.
   */
  private readRun(cursor: Cursor, row: u32, run: usize): u32 {
    if ((++this.asks & RUNS_A_CHECK) == 0) checkDeadline();
    if (!cursorFind(cursor, row)) return 0;
    Mem.putU32(run, cursor.slotIndex);
    Mem.putU32(run + 4, this.positions.used);
    this.positions.read(cursor);
    Mem.putU32(run + 8, this.positions.used);
    return 1;
  }
}
