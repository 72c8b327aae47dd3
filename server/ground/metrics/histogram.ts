// Counts durations in fixed buckets. Every request uses it, so an observation is a single array write, with
// no labels and no library. The counts are read only when metrics are scraped.

export interface HistogramValues {
  /**
   * For each upper bound in seconds, the number of durations in (previous bound, bound]. The last bound is
   * infinite.
   */
  readonly counts: ReadonlyMap<number, number>;
  /** Sum of all durations in seconds. */
  readonly sum: number;
}

export class DurationHistogram {
  /** Upper bounds in seconds, ascending and inclusive. */
  readonly #bounds: readonly number[];
  /** One count per bound, and a last one for durations above all bounds. */
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
