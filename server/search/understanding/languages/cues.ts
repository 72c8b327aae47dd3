// The roles that a word can have in any language, in one lookup. Most words have none.
import { AMOUNT_WORDS } from "../units.js";
import { LANGUAGES } from "./all.js";

/** The word itself. */
export const ARTICLE = 1;
export const CONNECTIVE = 2;
export const GOES_WITH = 4;
export const FIELD_NAME = 8;
export const COLOUR = 16;
export const NEGATION = 32;
/** The first word of such a phrase. */
export const AND = 64;
export const FILLER = 128;
export const WITHOUT = 256;
export const SORT = 512;
/** The first word of a phrase that can precede a number: `under`, `between`. */
export const BOUND = 1024;
/** A currency, a unit, or stars. */
export const UNIT = 2048;

const CUES = compiled();

/** Returns everything that a word can be: a sum of the constants above, 0 for most words. */
export function cuesOf(key: string): number {
  return CUES.get(key) ?? 0;
}

function compiled(): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  const add = (cue: number, words: Iterable<string>): void => {
    for (const word of words) all.set(word, (all.get(word) ?? 0) | cue);
  };
  for (const language of LANGUAGES) {
    add(ARTICLE, language.articles);
    add(CONNECTIVE, language.connectives);
    add(GOES_WITH, language.goesWith);
    add(FIELD_NAME, language.names.keys());
    add(COLOUR, language.colours.keys());
    for (const [first, phrases] of language.without)
      if (phrases.some(({ keys }) => keys.length === 1)) add(NEGATION, [first]);
    add(AND, language.and.keys());
    add(FILLER, language.fillers.keys());
    add(WITHOUT, language.without.keys());
    add(SORT, language.sorts.keys());
    add(BOUND, language.before.keys());
    add(BOUND, language.between.keys());
  }
  add(UNIT, AMOUNT_WORDS);
  return all;
}
