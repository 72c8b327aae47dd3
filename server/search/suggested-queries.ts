// Other queries that may have been meant: "did you mean", with the misspelt words as the index spells them, and for a query that
// found little what other people search for with the same words.

import type { QueryText } from "../question/words/query-text.js";
import type { ExpandedWords } from "./matching/expand.js";
import { FEW_RESULTS, type QueryPlan } from "./matching/plan.js";

export interface SuggestedQuery {
  readonly value: string;
  /** How often people searched for it. A corrected query has no count. */
  readonly count?: number;
}

const POPULAR_MAX = 5;

/**
 * For who may see some documents only: a corrected query when `finds` says that they have its words. What other people search
 * for is not for him.
 */
export async function visibleQueries(
  { text }: QueryPlan,
  words: ExpandedWords | null,
  finds: (query: string) => Promise<boolean>,
): Promise<SuggestedQuery[]> {
  const value = correctedQuery(text, words)?.join(" ");
  return value !== undefined && (await finds(value)) ? [{ value }] : [];
}

/** Corrected queries first. */
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

/** Null when no word was taken for misspelt, and for queries with quotes or exclusions. */
function correctedQuery(text: QueryText, words: ExpandedWords | null): string[] | null {
  if (words === null || words.corrections.size === 0) return null;
  if (text.phrases.length > 0 || text.excludes.length > 0) return null;
  return text.runs.flat().map(({ term, word }) => words.corrections.get(word) ?? term);
}
