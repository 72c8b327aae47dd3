// Durations counted into fixed buckets: one array write per observation, no labels, no library, because every
// request passes here. Read by the exposition at a scrape.

export interface HistogramValues {
  /** How many values are not above a bound, and above the one before; the last bound is infinite. */
  readonly counts: ReadonlyMap<number, number>;
  /** Of all values in seconds. */
  readonly sum: number;
}

export class DurationHistogram {
  /** Upper bounds in seconds, ascending; a value equal to a bound belongs below it. */
  readonly #bounds: readonly number[];
  /** One more than the bounds: the last one takes what is above all of them. */
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
