// The generations of one index that the reads of one thread hold. Pure bookkeeping, no I/O.
import type { IndexStanding } from "./index-standing.js";

export class HeldGenerations {
  protected readonly standing: IndexStanding;
  readonly #place: number;
  /** By generation, ascending: a read holds the published one, which only goes up. */
  readonly #held = new Map<number, number>();

  /** `place`: the thread's on the standing. */
  constructor(standing: IndexStanding, place: number) {
    this.standing = standing;
    this.#place = place;
  }

  /** What a read that starts now sees. */
  get published(): number {
    return this.standing.published;
  }

  /** Lowest generation that a read of any thread holds or may still take. */
  get oldest(): number {
    return this.standing.oldest;
  }

  /** The published generation, kept until `release`. */
  hold(): number {
    const generation = this.#held.size === 0 ? this.#begin() : this.published;
    this.#held.set(generation, (this.#held.get(generation) ?? 0) + 1);
    return generation;
  }

  release(generation: number): void {
    const count = this.#held.get(generation) ?? 0;
    if (count > 1) {
      this.#held.set(generation, count - 1);
      return;
    }
    this.#held.delete(generation);
    const [lowest] = this.#held.keys();
    this.standing.hold(this.#place, lowest ?? null);
  }

  /**
   * What was published meanwhile may already be the oldest that anybody holds, as far as the owner has seen.
   */
  #begin(): number {
    for (;;) {
      const generation = this.published;
      this.standing.hold(this.#place, generation);
      if (this.published === generation) return generation;
    }
  }
}
