// Generates repeatable random numbers for data and query mixes. The same seed gives the same benchmark.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Returns a number in [0, 1) (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  /** Returns a whole number from low to high, both included. */
  from(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/**
 * Draws ranks 0..n-1 with a probability proportional to 1 / (rank + 1 + shift) ** exponent (Zipf's law; with
 * a shift, the Zipf-Mandelbrot law).
 */
export class Zipf {
  readonly #cumulative: Float64Array;

  constructor(n: number, exponent: number, shift = 0) {
    this.#cumulative = new Float64Array(n);
    let sum = 0;
    for (let rank = 0; rank < n; rank++) {
      sum += 1 / (rank + 1 + shift) ** exponent;
      this.#cumulative[rank] = sum;
    }
  }

  draw(random: Random): number {
    const table = this.#cumulative;
    const target = random.next() * table[table.length - 1]!;
    let low = 0;
    let high = table.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (table[middle]! < target) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
