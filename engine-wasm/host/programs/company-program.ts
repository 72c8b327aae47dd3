// Encodes a company program, which asks in how many documents words occur together. docs/FORMATS.md shows the
// layout. Knows nothing about where the words come from.
import { COMPANY_WORDS_MAX, PROGRAM_COMPANY, PROGRAM_VERSION } from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";

/**
 * A word, given as dictionary terms: a document has the word if any of the terms occurs in any of the slots.
 * Marker terms count as ordinary terms here. A word without terms occurs in no document.
 */
export type CompanyWord = readonly string[];

/** Asks in how many documents each candidate occurs, alone and together with each context word. */
export interface CompanyProgram {
  /** Slots of the queried fields, without duplicates. */
  readonly slots: readonly number[];
  /** The context words, at most COMPANY_WORDS_MAX. */
  readonly words: readonly CompanyWord[];
  /**
   * The candidates: words whose documents are counted, alone and together with each of `words`. At most
   * COMPANY_WORDS_MAX.
   */
  readonly candidates: readonly CompanyWord[];
}

/** Throws a RangeError if a count or a term is too large for the program. */
export function encodeCompany(program: CompanyProgram): Uint8Array {
  const out = new ByteWriter();
  out.u16(PROGRAM_VERSION);
  out.u8(PROGRAM_COMPANY);
  out.count16(program.slots.length, "slots");
  for (const slot of program.slots) out.u16(slot);
  putWords(out, program.words, "words");
  putWords(out, program.candidates, "candidates");
  return out.finish();
}

function putWords(out: ByteWriter, words: readonly CompanyWord[], what: string): void {
  if (words.length > COMPANY_WORDS_MAX)
    throw new RangeError(`${words.length} ${what}: at most ${COMPANY_WORDS_MAX} fit a program`);
  out.u16(words.length);
  for (const terms of words) {
    out.count16(terms.length, "terms");
    for (const term of terms) out.string16(term);
  }
}
