// The request "in how many documents do these words occur together": plain objects in, program bytes out.
// docs/FORMATS.md draws the bytes. Knows nothing about the origin of the words.
import { COMPANY_WORDS_MAX, PROGRAM_COMPANY, PROGRAM_VERSION } from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";

/**
 * A word, as whole dictionary terms: a document has the word if it has any of them in any of the slots.
 * Marker terms are ordinary terms here. No document has a word without terms.
 */
export type CompanyWord = readonly string[];

/** Asks for the number of documents in which words occur together. */
export interface CompanyProgram {
  /** Queried fields, each slot once. */
  readonly slots: readonly number[];
  /** The context, at most COMPANY_WORDS_MAX words. */
  readonly words: readonly CompanyWord[];
  /** Each is counted with each of the words; at most COMPANY_WORDS_MAX. */
  readonly candidates: readonly CompanyWord[];
}

/** Throws a RangeError if a count or a term does not fit the program. */
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
