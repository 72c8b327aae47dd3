// Reads the terms in a program: the addresses of their bytes, and whether each is a whole term or a prefix.
// A term remembers where it was found in the current segment, because several parts of a query ask for that.
import { scratch } from "../memory/arena";
import { termIs, termLowerBound, termPrefixEnd } from "../segment/dictionary";
import { ProgramReader } from "./program";

@unmanaged
class Term {
  at: usize;
  length: u32;
  prefix: u32; // TERM_*
  segment: usize; // the segment that was searched last; 0 = none
  /** The segment's terms that this term stands for are [first, end). Set by `findIn`. */
  first: u32;
  end: u32;

  /** Looks the term up in a segment, unless that has just been done. */
  findIn(segment: usize): void {
    if (segment == this.segment) return;
    this.segment = segment;
    this.first = termLowerBound(segment, this.at, this.length);
    if (this.prefix != 0) this.end = termPrefixEnd(segment, this.first, this.at, this.length);
    else this.end = this.first + (termIs(segment, this.first, this.at, this.length) ? 1 : 0);
  }
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
  term.segment = 0;
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
