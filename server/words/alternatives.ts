// Decides in which ways each word of a query may match, with their weights, and whether a word looks misspelt. It decides
// from the words and the dictionaries' global answers. Pure functions; docs/ranking.md has the reasons.
import { ALT_EXACT, ALT_PREFIX, ALT_SPLIT, ALT_STEM, ALT_TYPO } from "../../engine-wasm/assembly/layout.js";
import type {
  InfixExpansion,
  PrefixExpansion,
  TypoExpansion,
} from "../../engine-wasm/host/programs/expand-result.js";
import type { SearchAlternative, SearchWord } from "../../engine-wasm/host/programs/search-program.js";
import { infixAlternatives, infixFrequency } from "./infixes.js";
import type { QueryWord } from "./query-text.js";
import { compareBytes, largest, type RankedTypo, sumLists, type WordTypos } from "./ranked-typos.js";
import { stemTerms, type Variant } from "./variants.js";

const PREFIX_FACTOR = 0.8;
/** What a match with 1, 2, 3 or 4 typos is worth. */
const TYPO_FACTORS = [0.6, 0.4, 0.25, 0.15] as const;
/** A typo is likely when it costs at most this much more than the likeliest one. */
const LIKELY_COST = 25;
const LIKELIHOOD_FACTORS = [1, 0.85, 0.7] as const;

/** A word is "few" with at most this many documents and this share of them: 0 in small indexes, 1 from 1,000 documents, 2 from 2,000. */
const FEW_DOCUMENTS_MAX = 2;
const FEW_SHARE = 1 / 1000;
/** A present word is suspected when a neighbour has this many times its documents ... */
const NEIGHBOUR_RATIO = 50;
/** ... and the word itself occurs in no more than this share of the documents. */
const RARE_SHARE = 1 / 1000;
/** How many ways to cut one word are searched. More for a part number, which may be cut anywhere and whose parts are rare. */
const SPLITS_MAX = 3;
const NUMBER_SPLITS_MAX = 16;

/** A variant that some document may have, and the most documents that may have it. */
export interface FoundVariant {
  readonly variant: Variant;
  readonly frequency: number;
}

/** What the dictionary holds for one word. Frequencies are the largest count of one field. */
export interface WordFindings {
  readonly exact: number;
  readonly prefix: PrefixExpansion | null;
  /** How many documents have the word or one that starts with it. */
  readonly literal: number;
  /** The typos as ranked-typos.ts has limited and ordered them. */
  readonly typos: readonly RankedTypo[];
  /** Longer terms that contain the word, in fields where these are searched. */
  readonly infixes: readonly InfixExpansion[];
}

/** A group of typos that are worth the same. */
interface TypoGroup {
  readonly typos: number;
  readonly factor: number;
  readonly members: RankedTypo[];
}

/** How many documents have the word in a form that is as good as the word. This decides whether it looks misspelt. */
export function knownFrequency(i: number, findings: WordFindings, variants: readonly FoundVariant[]): number {
  const covering = variants.filter(({ variant }) => isEvidence(variant, i));
  return largest([
    findings.literal,
    infixFrequency(findings.infixes),
    ...covering.map(({ frequency }) => frequency),
  ]);
}

/** Whether a document with the variant has the word in a form that is as good as the word. */
export function isEvidence({ covers, sequence }: Variant, i: number): boolean {
  return !sequence && covers.includes(i);
}

export function isMissing(frequency: number): boolean {
  return frequency === 0;
}

export function isFew(frequency: number, documents: number): boolean {
  return frequency <= fewMax(documents);
}

export function fewMax(documents: number): number {
  return Math.min(FEW_DOCUMENTS_MAX, Math.floor(documents * FEW_SHARE));
}

/** Whether a word is so rare that a far more frequent neighbour would make it look misspelt. */
export function isRare(frequency: number, documents: number): boolean {
  return frequency <= rareMax(documents);
}

export function rareMax(documents: number): number {
  return documents * RARE_SHARE;
}

/** Requires that `frequency` is at least one document. */
export function hasFrequentNeighbour(frequency: number, { neighbourFrequency }: WordTypos): boolean {
  return neighbourFrequency >= NEIGHBOUR_RATIO * frequency;
}

/** Inverse document frequency of BM25 in the form that is never negative. */
export function inverseFrequency(frequency: number, documents: number): number {
  const df = Math.min(documents, frequency);
  return Math.log(1 + (documents - df + 0.5) / (df + 0.5));
}

/**
 * The words of the search program. An alternative never weighs more than the word itself: a rare misspelling gains
 * nothing from its rarity. Of a variant that covers several words each counts by its part of their weights, so that a
 * document that has them joined and apart gets no more than one that has them apart. Without anything in the dictionary a word has no alternatives and matches nothing.
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
  return words.map((word, i) => ({
    weight: weights[i] as number,
    alternatives: [
      ...ownAlternatives(word, findings[i] as WordFindings, weights[i] as number, idf),
      ...variantAlternatives(i, chosen, weights, idf),
      ...insideAlternatives((findings[i] as WordFindings).infixes, weights[i] as number, idf),
      ...typoAlternatives((findings[i] as WordFindings).typos, languages, weights[i] as number, idf),
    ].map((alternative) => ({ ...alternative, boost: alternative.boost * word.count })),
  }));
}

/** The weight of all forms of the word together if they are known, else of the word as written, else of what stands for it. */
function wordWeight(
  i: number,
  findings: WordFindings,
  variants: readonly FoundVariant[],
  idf: (frequency: number) => number,
): number {
  const covering = variants.filter(({ variant }) => variant.covers.includes(i));
  const stems = covering.find(({ variant }) => variant.kind === ALT_STEM);
  if (stems !== undefined) return idf(stems.frequency);
  if (findings.exact > 0) return idf(findings.exact);
  if (findings.literal > 0) return idf(findings.literal);
  const best = largest(covering.map(({ frequency }) => frequency));
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
    own.push({
      kind: ALT_PREFIX,
      typos: 0,
      exact: false,
      sequence: false,
      useForProximity: prefix.terms !== null,
      boost: Math.min(idf(literal), weight) * PREFIX_FACTOR,
      terms: [{ term: word.terms[0] as string, prefix: true }],
    });
  }
  return own;
}

function insideAlternatives(
  infixes: readonly InfixExpansion[],
  weight: number,
  idf: (frequency: number) => number,
): SearchAlternative[] {
  return infixAlternatives(infixes, weight, idf(infixFrequency(infixes)));
}

function variantAlternatives(
  i: number,
  variants: readonly FoundVariant[],
  weights: readonly number[],
  idf: (frequency: number) => number,
): SearchAlternative[] {
  return variants
    .filter(({ variant }) => variant.covers.includes(i))
    .map(({ variant, frequency }) => {
      const { covers, kind, exact, sequence, prefix, terms, factor } = variant;
      const most = covers.reduce((sum, word) => sum + (weights[word] as number), 0);
      const share = most === 0 ? 0 : Math.min(1, idf(frequency) / most);
      return {
        kind,
        typos: 0,
        exact,
        sequence,
        useForProximity: true,
        boost: (weights[i] as number) * share * factor,
        terms: terms.map((term) => ({ term, prefix })),
      };
    });
}

function typoAlternatives(
  typos: readonly RankedTypo[],
  languages: readonly number[],
  weight: number,
  idf: (frequency: number) => number,
): SearchAlternative[] {
  const likelier: RankedTypo[] = [];
  return typoGroups(typos).map(({ typos: count, factor, members }) => {
    likelier.push(...members);
    const terms = members.flatMap(({ term, isPrefix }) =>
      isPrefix ? [term] : [term, ...stemTerms(term, languages)],
    );
    return {
      kind: ALT_TYPO,
      typos: count,
      exact: false,
      sequence: false,
      useForProximity: true,
      // The documents of all likelier groups are counted too, so that being rare does not lift a less likely group.
      boost: Math.min(idf(frequencyOf(likelier)), weight) * factor,
      terms: inByteOrder(terms).map((term) => ({ term, prefix: false })),
    };
  });
}

/** Keeps only the ways to cut a word whose parts are most frequent. */
function withBestSplits(variants: readonly FoundVariant[]): FoundVariant[] {
  const splits = new Map<string, FoundVariant[]>();
  for (const found of variants) {
    if (found.variant.kind !== ALT_SPLIT) continue;
    const words = found.variant.covers.join();
    splits.set(words, [...(splits.get(words) ?? []), found]);
  }
  const kept = new Set(
    [...splits.values()].flatMap((all) =>
      all
        .sort((a, b) => b.frequency - a.frequency)
        .slice(0, all.some(isNumber) ? NUMBER_SPLITS_MAX : SPLITS_MAX),
    ),
  );
  return variants.filter((found) => found.variant.kind !== ALT_SPLIT || kept.has(found));
}

function isNumber({ variant }: FoundVariant): boolean {
  return variant.terms.some((term) => /\p{N}/u.test(term));
}

/** The words with fewest typos fall into up to three groups by likelihood; those with more typos are one group per number. Keeps limitTypos' order. */
function typoGroups(typos: readonly RankedTypo[]): TypoGroup[] {
  const best = typos[0];
  const groups: TypoGroup[] = [];
  for (const typo of typos) {
    const factor = (TYPO_FACTORS[typo.typos - 1] as number) * likelihoodFactor(typo, best as RankedTypo);
    const group = groups.at(-1);
    if (group?.typos === typo.typos && group.factor === factor) group.members.push(typo);
    else groups.push({ typos: typo.typos, factor, members: [typo] });
  }
  return groups;
}

function likelihoodFactor(typo: RankedTypo, best: RankedTypo): number {
  if (typo.typos > best.typos || typo.cost === best.cost) return LIKELIHOOD_FACTORS[0];
  return typo.cost <= best.cost + LIKELY_COST ? LIKELIHOOD_FACTORS[1] : LIKELIHOOD_FACTORS[2];
}

function inByteOrder(terms: readonly string[]): string[] {
  return [...new Set(terms)].sort(compareBytes);
}

function frequencyOf(group: readonly TypoExpansion[]): number {
  return largest(sumLists(group.map((typo) => typo.frequencies)));
}
