// Caches the terms of texts in ranking rules and synonym groups. A catalog record never changes, so its texts
// are analysed only once, or again if the index's text analysis changes.

import type { RankingRule } from "../../catalog/records/rule.js";
import type { SynonymGroup } from "../../catalog/records/synonym.js";
import type { TextAnalyser } from "../../catalog/schema/text-analyser.js";

interface KnownTerms {
  readonly analysis: string;
  readonly terms: readonly (readonly string[])[];
}

/** Shared by all indexes of the thread, because terms depend only on the record and the text analysis. */
const known = new WeakMap<RankingRule | SynonymGroup, KnownTerms>();

/** Returns the terms of each of the record's texts. `texts` must always be the same for the same record. */
export function recordTerms(
  record: RankingRule | SynonymGroup,
  texts: readonly string[],
  analyser: TextAnalyser,
): KnownTerms["terms"] {
  const { analysis } = analyser;
  let entry = known.get(record);
  if (entry?.analysis !== analysis) {
    entry = { analysis, terms: texts.map((text) => analyser.terms(text)) };
    known.set(record, entry);
  }
  return entry.terms;
}
