// From a query word and the dictionary's global answer to the ways in which the word may match, with their
// weights; and the judgement whether a word looks misspelt. Pure functions; docs/ranking.md has the reasons.
import { ALT_EXACT, ALT_PREFIX, ALT_TYPO } from "../../engine-wasm/assembly/layout.js";
import type { TypoExpansion, WordExpansion } from "../../engine-wasm/host/expand-result.js";
import type { SearchAlternative, SearchWord } from "../../engine-wasm/host/search-program.js";
import type { QueryWord } from "./query-text.js";

const PREFIX_FACTOR = 0.8;
/** By number of typos, 1 to 4. */
const TYPO_FACTORS = [0.6, 0.4, 0.25, 0.15] as const;

/** A word with at most this many documents is "few": none in small indexes, 1 from 1,000, 2 from 2,000 on. */
const FEW_DOCUMENTS_MAX = 2;
const FEW_SHARE = 1 / 1000;
/** A present word is suspected when a neighbour has this many times its documents ... */
const NEIGHBOUR_RATIO = 50;
/** ... and the word itself occurs in no more than this share of the documents. */
const RARE_SHARE = 1 / 1000;

/** Documents with the word as written, with its prefix matches: the largest count of one field. */
export function literalFrequency(expansion: WordExpansion): number {
  return largest(sumLists([expansion.exact, expansion.prefix?.frequencies ?? null]));
}

export function isMissing(frequency: number): boolean {
  return frequency === 0;
}

export function isFew(frequency: number, documents: number): boolean {
  return frequency <= Math.min(FEW_DOCUMENTS_MAX, Math.floor(documents * FEW_SHARE));
}

/** Rare enough that a far more frequent neighbour would make it look misspelt. */
export function isRare(frequency: number, documents: number): boolean {
  return frequency <= documents * RARE_SHARE;
}

export function hasFrequentNeighbour(frequency: number, typos: readonly TypoExpansion[]): boolean {
  return typos.some(
    (typo) =>
      typo.distance === 1 && !typo.isPrefix && largest(typo.frequencies) >= NEIGHBOUR_RATIO * frequency,
  );
}

/** Inverse document frequency of BM25 in the form that is never negative. */
export function inverseFrequency(frequency: number, documents: number): number {
  const df = Math.min(documents, frequency);
  return Math.log(1 + (documents - df + 0.5) / (df + 0.5));
}

/**
 * The alternatives of one word, best first: the word, its prefix range, its typos grouped by distance. An
 * alternative never weighs more than the word as written: a rare misspelling gains nothing from its rarity.
 * `typos` are already limited; without any live term the word has no alternatives and matches nothing.
 */
export function alternativesOf(
  word: QueryWord,
  expansion: WordExpansion,
  typos: readonly TypoExpansion[],
  documents: number,
): SearchWord {
  const alternatives: SearchAlternative[] = [];
  let weight = 0;
  const add = (
    alternative: Omit<SearchAlternative, "boost">,
    frequencies: readonly number[],
    factor: number,
  ): void => {
    const idf = inverseFrequency(largest(frequencies), documents);
    if (alternatives.length === 0) weight = idf;
    alternatives.push({ ...alternative, boost: Math.min(idf, weight) * factor });
  };
  const exact = expansion.exact ?? [];
  if (largest(exact) > 0) {
    const terms = [{ term: word.term, prefix: false }];
    add({ kind: ALT_EXACT, typos: 0, useForProximity: true, terms }, exact, 1);
  }
  const { prefix } = expansion;
  if (prefix !== null && prefix.termCount > 0) {
    const useForProximity = prefix.terms !== null;
    const terms = [{ term: word.term, prefix: true }];
    const frequencies = sumLists([exact, prefix.frequencies]);
    add({ kind: ALT_PREFIX, typos: 0, useForProximity, terms }, frequencies, PREFIX_FACTOR);
  }
  for (const group of groupTypos(typos)) {
    const { distance, isPrefix } = group[0] as TypoExpansion;
    const terms = group.map((typo) => ({ term: typo.term, prefix: false }));
    const factor = (TYPO_FACTORS[distance - 1] as number) * (isPrefix ? PREFIX_FACTOR : 1);
    const frequencies = sumLists(group.map((typo) => typo.frequencies));
    add({ kind: ALT_TYPO, typos: distance, useForProximity: true, terms }, frequencies, factor);
  }
  return { weight, alternatives };
}

/** The typos worth searching: nearest first, whole terms before prefixes, frequent before rare. */
export function limitTypos(typos: readonly TypoExpansion[], max: number): TypoExpansion[] {
  const ranked = [...typos].sort(
    (a, b) =>
      a.distance - b.distance ||
      Number(a.isPrefix) - Number(b.isPrefix) ||
      largest(b.frequencies) - largest(a.frequencies) ||
      Buffer.compare(Buffer.from(a.term), Buffer.from(b.term)),
  );
  return ranked.slice(0, max);
}

/** Runs of the same distance and kind, each in byte order; the input is ordered as limitTypos leaves it. */
function groupTypos(typos: readonly TypoExpansion[]): TypoExpansion[][] {
  const groups: TypoExpansion[][] = [];
  for (const typo of typos) {
    const group = groups.at(-1);
    const first = group?.[0];
    if (group !== undefined && first?.distance === typo.distance && first.isPrefix === typo.isPrefix)
      group.push(typo);
    else groups.push([typo]);
  }
  for (const group of groups) group.sort((a, b) => Buffer.compare(Buffer.from(a.term), Buffer.from(b.term)));
  return groups;
}

function largest(frequencies: readonly number[]): number {
  return frequencies.reduce((most, frequency) => Math.max(most, frequency), 0);
}

/** Element-wise sum; null lists count as zeros. */
function sumLists(lists: readonly (readonly number[] | null)[]): number[] {
  const sums: number[] = [];
  for (const list of lists) {
    list?.forEach((value, i) => {
      sums[i] = (sums[i] ?? 0) + value;
    });
  }
  return sums;
}
