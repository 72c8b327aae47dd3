// Reads the terms in a program: the addresses of their bytes, and whether each is a whole term or a prefix.
import { scratch } from "../memory/arena";
import { ProgramReader } from "./program";

@unmanaged
class Term {
  at: usize;
  length: u32;
  prefix: u32; // TERM_*
}

export const TERM_BYTES: usize = offsetof<Term>();
export const TERM_LEAST: usize = 2; // minimum size in bytes of a term in a program

export function termAt(terms: usize, i: u32): Term {
  return changetype<Term>(terms + <usize>i * TERM_BYTES);
}

export function readTermInto(reader: ProgramReader, term: Term, prefix: u32): void {
  term.at = reader.term();
  term.length = reader.length;
  term.prefix = prefix;
}

/**
 * Reads a count and that many whole terms into a table in scratch memory. Sets `reader.termsRead` to the
 * count.
 */
export function readTerms(reader: ProgramReader): usize {
  const count = reader.countWithin(reader.u16(), TERM_LEAST);
  reader.termsRead = count;
  const terms = scratch(<usize>count * TERM_BYTES);
  for (let i: u32 = 0; i < count; i++) readTermInto(reader, termAt(terms, i), 0);
  return terms;
}
