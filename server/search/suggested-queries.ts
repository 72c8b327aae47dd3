// "Did you mean": the query with its misspelt words as the index spells them.

import type { QueryText } from "../words/query-text.js";
import type { ExpandedWords } from "./expand.js";

export interface CorrectedQuery {
  readonly value: string;
}

/** The corrected queries. None when no word was taken for misspelt, and none for queries with quotes or exclusions. */
export function correctedQueries(text: QueryText, words: ExpandedWords | null): CorrectedQuery[] {
  if (words === null || words.corrections.size === 0) return [];
  if (text.phrases.length > 0 || text.excludes.length > 0) return [];
  const value = text.runs
    .flat()
    .map(({ term, word }) => words.corrections.get(word) ?? term)
    .join(" ");
  return [{ value }];
}
