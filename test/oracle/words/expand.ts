// A word's dictionary statistics, counted document by document: the documents that contain it, the terms that
// start with it, its near terms. Distances use the full optimal string alignment matrix.

import { compareBytes, type Row } from "../segments/rows.js";
import { isMarker } from "./markers.js";

/** If more terms than this start with a word, they are counted but not listed. */
const PREFIX_TERMS_LISTED = 64;
/** Of the longer terms that contain a word, at most this many are used, shortest first. */
const INFIX_TERMS_LISTED = 256;

export interface Typo {
  term: string;
  distance: number;
  /** True if only a prefix of the term is within the distance. */
  isPrefix: boolean;
  /** Number of documents with the term, for each field. */
  frequencies: number[];
}

export interface Expansion {
  exact: number[];
  /** Terms that start with the word, excluding the word itself. */
  prefixTerms: string[];
  prefixListed: boolean;
  prefixFrequencies: number[];
}

/** For each term, the number of documents that contain it, by field. */
export type Dictionary = Map<string, number[]>;

export function makeDictionary(rows: Row[], fields: string[]): Dictionary {
  const dictionary: Dictionary = new Map();
  for (const row of rows) {
    fields.forEach((name, i) => {
      for (const term of row.texts.get(name)?.positions.keys() ?? []) {
        const counts = dictionary.get(term) ?? fields.map(() => 0);
        counts[i]!++;
        dictionary.set(term, counts);
      }
    });
  }
  return dictionary;
}

/** Average length of each field over the documents that have it; 0 if no document does. */
export function averageLengths(rows: Row[], fields: string[]): number[] {
  return fields.map((name) => {
    const lengths = rows.flatMap((row) => row.texts.get(name)?.length ?? []);
    return lengths.length === 0 ? 0 : lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  });
}

/** Total number of tokens in each field, divided by the number of documents in the index. */
export function tokensPerDocument(rows: Row[], fields: string[]): number[] {
  return fields.map((name) => {
    const tokens = rows.reduce((sum, row) => sum + (row.texts.get(name)?.length ?? 0), 0);
    return rows.length === 0 ? 0 : tokens / rows.length;
  });
}

export function expandWord(dictionary: Dictionary, word: string, fieldCount: number): Expansion {
  const zeros = Array.from({ length: fieldCount }, () => 0);
  const prefixTerms = [...dictionary.keys()]
    .filter((term) => term !== word && term.startsWith(word))
    .sort(compareBytes);
  const prefixFrequencies = zeros.map((_, i) =>
    prefixTerms.reduce((sum, term) => sum + dictionary.get(term)![i]!, 0),
  );
  const prefixListed = prefixTerms.length <= PREFIX_TERMS_LISTED;
  return { exact: dictionary.get(word) ?? zeros, prefixTerms, prefixListed, prefixFrequencies };
}

/**
 * Returns terms at a distance of 1 to `distanceMax` from the word. With `prefixes`, also terms that have a
 * prefix at such a distance.
 */
export function typosOf(
  dictionary: Dictionary,
  word: string,
  distanceMax: number,
  prefixes: boolean,
): Typo[] {
  const typos: Typo[] = [];
  for (const [term, frequencies] of dictionary) {
    if (isMarker(term) || term === word || (prefixes && term.startsWith(word))) continue;
    const distances = prefixDistances(word, term);
    const whole = distances.at(-1)!;
    const best = prefixes ? Math.min(...distances) : whole;
    if (best > distanceMax) continue;
    const isPrefix = whole > distanceMax;
    typos.push({ term, distance: isPrefix ? best : whole, isPrefix, frequencies });
  }
  return typos.sort((a, b) => compareBytes(a.term, b.term));
}

/** A longer term that contains the word. */
export interface Infix {
  term: string;
  /** Number of documents with the term, for each field. */
  frequencies: number[];
}

/**
 * Returns longer terms that contain `word` and occur in one of these fields: at most INFIX_TERMS_LISTED, the
 * shortest first. Terms that start with the word are included only if `atStart` is true.
 */
export function infixesOf(
  dictionary: Dictionary,
  word: string,
  fields: readonly number[],
  atStart: boolean,
): Infix[] {
  return [...dictionary]
    .filter(([term]) => !isMarker(term) && term !== word && term.includes(word))
    .filter(([term]) => atStart || !term.startsWith(word))
    .map(([term, frequencies]) => ({ term, frequencies: fields.map((field) => frequencies[field]!) }))
    .filter(({ frequencies }) => frequencies.some((count) => count > 0))
    .sort((a, b) => Buffer.byteLength(a.term) - Buffer.byteLength(b.term) || compareBytes(a.term, b.term))
    .slice(0, INFIX_TERMS_LISTED);
}

/**
 * Optimal string alignment distance, in code points, between `word` and every prefix of `term`; the last
 * entry is for the whole term.
 */
function prefixDistances(word: string, term: string): number[] {
  const a = [...word];
  const b = [...term];
  const d = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => i + j),
  );
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const substitution = d[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      d[i]![j] = Math.min(d[i - 1]![j]! + 1, d[i]![j - 1]! + 1, substitution);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        d[i]![j] = Math.min(d[i]![j]!, d[i - 2]![j - 2]! + 1);
      }
    }
  }
  return d[a.length]!;
}
