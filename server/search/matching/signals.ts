// The signals of the ranking by name, so that a measurement can leave one out and see what it is worth
// (docs/ranking.md). A server that serves people leaves none out.

export const SIGNALS = [
  "field-weights",
  "field-lengths",
  "stems",
  "joined",
  "splits",
  "prefixes",
  "typos",
  "company",
  "closeness",
  "full-first",
  "place-bonuses",
] as const;

export type Signal = (typeof SIGNALS)[number];

export const NONE_LEFT_OUT: ReadonlySet<Signal> = new Set();
