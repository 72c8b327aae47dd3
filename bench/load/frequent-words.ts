// Finds words that many generated products have, for filters and searches that match much.

import type { SampleDocument } from "./queries.js";

/** The words of the sample's descriptions, most frequent first, `count` at most. */
export function frequentWords(sample: readonly SampleDocument[], count: number): string[] {
  const counts = new Map<string, number>();
  for (const { description } of sample)
    for (const word of String(description)
      .toLowerCase()
      .match(/[a-z]{3,}/g) ?? [])
      counts.set(word, (counts.get(word) ?? 0) + 1);
  const byCount = [...counts].sort(([, a], [, b]) => b - a);
  return byCount.slice(0, count).map(([word]) => word);
}
