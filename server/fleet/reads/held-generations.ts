// Tracks which generations of one index this thread's reads hold. Uses no I/O.
import type { IndexStanding } from "./index-standing.js";

export class HeldGenerations {
  protected readonly standing: IndexStanding;
  readonly #place: number;
  /**
   * Number of holds per generation. The map's keys are in ascending order, because a read always holds the
   * published generation, which only increases.
   */
  readonly #held = new Map<number, number>();

  /** `place` is the thread's place in the standing. */
  constructor(standing: IndexStanding, place: number) {
    this.standing = standing;
    this.#place = place;
  }

  /** The generation that a read would see if it started now. */
  get published(): number {
    return this.standing.published;
  }

  /** Lowest generation that any current or future read needs, in any thread. */
  get oldest(): number {
    return this.standing.oldest;
  }

  /** Holds the published generation until `release`, and returns it. */
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
   * Makes the hold visible to the owner. If another generation has been published in the meantime, tries
   * again with that one, because the owner may already have dropped the older one.
   */
  #begin(): number {
    for (;;) {
      const generation = this.published;
      this.standing.hold(this.#place, generation);
      if (this.published === generation) return generation;
    }
  }
}
