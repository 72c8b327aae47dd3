// Selects a dictionary's top entries by a count, then by word. There may be millions of entries, most of them
// with the same small count, so only those words are read that affect the result.
import type { Dictionary } from "../store/dictionary.js";

export interface Ranking {
  /** Numbers of the entries that are certain to be among the top entries. */
  readonly sure: readonly number[];
  /**
   * Numbers of the entries that compete for the rest of the result. They have equal counts, so their words
   * decide.
   */
  readonly tied: readonly number[];
  readonly limit: number;
  /** Compares two entries by their counts, highest first. */
  compare(a: number, b: number): number;
}

export interface RankedWord {
  readonly number: number;
  readonly word: string;
}

/**
 * If more entries than this are tied, it is faster to scan the dictionary in word order than to read their
 * words.
 */
const TIED_READ_MAX = 2_000;

/** Returns the top entries in order. Words are compared by their UTF-8 bytes. */
export async function rankedWords(
  dictionary: Dictionary,
  { sure, tied, limit, compare }: Ranking,
): Promise<RankedWord[]> {
  const rest = limit - sure.length;
  const read = tied.length <= TIED_READ_MAX ? wordsOf : firstWordsOf;
  const tiedWords = rest <= 0 ? [] : await read(dictionary, tied, rest);
  const first = tiedWords.sort((a, b) => byBytes(a.word, b.word)).slice(0, rest);
  const words = [...(await wordsOf(dictionary, sure)), ...first];
  return words.sort((a, b) => compare(a.number, b.number) || byBytes(a.word, b.word));
}

async function wordsOf(dictionary: Dictionary, numbers: readonly number[]): Promise<RankedWord[]> {
  const words = await dictionary.words(numbers);
  return numbers.map((number, i) => ({ number, word: words[i] as string }));
}

/**
 * Returns the first `count` of the given entries in word order, plus all those that are not stored yet,
 * because these are not sorted.
 */
async function firstWordsOf(
  dictionary: Dictionary,
  numbers: readonly number[],
  count: number,
): Promise<RankedWord[]> {
  const wanted = new Set(numbers);
  const found: RankedWord[] = [];
  let stored = 0;
  for await (const { word, number, isStored } of dictionary.entries()) {
    if (!wanted.has(number)) continue;
    found.push({ number, word });
    if (isStored && ++stored === count) break;
  }
  return found;
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
