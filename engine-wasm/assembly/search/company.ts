// The `company` kernel counts co-occurring words: for each candidate and each word, the number of live
// documents that contain both. Each segment gets one bitset of rows per word. For each candidate in turn, a
// bitset of its rows is built and intersected with the words' bitsets. docs/FORMATS.md shows the layout of
// the program and the result.

import { checkDeadline } from "../env";
import { scratch, scratchMark, scratchRewind, scratchZeroed } from "../memory/arena";
import { bitsAnd, bitsCount, bitsCountBoth, bitsNone } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Result } from "../memory/result";
import { CompanyProgram, CompanyWord } from "../program/company-program";
import { termAt } from "../program/program-terms";
import { NOT_QUERIED } from "../program/slots";
import { termIs, termLowerBound } from "../segment/dictionary";
import { liveRows } from "../segment/live";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorAddTo,
  cursorUseBuffer,
  listOpen,
} from "../segment/postings";
import { Seg, Snap } from "../segment/segment";
import { failed, status, statusReset } from "../status";

const TERMS_A_CHECK: u32 = 255; // bit mask: a deadline check every 256 terms

/** Runs the program in the `bytes` bytes at `input`. Returns the address of the result, or -STATUS_*. */
export function company(snapshot: usize, input: usize, bytes: usize): i32 {
  statusReset();
  const program = CompanyProgram.read(input, bytes);
  if (failed()) return -status();
  const counts = CompanyCounts.make(program);
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments && !failed(); i++)
    counts.addSegment(Snap.segment(snapshot, i), Snap.live(snapshot, i));
  if (failed()) return -status();
  const result = Result.open();
  result.putF64(liveRows(snapshot));
  result.putBytes(counts.counts, counts.bytes);
  return <i32>result.close();
}

/** One program's counts and the state for the current segment. Allocated in scratch memory. */
@unmanaged
class CompanyCounts {
  program: CompanyProgram;
  counts: usize; // u32[], in the same order as the result
  bytes: usize;
  cursor: Cursor;
  blockBuffer: usize;
  segment: usize;
  live: usize; // bitset of the live rows; 0 = all rows are live
  rows: u32;

  static make(program: CompanyProgram): CompanyCounts {
    const made = changetype<CompanyCounts>(scratchZeroed(offsetof<CompanyCounts>()));
    made.program = program;
    made.bytes = (<usize>(program.wordCount + program.candidateCount * (program.wordCount + 1))) << 2;
    made.counts = scratchZeroed(made.bytes);
    made.cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
    made.blockBuffer = scratch(BLOCK_BUFFER_BYTES);
    return made;
  }

  addSegment(segment: usize, live: usize): void {
    const program = this.program;
    const begin = scratchMark();
    this.segment = segment;
    this.live = live;
    this.rows = Seg.rows(segment);
    let at = this.counts;
    for (let i: u32 = 0; i < program.wordCount && !failed(); i++, at += 4) {
      const word = program.word(i);
      this.findRows(word);
      addTo(at, bitsCount(word.rows, this.rows));
    }
    for (let i: u32 = 0; i < program.candidateCount && !failed(); i++) {
      const mark = scratchMark();
      at = this.addCandidate(program.candidate(i), at);
      scratchRewind(mark);
    }
    scratchRewind(begin);
  }

  /**
   * Adds the current segment to a candidate's counts, which begin at `at`. Returns the address of the next
   * candidate's counts.
   */
  private addCandidate(candidate: CompanyWord, at: usize): usize {
    const program = this.program;
    this.findRows(candidate);
    const documents = bitsCount(candidate.rows, this.rows);
    const end = at + ((<usize>program.wordCount + 1) << 2);
    if (documents == 0) return end;
    addTo(at, documents);
    for (let i: u32 = 0; i < program.wordCount; i++) {
      at += 4;
      addTo(at, bitsCountBoth(candidate.rows, program.word(i).rows, this.rows));
    }
    return end;
  }

  /** Sets a word's `rows` to a new bitset, in scratch memory, of the live rows that contain it. */
  private findRows(word: CompanyWord): void {
    word.rows = bitsNone(this.rows);
    for (let i: u32 = 0; i < word.termCount && !failed(); i++) {
      if ((i & TERMS_A_CHECK) == 0) checkDeadline();
      const asked = termAt(word.terms, i);
      const term = termLowerBound(this.segment, asked.at, asked.length);
      if (termIs(this.segment, term, asked.at, asked.length)) this.addTerm(term, word.rows);
    }
    if (this.live != 0) bitsAnd(word.rows, this.live, this.rows);
  }

  /** Adds the rows that contain a dictionary term in any of the slots. */
  private addTerm(term: u32, bits: usize): void {
    const cursor = this.cursor;
    const end = Seg.listsAt(this.segment, term + 1);
    let at = Seg.listsAt(this.segment, term);
    while (at < end) {
      at = listOpen(cursor, at, end, this.rows);
      if (at == 0) return;
      if (this.program.slots.indexOf(cursor.slot) == NOT_QUERIED) continue;
      checkDeadline();
      cursorUseBuffer(cursor, this.blockBuffer);
      cursorAddTo(cursor, bits);
    }
  }
}

function addTo(sum: usize, count: u32): void {
  Mem.putU32(sum, Mem.u32At(sum) + count);
}
