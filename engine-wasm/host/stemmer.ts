// Stems of words, and the languages that have a stemmer. The only file that uses the stemming library
// (Orama's build of the Snowball stemmers). Terms arrive folded, without accents. A stemmer that looks for
// accents finds fewer forms, but treats documents and queries alike.
import { createRequire } from "node:module";
import type { stemmer } from "@orama/stemmers/english";

type Stemmer = typeof stemmer;

/**
 * By ISO 639-1 code, with the library's name. ON DISK: a language's number is its position, from 1; only ever
 * append.
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
 * A thread loads a stemmer at the first word in its language. Loading all of them would add 30 ms to every
 * start.
 */
const stemmers: (Stemmer | undefined)[] = LANGUAGES.map(() => undefined);

/** Permanent number of a language, 0 if it has no stemmer. */
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
 * The stem, or the term itself if the stemmer throws or returns nothing, as some do for words of other
 * languages.
 */
function stemOrTerm(stemmer: Stemmer, term: string): string {
  try {
    return stemmer(term) || term;
  } catch {
    return term;
  }
}
