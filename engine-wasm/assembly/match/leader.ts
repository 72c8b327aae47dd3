// Finds an alternative that outscores another alternative of the same word in every row in which both have a
// term, so that the other alternative's lists for that term can be skipped.

import { Alternative, alternativeAt, TIER_BEST, Word } from "../program/search-program";
import { listAt } from "./alternative-lists";

const LEADER_LISTS_MAX: u32 = 16;
const SURELY_LESS: f64 = 0.999999; // factor that is below 1 by far more than a score's rounding error

/**
 * Returns a TIER_BEST alternative that outscores `behind` in every row in which it has all of `behind`'s
 * terms, or `behind` itself if there is none. For example, a prefix has all terms of a word that starts with
 * it. Only an alternative that matches in all slots qualifies.
 */
export function leaderOf(word: Word, behind: Alternative): Alternative {
  for (let i: u32 = 0; i < word.alternativeCount && behind.sequence == 0; i++) {
    const one = alternativeAt(word, i);
    if (one.tier != TIER_BEST || one.sequence != 0 || one.infix != 0) continue;
    if (one.listCount > LEADER_LISTS_MAX) continue;
    if (behind.boost < one.boost * SURELY_LESS) return one;
  }
  return behind;
}

/** True if one of the alternative's lists is the term's. */
export function hasTerm(alternative: Alternative, term: u32): bool {
  for (let i: u32 = 0; i < alternative.listCount; i++)
    if (listAt(alternative.lists, i).term == term) return true;
  return false;
}
