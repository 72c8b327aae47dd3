// Writes an expansion's result, as shown in docs/FORMATS.md.
import { PREFIX_TERMS_LISTED, WORD_EXACT, WORD_INFIX, WORD_INSIDE, WORD_PREFIX } from "../layout";
import { Result } from "../memory/result";
import { liveRows } from "../segment/live";
import { Lengths } from "../segment/statistics";
import { AskedWord, Expansion } from "./expansion";
import { TermEntry, TermList } from "./term-list";

/** Returns the address of the result. */
export function writeExpansion(expansion: Expansion): i32 {
  const snapshot = expansion.snapshot;
  const slots = expansion.slots;
  const lengths = Lengths.make();
  const result = Result.open();
  result.putF64(liveRows(snapshot));
  for (let i: u32 = 0; i < slots.count; i++) {
    lengths.sumOf(snapshot, slots.at(i));
    result.putF64(lengths.sum);
    result.putF64(lengths.documents);
  }
  for (let i: u32 = 0; i < expansion.wordCount; i++) writeWord(result, expansion.word(i), slots.count);
  for (let i: u32 = 0; i < expansion.suspectCount; i++) {
    const suspect = expansion.suspect(i);
    result.putU8(suspect.typos);
    if (suspect.typos > 0) writeTypos(result, suspect.typoTerms);
  }
  return <i32>result.close();
}

function writeWord(result: Result, word: AskedWord, slotCount: u32): void {
  const slotBytes = (<usize>slotCount) << 2;
  if ((word.flags & WORD_EXACT) != 0) result.putBytes(word.exact, slotBytes);
  if ((word.flags & WORD_PREFIX) != 0) {
    const terms = word.prefixTerms;
    result.putU32(terms.count);
    result.putBytes(word.prefixSums, slotBytes << 1);
    if (terms.count <= <u32>PREFIX_TERMS_LISTED) {
      for (let i: u32 = 0; i < terms.count; i++) writeTerm(result, terms.entry(i));
    }
  }
  if (word.typos > 0) writeTypos(result, word.typoTerms);
  if ((word.flags & (WORD_INFIX | WORD_INSIDE)) != 0) writeInfixes(result, word.infixTerms);
}

function writeTypos(result: Result, terms: TermList): void {
  result.putU32(terms.count);
  for (let i: u32 = 0; i < terms.count; i++) {
    const entry = terms.entry(i);
    result.putU8(entry.distance);
    result.putU8(entry.isPrefix);
    writeTerm(result, entry);
    result.putBytes(entry.frequencies(), (<usize>terms.slotCount) << 2);
  }
}

function writeInfixes(result: Result, terms: TermList): void {
  result.putU32(terms.count);
  for (let i: u32 = 0; i < terms.count; i++) {
    writeTerm(result, terms.entry(i));
    result.putBytes(terms.entry(i).frequencies(), (<usize>terms.slotCount) << 2);
  }
}

function writeTerm(result: Result, entry: TermEntry): void {
  result.putU16(entry.length);
  result.putBytes(entry.at, entry.length);
}
