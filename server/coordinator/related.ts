// Neighbours for a query that found little: documents with some of its words, under the same filters and rules,
// which are not among the results. Outside `found` and facets.

import { type Matched, matches } from "./match.js";
import { mergeResults, type Winner } from "./merge.js";
import { type Plan, programOf } from "./plan.js";
import type { Snapshot } from "./snapshot.js";

/** From this many results on nobody needs neighbours. */
const FEW_RESULTS = 3;
const RELATED_MAX = 5;
/** A text match from here on has every word. */
const FULL_MATCH = 2 ** 51;

/** Empty when enough was found, or when the results are such neighbours already. */
export async function relatedWinners(plan: Plan, matched: Matched, snapshot: Snapshot): Promise<Winner[]> {
  const { words, program } = matched;
  const full = matches(matched);
  if (words === null || program.mode === "any" || words.words.length < 2 || full >= FEW_RESULTS) return [];
  // The results come along and are passed over: rows with all words, and pinned ones.
  const count = full + program.pins.length + RELATED_MAX;
  const relaxed = {
    ...programOf(plan, "any", words.words, words.averageLengths),
    k: count,
    sort: [{ by: "relevance", descending: true } as const],
    facets: [],
  };
  const results = await snapshot.search(relaxed);
  const { winners } = mergeResults(results, relaxed.sort, { offset: 0, count, facetValuesMax: 0 });
  return winners.filter((one) => !one.pinned && one.textMatch < FULL_MATCH).slice(0, RELATED_MAX);
}
