// Tracks which generations of one index this thread's reads hold. Uses no I/O.
import type { IndexStanding } from "./index-standing.js";

export class HeldGenerations {
  protected readonly standing: IndexStanding;
  readonly #place: number;
  /** The held generations in ascending order, because a hold always takes the newest one. */
  readonly #held: number[] = [];
  /** How many times each of them is held. */
  readonly #times: number[] = [];

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
    const generation = this.#held.length === 0 ? this.#begin() : this.published;
    const last = this.#held.length - 1;
    if (last >= 0 && this.#held[last] === generation) this.#times[last]!++;
    else {
      this.#held.push(generation);
      this.#times.push(1);
    }
    return generation;
  }

  release(generation: number): void {
    const at = this.#held.indexOf(generation);
    if (--this.#times[at]! > 0) return;
    this.#held.splice(at, 1);
    this.#times.splice(at, 1);
    this.standing.hold(this.#place, this.#held[0] ?? null);
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
