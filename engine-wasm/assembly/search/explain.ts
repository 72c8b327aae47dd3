// The `explain` kernel shows why a row ranks where it does in a search result. It computes for one row at a
// time what score-words.ts computes for many rows at once, in the same order of operations, so the numbers
// are bit-identical. docs/FORMATS.md shows the layout of the input and the result.

import { ROW_MATCHED, STATUS_BAD_PROGRAM, STATUS_DAMAGED } from "../layout";
import { listAt } from "../match/alternative-lists";
import { scratch, scratchZeroed } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Result } from "../memory/result";
import { termAt } from "../program/program-terms";
import { Alternative, alternativeAt, SearchProgram } from "../program/search-program";
import { finalKey, finalKeyBelowNeighbours } from "../rank/final-key";
import { ALL_WORDS, rowState } from "../score/row-state";
import { Signals } from "../score/signals";
import { NOT_FOUND, rowOfSeq } from "../segment/lookup";
import { BLOCK_BUFFER_BYTES, Cursor, cursorRestart, cursorSeek, cursorUseBuffer } from "../segment/postings";
import { Field, findField, Seg, Snap } from "../segment/segment";
import { fail, failed, status, statusReset } from "../status";
import { beginQuery, beginSegment, Run, SegmentRun } from "./run";

const NO_ALTERNATIVE: u32 = 0xffffffff;
const TYPOS_COUNTED: u32 = 15;
const SEQ_BYTES: usize = 8;
const SEQ_MAX: f64 = 9007199254740991; // 2^53 - 1

@unmanaged
class Part {
  slot: u32;
  tf: u32;
  term: usize;
  termBytes: u32;
}

@unmanaged
class WordPart {
  score: f64;
  alternative: u32;
  typos: u32;
  exact: u32;
  parts: usize;
  partCount: u32;
}

@unmanaged
class RowParts {
  textMatch: f64;
  closeness: f64;
  points: f64;
  placeBonus: f64;
  boosts: f64;
  rowClass: u64;
  key: u64;
  words: usize;
  bonusTerms: usize; // u32[]: numbers of the bonus terms in the row
  bonusTermCount: u32;
  place: u32; // PLACE_*
  flags: u32; // ROW_*
}

const PART_BYTES: usize = offsetof<Part>();
const WORD_PART_BYTES: usize = (offsetof<WordPart>() + 7) & ~7;

function wordPartAt(row: RowParts, i: u32): WordPart {
  return changetype<WordPart>(row.words + <usize>i * WORD_PART_BYTES);
}

/**
 * Explains rows in a search. Input: u32 count, then `count` sequence numbers (f64, ascending), then the
 * search program. Returns the address of the result, or -STATUS_*.
 */
export function explain(snapshot: usize, input: usize, bytes: usize): i32 {
  statusReset();
  if (bytes < 4) return -STATUS_BAD_PROGRAM;
  const count = Mem.u32At(input);
  const seqs = input + 4;
  if (<u64>count * SEQ_BYTES > <u64>(bytes - 4)) return -STATUS_BAD_PROGRAM;
  const seqBytes = <usize>count * SEQ_BYTES;
  let previous: f64 = -1;
  for (let i: u32 = 0; i < count; i++) {
    if (!(seqAt(seqs, i) > previous) || seqAt(seqs, i) > SEQ_MAX) fail(STATUS_BAD_PROGRAM);
    previous = seqAt(seqs, i);
  }
  const run = beginQuery(snapshot, seqs + seqBytes, bytes - 4 - seqBytes, true);
  if (failed()) return -status();
  const explainer = Explainer.make(run);
  const rows = scratchZeroed((<usize>count) << 2); // addresses of RowParts
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments && !failed(); i++) explainer.explainIn(i, seqs, count, rows);
  if (failed()) return -status();
  const result = Result.open();
  for (let i: usize = 0; i < <usize>count; i++) explainer.writeRow(result, <usize>Mem.u32At(rows + (i << 2)));
  return <i32>result.close();
}

function seqAt(seqs: usize, i: u32): f64 {
  return Mem.f64At(seqs + <usize>i * SEQ_BYTES);
}

/** Joins a sequence's terms, separated by spaces. */
function joinTerms(part: Part, alternative: Alternative): void {
  let bytes: usize = 0;
  for (let i: u32 = 0; i < alternative.termCount; i++)
    bytes += <usize>termAt(alternative.terms, i).length + 1;
  part.term = scratch(bytes);
  part.termBytes = <u32>bytes - 1;
  let to = part.term;
  for (let i: u32 = 0; i < alternative.termCount; i++) {
    const term = termAt(alternative.terms, i);
    Mem.copy(to, term.at, term.length);
    to += <usize>term.length + 1;
    Mem.putU8(to - 1, 0x20);
  }
}

function writeWord(result: Result, word: WordPart): void {
  result.putU32(word.alternative);
  if (word.alternative == NO_ALTERNATIVE) return;
  result.putF64(word.score);
  result.putU8(word.typos);
  result.putU8(word.exact);
  result.putU32(word.partCount);
  for (let i: usize = 0; i < <usize>word.partCount; i++) {
    const part = changetype<Part>(word.parts + i * PART_BYTES);
    result.putU16(part.slot);
    result.putU32(part.tf);
    result.putU32(part.termBytes);
    result.putBytes(part.term, part.termBytes);
  }
}

/** Explains rows of one search. Allocated in scratch memory. */
@unmanaged
class Explainer {
  run: Run;
  program: SearchProgram;
  signals: Signals;
  segment: usize;
  saturation: f64; // the current row's saturation
  buffer: usize;

  static make(run: Run): Explainer {
    const made = changetype<Explainer>(scratchZeroed(offsetof<Explainer>()));
    made.run = run;
    made.program = run.program;
    made.signals = run.signals;
    made.buffer = scratch(BLOCK_BUFFER_BYTES);
    return made;
  }

  /**
   * Explains the rows that are both in a segment and in the result. Writes the addresses of their RowParts to
   * `rows`.
   */
  explainIn(entry: u32, seqs: usize, count: u32, rows: usize): void {
    const segment = Snap.segment(this.run.snapshot, entry);
    let here = changetype<SegmentRun>(0); // started only if the segment contains a row to explain
    for (let i: u32 = 0; i < count && !failed(); i++) {
      const row = rowOfSeq(segment, <u64>seqAt(seqs, i));
      if (row == NOT_FOUND) continue;
      if (changetype<usize>(here) == 0) {
        here = beginSegment(this.run, entry);
        if (failed()) return;
        this.segment = segment;
        this.signals.near.ask(here.bits, 0, here.rows);
      }
      if (Bits.has(here.bits, row)) Mem.putU32(rows + ((<usize>i) << 2), <u32>this.explainRow(row));
    }
  }

  private explainRow(row: u32): usize {
    const program = this.program;
    const rules = this.run.rules;
    const signals = this.signals;
    const parts = changetype<RowParts>(scratchZeroed(offsetof<RowParts>()));
    parts.words = scratch(<usize>program.wordCount * WORD_PART_BYTES);
    this.saturation = this.saturationOf(row);
    let score: f64 = 0;
    let typos: u32 = 0;
    let matched: u32 = 0;
    let exact = true;
    for (let i: u32 = 0; i < program.wordCount; i++) {
      const word = wordPartAt(parts, i);
      this.explainWord(word, i, row);
      if (word.alternative == NO_ALTERNATIVE) continue;
      score += word.score;
      typos = min(TYPOS_COUNTED, typos + word.typos);
      if (word.exact == 0) exact = false;
      matched++;
    }
    // False if the row does not match the query and is in the result only because it is pinned.
    const isFound = (rules.flagsOf(row) & ROW_MATCHED) != 0;
    const words = isFound ? matched : 0;
    const state = rowState(words, typos, exact);
    const wordsCount = !signals.points.areAll(row);
    const closeness = signals.closeness;
    parts.flags = signals.flagsOf(row, state);
    parts.closeness = wordsCount && closeness.applies(state) ? closeness.sumOf(row, ALL_WORDS) : 0;
    if (parts.closeness > 0) score += program.proximityWeight * parts.closeness;
    parts.points = signals.points.of(row);
    parts.textMatch = isFound ? signals.points.textMatch(row, score, state) : 0;
    parts.bonusTerms = scratch((<usize>program.ranking.bonusTermCount) << 2);
    const bonus = wordsCount ? this.explainBonuses(parts, row, words > 0, state) : 0;
    parts.boosts = rules.boostsOf(row);
    parts.rowClass = rules.classOf(row);
    parts.key = program.neighbours.first
      ? finalKeyBelowNeighbours(parts.textMatch, bonus, parts.boosts)
      : finalKey(parts.textMatch, bonus, parts.boosts, program.browses);
    return changetype<usize>(parts);
  }

  /** Returns the sum of a row's bonuses. */
  private explainBonuses(parts: RowParts, row: u32, hasWords: bool, state: u32): f64 {
    const place = this.signals.place;
    const term = this.signals.term;
    parts.placeBonus = hasWords && place.bound(row, state) > 0 ? place.of(row, state) : 0;
    parts.place = place.explain(parts.placeBonus);
    parts.bonusTermCount = term.explain(row, parts.bonusTerms);
    return term.of(row) + parts.placeBonus;
  }

  private explainWord(part: WordPart, number: u32, row: u32): void {
    const word = this.program.wordAt(number);
    part.alternative = NO_ALTERNATIVE;
    part.partCount = 0;
    for (let i: u32 = 0; i < word.alternativeCount; i++) {
      const alternative = alternativeAt(word, i);
      const score = this.scoreOf(alternative, row);
      if (score < 0) continue;
      const first = part.alternative == NO_ALTERNATIVE;
      part.typos = first ? alternative.typos : min(part.typos, alternative.typos);
      part.exact = (first ? 0 : part.exact) | alternative.exact;
      if (!first && score <= part.score) continue;
      part.score = score;
      part.alternative = i;
    }
    if (part.alternative != NO_ALTERNATIVE) this.findParts(part, alternativeAt(word, part.alternative), row);
  }

  /** Moves the cursor to the row. Returns false if the cursor's list does not contain the row. */
  private standsOn(cursor: Cursor, row: u32): bool {
    cursorUseBuffer(cursor, this.buffer);
    cursorRestart(cursor);
    return cursorSeek(cursor, row) == row;
  }

  /** An alternative's score in the row, or -1 if the row does not have the alternative. */
  private scoreOf(alternative: Alternative, row: u32): f64 {
    const program = this.program;
    let sum: f64 = 0;
    let found = false;
    for (let i: u32 = 0; i < alternative.listCount; i++) {
      const cursor = listAt(alternative.lists, i);
      if (!this.standsOn(cursor, row)) continue;
      const field = findField(this.segment, program.slots.at(cursor.slotIndex));
      const norms: usize = field == 0 ? 0 : Field.norms(this.segment, field);
      if (norms == 0) {
        fail(STATUS_DAMAGED);
        return -1;
      }
      const norm = <usize>Mem.u8At(norms + row);
      sum += <f64>cursor.tf() * Mem.f64At(program.slotOccurrences(cursor.slotIndex) + (norm << 3));
      found = true;
    }
    return found ? (alternative.boost * sum) / (sum + this.saturation) : -1;
  }

  /** Computes the same value as WordScores.findSaturations. */
  private saturationOf(row: u32): f64 {
    const program = this.program;
    let length: f64 = 0;
    for (let i: u32 = 0; i < program.slotCount; i++) {
      const field = findField(this.segment, program.slots.at(i));
      if (field == 0) continue;
      const norm = <usize>Mem.u8At(Field.norms(this.segment, field) + row);
      length += Mem.f64At(program.slotLengths(i) + (norm << 3));
    }
    return program.shortest + program.perToken * min(length, program.longest);
  }

  private findParts(word: WordPart, alternative: Alternative, row: u32): void {
    word.parts = scratch(<usize>alternative.listCount * PART_BYTES);
    for (let i: u32 = 0; i < alternative.listCount; i++) {
      const cursor = listAt(alternative.lists, i);
      if (!this.standsOn(cursor, row)) continue;
      const part = changetype<Part>(word.parts + <usize>word.partCount * PART_BYTES);
      word.partCount++;
      part.slot = this.program.slots.at(cursor.slotIndex);
      part.tf = cursor.tf();
      if (alternative.sequence != 0) {
        joinTerms(part, alternative);
      } else {
        part.term = Seg.termAt(this.segment, cursor.term);
        part.termBytes = Seg.termLength(this.segment, cursor.term);
      }
    }
  }

  writeRow(result: Result, at: usize): void {
    result.putU8(at == 0 ? 0 : 1);
    if (at == 0) return;
    const row = changetype<RowParts>(at);
    result.putU8(row.flags);
    result.putF64(row.textMatch);
    for (let i: u32 = 0; i < this.program.wordCount; i++) writeWord(result, wordPartAt(row, i));
    result.putF64(row.closeness);
    result.putF64(row.points);
    result.putU16(row.bonusTermCount);
    for (let i: usize = 0; i < <usize>row.bonusTermCount; i++)
      result.putU16(Mem.u32At(row.bonusTerms + (i << 2)));
    result.putU8(row.place);
    result.putF64(row.placeBonus);
    result.putF64(row.boosts);
    result.putU64(row.rowClass);
    result.putU64(row.key);
  }
}
