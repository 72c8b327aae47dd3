// The top entries of a dictionary by a count, then by word. Reads only the words that decide: there may be
// millions of entries, and most share the same small count.
import type { Dictionary } from "../store/dictionary.js";

export interface Ranking {
  /** Numbers of entries that are certainly in the top. */
  readonly sure: readonly number[];
  /** Entries with equal counts that compete for the remaining places by word. */
  readonly tied: readonly number[];
  readonly limit: number;
  /** By count only. */
  compare(a: number, b: number): number;
}

export interface RankedWord {
  readonly number: number;
  readonly word: string;
}

/** Above this many tied entries, scanning the dictionary in order is faster. */
const TIED_READ_MAX = 2_000;

/** In order. Words are compared by their UTF-8 bytes. */
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

/** The entries not stored yet, and the first of the stored ones. */
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
