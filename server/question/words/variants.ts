// Lists other forms in which the query's words may occur in a document: stems, joined and split forms, part
// numbers, synonyms. A variant may cover several of the query's words. Pure functions: whether a variant
// occurs in any document is looked up later.
import {
  ALT_JOINED,
  ALT_SPLIT,
  ALT_STEM,
  ALT_SYNONYM,
  TERM_SKU,
  TERM_STEM,
} from "../../../engine-wasm/assembly/layout.js";
import type { AlternativeKind } from "../../../engine-wasm/host/programs/search-program.js";
import { stem } from "../../../engine-wasm/host/stemmer.js";
import type { QueryText, QueryToken, QueryWord } from "./query-text.js";
import type { SynonymMap } from "./synonyms.js";

export interface Variant {
  /** Numbers of the words that the variant stands for. Never empty. */
  readonly covers: readonly number[];
  readonly kind: AlternativeKind;
  /** A document must contain any one of these terms or, if `sequence` is set, all of them side by side. */
  readonly terms: readonly string[];
  readonly sequence: boolean;
  /** True if the variant's single term stands for all terms that start with it. */
  readonly prefix: boolean;
  /** True if the variant counts as an exact match, like the word as written. */
  readonly exact: boolean;
  readonly factor: number;
}

const JOINED_FACTOR = 0.95;
const SPLIT_FACTOR = 0.9;
const SYNONYM_FACTOR = 0.9;
/** Weight factor if only the beginning of a joined word or part number matches. */
const PREFIX_FACTOR = 0.8;

const JOINED_LETTERS_MAX = 40;
const SPLIT_LETTERS_MIN = 4;
/** Words with digits that are longer than this are split only between letters and digits. */
const NUMBER_SPLIT_LETTERS_MAX = 12;
const NUMBER_PIECES_MAX = 4;
const CODE_LETTERS_MAX = 4;
const CUT_DIGITS_MIN = 3;
const SKU_TERMS_MAX = 8;
const SKU_PREFIX_LETTERS_MIN = 3;

const DIGIT = /\p{N}/u;
const FIRST_DIGIT = /^\p{N}/u;
const LAST_DIGIT = /\p{N}$/u;
const WORD_PIECES = /\p{N}+|[^\p{N}]+/gu;

/**
 * Returns a query's variants, except splits of its words. `languages` are stemmer numbers for the queried
 * fields.
 */
export function variantsOf(
  text: QueryText,
  languages: readonly number[],
  synonyms: SynonymMap,
  hasSkuField: boolean,
): Variant[] {
  return [
    ...text.words.flatMap((word, i) => stemVariant(word, i, languages)),
    ...joinedVariants(text),
    ...(hasSkuField ? skuVariants(text) : []),
    ...synonymVariants(text, synonyms, languages),
  ];
}

/**
 * Returns the terms under which the dictionary lists a word's stems, one per language. A term with digits has
 * none.
 */
export function stemTerms(term: string, languages: readonly number[]): string[] {
  if (DIGIT.test(term)) return [];
  return languages.map((language) => stemTerm(language, stem(language, term)));
}

function stemTerm(language: number, stemmed: string): string {
  return String.fromCharCode(TERM_STEM, 0x20 + language) + stemmed;
}

function stemVariant(word: QueryWord, i: number, languages: readonly number[]): Variant[] {
  if (word.terms.length > 1 || word.quoted || languages.length === 0) return [];
  const terms = stemTerms(word.terms[0] as string, languages);
  return terms.length === 0
    ? []
    : [
        {
          covers: [i],
          kind: ALT_STEM,
          terms,
          sequence: false,
          prefix: false,
          exact: true,
          factor: 1,
        },
      ];
}

/**
 * Returns words that documents may write as one: `wi-fi`, and neighbouring words such as `wi fi` or `AB 123
 * 4`.
 */
function joinedVariants(text: QueryText): Variant[] {
  const all = text.compounds
    .filter(({ covers }) => !covers.includes(-1))
    .flatMap(({ term, covers, prefix }) => joinedAndBegun(term, covers, prefix));
  for (const run of text.runs) {
    for (let i = 0; i + 1 < run.length; i++) {
      for (const count of [2, 3]) {
        const tokens = run.slice(i, i + count);
        if (tokens.length === count) all.push(...joinedNeighbours(tokens, text.words));
      }
    }
  }
  const joined = eachOnce(all);
  return [...joined, ...joined.filter((variant) => !variant.prefix).flatMap(cutAnew)];
}

/** Removes duplicates, which would match nothing new and double the cost. */
function eachOnce(joined: readonly Variant[]): readonly Variant[] {
  if (joined.length < 2) return joined;
  return [
    ...new Map(joined.map((one) => [`${one.covers.join()} ${one.prefix} ${one.terms[0]}`, one])).values(),
  ];
}

/** Splits joined words with digits in other places, as documents may: `ab 1234` for AB 123 4. */
function cutAnew({ covers, terms: [joined] }: Variant): Variant[] {
  return DIGIT.test(joined as string)
    ? splits(joined as string).map((terms) => splitVariant(covers, terms))
    : [];
}

function joinedNeighbours(tokens: readonly QueryToken[], words: readonly QueryWord[]): Variant[] {
  const covers = tokens.map(({ word }) => word);
  if (covers.includes(-1) || new Set(covers).size < covers.length) return [];
  const covered = covers.map((word) => words[word] as QueryWord);
  if (covered.some((word) => word.terms.length > 1)) return [];
  const term = tokens.map((token) => token.term).join("");
  const numeric = DIGIT.test(term);
  if ([...term].length > JOINED_LETTERS_MAX || (tokens.length > 2 && !numeric)) return [];
  const last = covered.at(-1) as QueryWord;
  // Do not join a last word of one letter: it may be the beginning of any word.
  if (!numeric && last.prefix && [...(last.terms[0] as string)].length === 1) return [];
  return joinedAndBegun(term, covers, numeric && last.prefix);
}

/**
 * Returns the joined word, which ranks like its parts. If `prefix` is true, also returns the words that start
 * with it.
 */
function joinedAndBegun(term: string, covers: readonly number[], prefix: boolean): Variant[] {
  const whole: Variant = {
    covers,
    kind: ALT_JOINED,
    terms: [term],
    sequence: false,
    prefix: false,
    exact: true,
    factor: JOINED_FACTOR,
  };
  return prefix ? [whole, begun(whole)] : [whole];
}

function begun(whole: Variant): Variant {
  return { ...whole, prefix: true, exact: false, factor: whole.factor * PREFIX_FACTOR };
}

/**
 * Returns the query's text as a part number, with nothing between its letters and digits, or null if it
 * cannot be a part number.
 */
export function skuText(text: QueryText): string | null {
  const { terms, phrases, excludes } = text;
  if (terms.length === 0 || terms.length > SKU_TERMS_MAX || phrases.length > 0 || excludes.length > 0)
    return null;
  const joined = terms.join("");
  return [...joined].length <= JOINED_LETTERS_MAX ? joined : null;
}

export function skuTerm(sku: string): string {
  return String.fromCharCode(TERM_SKU) + sku;
}

/** Returns variants for the whole query as a part number, and as the beginning of one. */
function skuVariants(text: QueryText): Variant[] {
  const sku = skuText(text);
  if (sku === null) return [];
  const whole: Variant = {
    covers: text.words.map((_, i) => i),
    kind: ALT_JOINED,
    terms: [skuTerm(sku)],
    sequence: false,
    prefix: false,
    exact: true,
    factor: 1,
  };
  const isBeginning =
    DIGIT.test(sku) && [...sku].length >= SKU_PREFIX_LETTERS_MIN && text.words.at(-1)?.prefix === true;
  return isBeginning ? [whole, begun(whole)] : [whole];
}

function synonymVariants(text: QueryText, synonyms: SynonymMap, languages: readonly number[]): Variant[] {
  if (synonyms.isEmpty) return [];
  const seen = new Set<string>();
  return text.runs.flatMap((run) =>
    synonyms.matches(run.map((token) => token.term)).flatMap(({ first, count, others }) => {
      const stretch = run.slice(first, first + count);
      const covers = [...new Set(stretch.map((token) => token.word))].filter((word) => word >= 0);
      const key = JSON.stringify([covers, stretch.map((token) => token.term)]);
      if (covers.length === 0 || seen.has(key)) return [];
      seen.add(key);
      return others.map((other): Variant => {
        const sequence = other.length > 1;
        const terms = sequence ? other : [...other, ...stemTerms(other[0] as string, languages)];
        return {
          covers,
          kind: ALT_SYNONYM,
          terms,
          sequence,
          prefix: false,
          exact: false,
          factor: SYNONYM_FACTOR,
        };
      });
    }),
  );
}

/**
 * Returns ways to split a word that documents may write as several words: `wi fi` for `wifi`, `iphone 15` for
 * `iphone15`.
 */
export function cutsOf(word: QueryWord): string[][] {
  return isCuttable(word) ? splits(word.terms[0] as string) : [];
}

export function isCuttable({ terms, quoted }: QueryWord): boolean {
  return terms.length === 1 && !quoted;
}

/** Returns a variant that matches the terms side by side in place of the covered words. */
export function splitVariant(covers: readonly number[], terms: readonly string[]): Variant {
  return {
    covers,
    kind: ALT_SPLIT,
    terms,
    sequence: true,
    prefix: false,
    exact: isCutAtNumbers(terms),
    factor: SPLIT_FACTOR,
  };
}

/**
 * True if every split lies between a digit and another character, so that the parts mean the same as the
 * word: `256 gb` is 256gb, but `car pet` is not carpet.
 */
function isCutAtNumbers(terms: readonly string[]): boolean {
  return terms.slice(1).every((right, i) => LAST_DIGIT.test(terms[i] as string) !== FIRST_DIGIT.test(right));
}

function splits(term: string): string[][] {
  const letters = [...term];
  const pieces = term.match(WORD_PIECES) ?? [];
  if (pieces.length > 1) {
    const between = pieces
      .slice(1)
      .map((_, i) => [pieces.slice(0, i + 1).join(""), pieces.slice(i + 1).join("")]);
    if (letters.length > NUMBER_SPLIT_LETTERS_MAX || pieces.length > NUMBER_PIECES_MAX) return between;
    return [...(pieces.length > 2 ? [pieces] : []), ...between, ...withOneNumberCut(pieces)];
  }
  if (letters.length < SPLIT_LETTERS_MIN || DIGIT.test(term)) return [];
  const first = letters.length > SPLIT_LETTERS_MIN ? 1 : 2; // `t shirt`, but not `t ops`
  const cuts: string[][] = [];
  for (let at = first; at <= letters.length - 2; at++) {
    cuts.push([letters.slice(0, at).join(""), letters.slice(at).join("")]);
  }
  return cuts;
}

/**
 * Returns further splits, inside the digits: `ab1234` as ab 1 234, ab 12 34 and ab 123 4, because people
 * group a part number's digits differently. Two-digit numbers, and numbers next to whole words, are
 * quantities and are not split: `bottle 15` is not 1.5.
 */
function withOneNumberCut(pieces: readonly string[]): string[][] {
  if (pieces.some((piece) => !DIGIT.test(piece) && [...piece].length > CODE_LETTERS_MAX)) return [];
  return pieces.flatMap((piece, i) => {
    const digits = [...piece];
    if (!DIGIT.test(piece) || digits.length < CUT_DIGITS_MIN) return [];
    return digits
      .slice(1)
      .map((_, at) => [
        ...pieces.slice(0, i),
        digits.slice(0, at + 1).join(""),
        digits.slice(at + 1).join(""),
        ...pieces.slice(i + 1),
      ]);
  });
}

/**
 * Returns every way to split a word with digits into two or three parts. Used only if no document contains
 * the word in any form.
 */
export function looseSplits(word: QueryWord, i: number): Variant[] {
  const [term] = word.terms as [string];
  const letters = [...term];
  if (!isCuttable(word) || !DIGIT.test(term) || letters.length > NUMBER_SPLIT_LETTERS_MAX) return [];
  const part = (from: number, to?: number): string => letters.slice(from, to).join("");
  const cuts: Variant[] = [];
  for (let a = 1; a < letters.length; a++) {
    cuts.push(splitVariant([i], [part(0, a), part(a)]));
    for (let b = a + 1; b < letters.length; b++)
      cuts.push(splitVariant([i], [part(0, a), part(a, b), part(b)]));
  }
  return cuts;
}
