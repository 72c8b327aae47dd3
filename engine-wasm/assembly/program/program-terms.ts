// Terms in a program: where their bytes are, whole or as prefixes.
import { scratch } from "../memory/arena";
import { countWithin, readLength, readTerm, readU16 } from "./program";

@unmanaged
class Term {
  at: usize;
  length: u32;
  prefix: u32; // TERM_*
}

export const TERM_BYTES: usize = 16;
export const TERM_LEAST: usize = 2; // fewest bytes of a term in a program

/** Number of terms that `readTerms` found. */
export let termsRead: u32 = 0;

export function termAt(terms: usize, i: u32): Term {
  return changetype<Term>(terms + <usize>i * TERM_BYTES);
}

export function readTermInto(term: Term, prefix: u32): void {
  term.at = readTerm();
  term.length = readLength();
  term.prefix = prefix;
}

/** Reads a count and that many whole terms into a table in scratch; `termsRead` is then their number. */
export function readTerms(): usize {
  termsRead = countWithin(readU16(), TERM_LEAST);
  const terms = scratch(<usize>termsRead * TERM_BYTES);
  for (let i: u32 = 0; i < termsRead; i++) readTermInto(termAt(terms, i), 0);
  return terms;
}
