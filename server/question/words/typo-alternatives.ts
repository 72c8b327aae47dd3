// Turns a word's near terms into alternatives of the search program. Pure functions; docs/ranking.md explains
// the reasons.
import { ALT_TYPO } from "../../../engine-wasm/assembly/layout.js";
import type { TypoExpansion } from "../../../engine-wasm/host/programs/expand-result.js";
import type { SearchAlternative } from "../../../engine-wasm/host/programs/search-program.js";
import type { LikelyTypo } from "./typos/noisy-channel.js";
import { compareBytes, largest, sumLists } from "./typos/ranked-typos.js";
import { stemTerms } from "./variants.js";

/**
 * Near terms with equally many typos are divided into at most this many groups by cost. The last group
 * contains all the remaining terms.
 */
const TYPO_GROUPS_MAX = 4;
/** Near terms of equal weight. */
interface TypoGroup {
  readonly typos: number;
  readonly factor: number;
  readonly members: LikelyTypo[];
}

/** `weight` is the word's weight. */
export function typoAlternatives(
  typos: readonly LikelyTypo[],
  languages: readonly number[],
  weight: number,
  idf: (frequency: number) => number,
): SearchAlternative[] {
  const likelier: LikelyTypo[] = [];
  return typoGroups(typos).flatMap(({ typos: count, factor, members }) => {
    likelier.push(...members);
    // Include the documents of all likelier groups, so that a less likely group does not weigh more because
    // it is rarer.
    const boost = Math.min(idf(frequencyOf(likelier)), weight) * factor;
    const whole = members.filter(({ isPrefix }) => !isPrefix);
    // Make words and stems separate alternatives: a document that contains a word also contains its stem, and
    // would count twice in one alternative.
    const forms = [members.map(({ term }) => term), whole.flatMap(({ term }) => stemTerms(term, languages))];
    return forms
      .filter((terms) => terms.length > 0)
      .map((terms) => ({
        kind: ALT_TYPO,
        typos: count,
        exact: false,
        sequence: false,
        useForProximity: true,
        boost,
        terms: inByteOrder(terms).map((term) => ({ term, prefix: false })),
      }));
  });
}

/**
 * Divides the terms, which are in the order of likelyTypos, into groups of equally many typos and equal cost.
 * If too many costs occur, the last group for that number of typos takes the remaining terms.
 */
function typoGroups(typos: readonly LikelyTypo[]): TypoGroup[] {
  const groups: TypoGroup[] = [];
  let ranked = 0;
  for (const typo of typos) {
    const last = groups.at(-1);
    const isMore = typo.typos !== last?.typos;
    const isDearer = typo.cost > (last?.members[0]?.cost ?? 0);
    if (isMore || (isDearer && ranked < TYPO_GROUPS_MAX)) {
      ranked = isMore ? 1 : ranked + 1;
      groups.push({ typos: typo.typos, factor: typo.confidence, members: [typo] });
    } else last?.members.push(typo);
  }
  return groups;
}

function inByteOrder(terms: readonly string[]): string[] {
  return [...new Set(terms)].sort(compareBytes);
}

/** Number of documents with the likeliest near terms. Null if there are no near terms. */
export function likeliestFrequency(typos: readonly LikelyTypo[]): number | null {
  const likeliest = typoGroups(typos)[0];
  return likeliest === undefined ? null : frequencyOf(likeliest.members);
}

function frequencyOf(group: readonly TypoExpansion[]): number {
  return largest(sumLists(group.map((typo) => typo.frequencies)));
}
