// The request "match, filter, score, sort, count": plain objects in, program bytes out. The picture of the
// bytes and the scoring rule are in docs/FORMATS.md. Knows nothing about where words and filters come from.
import {
  type ALT_EXACT,
  type ALT_PREFIX,
  type ALT_SYNONYM,
  type ALT_TYPO,
  MATCH_ALL,
  MATCH_ANY,
  OP_ALL,
  OP_AND,
  OP_EQUALS,
  OP_FLOAT_RANGE,
  OP_IDS,
  OP_INT_RANGE,
  OP_NOT,
  OP_OR,
  OP_TOKENS,
  PROGRAM_SEARCH,
  PROGRAM_VERSION,
  SORT_FIELD,
  SORT_RELEVANCE,
  SORT_SEQ,
  TERM_PREFIX,
  TERM_WHOLE,
} from "../assembly/layout.js";
import { ByteWriter } from "./bytes.js";

/** Largest `k`: every matching row is returned. */
export const ALL_ROWS = 0xffffffff;

/** A queried text field. */
export interface SearchSlot {
  readonly slot: number;
  readonly weight: number;
  /** Tokens per document over the whole index; 0 when unknown. */
  readonly averageLength: number;
}

export interface SearchTerm {
  readonly term: string;
  /** Stands for every dictionary term that starts with it, itself included. */
  readonly prefix: boolean;
}

export type AlternativeKind = typeof ALT_EXACT | typeof ALT_SYNONYM | typeof ALT_PREFIX | typeof ALT_TYPO;

/** One way to match a word: any of its terms. */
export interface SearchAlternative {
  /** ALT_*. */
  readonly kind: AlternativeKind;
  readonly typos: number;
  /** Its positions count for closeness. Costly for a wide prefix. */
  readonly useForProximity: boolean;
  /** Inverse document frequency times the factor of the kind. */
  readonly boost: number;
  readonly terms: readonly SearchTerm[];
}

export interface SearchWord {
  /** Its inverse document frequency, for closeness. */
  readonly weight: number;
  readonly alternatives: readonly SearchAlternative[];
}

/** One operation of a postfix filter. Operands come first: [a, b, {op: "and"}]. */
export type FilterOp =
  | { readonly op: "all" }
  | { readonly op: "and" }
  | { readonly op: "or" }
  | { readonly op: "not" }
  /** int32, int64, bool (0 and 1) and their arrays; both ends inclusive. */
  | { readonly op: "intRange"; readonly slot: number; readonly low: bigint; readonly high: bigint }
  | {
      readonly op: "floatRange";
      readonly slot: number;
      readonly low: number;
      readonly high: number;
      readonly lowExclusive: boolean;
      readonly highExclusive: boolean;
    }
  /** The folded value is equal; for string[] that of any element. */
  | { readonly op: "equals"; readonly slot: number; readonly folded: Uint8Array }
  /** All terms occur, in this order, in one element. No term: every document with a value. */
  | { readonly op: "tokens"; readonly slot: number; readonly terms: readonly string[] }
  | { readonly op: "ids"; readonly hashes: readonly bigint[] };

/** `type` (TYPE_*) is not sent: the decoder reads the values with it. */
export type SortKey =
  | { readonly by: "relevance"; readonly descending: boolean }
  | { readonly by: "seq"; readonly descending: boolean }
  | { readonly by: "field"; readonly descending: boolean; readonly slot: number; readonly type: number };

export interface FacetRequest {
  readonly slot: number;
  /** TYPE_* of the field; not sent, the decoder reads the values with it. */
  readonly type: number;
  /** 0: every value in dictionary order; otherwise the first by (count descending, value ascending). */
  readonly limit: number;
}

export interface SearchProgram {
  /** All words, or at least one. */
  readonly mode: "all" | "any";
  /** Rows wanted, ALL_ROWS at most. */
  readonly k: number;
  readonly k1: number;
  readonly b: number;
  readonly proximityWeight: number;
  readonly slots: readonly SearchSlot[];
  /** No words: every document that passes the rest matches with text match 0. */
  readonly words: readonly SearchWord[];
  /** Each must occur in a queried slot, its terms at consecutive positions. */
  readonly phrases: readonly (readonly string[])[];
  /** Documents with any of these terms or phrases in a queried slot are removed. */
  readonly excludes: readonly (readonly string[])[];
  /** Postfix; empty: no filter. */
  readonly filter: readonly FilterOp[];
  /** Best first by these in turn; ties and no keys at all: larger seq first. */
  readonly sort: readonly SortKey[];
  readonly facets: readonly FacetRequest[];
}

/** Throws a RangeError when a count or a string does not fit the program. */
export function encodeSearch(program: SearchProgram): Uint8Array {
  const out = new ByteWriter();
  out.u16(PROGRAM_VERSION);
  out.u8(PROGRAM_SEARCH);
  out.u8(program.mode === "all" ? MATCH_ALL : MATCH_ANY);
  out.u32(Math.min(program.k, ALL_ROWS));
  out.f64(program.k1);
  out.f64(program.b);
  out.f64(program.proximityWeight);
  out.count16(program.slots.length, "slots");
  for (const { slot, weight, averageLength } of program.slots) {
    out.u16(slot);
    out.f64(weight);
    out.f64(averageLength);
  }
  out.count16(program.words.length, "words");
  for (const word of program.words) encodeWord(out, word);
  encodePhrases(out, program.phrases, "phrases");
  encodePhrases(out, program.excludes, "excludes");
  out.count16(program.filter.length, "filter operations");
  for (const operation of program.filter) encodeOperation(out, operation);
  encodeSort(out, program.sort);
  if (program.facets.length > 0xff)
    throw new RangeError(`${program.facets.length} facets: at most 255 fit a program`);
  out.u8(program.facets.length);
  for (const { slot, limit } of program.facets) {
    out.u16(slot);
    out.u32(limit);
  }
  return out.finish();
}

function encodeWord(out: ByteWriter, word: SearchWord): void {
  out.f64(word.weight);
  out.count16(word.alternatives.length, "alternatives");
  for (const { kind, typos, useForProximity, boost, terms } of word.alternatives) {
    out.u8(kind);
    out.u8(typos);
    out.u8(useForProximity ? 1 : 0);
    out.f64(boost);
    out.count16(terms.length, "terms");
    for (const { term, prefix } of terms) {
      out.u8(prefix ? TERM_PREFIX : TERM_WHOLE);
      out.string16(term);
    }
  }
}

function encodePhrases(out: ByteWriter, phrases: readonly (readonly string[])[], what: string): void {
  out.count16(phrases.length, what);
  for (const terms of phrases) encodeTerms(out, terms);
}

function encodeTerms(out: ByteWriter, terms: readonly string[]): void {
  out.count16(terms.length, "terms");
  for (const term of terms) out.string16(term);
}

function encodeOperation(out: ByteWriter, operation: FilterOp): void {
  switch (operation.op) {
    case "all":
      out.u8(OP_ALL);
      break;
    case "and":
      out.u8(OP_AND);
      break;
    case "or":
      out.u8(OP_OR);
      break;
    case "not":
      out.u8(OP_NOT);
      break;
    case "intRange":
      out.u8(OP_INT_RANGE);
      out.u16(operation.slot);
      out.i64(operation.low);
      out.i64(operation.high);
      break;
    case "floatRange":
      out.u8(OP_FLOAT_RANGE);
      out.u16(operation.slot);
      out.f64(operation.low);
      out.f64(operation.high);
      out.u8((operation.lowExclusive ? 1 : 0) | (operation.highExclusive ? 2 : 0));
      break;
    case "equals":
      out.u8(OP_EQUALS);
      out.u16(operation.slot);
      out.string32(operation.folded);
      break;
    case "tokens":
      out.u8(OP_TOKENS);
      out.u16(operation.slot);
      encodeTerms(out, operation.terms);
      break;
    case "ids":
      out.u8(OP_IDS);
      out.u32(operation.hashes.length);
      for (const hash of operation.hashes) out.u64(hash);
      break;
  }
}

function encodeSort(out: ByteWriter, keys: readonly SortKey[]): void {
  if (keys.length > 0xff) throw new RangeError(`${keys.length} sort keys: at most 255 fit a program`);
  out.u8(keys.length);
  for (const key of keys) {
    out.u8(key.by === "relevance" ? SORT_RELEVANCE : key.by === "seq" ? SORT_SEQ : SORT_FIELD);
    out.u8(key.descending ? 1 : 0);
    out.u16(key.by === "field" ? key.slot : 0);
  }
}
