// Neighbours for a query that found little: documents with some of its words, under the same filters and rules,
// which are not among the results. Outside `found` and facets.
import { programOf, type Plan } from "./plan.js";
import { type Matched, matches } from "./match.js";
import { mergeResults, type Winner } from "./merge.js";
import type { Snapshot } from "./snapshot.js";

/** From this many results on nobody needs neighbours. */
const FEW_RESULTS = 3;
const RELATED_MAX = 5;

/** Empty when enough was found, or when the results are such neighbours already. */
export async function relatedWinners(plan: Plan, matched: Matched, snapshot: Snapshot): Promise<Winner[]> {
  const { words, program } = matched;
  const full = matches(matched);
  if (words === null || program.mode === "any" || words.words.length < 2 || full >= FEW_RESULTS) return [];
  // Documents with all words are the best of those with any word, so they can be passed over.
  const relaxed = {
    ...programOf(plan, "any", words.words, words.averageLengths),
    k: full + RELATED_MAX,
    sort: [{ by: "relevance", descending: true } as const],
    facets: [],
    pins: [],
  };
  const results = await snapshot.search(relaxed);
  return [...mergeResults(results, relaxed.sort, { offset: full, count: RELATED_MAX, facetValuesMax: 0 }).winners];
}
