// Reads a program for the `company` kernel, which counts co-occurring words. The program lists words and
// candidates, each with its terms. docs/FORMATS.md shows the byte layout.
import { COMPANY_WORDS_MAX, PROGRAM_COMPANY } from "../layout";
import { scratchZeroed } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { ProgramReader, programBad } from "./program";
import { readTerms } from "./program-terms";
import { Slots } from "./slots";

const WORD_LEAST: usize = 2; // minimum size in bytes of a word in a program

/**
 * A word or candidate in the program. A row contains the word if it has any of the word's terms in any of the
 * program's slots.
 */
@unmanaged
export class CompanyWord {
  terms: usize;
  termCount: u32;
  rows: usize; // bitset: live rows in the current segment that contain the word
}

@unmanaged
export class CompanyProgram {
  slots: Slots;
  words: usize;
  wordCount: u32;
  candidates: usize;
  candidateCount: u32;

  /** Reads a company program. The result may be used only if `failed()` is false. */
  static read(at: usize, bytes: usize): CompanyProgram {
    const program = changetype<CompanyProgram>(scratchZeroed(offsetof<CompanyProgram>()));
    const reader = ProgramReader.open(at, bytes, PROGRAM_COMPANY);
    program.slots = Slots.read(reader);
    program.wordCount = readCount(reader);
    program.words = readWords(reader, program.wordCount);
    program.candidateCount = readCount(reader);
    program.candidates = readWords(reader, program.candidateCount);
    reader.mustEnd();
    return program;
  }

  word(i: u32): CompanyWord {
    if (CHECKED) assert(i < this.wordCount, "a word is one of its program's");
    return wordOf(this.words, i);
  }

  candidate(i: u32): CompanyWord {
    if (CHECKED) assert(i < this.candidateCount, "a candidate is one of its program's");
    return wordOf(this.candidates, i);
  }
}

function wordOf(table: usize, i: u32): CompanyWord {
  return changetype<CompanyWord>(table + <usize>i * offsetof<CompanyWord>());
}

function readCount(reader: ProgramReader): u32 {
  const count = reader.countWithin(reader.u16(), WORD_LEAST);
  if (count <= <u32>COMPANY_WORDS_MAX) return count;
  programBad();
  return 0;
}

function readWords(reader: ProgramReader, count: u32): usize {
  const table = scratchZeroed(<usize>count * offsetof<CompanyWord>());
  for (let i: u32 = 0; i < count; i++) {
    const word = wordOf(table, i);
    word.terms = readTerms(reader);
    word.termCount = reader.termsRead;
  }
  return table;
}
