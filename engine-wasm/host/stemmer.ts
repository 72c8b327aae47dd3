// Stems of words, and the languages that have them: the only file that knows the stemming library (Orama's build
// of the Snowball stemmers). Terms arrive folded, without accents; a stemmer that looks for them just finds less,
// but the same for documents and queries.
import { stemmer as arabic } from "@orama/stemmers/arabic";
import { stemmer as armenian } from "@orama/stemmers/armenian";
import { stemmer as bulgarian } from "@orama/stemmers/bulgarian";
import { stemmer as danish } from "@orama/stemmers/danish";
import { stemmer as dutch } from "@orama/stemmers/dutch";
import { stemmer as english } from "@orama/stemmers/english";
import { stemmer as finnish } from "@orama/stemmers/finnish";
import { stemmer as french } from "@orama/stemmers/french";
import { stemmer as german } from "@orama/stemmers/german";
import { stemmer as greek } from "@orama/stemmers/greek";
import { stemmer as hungarian } from "@orama/stemmers/hungarian";
import { stemmer as hindi } from "@orama/stemmers/indian";
import { stemmer as indonesian } from "@orama/stemmers/indonesian";
import { stemmer as irish } from "@orama/stemmers/irish";
import { stemmer as italian } from "@orama/stemmers/italian";
import { stemmer as lithuanian } from "@orama/stemmers/lithuanian";
import { stemmer as nepali } from "@orama/stemmers/nepali";
import { stemmer as norwegian } from "@orama/stemmers/norwegian";
import { stemmer as portuguese } from "@orama/stemmers/portuguese";
import { stemmer as romanian } from "@orama/stemmers/romanian";
import { stemmer as russian } from "@orama/stemmers/russian";
import { stemmer as serbian } from "@orama/stemmers/serbian";
import { stemmer as spanish } from "@orama/stemmers/spanish";
import { stemmer as swedish } from "@orama/stemmers/swedish";
import { stemmer as tamil } from "@orama/stemmers/tamil";
import { stemmer as turkish } from "@orama/stemmers/turkish";
import { stemmer as ukrainian } from "@orama/stemmers/ukrainian";

type Stemmer = (word: string) => string;

/** By ISO 639-1 code. ON DISK: the number of a language is its place, from 1 on; only ever append. */
const LANGUAGES: readonly (readonly [code: string, stemmer: Stemmer])[] = [
  ["en", english],
  ["de", german],
  ["fr", french],
  ["es", spanish],
  ["it", italian],
  ["pt", portuguese],
  ["nl", dutch],
  ["da", danish],
  ["sv", swedish],
  ["no", norwegian],
  ["fi", finnish],
  ["hu", hungarian],
  ["ro", romanian],
  ["ru", russian],
  ["uk", ukrainian],
  ["bg", bulgarian],
  ["sr", serbian],
  ["el", greek],
  ["tr", turkish],
  ["lt", lithuanian],
  ["ga", irish],
  ["hy", armenian],
  ["ar", arabic],
  ["hi", hindi],
  ["ne", nepali],
  ["ta", tamil],
  ["id", indonesian],
];

const NUMBERS: ReadonlyMap<string, number> = new Map(LANGUAGES.map(([code], i) => [code, i + 1]));

/** Stems kept per language and thread. */
const CACHED_MAX = 20_000;
const caches: readonly Map<string, string>[] = LANGUAGES.map(() => new Map());

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
  const stemmed = stemOrTerm(LANGUAGES[language - 1]![1], term);
  if (cache.size === CACHED_MAX) cache.clear();
  cache.set(term, stemmed);
  return stemmed;
}

/** Some stemmers trip over words that are none of their language; those stay as they are. */
function stemOrTerm(stemmer: Stemmer, term: string): string {
  try {
    return stemmer(term) || term;
  } catch {
    return term;
  }
}
