// Stems words, and lists the languages that have a stemmer. The only file that uses the stemming library
// (Orama's build of the Snowball stemmers). Terms arrive folded, without accents. A stemmer that expects
// accents therefore recognises fewer forms, but it treats documents and queries alike.
import { createRequire } from "node:module";
import type { stemmer } from "@orama/stemmers/english";

type Stemmer = typeof stemmer;

/**
 * ISO 639-1 codes and the library's names. ON DISK: a language's number is its position, counted from 1, so
 * only ever append.
 */
const LANGUAGES: readonly (readonly [code: string, name: string])[] = [
  ["en", "english"],
  ["de", "german"],
  ["fr", "french"],
  ["es", "spanish"],
  ["it", "italian"],
  ["pt", "portuguese"],
  ["nl", "dutch"],
  ["da", "danish"],
  ["sv", "swedish"],
  ["no", "norwegian"],
  ["fi", "finnish"],
  ["hu", "hungarian"],
  ["ro", "romanian"],
  ["ru", "russian"],
  ["uk", "ukrainian"],
  ["bg", "bulgarian"],
  ["sr", "serbian"],
  ["el", "greek"],
  ["tr", "turkish"],
  ["lt", "lithuanian"],
  ["ga", "irish"],
  ["hy", "armenian"],
  ["ar", "arabic"],
  ["hi", "indian"],
  ["ne", "nepali"],
  ["ta", "tamil"],
  ["id", "indonesian"],
];

const NUMBERS: ReadonlyMap<string, number> = new Map(LANGUAGES.map(([code], i) => [code, i + 1]));

/** Maximum cached stems per language and thread. */
const CACHED_MAX = 20_000;
const caches: readonly Map<string, string>[] = LANGUAGES.map(() => new Map());

const load = createRequire(import.meta.url);
/**
 * A thread loads a stemmer when it sees the first word in that language. Loading all of them would add 30 ms
 * to every start.
 */
const stemmers: (Stemmer | undefined)[] = LANGUAGES.map(() => undefined);

/** Permanent number of a language; 0 if it has no stemmer. */
export function languageNumber(code: string): number {
  return NUMBERS.get(code) ?? 0;
}

export function languageCodes(): string[] {
  return LANGUAGES.map(([code]) => code);
}

/**
 * Returns the stem of a folded term, or the term itself if the language is unknown. Never empty for a
 * non-empty term.
 */
export function stem(language: number, term: string): string {
  const cache = caches[language - 1];
  if (cache === undefined) return term;
  const known = cache.get(term);
  if (known !== undefined) return known;
  const stemmed = stemOrTerm(stemmerOf(language), term);
  if (cache.size === CACHED_MAX) cache.clear();
  cache.set(term, stemmed);
  return stemmed;
}

function stemmerOf(language: number): Stemmer {
  const at = language - 1;
  stemmers[at] ??= load(`@orama/stemmers/${LANGUAGES[at]![1]}`).stemmer as Stemmer;
  return stemmers[at];
}

/**
 * Returns the stem. If the stemmer throws or returns nothing, as some do for words in other languages,
 * returns the term itself.
 */
function stemOrTerm(stemmer: Stemmer, term: string): string {
  try {
    return stemmer(term) || term;
  } catch {
    return term;
  }
}
