// A dictionary's top entries, ordered by a count and then by word. Reads only the words that affect the
// result: there may be millions of entries, and most of them have the same small count.
import type { Dictionary } from "../store/dictionary.js";

export interface Ranking {
  /** Numbers of the entries that are certain to be among the top entries. */
  readonly sure: readonly number[];
  /**
   * Numbers of the entries that compete for the remaining places. Their counts are equal, so the word
   * decides.
   */
  readonly tied: readonly number[];
  readonly limit: number;
  /** Compares two entries by count only. */
  compare(a: number, b: number): number;
}

export interface RankedWord {
  readonly number: number;
  readonly word: string;
}

/** Above this many tied entries, it is faster to scan the dictionary in word order. */
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

/** Returns all wanted entries that are not stored yet, and the first `count` stored entries in word order. */
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
