// Reads the misspelling test's word lists: pairs of wrong and right words from public lists, and ordinary
// words from two catalogues as distractors. Reads only files, without a server.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { editDistance } from "./edit-distance.js";
import { readJsonLines } from "./judged-sets.js";

export const PAIR_FILES = ["wikipedia.tsv", "aspell.tsv", "norvig-testset1.tsv"] as const;

export interface Misspelling {
  readonly wrong: string;
  /** The file's right words for `wrong` that are within the distance. */
  readonly right: readonly string[];
}

export interface PairFile {
  readonly file: string;
  readonly pairs: number;
  /** Distinct misspellings that have a right word within the distance. */
  readonly within: readonly Misspelling[];
  /**
   * Number of pairs that need more edits (`beyond`), and of pairs that differ only in case or accents
   * (`equal`).
   */
  readonly beyond: number;
  readonly equal: number;
}

/** Folds case and accents, so that words compare as in an index. */
export function foldWord(word: string): string {
  return word.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().normalize("NFC");
}

export function readPairs(data: string, file: string, distanceMax: number): PairFile {
  const right = new Map<string, Set<string>>();
  let [pairs, beyond, equal] = [0, 0, 0];
  for (const line of readFileSync(join(data, "misspellings", file), "utf8")
    .trim()
    .split("\n")) {
    const [wrong, correct] = line.split("\t").map(foldWord) as [string, string];
    pairs++;
    const distance = editDistance(wrong, correct);
    if (distance === 0) equal++;
    else if (distance > distanceMax) beyond++;
    else right.set(wrong, (right.get(wrong) ?? new Set()).add(correct));
  }
  const within = [...right].map(([wrong, words]) => ({ wrong, right: [...words] }));
  return { file, pairs, within, beyond, equal };
}

/** Returns the right words of all pairs in a file, including pairs that need more edits. */
export function rightWords(data: string, file: string): string[] {
  const lines = readFileSync(join(data, "misspellings", file), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => foldWord(line.split("\t")[1]!));
}

/**
 * Returns the `count` words found in the most Debian package descriptions and city records, except the words
 * in `without`.
 */
export async function ordinaryWords(
  data: string,
  count: number,
  without: ReadonlySet<string>,
): Promise<string[]> {
  const documents = new Map<string, number>();
  const take = (text: string): void => {
    for (const word of new Set(foldWord(text).match(/\p{L}{2,40}/gu) ?? [])) {
      if (!without.has(word)) documents.set(word, (documents.get(word) ?? 0) + 1);
    }
  };
  for await (const entry of readJsonLines(join(data, "debian-packages/documents.jsonl.gz")))
    take(`${entry.summary} ${entry.description}`);
  for await (const city of readJsonLines(join(data, "world-cities/documents.jsonl.gz")))
    take(`${city.name} ${city.asciiname} ${city.alternatenames} ${city.country}`);
  return [...documents]
    .sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
    .slice(0, count)
    .map(([word]) => word);
}
