// Decodes the dictionary's answer to an expand program. Decoding needs the program, because the result does
// not repeat the words or what was requested for each.
import { PREFIX_TERMS_LISTED } from "../../assembly/layout.js";
import { ByteReader } from "../bytes.js";
import type { ExpandProgram } from "./expand-program.js";

/** Statistics on one field, over live rows only. */
export interface SlotStatistics {
  /** Sum of the rows' field lengths in tokens, as decoded from their norms. */
  readonly totalLength: number;
  /** Number of documents with at least one token in the field. */
  readonly documents: number;
}

/** Terms that start with a word, excluding the word itself. */
export interface PrefixExpansion {
  /** Number of distinct terms. Counting stops at PREFIX_TERMS_LISTED + 1, which means "more than listed". */
  readonly termCount: number;
  /** Document frequencies per slot, summed over all terms with the prefix. */
  readonly frequencies: readonly number[];
  /** The terms in byte order, or null if there are more than PREFIX_TERMS_LISTED. */
  readonly terms: readonly string[] | null;
}

/** A term within `maxTypos` edits of a word (optimal string alignment distance, in code points). */
export interface TypoExpansion {
  readonly term: string;
  /** From 1 to `maxTypos`. */
  readonly distance: number;
  /** True if only a prefix of the term is within the distance. */
  readonly isPrefix: boolean;
  /** Number of live documents with the term, per slot. */
  readonly frequencies: readonly number[];
}

/** A term that contains a word. */
export interface InfixExpansion {
  readonly term: string;
  /** Number of live documents with the term, per slot. */
  readonly frequencies: readonly number[];
}

/** The dictionary's entries for a word. A member is null if the program did not request it. */
export interface WordExpansion {
  readonly exact: readonly number[] | null;
  readonly prefix: PrefixExpansion | null;
  readonly typos: readonly TypoExpansion[] | null;
  /** The INFIX_TERMS_LISTED shortest terms, ordered by length in bytes, then by bytes. */
  readonly infixes: readonly InfixExpansion[] | null;
}

/** Near terms of a suspect. */
export interface SuspectExpansion {
  /** Maximum number of typos looked up; 0 if the shard saw no need for near terms. */
  readonly maxTypos: number;
  readonly typos: readonly TypoExpansion[];
}

export interface ExpandResult {
  readonly liveRows: number;
  /** In the order of the program's slots. */
  readonly slots: readonly SlotStatistics[];
  /** In the order of the program's words. */
  readonly words: readonly WordExpansion[];
  /** In the order of the program's suspects. */
  readonly suspects: readonly SuspectExpansion[];
}

/** Throws a RangeError if the bytes are not an answer to `program`. */
export function decodeExpandResult(bytes: Uint8Array, program: ExpandProgram): ExpandResult {
  const reader = new ByteReader(bytes);
  const liveRows = reader.f64();
  const slots = program.slots.map(() => ({ totalLength: reader.f64(), documents: reader.f64() }));
  const words = program.words.map((word) => ({
    exact: word.exact ? program.slots.map(() => reader.u32()) : null,
    prefix: word.prefix ? decodePrefix(reader, program.slots.length) : null,
    typos: word.maxTypos > 0 ? decodeTypos(reader, program.slots.length) : null,
    infixes: word.infix === undefined ? null : decodeInfixes(reader, program.slots.length),
  }));
  const suspects = (program.suspects ?? []).map(() => {
    const maxTypos = reader.u8();
    return { maxTypos, typos: maxTypos > 0 ? decodeTypos(reader, program.slots.length) : [] };
  });
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after the expand result`);
  return { liveRows, slots, words, suspects };
}

function decodePrefix(reader: ByteReader, slotCount: number): PrefixExpansion {
  const termCount = reader.u32();
  const frequencies = Array.from({ length: slotCount }, () => reader.f64());
  if (termCount > PREFIX_TERMS_LISTED) return { termCount, frequencies, terms: null };
  return { termCount, frequencies, terms: Array.from({ length: termCount }, () => reader.string16()) };
}

function decodeTypos(reader: ByteReader, slotCount: number): TypoExpansion[] {
  const typos: TypoExpansion[] = [];
  for (let left = reader.u32(); left > 0; left--) {
    const distance = reader.u8();
    const isPrefix = reader.u8() === 1;
    const term = reader.string16();
    const frequencies: number[] = [];
    for (let slot = 0; slot < slotCount; slot++) frequencies.push(reader.u32());
    typos.push({ term, distance, isPrefix, frequencies });
  }
  return typos;
}

function decodeInfixes(reader: ByteReader, slotCount: number): InfixExpansion[] {
  return Array.from({ length: reader.u32() }, () => ({
    term: reader.string16(),
    frequencies: Array.from({ length: slotCount }, () => reader.u32()),
  }));
}
