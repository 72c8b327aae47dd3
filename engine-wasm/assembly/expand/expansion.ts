// The state of one expand program on one snapshot while the kernel runs. All of it is in the `Expansion`, a
// struct in scratch memory. Nothing survives the kernel call, and no module keeps any state.
import {
  PROGRAM_EXPAND,
  WORD_EXACT,
  WORD_INFIX,
  WORD_INSIDE,
  WORD_PREFIX,
  WORD_TYPO_PREFIX,
} from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { ProgramReader, programBad } from "../program/program";
import { Slots } from "../program/slots";
import { failed } from "../status";
import { TermCounts } from "./term-counts";
import { TermList } from "./term-list";

const TYPOS_MAX: u32 = 4;
const WORD_FLAGS: u32 = WORD_EXACT | WORD_PREFIX | WORD_TYPO_PREFIX | WORD_INFIX | WORD_INSIDE;
const WORD_LEAST: usize = 4; // minimum size in bytes of a word in a program
const SUSPECT_LEAST: usize = 11;

/** A word in the program and its lookup results. */
@unmanaged
export class AskedWord {
  flags: u32;
  typos: u32;
  term: usize;
  length: u32;
  // Lookup results.
  exact: usize; // u32 by slot: number of documents with the exact term
  prefixSums: usize; // f64 by slot: sum of the document counts of all terms with the prefix
  prefixTerms: TermList;
  typoTerms: TermList;
  infixTerms: TermList; // sorted by length
}

/**
 * A word whose similar terms are looked up only if few documents in the snapshot contain certain other words
 * in the program (its witnesses).
 */
@unmanaged
export class Suspect extends AskedWord {
  few: u32;
  witnesses: usize; // u16[]: indices of the witnesses among the program's words
  witnessCount: u32;

  @inline witness(index: u32): u32 {
    return Mem.u16At(this.witnesses + ((<usize>index) << 1));
  }
}

@unmanaged
export class Expansion {
  snapshot: usize;
  slots: Slots;
  words: usize;
  wordCount: u32;
  suspects: usize;
  suspectCount: u32;
  counts: TermCounts;

  @inline word(index: u32): AskedWord {
    return changetype<AskedWord>(this.words + <usize>index * offsetof<AskedWord>());
  }

  @inline suspect(index: u32): Suspect {
    return changetype<Suspect>(this.suspects + <usize>index * offsetof<Suspect>());
  }
}

/**
 * Reads an expand program and creates everything needed to answer it. The result may be used only if
 * `failed()` is false.
 */
export function beginExpansion(snapshot: usize, program: usize, bytes: usize): Expansion {
  const expansion = changetype<Expansion>(scratchZeroed(offsetof<Expansion>()));
  const reader = ProgramReader.open(program, bytes, PROGRAM_EXPAND);
  expansion.snapshot = snapshot;
  expansion.slots = Slots.read(reader);
  expansion.wordCount = reader.countWithin(reader.u16(), WORD_LEAST);
  expansion.words = scratch(<usize>expansion.wordCount * offsetof<AskedWord>());
  for (let i: u32 = 0; i < expansion.wordCount; i++) readWord(reader, expansion.word(i));
  expansion.suspectCount = reader.countWithin(reader.u16(), SUSPECT_LEAST);
  expansion.suspects = scratch(<usize>expansion.suspectCount * offsetof<Suspect>());
  for (let i: u32 = 0; i < expansion.suspectCount; i++)
    readSuspect(reader, expansion.suspect(i), expansion.wordCount);
  reader.mustEnd();
  if (!failed()) expansion.counts = TermCounts.make(expansion.slots);
  return expansion;
}

function readWord(reader: ProgramReader, word: AskedWord): void {
  word.flags = reader.u8();
  word.typos = reader.u8();
  word.term = reader.term();
  word.length = reader.length;
  if (word.typos > TYPOS_MAX || word.flags > WORD_FLAGS) programBad();
}

function readSuspect(reader: ProgramReader, suspect: Suspect, wordCount: u32): void {
  readWord(reader, suspect);
  suspect.few = reader.u32();
  suspect.witnessCount = reader.countWithin(reader.u16(), 2);
  suspect.witnesses = reader.bytes((<usize>suspect.witnessCount) << 1);
  if (suspect.typos == 0 || failed()) programBad();
  else for (let i: u32 = 0; i < suspect.witnessCount; i++) if (suspect.witness(i) >= wordCount) programBad();
}
