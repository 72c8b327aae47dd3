// Finds sorts in a query, such as `cheapest`, `neueste`, `les mieux notés`, `más barato`.
import type { IndexFacts } from "./facts.js";
import { LANGUAGES } from "./languages/all.js";
import { cuesOf, SORT } from "./languages/cues.js";
import { phraseAt } from "./languages/language.js";
import type { Reading } from "./reading.js";
import type { TextPiece } from "./tokens.js";

/**
 * Returns the sort named by a phrase at this token, if the index has a field for it. A superlative about
 * everything that there is, such as `the oldest city in the world`, is not a sort.
 */
export function sortAt(tokens: readonly TextPiece[], at: number, facts: IndexFacts): Reading | null {
  if ((cuesOf(tokens[at]!.key) & SORT) === 0) return null;
  const keyAt = (place: number): string | undefined => tokens[place]?.key;
  const isAboutAll = (place: number): boolean =>
    LANGUAGES.some(({ ofAll }) => phraseAt(ofAll, place, keyAt) !== null);
  let best: Reading | null = null;
  for (const language of LANGUAGES) {
    const phrase = phraseAt(language.sorts, at, keyAt);
    if (phrase === null) continue;
    const { role, descending } = phrase.means;
    const field = facts.roles[role];
    const to = at + phrase.keys.length;
    if (field === null || !field.sort || (best !== null && best.to >= to)) continue;
    const said = language.sentences.sorted[`${role}:${descending ? "down" : "up"}`];
    best = { from: at, to, kind: "sort", sort: { field, descending }, said, doubt: null, language };
  }
  return best !== null && tokens.some((_, place) => isAboutAll(place)) ? null : best;
}
