// Alternative queries: "did you mean" with misspelt words corrected and, for a query with few results,
// popular searches that share its words.

import type { QueryText } from "../question/words/query-text.js";
import type { ExpandedWords } from "./matching/expand.js";
import { FEW_RESULTS, type QueryPlan } from "./matching/plan.js";

export interface SuggestedQuery {
  readonly value: string;
  /** Number of searches for the query. A corrected query has no count. */
  readonly count?: number;
}

const POPULAR_MAX = 5;

/**
 * For callers who may see only some documents: returns a corrected query if `finds` reports that the visible
 * documents contain its words. Does not reveal popular searches.
 */
export async function visibleQueries(
  { text }: QueryPlan,
  words: ExpandedWords | null,
  finds: (query: string) => Promise<boolean>,
): Promise<SuggestedQuery[]> {
  const value = correctedQuery(text, words)?.join(" ");
  return value !== undefined && (await finds(value)) ? [{ value }] : [];
}

/** Returns corrected queries first. */
export function suggestedQueries(
  { text, popularity }: QueryPlan,
  words: ExpandedWords | null,
  found: number,
): SuggestedQuery[] {
  const corrected = correctedQuery(text, words);
  const suggested: SuggestedQuery[] = corrected === null ? [] : [{ value: corrected.join(" ") }];
  if (found >= FEW_RESULTS) return suggested;
  const terms = corrected ?? text.runs.flat().map(({ term }) => term);
  const popular = popularity.related(terms, POPULAR_MAX);
  return [...suggested, ...popular.map(({ value, count }) => ({ value, count }))];
}

/** Null if no word seems misspelt, and for queries with quotes or exclusions. */
function correctedQuery(text: QueryText, words: ExpandedWords | null): string[] | null {
  if (words === null || words.corrections.size === 0) return null;
  if (text.phrases.length > 0 || text.excludes.length > 0) return null;
  return text.runs.flat().map(({ term, word }) => words.corrections.get(word) ?? term);
}
