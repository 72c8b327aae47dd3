// The first entries of a dictionary by a count and then by their word. Only the words that decide are read: there may be
// millions of entries, and most of them have the same small count.
import type { Dictionary } from "../store/dictionary.js";

export interface Ranking {
  /** Numbers of entries that are certainly among the first. */
  readonly sure: readonly number[];
  /** Entries with the same count, of which the first by their words fill the rest. */
  readonly tied: readonly number[];
  readonly limit: number;
  /** By the count alone. */
  compare(a: number, b: number): number;
}

export interface RankedWord {
  readonly number: number;
  readonly word: string;
}

/** More entries than these are found faster in the order of the dictionary. */
const TIED_READ_MAX = 2_000;

/** In their order. Words are compared by their bytes in UTF-8. */
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

/** Those that are not stored yet, and the first of the others. */
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
