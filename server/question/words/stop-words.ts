// Provides stop words for the languages that have a stemmer. Only this file uses the library of stop word
// lists (Orama's).
import { createRequire } from "node:module";
import type { stopwords } from "@orama/stopwords/english";

/** The library's name for each language, by ISO 639-1 code. */
const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ["ar", "arabic"],
  ["bg", "bulgarian"],
  ["da", "danish"],
  ["de", "german"],
  ["el", "greek"],
  ["en", "english"],
  ["es", "spanish"],
  ["fi", "finnish"],
  ["fr", "french"],
  ["ga", "irish"],
  ["hi", "indian"],
  ["hu", "hungarian"],
  ["hy", "armenian"],
  ["id", "indonesian"],
  ["it", "italian"],
  ["lt", "lithuanian"],
  ["ne", "nepali"],
  ["nl", "dutch"],
  ["no", "norwegian"],
  ["pt", "portuguese"],
  ["ro", "romanian"],
  ["ru", "russian"],
  ["sr", "serbian"],
  ["sv", "swedish"],
  ["ta", "tamil"],
  ["tr", "turkish"],
  ["uk", "ukrainian"],
]);

/** Node loads a list on first use and caches it. */
const load = createRequire(import.meta.url);

/** Returns stop words as written, not folded. Returns none for an unknown language. */
export function languageStopWords(code: string): readonly string[] {
  const name = LANGUAGES.get(code);
  if (name === undefined) return [];
  const words = load(`@orama/stopwords/${name}`).stopwords as typeof stopwords;
  return words.filter((word) => word !== ""); // one of the library's lists has an empty entry
}
