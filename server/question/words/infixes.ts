// Finds words inside longer words, in fields with `infix`. Decides which query words are searched for in this
// way, and which alternatives they get. Pure functions; docs/ranking.md explains the reasons.
import { ALT_INFIX, PREFIX_TERMS_LISTED } from "../../../engine-wasm/assembly/layout.js";
import type { ExpandWord } from "../../../engine-wasm/host/programs/expand-program.js";
import type { InfixExpansion } from "../../../engine-wasm/host/programs/expand-result.js";
import type { SearchAlternative } from "../../../engine-wasm/host/programs/search-program.js";
import type { QueryWord } from "./query-text.js";
import { compareBytes, largest, sumLists } from "./typos/ranked-typos.js";

/** Shorter words are not searched for inside other words, because too many longer words contain them. */
const INFIX_LETTERS_MIN = 3;
/** Weight of an infix match: less than a match at the beginning of a longer word, more than a misspelling. */
const INFIX_FACTOR = 0.7;
/** In the ranking, an infix match counts as a match with this many typos. */
const INFIX_TYPOS = 1;
/**
 * If more terms than this contain the word, they do not count toward proximity, because reading their
 * positions would be too expensive.
 */
const NEAR_TERMS_MAX = PREFIX_TERMS_LISTED;

/** Returns the dictionary lookup for a word, or null if the word is not searched for inside other words. */
export function infixQuestion({ terms, quoted, prefix }: QueryWord): ExpandWord | null {
  const [term, more] = terms as [string, string?];
  if (quoted || more !== undefined || [...term].length < INFIX_LETTERS_MIN) return null;
  // For an unfinished word, "inside" is enough: the terms that start with it are already found as its
  // completions.
  const infix = prefix ? "inside" : "anywhere";
  return { term, exact: false, prefix: false, typoPrefix: false, maxTypos: 0, infix };
}

/**
 * Upper bound on the number of documents that contain any of the terms: their summed frequencies in the field
 * where the sum is largest.
 */
export function infixFrequency(infixes: readonly InfixExpansion[]): number {
  return largest(sumLists(infixes.map(({ frequencies }) => frequencies)));
}

/**
 * Returns one alternative, or none if there are no infixes. `weight` is the word's weight. `idf` is the
 * inverse document frequency of all infix terms together.
 */
export function infixAlternatives(
  infixes: readonly InfixExpansion[],
  weight: number,
  idf: number,
): SearchAlternative[] {
  if (infixes.length === 0) return [];
  const terms = infixes.map(({ term }) => term).sort(compareBytes);
  return [
    {
      kind: ALT_INFIX,
      typos: INFIX_TYPOS,
      exact: false,
      sequence: false,
      infixOnly: true,
      useForProximity: terms.length <= NEAR_TERMS_MAX,
      boost: Math.min(idf, weight) * INFIX_FACTOR,
      terms: terms.map((term) => ({ term, prefix: false })),
    },
  ];
}
