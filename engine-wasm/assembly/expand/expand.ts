// The expand kernel: what the dictionaries of a snapshot hold for the words of a program, with document
// frequencies over live rows. The bytes of program and result are drawn in docs/FORMATS.md.

import { branchesOf } from "../columns/summaries";
import { checkDeadline } from "../env";
import { PREFIX_TERMS_LISTED, PROGRAM_EXPAND, WORD_EXACT, WORD_PREFIX, WORD_TYPO_PREFIX } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { bitsCount } from "../memory/bitset";
import { Mem } from "../memory/mem";
import {
  putResultBytes,
  putResultF64,
  putResultU8,
  putResultU16,
  putResultU32,
  resultClose,
  resultOpen,
} from "../memory/result";
import { ProgramReader, programBad } from "../program/program";
import { Slots } from "../program/slots";
import { termIs, termLowerBound, termPrefixEnd } from "../segment/dictionary";
import { Seg, Snap } from "../segment/segment";
import { lengthDocuments, lengthSum, sumLengths } from "../segment/statistics";
import { failed, status, statusReset } from "../status";
import {
  addFrequencies,
  entries,
  entriesBegin,
  entriesMerge,
  entriesSetUp,
  entryAdd,
  entryAt,
  entryCount,
  TermEntry,
} from "./expand-terms";
import { typoDistance, typoIsPrefix, typoNext, typoStart, typoTerm, typoWord } from "./levenshtein";

const TYPOS_MAX: u32 = 4;
const TERMS_A_CHECK: u32 = 255;

@unmanaged
class Word {
  flags: u32;
  typos: u32;
  term: usize;
  length: u32;
  exact: usize; // u32 by slot
  prefixSums: usize; // f64 by slot
  prefixTerms: usize;
  prefixCount: u32;
  typoTerms: usize;
  typoCount: u32;
}

/** A word of which near terms are looked up, by what the snapshot holds for other words of the program. */
@unmanaged
class Suspect extends Word {
  few: u32;
  rare: u32;
  witnesses: usize; // u16 word of the program ...
  witnessCount: u32;
}

const WORD_BYTES: usize = offsetof<Word>();
const WORD_LEAST: usize = 4; // fewest bytes of a word in a program
const SUSPECT_BYTES: usize = offsetof<Suspect>();
const SUSPECT_LEAST: usize = 15;

let snapshot: usize = 0;
let slotCount: u32 = 0;
let slots: Slots = changetype<Slots>(0);
let frequencies: usize = 0; // u32 by slot, of the term at hand

/** Runs an expand program on a snapshot. Returns the address of the result, or -STATUS_*. */
export function expand(at: usize, program: usize, bytes: usize): i32 {
  statusReset();
  snapshot = at;
  const reader = ProgramReader.open(program, bytes, PROGRAM_EXPAND);
  slotCount = reader.countWithin(reader.u16(), 2);
  slots = Slots.make(slotCount);
  for (let i: u32 = 0; i < slotCount; i++) slots.put(i, reader.u16());
  slots.finish();
  const wordCount = reader.countWithin(reader.u16(), WORD_LEAST);
  if (failed()) return -status();
  const words = scratch(<usize>wordCount * WORD_BYTES);
  for (let i: u32 = 0; i < wordCount; i++) readWord(reader, wordAt(words, i));
  const suspectCount = reader.countWithin(reader.u16(), SUSPECT_LEAST);
  if (failed()) return -status();
  const suspects = scratch(<usize>suspectCount * SUSPECT_BYTES);
  for (let i: u32 = 0; i < suspectCount; i++) readSuspect(reader, suspectAt(suspects, i), wordCount);
  reader.mustEnd();
  if (failed()) return -status();
  entriesSetUp(slots);
  frequencies = scratch((<usize>slotCount) << 2);
  for (let i: u32 = 0; i < wordCount && !failed(); i++) lookUp(wordAt(words, i));
  for (let i: u32 = 0; i < suspectCount && !failed(); i++) findSuspected(suspectAt(suspects, i), words);
  if (failed()) return -status();
  return write(words, wordCount, suspects, suspectCount);
}

function wordAt(words: usize, index: u32): Word {
  return changetype<Word>(words + <usize>index * WORD_BYTES);
}

function suspectAt(suspects: usize, index: u32): Suspect {
  return changetype<Suspect>(suspects + <usize>index * SUSPECT_BYTES);
}

function readWord(reader: ProgramReader, word: Word): void {
  word.flags = reader.u8();
  word.typos = reader.u8();
  word.term = reader.term();
  word.length = reader.length;
  if (word.typos > TYPOS_MAX) programBad();
}

function readSuspect(reader: ProgramReader, suspect: Suspect, wordCount: u32): void {
  readWord(reader, suspect);
  suspect.few = reader.u32();
  suspect.rare = reader.u32();
  suspect.witnessCount = reader.countWithin(reader.u16(), 2);
  suspect.witnesses = reader.bytes((<usize>suspect.witnessCount) << 1);
  if (suspect.typos == 0 || failed()) programBad();
  else for (let i: u32 = 0; i < suspect.witnessCount; i++) if (witness(suspect, i) >= wordCount) programBad();
}

function witness(suspect: Suspect, index: u32): u32 {
  return Mem.u16At(suspect.witnesses + ((<usize>index) << 1));
}

function lookUp(word: Word): void {
  if ((word.flags & WORD_EXACT) != 0) findExact(word);
  if ((word.flags & WORD_PREFIX) != 0) findPrefix(word);
  if (word.typos > 0) findTypos(word);
}

/** Sets `frequencies` to those of one term of one segment; false when no live document has it. */
function countTerm(segment: usize, term: u32, live: usize): bool {
  Mem.fill(frequencies, 0, (<usize>slotCount) << 2);
  return addFrequencies(segment, term, live, frequencies);
}

function findExact(word: Word): void {
  word.exact = scratchZeroed((<usize>slotCount) << 2);
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    const segment = Snap.segment(snapshot, i);
    const term = termLowerBound(segment, word.term, word.length);
    if (!termIs(segment, term, word.term, word.length)) continue;
    addFrequencies(segment, term, Snap.live(snapshot, i), word.exact);
  }
}

function findPrefix(word: Word): void {
  word.prefixSums = scratchZeroed((<usize>slotCount) << 3);
  word.prefixTerms = 0;
  word.prefixCount = 0;
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    gatherPrefix(word, Snap.segment(snapshot, i), Snap.live(snapshot, i));
    if (word.prefixCount > 0) entriesMerge(word.prefixTerms, word.prefixCount, entries, entryCount);
    word.prefixTerms = entries;
    word.prefixCount = min(entryCount, PREFIX_TERMS_LISTED + 1);
  }
}

/** Sums up the prefix's terms of one segment; the first ones, as many as are ever listed, become entries. */
function gatherPrefix(word: Word, segment: usize, live: usize): void {
  entriesBegin();
  const first = termLowerBound(segment, word.term, word.length);
  const end = termPrefixEnd(segment, first, word.term, word.length);
  for (let term = first; term < end; term++) {
    if ((term & TERMS_A_CHECK) == 0) checkDeadline();
    if (Seg.termLength(segment, term) == word.length || !countTerm(segment, term, live)) continue;
    for (let slot: usize = 0; slot < <usize>slotCount; slot++) {
      const sum = word.prefixSums + (slot << 3);
      Mem.putF64(sum, Mem.f64At(sum) + <f64>Mem.u32At(frequencies + (slot << 2)));
    }
    if (entryCount <= <u32>PREFIX_TERMS_LISTED) entryAdd(segment, term, 0, false, frequencies);
  }
}

function findTypos(word: Word): void {
  word.typoTerms = 0;
  word.typoCount = 0;
  typoWord(word.term, word.length, word.typos, (word.flags & WORD_TYPO_PREFIX) != 0);
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    const segment = Snap.segment(snapshot, i);
    const live = Snap.live(snapshot, i);
    entriesBegin();
    typoStart(segment, branchesOf(Snap.summary(snapshot, i)));
    checkDeadline();
    while (typoNext()) {
      if ((entryCount & TERMS_A_CHECK) == 0) checkDeadline();
      if (countTerm(segment, typoTerm, live))
        entryAdd(segment, typoTerm, typoDistance, typoIsPrefix, frequencies);
    }
    if (word.typoCount > 0) entriesMerge(word.typoTerms, word.typoCount, entries, entryCount);
    word.typoTerms = entries;
    word.typoCount = entryCount;
  }
}

/** Looks near terms up as far as the counts of its witnesses give reason; `typos` says afterwards how far that is. */
function findSuspected(suspect: Suspect, words: usize): void {
  let most: f64 = 0;
  for (let i: u32 = 0; i < suspect.witnessCount; i++)
    most = max(most, documentsOf(wordAt(words, witness(suspect, i))));
  if (most > <f64>suspect.few) suspect.typos = most > <f64>suspect.rare ? 0 : 1;
  if (suspect.typos > 0) findTypos(suspect);
}

/** Documents of the slot that has most with the word, or most with terms that start with it. */
function documentsOf(word: Word): f64 {
  let most: f64 = 0;
  for (let slot: usize = 0; slot < <usize>slotCount; slot++) {
    if ((word.flags & WORD_EXACT) != 0) most = max(most, <f64>Mem.u32At(word.exact + (slot << 2)));
    if ((word.flags & WORD_PREFIX) != 0) most = max(most, Mem.f64At(word.prefixSums + (slot << 3)));
  }
  return most;
}

function write(words: usize, wordCount: u32, suspects: usize, suspectCount: u32): i32 {
  resultOpen();
  const segments = Snap.count(snapshot);
  let liveRows: f64 = 0;
  for (let i: u32 = 0; i < segments; i++) {
    const live = Snap.live(snapshot, i);
    const rows = Seg.rows(Snap.segment(snapshot, i));
    liveRows += <f64>(live == 0 ? rows : bitsCount(live, rows));
  }
  putResultF64(liveRows);
  for (let slot: u32 = 0; slot < slotCount; slot++) writeLengths(slots.at(slot));
  for (let i: u32 = 0; i < wordCount; i++) writeWord(wordAt(words, i));
  for (let i: u32 = 0; i < suspectCount; i++) {
    const suspect = suspectAt(suspects, i);
    putResultU8(suspect.typos);
    if (suspect.typos > 0) writeTypos(suspect);
  }
  return <i32>resultClose();
}

function writeLengths(slot: u32): void {
  const segments = Snap.count(snapshot);
  let total: f64 = 0;
  let documents: f64 = 0;
  for (let i: u32 = 0; i < segments; i++) {
    sumLengths(Snap.segment(snapshot, i), Snap.live(snapshot, i), slot);
    total += lengthSum;
    documents += lengthDocuments;
  }
  putResultF64(total);
  putResultF64(documents);
}

function writeWord(word: Word): void {
  const slotBytes = (<usize>slotCount) << 2;
  if ((word.flags & WORD_EXACT) != 0) putResultBytes(word.exact, slotBytes);
  if ((word.flags & WORD_PREFIX) != 0) {
    putResultU32(word.prefixCount);
    putResultBytes(word.prefixSums, slotBytes << 1);
    if (word.prefixCount <= <u32>PREFIX_TERMS_LISTED) {
      for (let i: u32 = 0; i < word.prefixCount; i++) writeTerm(entryAt(word.prefixTerms, i));
    }
  }
  if (word.typos > 0) writeTypos(word);
}

function writeTypos(word: Word): void {
  const slotBytes = (<usize>slotCount) << 2;
  putResultU32(word.typoCount);
  for (let i: u32 = 0; i < word.typoCount; i++) {
    const entry = entryAt(word.typoTerms, i);
    putResultU8(entry.distance);
    putResultU8(entry.isPrefix);
    writeTerm(entry);
    putResultBytes(entry.frequencies(), slotBytes);
  }
}

function writeTerm(entry: TermEntry): void {
  putResultU16(entry.length);
  putResultBytes(entry.at, entry.length);
}
