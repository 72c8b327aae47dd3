// Decides in which forms each query word may match, with which weights, and whether the word looks misspelt.
// Uses the words and the summed answers of all shards' dictionaries. Pure functions; docs/ranking.md explains
// the reasons.
import {
  ALT_EXACT,
  ALT_PREFIX,
  ALT_SPLIT,
  ALT_STEM,
  ALT_TYPO,
} from "../../../engine-wasm/assembly/layout.js";
import type {
  InfixExpansion,
  PrefixExpansion,
  TypoExpansion,
} from "../../../engine-wasm/host/programs/expand-result.js";
import type { SearchAlternative, SearchWord } from "../../../engine-wasm/host/programs/search-program.js";
import { infixAlternatives, infixFrequency } from "./infixes.js";
import { inverseFrequency } from "./inverse-frequency.js";
import type { QueryWord } from "./query-text.js";
import type { LikelyTypo } from "./typos/noisy-channel.js";
import { compareBytes, largest, sumLists } from "./typos/ranked-typos.js";
import { stemTerms, type Variant } from "./variants.js";

/**
 * Weight factors for longer terms that begin with the query word. NEXT_LETTER_FACTOR is for terms only one
 * letter longer, if no document contains the query word itself; PREFIX_FACTOR is for all others.
 */
const PREFIX_FACTOR = 0.8;
const NEXT_LETTER_FACTOR = 0.9;
/**
 * Near terms with equally many typos are divided into at most this many groups by cost. The last group
 * contains all the remaining terms.
 */
const TYPO_GROUPS_MAX = 4;
/**
 * SPLITS_MAX is the maximum number of splits per word that are searched for. NUMBER_SPLITS_MAX is the maximum
 * for words with digits, because part numbers may be split anywhere and their parts are rare.
 */
const SPLITS_MAX = 3;
const NUMBER_SPLITS_MAX = 16;

/** A variant that may occur in some documents, with an upper bound on their number. */
export interface FoundVariant {
  readonly variant: Variant;
  readonly frequency: number;
}

/**
 * What the dictionaries contain for one query word. A frequency is the number of documents in the field where
 * it is largest.
 */
export interface WordFindings {
  readonly exact: number;
  readonly prefix: PrefixExpansion | null;
  /** Number of documents that contain the word or a term that starts with it. */
  readonly literal: number;
  /** Near terms that the user may have meant, selected and ordered by noisy-channel.ts. */
  readonly typos: readonly LikelyTypo[];
  /** Longer terms that contain the word, in fields with infix search. */
  readonly infixes: readonly InfixExpansion[];
}

/** Near terms of equal weight. */
interface TypoGroup {
  readonly typos: number;
  readonly factor: number;
  readonly members: LikelyTypo[];
}

/**
 * Number of documents that contain the word or a form that is as good as the word. A word for which it is low
 * looks misspelt.
 */
export function knownFrequency(
  i: number,
  { literal, infixes }: Pick<WordFindings, "literal" | "infixes">,
  variants: readonly FoundVariant[],
): number {
  let most = Math.max(literal, infixFrequency(infixes));
  for (const { variant, frequency } of variants)
    if (frequency > most && isEvidence(variant, i)) most = frequency;
  return most;
}

/** True if a document with the variant counts as containing word `i` itself. */
export function isEvidence({ covers, sequence }: Variant, i: number): boolean {
  return !sequence && covers.includes(i);
}

export function isMissing(frequency: number): boolean {
  return frequency === 0;
}

/**
 * Returns the search program's words. An alternative never weighs more than the word itself, so a rare
 * misspelling gains nothing from its rarity. If a variant covers several words, its weight is divided among
 * them, so that a document with both the joined and the separate form scores no more than a document with
 * only the separate form. A word without any form in the dictionary gets no alternatives and matches nothing.
 */
export function searchWords(
  words: readonly QueryWord[],
  findings: readonly WordFindings[],
  variants: readonly FoundVariant[],
  languages: readonly number[],
  documents: number,
): SearchWord[] {
  const chosen = withBestSplits(variants);
  const idf = (frequency: number): number => inverseFrequency(frequency, documents);
  const weights = words.map((_, i) => wordWeight(i, findings[i] as WordFindings, chosen, idf));
  return words.map((word, i) => {
    const { infixes, typos } = findings[i] as WordFindings;
    const weight = weights[i] as number;
    const alternatives = ownAlternatives(word, findings[i] as WordFindings, weight, idf);
    addVariantAlternatives(alternatives, i, chosen, weights, idf);
    if (infixes.length > 0) alternatives.push(...insideAlternatives(infixes, weight, idf));
    if (typos.length > 0) alternatives.push(...typoAlternatives(typos, languages, weight, idf));
    return { weight, alternatives: repeated(alternatives, word.count) };
  });
}

/** Multiplies the weight of a word by the number of times that it occurs in the query. */
function repeated(alternatives: SearchAlternative[], count: number): SearchAlternative[] {
  return count === 1 ? alternatives : alternatives.map((one) => ({ ...one, boost: one.boost * count }));
}

/**
 * Returns a query word's weight. If the word has a stem variant, the weight comes from the stem's frequency,
 * which includes all forms. Otherwise it comes from the word as written or, if no document has that, from its
 * substitutes.
 */
function wordWeight(
  i: number,
  findings: WordFindings,
  variants: readonly FoundVariant[],
  idf: (frequency: number) => number,
): number {
  let best = 0;
  for (const { variant, frequency } of variants) {
    if (!variant.covers.includes(i)) continue;
    if (variant.kind === ALT_STEM) return idf(frequency);
    best = Math.max(best, frequency);
  }
  if (findings.exact > 0) return idf(findings.exact);
  if (findings.literal > 0) return idf(findings.literal);
  if (best > 0) return idf(best);
  const inside = infixFrequency(findings.infixes);
  if (inside > 0) return idf(inside);
  const likeliest = typoGroups(findings.typos)[0];
  return likeliest === undefined ? 0 : idf(frequencyOf(likeliest.members));
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
    const longer = { kind: ALT_PREFIX, typos: 0, exact: false, sequence: false } as const;
    const begun = Math.min(idf(literal), weight);
    own.push({
      ...longer,
      useForProximity: prefix.terms !== null,
      boost: begun * PREFIX_FACTOR,
      terms: [{ term: word.terms[0] as string, prefix: true }],
    });
    const next = exact > 0 ? [] : nextTerms(word.terms[0] as string, prefix);
    if (next.length > 0) {
      const terms = next.map((term) => ({ term, prefix: false }));
      own.push({ ...longer, useForProximity: false, boost: begun * NEXT_LETTER_FACTOR, terms });
    }
  }
  return own;
}

/** Returns the terms that consist of the word plus one letter. */
function nextTerms(word: string, { terms }: PrefixExpansion): readonly string[] {
  return (terms ?? []).filter((term) => lettersOf(term) === lettersOf(word) + 1);
}

function lettersOf(term: string): number {
  return [...term].length;
}

function insideAlternatives(
  infixes: readonly InfixExpansion[],
  weight: number,
  idf: (frequency: number) => number,
): SearchAlternative[] {
  return infixAlternatives(infixes, weight, idf(infixFrequency(infixes)));
}

function addVariantAlternatives(
  alternatives: SearchAlternative[],
  i: number,
  variants: readonly FoundVariant[],
  weights: readonly number[],
  idf: (frequency: number) => number,
): void {
  for (const { variant, frequency } of variants) {
    const { covers, kind, exact, sequence, prefix, terms, factor } = variant;
    if (!covers.includes(i)) continue;
    const most = covers.reduce((sum, word) => sum + (weights[word] as number), 0);
    const share = most === 0 ? 0 : Math.min(1, idf(frequency) / most);
    alternatives.push({
      kind,
      typos: 0,
      exact,
      sequence,
      useForProximity: true,
      boost: (weights[i] as number) * share * factor,
      terms: terms.map((term) => ({ term, prefix })),
    });
  }
}

function typoAlternatives(
  typos: readonly LikelyTypo[],
  languages: readonly number[],
  weight: number,
  idf: (frequency: number) => number,
): SearchAlternative[] {
  const likelier: LikelyTypo[] = [];
  return typoGroups(typos).flatMap(({ typos: count, factor, members }) => {
    likelier.push(...members);
    // Include the documents of all likelier groups, so that a less likely group does not weigh more because
    // it is rarer.
    const boost = Math.min(idf(frequencyOf(likelier)), weight) * factor;
    const whole = members.filter(({ isPrefix }) => !isPrefix);
    // Make words and stems separate alternatives: a document that contains a word also contains its stem, and
    // would count twice in one alternative.
    const forms = [members.map(({ term }) => term), whole.flatMap(({ term }) => stemTerms(term, languages))];
    return forms
      .filter((terms) => terms.length > 0)
      .map((terms) => ({
        kind: ALT_TYPO,
        typos: count,
        exact: false,
        sequence: false,
        useForProximity: true,
        boost,
        terms: inByteOrder(terms).map((term) => ({ term, prefix: false })),
      }));
  });
}

/** Keeps only each word's most frequent splits. */
function withBestSplits(variants: readonly FoundVariant[]): readonly FoundVariant[] {
  const all = variants.filter(({ variant }) => variant.kind === ALT_SPLIT);
  if (all.length <= SPLITS_MAX) return variants; // then no word has more than that
  const splits = new Map<string, FoundVariant[]>();
  for (const found of all) {
    const words = found.variant.covers.join();
    splits.set(words, [...(splits.get(words) ?? []), found]);
  }
  const kept = new Set(
    [...splits.values()].flatMap((ways) =>
      ways
        .sort((a, b) => b.frequency - a.frequency)
        .slice(0, ways.some(isNumber) ? NUMBER_SPLITS_MAX : SPLITS_MAX),
    ),
  );
  return variants.filter((found) => found.variant.kind !== ALT_SPLIT || kept.has(found));
}

function isNumber({ variant }: FoundVariant): boolean {
  return variant.terms.some((term) => /\p{N}/u.test(term));
}

/**
 * Divides the terms, which are in the order of likelyTypos, into groups of equally many typos and equal cost.
 * If too many costs occur, the last group for that number of typos takes the remaining terms.
 */
function typoGroups(typos: readonly LikelyTypo[]): TypoGroup[] {
  const groups: TypoGroup[] = [];
  let ranked = 0;
  for (const typo of typos) {
    const last = groups.at(-1);
    const isMore = typo.typos !== last?.typos;
    const isDearer = typo.cost > (last?.members[0]?.cost ?? 0);
    if (isMore || (isDearer && ranked < TYPO_GROUPS_MAX)) {
      ranked = isMore ? 1 : ranked + 1;
      groups.push({ typos: typo.typos, factor: typo.confidence, members: [typo] });
    } else last?.members.push(typo);
  }
  return groups;
}

function inByteOrder(terms: readonly string[]): string[] {
  return [...new Set(terms)].sort(compareBytes);
}

function frequencyOf(group: readonly TypoExpansion[]): number {
  return largest(sumLists(group.map((typo) => typo.frequencies)));
}
