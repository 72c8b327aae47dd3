// Quick checks that rule out readings for most queries. A check may wrongly let a query pass, but never
// wrongly rule one out; a test compares the checks with the readings.
import type { IndexFacts } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import { BOUND, cuesOf, FILLER, SORT, UNIT, WITHOUT } from "./languages/cues.js";
import { type Phrases, phraseAt } from "./languages/language.js";
import type { TextPiece } from "./tokens.js";
import { mayBeginValue } from "./values.js";

/**
 * False if the text certainly has no explicit readings, which is true of most queries. A quick check, because
 * it needs only the words that can name a field (`names`) and not the index's facts.
 */
export function mayName(tokens: readonly TextPiece[], names: ReadonlySet<string>): boolean {
  if (tokens.length < 2) return false;
  let cues = 0;
  let hasNumber = false;
  for (const { key, value } of tokens) {
    if (names.has(key)) return true;
    cues |= cuesOf(key);
    hasNumber ||= value !== null;
  }
  if (hasNumber && (cues & UNIT) !== 0) return true;
  // A number without a bound, a unit or a field's name is not a range.
  if ((cues & (hasNumber ? WITHOUT | SORT | BOUND : WITHOUT | SORT)) === 0) return false;
  const keyAt = (place: number): string | undefined => tokens[place]?.key;
  return LANGUAGES.some(({ without, sorts, before, between }) => {
    const tables: Phrases<unknown>[] = hasNumber ? [without, sorts, before, between] : [without, sorts];
    return tokens.some((_, at) => tables.some((table) => phraseAt(table, at, keyAt) !== null));
  });
}

/** False if the text certainly has no fillers. */
export function mayHaveFillers(tokens: readonly TextPiece[]): boolean {
  return tokens.some(({ key }) => (cuesOf(key) & FILLER) !== 0);
}

/** False if the text certainly has no value as it is spelled in the index. */
export function mayHaveValues(tokens: readonly TextPiece[], facts: IndexFacts): boolean {
  return tokens.some((token) => mayBeginValue(token, facts));
}
