// Decides in which forms each query word may match, with which weights, and whether the word looks misspelt.
// Uses the words and the summed answers of all shards' dictionaries. Pure functions; docs/ranking.md explains
// the reasons.
import { ALT_EXACT, ALT_PREFIX, ALT_SPLIT } from "../../../engine-wasm/assembly/layout.js";
import type { InfixExpansion, PrefixExpansion } from "../../../engine-wasm/host/programs/expand-result.js";
import {
  EncodedWord,
  type SearchAlternative,
  type SearchWord,
} from "../../../engine-wasm/host/programs/search-program.js";
import { infixAlternatives, infixFrequency } from "./infixes.js";
import { inverseFrequency } from "./inverse-frequency.js";
import type { QueryWord } from "./query-text.js";
import { factsOf } from "./term-facts.js";
import { likeliestFrequency, typoAlternatives } from "./typo-alternatives.js";
import type { LikelyTypo } from "./typos/noisy-channel.js";
import type { Form, Variant } from "./variants.js";

/**
 * Weight factors for longer terms that begin with the query word. NEXT_LETTER_FACTOR is for terms only one
 * letter longer, if no document contains the query word itself; PREFIX_FACTOR is for all others.
 */
const PREFIX_FACTOR = 0.8;
const NEXT_LETTER_FACTOR = 0.9;
/**
 * SPLITS_MAX is the maximum number of splits per word that are searched for. NUMBER_SPLITS_MAX is the maximum
 * for words with digits, because part numbers may be split anywhere and their parts are rare.
 */
const SPLITS_MAX = 3;
const NUMBER_SPLITS_MAX = 16;

/** A form that may occur in some documents, with an upper bound on their number. */
export interface FoundForm {
  readonly form: Form;
  readonly frequency: number;
}

/** A found form that stands for some of the query's words. */
export interface FoundVariant extends FoundForm, Variant {}

/**
 * What the dictionaries contain for one query word, whatever the query's other words are. A frequency is the
 * number of documents in the field where it is largest.
 */
export interface WordFindings {
  readonly exact: number;
  readonly prefix: PrefixExpansion | null;
  /** Number of documents that contain the word or a term that starts with it. */
  readonly literal: number;
  /** Longer terms that contain the word, in fields with infix search. */
  readonly infixes: readonly InfixExpansion[];
  /** Null if no document contains the word's stem. */
  readonly stem: FoundForm | null;
  /** The word split into several words. */
  readonly splits: readonly FoundForm[];
}

/** A query word with everything that follows from its findings alone. */
export interface FoundWord extends WordFindings {
  /**
   * Number of documents that contain the word or a form that is as good as the word. A word for which it is
   * low looks misspelt.
   */
  readonly frequency: number;
  /** The word as it is searched for if nothing else about the query adds to it. */
  readonly search: SearchWord;
}

/** What a query adds to the findings of its words. Lists and maps are empty for most queries. */
export interface Additions {
  /** Forms that stand for several words, or that the index's synonyms provide. */
  readonly shared: readonly FoundVariant[];
  /** Further splits, by word number. */
  readonly splits: ReadonlyMap<number, readonly FoundForm[]>;
  /** Near terms that the user may have meant, selected and ordered by noisy-channel.ts, by word number. */
  readonly typos: ReadonlyMap<number, readonly LikelyTypo[]>;
}

const NO_VARIANTS: readonly FoundVariant[] = [];
const NO_FORMS: readonly FoundForm[] = [];
const NO_NEAR_TERMS: readonly LikelyTypo[] = [];

/** What weights and forms depend on besides the words. */
export interface Weighing {
  /** Number of documents in the index. */
  readonly documents: number;
  /** Stemmer numbers for the queried fields. */
  readonly languages: readonly number[];
}

/** Everything that one word of a query may match. */
interface WordParts {
  readonly word: QueryWord;
  readonly found: WordFindings;
  /** The shared forms that stand for the word. */
  readonly shared: readonly FoundVariant[];
  readonly splits: readonly FoundForm[];
  readonly typos: readonly LikelyTypo[];
}

export function foundWord(word: QueryWord, found: WordFindings, weighing: Weighing): FoundWord {
  const splits = bestSplits(found.splits);
  const parts = { word, found, shared: NO_VARIANTS, splits, typos: NO_NEAR_TERMS };
  const weight = weightOf(parts, weighing);
  const alternatives = alternativesOf(parts, weight, () => weight, weighing);
  const frequency = Math.max(found.literal, infixFrequency(found.infixes), found.stem?.frequency ?? 0);
  return { ...found, frequency, search: new EncodedWord(weight, alternatives) };
}

/**
 * Returns the search program's words. An alternative never weighs more than the word itself, so a rare
 * misspelling gains nothing from its rarity. If a variant covers several words, its weight is divided among
 * them, so that a document with both the joined and the separate form scores no more than a document with
 * only the separate form. A word without any form in the dictionary gets no alternatives and matches nothing.
 */
export function searchWords(
  words: readonly QueryWord[],
  found: readonly FoundWord[],
  { shared, splits, typos }: Additions,
  weighing: Weighing,
): SearchWord[] {
  if (shared.length === 0 && splits.size === 0 && typos.size === 0)
    return words.map(({ count }, i) => repeated(found[i]!.search, count));
  const chosen = withBestSplits(shared);
  const all = words.map((word, i) => ({
    word,
    found: found[i]!,
    shared: chosen.filter(({ covers }) => covers.includes(i)),
    splits: bestSplits([...found[i]!.splits, ...(splits.get(i) ?? NO_FORMS)]),
    typos: typos.get(i) ?? NO_NEAR_TERMS,
  }));
  const weights = all.map((parts) => weightOf(parts, weighing));
  const sumOf = (covers: readonly number[]): number => covers.reduce((sum, i) => sum + weights[i]!, 0);
  return all.map((parts, i) => {
    const isAdded = parts.shared.length > 0 || parts.typos.length > 0 || (splits.get(i)?.length ?? 0) > 0;
    if (!isAdded) return repeated(found[i]!.search, parts.word.count);
    const alternatives = alternativesOf(parts, weights[i]!, sumOf, weighing);
    return repeated({ weight: weights[i]!, alternatives }, parts.word.count);
  });
}

/** Multiplies the weight of a word by the number of times that it occurs in the query. */
function repeated(word: SearchWord, count: number): SearchWord {
  if (count === 1) return word;
  const alternatives = word.alternatives.map((one) => ({ ...one, boost: one.boost * count }));
  return { weight: word.weight, alternatives };
}

/**
 * Returns a query word's weight. If the word has a stem, the weight comes from the stem's frequency, which
 * includes all forms. Otherwise it comes from the word as written or, if no document has that, from its
 * substitutes.
 */
function weightOf({ found, shared, splits, typos }: WordParts, { documents }: Weighing): number {
  const idf = (frequency: number): number => inverseFrequency(frequency, documents);
  if (found.stem !== null) return idf(found.stem.frequency);
  if (found.exact > 0) return idf(found.exact);
  if (found.literal > 0) return idf(found.literal);
  const best = Math.max(mostFrequent(shared), mostFrequent(splits));
  if (best > 0) return idf(best);
  const inside = infixFrequency(found.infixes);
  if (inside > 0) return idf(inside);
  const likeliest = likeliestFrequency(typos);
  return likeliest === null ? 0 : idf(likeliest);
}

function mostFrequent(forms: readonly FoundForm[]): number {
  return forms.reduce((most, { frequency }) => Math.max(most, frequency), 0);
}

/** `sumOf` returns the total weight of the words with these numbers. */
function alternativesOf(
  { word, found, shared, splits, typos }: WordParts,
  weight: number,
  sumOf: (covers: readonly number[]) => number,
  { documents, languages }: Weighing,
): SearchAlternative[] {
  const idf = (frequency: number): number => inverseFrequency(frequency, documents);
  const alternatives = ownAlternatives(word, found, weight, idf);
  if (found.stem !== null) alternatives.push(formAlternative(found.stem, weight, weight, idf));
  for (const one of shared) alternatives.push(formAlternative(one, weight, sumOf(one.covers), idf));
  for (const one of splits) alternatives.push(formAlternative(one, weight, weight, idf));
  const { infixes } = found;
  if (infixes.length > 0)
    alternatives.push(...infixAlternatives(infixes, weight, idf(infixFrequency(infixes))));
  if (typos.length > 0) alternatives.push(...typoAlternatives(typos, languages, weight, idf));
  return alternatives;
}

/**
 * Number of documents that contain the word or a form that is as good as the word, the shared forms included.
 */
export function knownFrequency(
  { frequency: own }: FoundWord,
  i: number,
  shared: readonly FoundVariant[],
): number {
  let most = own;
  for (const variant of shared)
    if (variant.frequency > most && isEvidence(variant, i)) most = variant.frequency;
  return most;
}

/** True if a document with the variant counts as containing word `i` itself. */
export function isEvidence({ covers, form }: Variant, i: number): boolean {
  return !form.sequence && covers.includes(i);
}

export function isMissing(frequency: number): boolean {
  return frequency === 0;
}

function ownAlternatives(
  word: QueryWord,
  { exact, prefix, literal }: WordFindings,
  weight: number,
  idf: (frequency: number) => number,
): SearchAlternative[] {
  const own: SearchAlternative[] = [];
  if (exact > 0) {
    own.push({
      kind: ALT_EXACT,
      typos: 0,
      exact: true,
      sequence: word.terms.length > 1,
      useForProximity: true,
      boost: Math.min(idf(exact), weight),
      terms: word.terms.map((term) => ({ term, prefix: false })),
    });
  }
  if (prefix !== null && prefix.termCount > 0) {
    const begun = Math.min(idf(literal), weight);
    const terms = [{ term: word.terms[0] as string, prefix: true }];
    own.push(longerTerms(terms, begun * PREFIX_FACTOR, prefix.terms !== null));
    const next = exact > 0 ? [] : nextTerms(word.terms[0] as string, prefix);
    if (next.length > 0) {
      const whole = next.map((term) => ({ term, prefix: false }));
      own.push(longerTerms(whole, begun * NEXT_LETTER_FACTOR, false));
    }
  }
  return own;
}

/** Returns the alternative for terms that begin with the word. */
function longerTerms(
  terms: SearchAlternative["terms"],
  boost: number,
  useForProximity: boolean,
): SearchAlternative {
  return { kind: ALT_PREFIX, typos: 0, exact: false, sequence: false, useForProximity, boost, terms };
}

/** Returns the terms that consist of the word plus one letter. */
function nextTerms(word: string, { terms }: PrefixExpansion): readonly string[] {
  const letters = factsOf(word).letters + 1;
  return (terms ?? []).filter((term) => [...term].length === letters);
}

/** `weight` is the word's share of `most`, the total weight of all words that the form stands for. */
function formAlternative(
  { form, frequency }: FoundForm,
  weight: number,
  most: number,
  idf: (frequency: number) => number,
): SearchAlternative {
  const { kind, exact, sequence, prefix, terms, factor } = form;
  const share = most === 0 ? 0 : Math.min(1, idf(frequency) / most);
  return {
    kind,
    typos: 0,
    exact,
    sequence,
    useForProximity: true,
    boost: weight * share * factor,
    terms: terms.map((term) => ({ term, prefix })),
  };
}

/** Keeps only the most frequent splits of each group of words. */
function withBestSplits(variants: readonly FoundVariant[]): readonly FoundVariant[] {
  if (!variants.some(isSplit)) return variants;
  const groups = new Map<string, FoundVariant[]>();
  for (const variant of variants) {
    if (!isSplit(variant)) continue;
    const words = variant.covers.join();
    groups.set(words, [...(groups.get(words) ?? []), variant]);
  }
  const kept = new Set([...groups.values()].flatMap(bestSplits));
  return variants.filter((one) => !isSplit(one) || kept.has(one));
}

function isSplit({ form }: FoundForm): boolean {
  return form.kind === ALT_SPLIT;
}

/** Returns the most frequent of the splits of the same words, in the given order. */
function bestSplits<T extends FoundForm>(splits: readonly T[]): readonly T[] {
  if (splits.length <= SPLITS_MAX) return splits;
  const max = splits.some(isNumber) ? NUMBER_SPLITS_MAX : SPLITS_MAX;
  const kept = new Set([...splits].sort((a, b) => b.frequency - a.frequency).slice(0, max));
  return splits.filter((one) => kept.has(one));
}

function isNumber({ form }: FoundForm): boolean {
  return form.terms.some((term) => factsOf(term).hasDigits);
}
