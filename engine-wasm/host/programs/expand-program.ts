// Encodes an expand program, which looks up words in the dictionary. docs/FORMATS.md shows the layout. Knows
// nothing about where the words come from.
import {
  PROGRAM_EXPAND,
  PROGRAM_VERSION,
  WORD_EXACT,
  WORD_INFIX,
  WORD_INSIDE,
  WORD_PREFIX,
  WORD_TYPO_PREFIX,
} from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";

/** Largest edit distance at which the engine can look up near terms. */
const TYPOS_MAX = 4;

/** One analysed word and what to look up for it. */
export interface ExpandWord {
  /** As returned by the analyser: folded and never empty. */
  readonly term: string;
  /** Look up the term's own document frequencies. */
  readonly exact: boolean;
  /** Look up terms that start with the word. */
  readonly prefix: boolean;
  /** If `maxTypos` > 0: true to also accept a term if only one of its prefixes is within that distance. */
  readonly typoPrefix: boolean;
  /** Maximum edit distance of near terms to look up, from 0 (none) to TYPOS_MAX. */
  readonly maxTypos: number;
  /**
   * Look up longer terms that contain the word: all of them, or only those that do not start with it.
   * Default: none.
   */
  readonly infix?: "anywhere" | "inside";
}

/**
 * A word that may be misspelt, in which case its near terms are needed. A shard looks them up right away if
 * its own documents suggest that they are needed. The coordinator, which sees all shards' answers, makes the
 * final decision.
 */
export interface ExpandSuspect extends Pick<ExpandWord, "term" | "typoPrefix"> {
  /**
   * From 1 to TYPOS_MAX. A shard looks up near terms if none of the words in `witnesses` occurs in more than
   * `few` documents in any single field.
   */
  readonly maxTypos: number;
  readonly few: number;
  /** Indexes into the program's words. */
  readonly witnesses: readonly number[];
}

export interface ExpandProgram {
  /** Slots of the queried fields, without duplicates. Frequencies are reported per slot in this order. */
  readonly slots: readonly number[];
  readonly words: readonly ExpandWord[];
  /** Default: none. */
  readonly suspects?: readonly ExpandSuspect[];
}

/** Throws a RangeError if a count or a term is too large for the program. */
export function encodeExpand(program: ExpandProgram): Uint8Array {
  const out = new ByteWriter();
  out.u16(PROGRAM_VERSION);
  out.u8(PROGRAM_EXPAND);
  out.count16(program.slots.length, "slots");
  for (const slot of program.slots) out.u16(slot);
  out.count16(program.words.length, "words");
  for (const word of program.words) putWord(out, word);
  const suspects = program.suspects ?? [];
  out.count16(suspects.length, "suspects");
  for (const { few, witnesses, ...word } of suspects) {
    putWord(out, { ...word, exact: false, prefix: false });
    out.u32(few);
    out.count16(witnesses.length, "witnesses");
    for (const witness of witnesses) out.u16(witness);
  }
  return out.finish();
}

function putWord(out: ByteWriter, word: ExpandWord): void {
  if (word.maxTypos < 0 || word.maxTypos > TYPOS_MAX)
    throw new RangeError(`maxTypos ${word.maxTypos}: 0 to ${TYPOS_MAX}`);
  out.u8(
    (word.exact ? WORD_EXACT : 0) |
      (word.prefix ? WORD_PREFIX : 0) |
      (word.typoPrefix ? WORD_TYPO_PREFIX : 0) |
      (word.infix === "anywhere" ? WORD_INFIX : 0) |
      (word.infix === "inside" ? WORD_INSIDE : 0),
  );
  out.u8(word.maxTypos);
  out.string16(word.term);
}
