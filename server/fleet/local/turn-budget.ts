// How long reads may still work on this thread in this turn of its event loop. Requests that have arrived in
// the meantime wait until the turn ends.

export class TurnBudget {
  readonly #msMax: number;
  #leftMs: number;

  constructor(msMax: number) {
    this.#msMax = msMax;
    this.#leftMs = msMax;
  }

  /** 0 or less once reads have used their part of the turn. */
  get leftMs(): number {
    return this.#leftMs;
  }

  /** No read has used any of this turn. */
  get #isFresh(): boolean {
    return this.#leftMs === this.#msMax;
  }

  /** Tells how long something took. */
  spend(ms: number): void {
    if (this.#isFresh) setImmediate(this.#renew);
    this.#leftMs -= ms;
  }

  readonly #renew = (): void => {
    this.#leftMs = this.#msMax;
  };
}
