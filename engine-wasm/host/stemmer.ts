// Stems of words, and the languages that have them. The only file that knows the stemming library (Orama's build of the
// Snowball stemmers). Terms arrive folded, without accents. A stemmer that looks for accents finds less, but it finds the
// same for documents and queries.
import { createRequire } from "node:module";
import type { stemmer } from "@orama/stemmers/english";

type Stemmer = typeof stemmer;

/** By ISO 639-1 code, with the library's name. ON DISK: the number of a language is its place, from 1 on; only ever append. */
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

/** How many stems are kept per language and thread. */
const CACHED_MAX = 20_000;
const caches: readonly Map<string, string>[] = LANGUAGES.map(() => new Map());

const load = createRequire(import.meta.url);
/** A thread loads a stemmer for the first word of its language. All of them would take every start 30 ms. */
const stemmers: (Stemmer | undefined)[] = LANGUAGES.map(() => undefined);

/** Permanent number of a language, 0 when it has no stemmer. */
export function languageNumber(code: string): number {
  return NUMBERS.get(code) ?? 0;
}

export function languageCodes(): string[] {
  return LANGUAGES.map(([code]) => code);
}

/** Stem of a folded term; the term itself in a language that is not known. Never empty for a term. */
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

/** The stem, or the term itself when the stemmer throws or gives nothing. Some do so for words that are not of their language. */
function stemOrTerm(stemmer: Stemmer, term: string): string {
  try {
    return stemmer(term) || term;
  } catch {
    return term;
  }
}
