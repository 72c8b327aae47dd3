// Counts durations in fixed buckets: one array write per observation, no labels, no library, because every
// request uses it. The exposition reads it at a scrape.

export interface HistogramValues {
  /** Number of values above the previous bound and not above this one; the last bound is infinite. */
  readonly counts: ReadonlyMap<number, number>;
  /** Sum of all values in seconds. */
  readonly sum: number;
}

export class DurationHistogram {
  /** Upper bounds in seconds, ascending and inclusive. */
  readonly #bounds: readonly number[];
  /** One more than the bounds: the last one counts everything above them. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    (this.#counts[bucket] as number)++;
    this.#sum += seconds;
  }

  values(): HistogramValues {
    const bounds = [...this.#bounds, Number.POSITIVE_INFINITY];
    return { counts: new Map(bounds.map((bound, i) => [bound, this.#counts[i] as number])), sum: this.#sum };
  }
}
