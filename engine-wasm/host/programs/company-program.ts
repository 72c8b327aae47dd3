// The request "in how many documents do these words stand together": plain objects in, program bytes out. The picture of the
// bytes is in docs/FORMATS.md. Knows nothing about where the words come from.
import { COMPANY_WORDS_MAX, PROGRAM_COMPANY, PROGRAM_VERSION } from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";

/**
 * A word: the terms of the dictionary, whole ones, of which a document has any in any of the slots. Marker terms are terms
 * like the others. No document has a word without terms.
 */
export type CompanyWord = readonly string[];

/** Words of which it is asked in how many documents they stand together. */
export interface CompanyProgram {
  /** Queried fields, each slot once. */
  readonly slots: readonly number[];
  /** The context, at most COMPANY_WORDS_MAX words. */
  readonly words: readonly CompanyWord[];
  /** Each is counted with each of the words; at most COMPANY_WORDS_MAX. */
  readonly candidates: readonly CompanyWord[];
}

/** Throws a RangeError when a count or a term does not fit the program. */
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
