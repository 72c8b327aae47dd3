// Statistics behind the coach's advice.

/**
 * Measures how strongly two events are associated: the log-likelihood ratio of a 2x2 table (Dunning 1993).
 * `both` counts the cases in which both events occur, `first` and `second` those in which each event occurs,
 * and `all` all cases. A ratio of 10.8 corresponds to p = 0.001. Returns 0 if the events do not occur
 * together more often than by chance.
 */
export function likelihoodRatio(both: number, first: number, second: number, all: number): number {
  if (both * all <= first * second) return 0;
  const cells = [both, first - both, second - both, all - first - second + both];
  const rows = [first, all - first];
  const columns = [second, all - second];
  return 2 * (entropy(rows, all) + entropy(columns, all) - entropy(cells, all));
}

/** Entropy in nats, multiplied by `all`. */
function entropy(counts: readonly number[], all: number): number {
  return counts.reduce((sum, count) => (count <= 0 ? sum : sum - count * Math.log(count / all)), 0);
}

/** Lower bound, with 97.5 % confidence, of a proportion after observing `part` of `whole` (Wilson 1927). */
export function shareAtLeast(part: number, whole: number): number {
  if (whole === 0) return 0;
  const z = 1.96;
  const share = part / whole;
  const middle = share + (z * z) / (2 * whole);
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * whole)) / whole);
  return (middle - spread) / (1 + (z * z) / whole);
}

/** Probability of observing at least `count` events when `expected` events are expected (Poisson). */
export function chanceOfAtLeast(count: number, expected: number): number {
  let term = Math.exp(-expected);
  let below = 0;
  for (let events = 0; events < count; events++) {
    below += term;
    term *= expected / (events + 1);
  }
  return Math.max(0, 1 - below);
}
