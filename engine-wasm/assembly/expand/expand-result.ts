// Writes what an expansion found. The bytes are drawn in docs/FORMATS.md.
import { PREFIX_TERMS_LISTED, WORD_EXACT, WORD_INFIX, WORD_INSIDE, WORD_PREFIX } from "../layout";
import { bitsCount } from "../memory/bitset";
import {
  putResultBytes,
  putResultF64,
  putResultU8,
  putResultU16,
  putResultU32,
  resultClose,
  resultOpen,
} from "../memory/result";
import { Seg, Snap } from "../segment/segment";
import { lengthDocuments, lengthSum, sumLengths } from "../segment/statistics";
import { AskedWord, Expansion } from "./expansion";
import { TermEntry, TermList } from "./term-list";

/** Returns the address of the result. */
export function writeExpansion(expansion: Expansion): i32 {
  const snapshot = expansion.snapshot;
  const slots = expansion.slots;
  resultOpen();
  writeRows(snapshot);
  for (let slot: u32 = 0; slot < slots.count; slot++) writeLengths(snapshot, slots.at(slot));
  for (let i: u32 = 0; i < expansion.wordCount; i++) writeWord(expansion.word(i), slots.count);
  for (let i: u32 = 0; i < expansion.suspectCount; i++) {
    const suspect = expansion.suspect(i);
    putResultU8(suspect.typos);
    if (suspect.typos > 0) writeTypos(suspect.typoTerms);
  }
  return <i32>resultClose();
}

function writeRows(snapshot: usize): void {
  const segments = Snap.count(snapshot);
  let liveRows: f64 = 0;
  for (let i: u32 = 0; i < segments; i++) {
    const live = Snap.live(snapshot, i);
    const rows = Seg.rows(Snap.segment(snapshot, i));
    liveRows += <f64>(live == 0 ? rows : bitsCount(live, rows));
  }
  putResultF64(liveRows);
}

function writeLengths(snapshot: usize, slot: u32): void {
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

function writeWord(word: AskedWord, slotCount: u32): void {
  const slotBytes = (<usize>slotCount) << 2;
  if ((word.flags & WORD_EXACT) != 0) putResultBytes(word.exact, slotBytes);
  if ((word.flags & WORD_PREFIX) != 0) {
    const terms = word.prefixTerms;
    putResultU32(terms.count);
    putResultBytes(word.prefixSums, slotBytes << 1);
    if (terms.count <= <u32>PREFIX_TERMS_LISTED) {
      for (let i: u32 = 0; i < terms.count; i++) writeTerm(terms.entry(i));
    }
  }
  if (word.typos > 0) writeTypos(word.typoTerms);
  if ((word.flags & (WORD_INFIX | WORD_INSIDE)) != 0) writeInfixes(word.infixTerms);
}

function writeTypos(terms: TermList): void {
  putResultU32(terms.count);
  for (let i: u32 = 0; i < terms.count; i++) {
    const entry = terms.entry(i);
    putResultU8(entry.distance);
    putResultU8(entry.isPrefix);
    writeTerm(entry);
    putResultBytes(entry.frequencies(), (<usize>terms.slotCount) << 2);
  }
}

function writeInfixes(terms: TermList): void {
  putResultU32(terms.count);
  for (let i: u32 = 0; i < terms.count; i++) {
    writeTerm(terms.entry(i));
    putResultBytes(terms.entry(i).frequencies(), (<usize>terms.slotCount) << 2);
  }
}

function writeTerm(entry: TermEntry): void {
  putResultU16(entry.length);
  putResultBytes(entry.at, entry.length);
}
