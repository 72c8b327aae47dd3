// Finds alternative queries: the query with its misspelt words corrected ("did you mean") and, if it found
// little, popular searches that share its words.

import type { Work } from "../ground/jobs/work.js";
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
 * Alternative queries for callers who may see only some documents: at most the corrected query, and only if
 * `finds` reports that visible documents contain its words. Popular searches would reveal what others search
 * for.
 */
export function* visibleQueries(
  { text }: QueryPlan,
  words: ExpandedWords | null,
  finds: (query: string) => Work<boolean>,
): Work<SuggestedQuery[]> {
  const value = correctedQuery(text, words)?.join(" ");
  return value !== undefined && (yield* finds(value)) ? [{ value }] : [];
}

/** Returns the corrected query, if any, and then popular searches. */
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

/**
 * Returns the query's words with corrections. Null if no word seems misspelt, and for queries with quotes or
 * exclusions.
 */
function correctedQuery(text: QueryText, words: ExpandedWords | null): string[] | null {
  if (words === null || words.corrections.size === 0) return null;
  if (text.phrases.length > 0 || text.excludes.length > 0) return null;
  return text.runs.flat().map(({ term, word }) => words.corrections.get(word) ?? term);
}
