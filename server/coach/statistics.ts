// Statistical tests that the miners use.

/**
 * Measures how strongly two events are associated: the log-likelihood ratio of a 2x2 table (Dunning 1993). Of
 * `all` cases, the first event occurs in `first`, the second in `second`, and both in `both`. A ratio of 10.8
 * corresponds to p = 0.001. Returns 0 if the events do not occur together more often than by chance.
 */
export function likelihoodRatio(both: number, first: number, second: number, all: number): number {
  if (both * all <= first * second) return 0;
  const cells = [both, first - both, second - both, all - first - second + both];
  const rows = [first, all - first];
  const columns = [second, all - second];
  return 2 * (entropy(rows, all) + entropy(columns, all) - entropy(cells, all));
}

/** `all` times the entropy (in nats) of the distribution with these counts. */
function entropy(counts: readonly number[], all: number): number {
  return counts.reduce((sum, count) => (count <= 0 ? sum : sum - count * Math.log(count / all)), 0);
}

/**
 * Lower confidence bound (97.5 %) for a proportion, given `part` successes in `whole` trials (Wilson 1927).
 */
export function shareAtLeast(part: number, whole: number): number {
  if (whole === 0) return 0;
  const z = 1.96;
  const share = part / whole;
  const middle = share + (z * z) / (2 * whole);
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * whole)) / whole);
  return (middle - spread) / (1 + (z * z) / whole);
}

/** Probability of at least `count` events when the expected number is `expected` (Poisson). */
export function chanceOfAtLeast(count: number, expected: number): number {
  let term = Math.exp(-expected);
  let below = 0;
  for (let events = 0; events < count; events++) {
    below += term;
    term *= expected / (events + 1);
  }
  return Math.max(0, 1 - below);
}
