// Encodes a search program, which matches, filters, scores, sorts and counts. docs/FORMATS.md shows the
// layout and states the scoring rule. Knows nothing about where the words and filters come from.
import {
  type ALT_EXACT,
  type ALT_INFIX,
  type ALT_JOINED,
  type ALT_PREFIX,
  type ALT_SPLIT,
  type ALT_STEM,
  type ALT_SYNONYM,
  type ALT_TYPO,
  ALTERNATIVE_EXACT,
  ALTERNATIVE_INFIX,
  ALTERNATIVE_NEAR,
  ALTERNATIVE_SEQUENCE,
  BONUS_TERMS_MAX,
  FACET_SHARE,
  MATCH_ALL,
  MATCH_ANY,
  MATCH_BY_SCORE,
  PROGRAM_SEARCH,
  PROGRAM_VERSION,
  RULE_BOOST,
  RULE_BURY,
  RULE_HIDE,
  RULE_KEEP,
  RULES_MAX,
  SLOT_INFIX,
  SORT_CLASS,
  SORT_FIELD,
  SORT_RELEVANCE,
  SORT_SEQ,
  TERM_PREFIX,
  TERM_WHOLE,
} from "../../assembly/layout.js";
import { ByteWriter } from "../bytes.js";
import { encodeTerms, type FilterProgram, NO_FILTER } from "./filter-program.js";
import { encodeNeighbours, type Neighbours } from "./neighbours.js";

/** The largest `k`, which returns every matching row. */
export const ALL_ROWS = 0xffffffff;

/** A queried text field. */
export interface QueriedField {
  readonly slot: number;
  readonly weight: number;
  /**
   * Average number of tokens in the field, over all documents in the whole index that have it; 0 if unknown.
   */
  readonly averageLength: number;
  /** True if words are also found inside longer words. */
  readonly infix?: boolean;
}

export interface SearchTerm {
  readonly term: string;
  /** True if the term stands for every dictionary term that starts with it, including itself. */
  readonly prefix: boolean;
}

export type AlternativeKind =
  | typeof ALT_EXACT
  | typeof ALT_SYNONYM
  | typeof ALT_PREFIX
  | typeof ALT_TYPO
  | typeof ALT_STEM
  | typeof ALT_JOINED
  | typeof ALT_SPLIT
  | typeof ALT_INFIX;

/** One way to match a word: any of its terms, or all of them in sequence. */
export interface SearchAlternative {
  /** ALT_*. For debugging only; has no effect on matching or ranking. */
  readonly kind: AlternativeKind;
  readonly typos: number;
  /** True if the alternative counts as the word as written. Ignored unless `typos` is 0. */
  readonly exact: boolean;
  /**
   * True if the terms must occur at consecutive positions in one slot; none of them may be a prefix. Each
   * match counts as one occurrence.
   */
  readonly sequence: boolean;
  /** True if the alternative's positions count for closeness. Costly for a prefix with many terms. */
  readonly useForProximity: boolean;
  /** True if the alternative matches only in fields with `infix`. */
  readonly infixOnly?: boolean;
  /** Inverse document frequency, multiplied by the factor for this kind of alternative. */
  readonly boost: number;
  readonly terms: readonly SearchTerm[];
}

export interface SearchWord {
  /** Inverse document frequency, used for closeness. */
  readonly weight: number;
  readonly alternatives: readonly SearchAlternative[];
}

/** A word that many programs share. It is encoded only once. */
export class EncodedWord implements SearchWord {
  readonly weight: number;
  readonly alternatives: readonly SearchAlternative[];
  #bytes: Uint8Array | null = null;

  /** `alternatives` must not change afterwards. */
  constructor(weight: number, alternatives: readonly SearchAlternative[]) {
    this.weight = weight;
    this.alternatives = alternatives;
  }

  get bytes(): Uint8Array {
    if (this.#bytes === null) {
      const out = new ByteWriter();
      encodeWord(out, this);
      this.#bytes = out.finish();
    }
    return this.#bytes;
  }
}

/** `type` (TYPE_*) is not sent; the decoder needs it to read the values. */
export type SortKey =
  /** The ranking score: text match, bonus and boosts combined in one number. */
  | { readonly by: "relevance"; readonly descending: boolean }
  /** Pinned rows in pin order, then rows that are neither pinned nor buried, then buried rows. */
  | { readonly by: "class"; readonly descending: boolean }
  | { readonly by: "seq"; readonly descending: boolean }
  | { readonly by: "field"; readonly descending: boolean; readonly slot: number; readonly type: number };

export interface FacetRequest {
  readonly slot: number;
  /** The field's TYPE_*. Not sent; the decoder needs it to read the values. */
  readonly type: number;
  /**
   * 0 returns every value in dictionary order; otherwise returns the first `limit` values by (count
   * descending, value ascending).
   */
  readonly limit: number;
  /**
   * True if the caller wants the facet's first `limit` values across several shards. The answer then contains
   * the values likely to be among them, and an upper bound on the counts of all other values.
   */
  readonly share?: boolean;
}

/** Bonuses are integers >= 0. A single row's total must stay below 2^53. */
export interface SearchBonuses {
  /**
   * Bonus if a queried field consists of exactly the query's words, each as written; 0 disables it. Replaces
   * `starts`.
   */
  readonly whole: number;
  /** Bonus if a queried field begins with the words; 0 disables it. */
  readonly starts: number;
  /**
   * Bonuses for rows that have the term in the slot, even if the slot is not queried. Only the largest bonus
   * in each group counts.
   */
  readonly terms: readonly TermBonus[];
}

export interface TermBonus {
  readonly group: number;
  readonly slot: number;
  readonly term: SearchTerm;
  readonly bonus: number;
}

/** An effect that the index's owner has chosen for documents that pass a filter. */
export interface SearchRule {
  /**
   * The first "hide", "bury" or "keep" rule that applies to a row decides, and later ones have no effect on
   * it. "keep" leaves the row where it is, pinned or not.
   */
  readonly effect: "hide" | "bury" | "boost" | "keep";
  /** Weight of a boost, at least 0. A weight of 10 doubles the relevance. */
  readonly weight: number;
  /** NO_FILTER matches no document. */
  readonly filter: FilterProgram;
}

export interface SearchProgram {
  /**
   * "all": every word must match. "any" and "byScore": at least one word must match; "any" ranks documents
   * with all words first, "byScore" ranks only by score.
   */
  readonly mode: "all" | "any" | "byScore";
  /** Maximum number of rows to return, at most ALL_ROWS. */
  readonly k: number;
  readonly k1: number;
  /** How strongly field and document length influence the score, from 0 to 1. */
  readonly b: number;
  readonly proximityWeight: number;
  /**
   * Average number of tokens per document across the whole index, weighted by queried field; 0 if unknown.
   */
  readonly averageLength: number;
  readonly slots: readonly QueriedField[];
  /**
   * If the program has neither words nor neighbours, every document that passes the other conditions matches
   * with text match 0.
   */
  readonly words: readonly SearchWord[];
  /** Each phrase must occur in a queried slot, its terms at consecutive positions. */
  readonly phrases: readonly (readonly string[])[];
  /** Excludes documents with any of these terms or phrases in a queried slot. */
  readonly excludes: readonly (readonly string[])[];
  /** NO_FILTER lets every document pass. */
  readonly filter: FilterProgram;
  /** Rows are sorted by the first key, ties by the next, and remaining ties by descending seq. */
  readonly sort: readonly SortKey[];
  readonly facets: readonly FacetRequest[];
  readonly bonuses: SearchBonuses;
  /** At most RULES_MAX. */
  readonly rules: readonly SearchRule[];
  /**
   * Id hashes of pinned documents, best first, without duplicates. A pinned document is found even if it does
   * not match the words, but it must pass the filter and must not be hidden.
   */
  readonly pins: readonly bigint[];
  /** Null if the program has no neighbours at all. An empty list is different: see Neighbours.rows. */
  readonly neighbours: Neighbours | null;
}

/** A program for all documents, newest first. Other programs override parts of it. */
export const EVERY_DOCUMENT: SearchProgram = {
  mode: "all",
  k: ALL_ROWS,
  k1: 0,
  b: 0,
  proximityWeight: 0,
  averageLength: 0,
  slots: [],
  words: [],
  phrases: [],
  excludes: [],
  filter: NO_FILTER,
  sort: [],
  facets: [],
  bonuses: { whole: 0, starts: 0, terms: [] },
  rules: [],
  pins: [],
  neighbours: null,
};

const MODES = { all: MATCH_ALL, any: MATCH_ANY, byScore: MATCH_BY_SCORE } as const;

/** Throws a RangeError if a count or a string is too large for the program. */
export function encodeSearch(program: SearchProgram): Uint8Array {
  const out = new ByteWriter();
  out.u16(PROGRAM_VERSION);
  out.u8(PROGRAM_SEARCH);
  out.u8(MODES[program.mode]);
  out.u32(Math.min(program.k, ALL_ROWS));
  out.f64(program.k1);
  out.f64(program.b);
  out.f64(program.proximityWeight);
  out.f64(program.averageLength);
  out.count16(program.slots.length, "slots");
  for (const { slot, weight, averageLength, infix } of program.slots) {
    out.u16(slot);
    out.u8(infix === true ? SLOT_INFIX : 0);
    out.f64(weight);
    out.f64(averageLength);
  }
  out.count16(program.words.length, "words");
  for (const word of program.words) {
    if (word instanceof EncodedWord) out.bytes(word.bytes);
    else encodeWord(out, word);
  }
  encodePhrases(out, program.phrases, "phrases");
  encodePhrases(out, program.excludes, "excludes");
  out.bytes(program.filter);
  encodeSort(out, program.sort);
  if (program.facets.length > 0xff)
    throw new RangeError(`${program.facets.length} facets: at most 255 fit a program`);
  out.u8(program.facets.length);
  for (const { slot, limit, share } of program.facets) {
    out.u16(slot);
    if (limit >= FACET_SHARE) throw new RangeError(`a facet with a limit of ${limit}`);
    out.u32(share === true ? FACET_SHARE + limit : limit);
  }
  encodeBonuses(out, program.bonuses);
  encodeRules(out, program.rules);
  out.u32(program.pins.length);
  for (const hash of program.pins) out.u64(hash);
  encodeNeighbours(out, program.neighbours);
  return out.finish();
}

function encodeWord(out: ByteWriter, word: SearchWord): void {
  out.f64(word.weight);
  out.count16(word.alternatives.length, "alternatives");
  for (const {
    kind,
    typos,
    useForProximity,
    exact,
    sequence,
    infixOnly,
    boost,
    terms,
  } of word.alternatives) {
    out.u8(kind);
    out.u8(typos);
    out.u8(
      (useForProximity ? ALTERNATIVE_NEAR : 0) |
        (exact ? ALTERNATIVE_EXACT : 0) |
        (sequence ? ALTERNATIVE_SEQUENCE : 0) |
        (infixOnly === true ? ALTERNATIVE_INFIX : 0),
    );
    out.f64(boost);
    out.count16(terms.length, "terms");
    for (const term of terms) encodeTerm(out, term);
  }
}

function encodeTerm(out: ByteWriter, { term, prefix }: SearchTerm): void {
  out.u8(prefix ? TERM_PREFIX : TERM_WHOLE);
  out.string16(term);
}

function encodePhrases(out: ByteWriter, phrases: readonly (readonly string[])[], what: string): void {
  out.count16(phrases.length, what);
  for (const terms of phrases) encodeTerms(out, terms);
}

const SORT_CODES = {
  relevance: SORT_RELEVANCE,
  field: SORT_FIELD,
  seq: SORT_SEQ,
  class: SORT_CLASS,
} as const;
const EFFECT_CODES = { hide: RULE_HIDE, bury: RULE_BURY, boost: RULE_BOOST, keep: RULE_KEEP } as const;

function encodeSort(out: ByteWriter, keys: readonly SortKey[]): void {
  if (keys.length > 0xff) throw new RangeError(`${keys.length} sort keys: at most 255 fit a program`);
  out.u8(keys.length);
  for (const key of keys) {
    out.u8(SORT_CODES[key.by]);
    out.u8(key.descending ? 1 : 0);
    out.u16(key.by === "field" ? key.slot : 0);
  }
}

/**
 * Sorts bonus terms by group, largest bonus first. In each group, only the first term that a row contains
 * applies.
 */
export function orderedTermBonuses(terms: readonly TermBonus[]): TermBonus[] {
  return [...terms].sort((a, b) => a.group - b.group || b.bonus - a.bonus);
}

function encodeBonuses(out: ByteWriter, { whole, starts, terms }: SearchBonuses): void {
  if (terms.length > BONUS_TERMS_MAX)
    throw new RangeError(`${terms.length} bonus terms: at most ${BONUS_TERMS_MAX} fit a program`);
  out.f64(whole);
  out.f64(starts);
  out.u16(terms.length);
  for (const { group, slot, bonus, term } of orderedTermBonuses(terms)) {
    out.u16(group);
    out.u16(slot);
    out.f64(bonus);
    encodeTerm(out, term);
  }
}

function encodeRules(out: ByteWriter, rules: readonly SearchRule[]): void {
  if (rules.length > RULES_MAX)
    throw new RangeError(`${rules.length} rules: at most ${RULES_MAX} fit a program`);
  out.u16(rules.length);
  for (const { effect, weight, filter } of rules) {
    out.u8(EFFECT_CODES[effect]);
    out.f64(weight);
    out.bytes(filter);
  }
}
