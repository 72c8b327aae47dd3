// Durations counted into fixed buckets: one array write per observation, no labels, no library, because every
// request passes here. Read by the exposition at a scrape.

export class DurationHistogram {
  /** Upper bounds in seconds, ascending; a value equal to a bound belongs below it. */
  readonly bounds: readonly number[];
  /** One more than the bounds: the last one takes what is above all of them. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (seconds > (this.bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    (this.#counts[bucket] as number)++;
    this.#sum += seconds;
  }

  /** Sum of all observed values in seconds. */
  get sum(): number {
    return this.#sum;
  }

  /** For each bound how many values do not exceed it, then the number of all. */
  cumulative(): number[] {
    let total = 0;
    return Array.from(this.#counts, (count) => {
      total += count;
      return total;
    });
  }
}
