// Decodes the engine's explanation of why rows rank where they do. Needs the request, because the answer does
// not repeat its sequence numbers, words and bonuses.
import {
  PLACE_STARTS,
  PLACE_WHOLE,
  ROW_HAS_WORD,
  ROW_MATCHED,
  ROW_NEIGHBOUR,
  ROW_PINNED,
} from "../../assembly/layout.js";
import { ByteReader } from "../bytes.js";
import { ascendingSeqs } from "./explain-program.js";
import { orderedTermBonuses, type SearchProgram, type TermBonus } from "./search-program.js";

/** A term's occurrences in one field, which contributed to an alternative's score. */
export interface ExplainedPart {
  readonly slot: number;
  /** The dictionary term. A sequence's terms are separated by spaces. */
  readonly term: string;
  readonly frequency: number;
}

export interface ExplainedWord {
  /**
   * Index of the alternative with the best score, or -1 if the row lacks the word; the other members are then
   * empty.
   */
  readonly alternative: number;
  readonly score: number;
  /** The fewest typos of any alternative found in the row. The text match uses this number. */
  readonly typos: number;
  /** True if an alternative found in the row is the word as written. */
  readonly exact: boolean;
  readonly parts: readonly ExplainedPart[];
}

export interface ExplainedRow {
  readonly seq: number;
  readonly matched: boolean;
  readonly neighbour: boolean;
  readonly hasWord: boolean;
  readonly pinned: boolean;
  /** Integer, 0 <= textMatch < 2^53. */
  readonly textMatch: number;
  /**
   * In the order of the program's words. They do not affect the rank of a row that comes first as a neighbour
   * (Neighbours, "first").
   */
  readonly words: readonly ExplainedWord[];
  /** Closeness before multiplication by the program's `proximityWeight`. */
  readonly closeness: number;
  /** The row's points as a neighbour; 0 if they do not count. */
  readonly points: number;
  /** The term bonuses that counted, at most one per group. */
  readonly termBonuses: readonly TermBonus[];
  /** "starts" if a field begins with the words, "whole" if it consists of them, null if neither. */
  readonly place: "starts" | "whole" | null;
  readonly placeBonus: number;
  /** Sum of the weights of the boost rules whose filters the row passes. */
  readonly boosts: number;
  /** Values of the sort keys "class" and "relevance". */
  readonly rowClass: bigint;
  readonly relevance: bigint;
}

/**
 * Returns explanations in the order of `seqs`; null for a row that is not in the result. Throws a RangeError
 * if the bytes are not an answer to this request.
 */
export function decodeExplainResult(
  bytes: Uint8Array,
  program: SearchProgram,
  seqs: readonly number[],
): (ExplainedRow | null)[] {
  const reader = new ByteReader(bytes);
  const bonuses = orderedTermBonuses(program.bonuses.terms);
  const rows = new Map(ascendingSeqs(seqs).map((seq) => [seq, decodeRow(reader, seq, program, bonuses)]));
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after the explanation`);
  return seqs.map((seq) => rows.get(seq) ?? null);
}

function decodeRow(
  reader: ByteReader,
  seq: number,
  program: SearchProgram,
  bonuses: readonly TermBonus[],
): ExplainedRow | null {
  if (reader.u8() === 0) return null;
  const flags = reader.u8();
  const textMatch = reader.f64();
  const words = program.words.map(() => decodeWord(reader));
  const closeness = reader.f64();
  const points = reader.f64();
  const termBonuses = Array.from({ length: reader.u16() }, () => bonuses[reader.u16()] as TermBonus);
  const place = reader.u8();
  return {
    seq,
    matched: (flags & ROW_MATCHED) !== 0,
    neighbour: (flags & ROW_NEIGHBOUR) !== 0,
    hasWord: (flags & ROW_HAS_WORD) !== 0,
    pinned: (flags & ROW_PINNED) !== 0,
    textMatch,
    words,
    closeness,
    points,
    termBonuses,
    place: place === PLACE_WHOLE ? "whole" : place === PLACE_STARTS ? "starts" : null,
    placeBonus: reader.f64(),
    boosts: reader.f64(),
    rowClass: reader.u64(),
    relevance: reader.u64(),
  };
}

function decodeWord(reader: ByteReader): ExplainedWord {
  const alternative = reader.u32() | 0;
  if (alternative < 0) return { alternative, score: 0, typos: 0, exact: false, parts: [] };
  const score = reader.f64();
  const typos = reader.u8();
  const exact = reader.u8() === 1;
  const parts = Array.from({ length: reader.u32() }, () => {
    const slot = reader.u16();
    const frequency = reader.u32();
    return { slot, term: reader.string32(), frequency };
  });
  return { alternative, score, typos, exact, parts };
}
