// Stop words of the languages that have a stemmer: the only file that knows the library of lists (Orama's).
import { stopwords as arabic } from "@orama/stopwords/arabic";
import { stopwords as armenian } from "@orama/stopwords/armenian";
import { stopwords as bulgarian } from "@orama/stopwords/bulgarian";
import { stopwords as danish } from "@orama/stopwords/danish";
import { stopwords as dutch } from "@orama/stopwords/dutch";
import { stopwords as english } from "@orama/stopwords/english";
import { stopwords as finnish } from "@orama/stopwords/finnish";
import { stopwords as french } from "@orama/stopwords/french";
import { stopwords as german } from "@orama/stopwords/german";
import { stopwords as greek } from "@orama/stopwords/greek";
import { stopwords as hungarian } from "@orama/stopwords/hungarian";
import { stopwords as hindi } from "@orama/stopwords/indian";
import { stopwords as indonesian } from "@orama/stopwords/indonesian";
import { stopwords as irish } from "@orama/stopwords/irish";
import { stopwords as italian } from "@orama/stopwords/italian";
import { stopwords as lithuanian } from "@orama/stopwords/lithuanian";
import { stopwords as nepali } from "@orama/stopwords/nepali";
import { stopwords as norwegian } from "@orama/stopwords/norwegian";
import { stopwords as portuguese } from "@orama/stopwords/portuguese";
import { stopwords as romanian } from "@orama/stopwords/romanian";
import { stopwords as russian } from "@orama/stopwords/russian";
import { stopwords as serbian } from "@orama/stopwords/serbian";
import { stopwords as spanish } from "@orama/stopwords/spanish";
import { stopwords as swedish } from "@orama/stopwords/swedish";
import { stopwords as tamil } from "@orama/stopwords/tamil";
import { stopwords as turkish } from "@orama/stopwords/turkish";
import { stopwords as ukrainian } from "@orama/stopwords/ukrainian";

const LISTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["ar", arabic],
  ["bg", bulgarian],
  ["da", danish],
  ["de", german],
  ["el", greek],
  ["en", english],
  ["es", spanish],
  ["fi", finnish],
  ["fr", french],
  ["ga", irish],
  ["hi", hindi],
  ["hu", hungarian],
  ["hy", armenian],
  ["id", indonesian],
  ["it", italian],
  ["lt", lithuanian],
  ["ne", nepali],
  ["nl", dutch],
  ["no", norwegian],
  ["pt", portuguese],
  ["ro", romanian],
  ["ru", russian],
  ["sr", serbian],
  ["sv", swedish],
  ["ta", tamil],
  ["tr", turkish],
  ["uk", ukrainian],
]);

/** Stop words as they are written, not folded; none for a language that is not known. */
export function languageStopWords(code: string): readonly string[] {
  return (LISTS.get(code) ?? []).filter((word) => word !== ""); // one list has an empty entry
}
