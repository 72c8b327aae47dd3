// Lists other forms in which the query's words may occur in a document: stems, joined and split forms, part
// numbers, synonyms. Pure functions: whether a form occurs in any document is looked up later. Stems and
// splits belong to one word. The others may stand for several of the query's words.
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
import { factsOf } from "./term-facts.js";

export interface Form {
  readonly kind: AlternativeKind;
  /** A document must contain any one of these terms or, if `sequence` is set, all of them side by side. */
  readonly terms: readonly string[];
  readonly sequence: boolean;
  /** True if the form's single term stands for all terms that start with it. */
  readonly prefix: boolean;
  /** True if the form counts as an exact match, like the word as written. */
  readonly exact: boolean;
  readonly factor: number;
}

/** A form that stands for some of the query's words. */
export interface Variant {
  /** Numbers of these words. Never empty. */
  readonly covers: readonly number[];
  readonly form: Form;
}

/** Words of the query that documents may write as one. `joinedForms` lists the forms. */
export interface Join {
  /** Numbers of the words. */
  readonly covers: readonly number[];
  readonly term: string;
  /** True if longer terms that start with the term match too. */
  readonly begun: boolean;
  /** True if the term is the whole query as a part number. */
  readonly isSku: boolean;
}

const JOINED_FACTOR = 0.95;
const SPLIT_FACTOR = 0.9;
const SYNONYM_FACTOR = 0.9;
/** Weight factor if only the beginning of a joined word or part number matches. */
const PREFIX_FACTOR = 0.8;

/** Maximum number of neighbouring words that are joined. */
const NEIGHBOURS_MAX = 3;
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

const NO_VARIANTS: readonly Variant[] = [];

/**
 * Returns the terms under which the dictionary lists a word's stems, one per language. A term with digits has
 * none.
 */
export function stemTerms(term: string, languages: readonly number[]): string[] {
  if (languages.length === 0 || factsOf(term).hasDigits) return [];
  return languages.map((language) => stemTerm(language, stem(language, term)));
}

function stemTerm(language: number, stemmed: string): string {
  return String.fromCharCode(TERM_STEM, 0x20 + language) + stemmed;
}

/** Returns the form that consists of the word's stems. `languages` are stemmer numbers. */
export function stemForm({ terms, quoted }: QueryWord, languages: readonly number[]): Form | null {
  if (terms.length > 1 || quoted) return null;
  const stems = stemTerms(terms[0] as string, languages);
  if (stems.length === 0) return null;
  return { kind: ALT_STEM, terms: stems, sequence: false, prefix: false, exact: true, factor: 1 };
}

/**
 * Returns the places where documents may write one word for several: compounds such as `wi-fi`, neighbouring
 * words such as `wi fi` or `AB 123 4`, and, if there is a part number field, the whole query.
 */
export function joinsOf(text: QueryText, hasSkuField: boolean): Join[] {
  const joins: Join[] = [];
  for (const { term, covers, prefix } of text.compounds)
    if (!covers.includes(-1)) joins.push({ covers, term, begun: prefix, isSku: false });
  for (const run of text.runs) {
    for (let i = 0; i + 1 < run.length; i++) {
      for (let count = 2; count <= NEIGHBOURS_MAX && i + count <= run.length; count++) {
        const join = neighbours(run, i, count, text.words);
        if (join !== null) joins.push(join);
      }
    }
  }
  const sku = hasSkuField ? skuJoin(text) : null;
  if (sku !== null) joins.push(sku);
  return isRepetitive(text) ? eachOnce(joins) : joins;
}

/** True if the same words may have been joined twice. */
function isRepetitive({ compounds, words }: QueryText): boolean {
  return compounds.length > 0 || words.some(({ count }) => count > 1);
}

/** Removes duplicates, which would match nothing new and double the cost. */
function eachOnce(joins: readonly Join[]): Join[] {
  return [
    ...new Map(joins.map((join) => [`${join.covers.join()} ${join.begun} ${join.term}`, join])).values(),
  ];
}

/** Returns `count` neighbouring tokens of a run as a join, or null if documents hardly write them as one. */
function neighbours(
  run: readonly QueryToken[],
  first: number,
  count: number,
  words: readonly QueryWord[],
): Join | null {
  const end = first + count;
  let hasDigits = false;
  for (let i = first; i < end; i++) hasDigits ||= factsOf(run[i]!.term).hasDigits;
  if (count > 2 && !hasDigits) return null;
  let letters = 0;
  let term = "";
  for (let i = first; i < end; i++) {
    const token = run[i]!;
    if (token.word < 0 || words[token.word]!.terms.length > 1) return null;
    for (let j = first; j < i; j++) if (run[j]!.word === token.word) return null;
    letters += factsOf(token.term).letters;
    term += token.term;
  }
  if (letters > JOINED_LETTERS_MAX) return null;
  const last = words[run[end - 1]!.word] as QueryWord;
  // Do not join a last word of one letter: it may be the beginning of any word.
  if (!hasDigits && last.prefix && factsOf(last.terms[0] as string).letters === 1) return null;
  const covers = run.slice(first, end).map(({ word }) => word);
  return { covers, term, begun: hasDigits && last.prefix, isSku: false };
}

/** Returns the whole query as a part number. */
function skuJoin(text: QueryText): Join | null {
  const sku = skuText(text);
  if (sku === null) return null;
  const isBeginning = lettersOf(text.terms) >= SKU_PREFIX_LETTERS_MIN && text.words.at(-1)?.prefix === true;
  return {
    covers: text.words.map((_, i) => i),
    term: skuTerm(sku),
    begun: isBeginning && text.terms.some((term) => factsOf(term).hasDigits),
    isSku: true,
  };
}

/**
 * Returns the forms of a join: the joined word, which ranks like its parts, the words that start with it,
 * and, if it has digits, its splits in other places, as documents may write them: `ab 1234` for AB 123 4.
 */
export function joinedForms({ term, begun, isSku }: Join): Form[] {
  const whole: Form = {
    kind: ALT_JOINED,
    terms: [term],
    sequence: false,
    prefix: false,
    exact: true,
    factor: isSku ? 1 : JOINED_FACTOR,
  };
  const forms = [whole];
  if (begun) forms.push({ ...whole, prefix: true, exact: false, factor: whole.factor * PREFIX_FACTOR });
  if (!isSku && DIGIT.test(term)) forms.push(...splits(term).map(splitForm));
  return forms;
}

/**
 * Returns the query's text as a part number, with nothing between its letters and digits, or null if it
 * cannot be a part number.
 */
export function skuText(text: QueryText): string | null {
  const { terms, phrases, excludes } = text;
  if (terms.length === 0 || terms.length > SKU_TERMS_MAX || phrases.length > 0 || excludes.length > 0)
    return null;
  return lettersOf(terms) <= JOINED_LETTERS_MAX ? terms.join("") : null;
}

function lettersOf(terms: readonly string[]): number {
  let letters = 0;
  for (const term of terms) letters += factsOf(term).letters;
  return letters;
}

export function skuTerm(sku: string): string {
  return String.fromCharCode(TERM_SKU) + sku;
}

/** `languages` are stemmer numbers for the queried fields. */
export function synonymVariants(
  text: QueryText,
  synonyms: SynonymMap,
  languages: readonly number[],
): readonly Variant[] {
  if (synonyms.isEmpty) return NO_VARIANTS;
  const seen = new Set<string>();
  return text.runs.flatMap((run) =>
    synonyms.matches(run.map((token) => token.term)).flatMap(({ first, count, others }) => {
      const stretch = run.slice(first, first + count);
      const covers = [...new Set(stretch.map((token) => token.word))].filter((word) => word >= 0);
      const key = JSON.stringify([covers, stretch.map((token) => token.term)]);
      if (covers.length === 0 || seen.has(key)) return [];
      seen.add(key);
      return others.map((other) => ({ covers, form: synonymForm(other, languages) }));
    }),
  );
}

function synonymForm(terms: readonly string[], languages: readonly number[]): Form {
  const sequence = terms.length > 1;
  return {
    kind: ALT_SYNONYM,
    terms: sequence ? terms : [...terms, ...stemTerms(terms[0] as string, languages)],
    sequence,
    prefix: false,
    exact: false,
    factor: SYNONYM_FACTOR,
  };
}

/**
 * Returns ways to split a word that documents may write as several words: `wi fi` for `wifi`, `iphone 15` for
 * `iphone15`.
 */
export function splitForms(word: QueryWord): Form[] {
  return isCuttable(word) ? splits(word.terms[0] as string).map(splitForm) : [];
}

function isCuttable({ terms, quoted }: QueryWord): boolean {
  return terms.length === 1 && !quoted;
}

/** Returns a form that consists of the terms side by side. */
function splitForm(terms: readonly string[]): Form {
  return {
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
export function looseSplitForms(word: QueryWord): Form[] {
  const [term] = word.terms as [string];
  const letters = [...term];
  if (!isCuttable(word) || !factsOf(term).hasDigits || letters.length > NUMBER_SPLIT_LETTERS_MAX) return [];
  const part = (from: number, to?: number): string => letters.slice(from, to).join("");
  const cuts: Form[] = [];
  for (let a = 1; a < letters.length; a++) {
    cuts.push(splitForm([part(0, a), part(a)]));
    for (let b = a + 1; b < letters.length; b++) cuts.push(splitForm([part(0, a), part(a, b), part(b)]));
  }
  return cuts;
}
