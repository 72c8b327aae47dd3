// Limits the time for local reads in one turn of the event loop, because requests that arrive during the turn
// wait until it ends.

export class TurnBudget {
  readonly #msMax: number;
  #leftMs: number;

  constructor(msMax: number) {
    this.#msMax = msMax;
    this.#leftMs = msMax;
  }

  /** Milliseconds left for reads in this turn; 0 or less once the budget is used up. */
  get leftMs(): number {
    return this.#leftMs;
  }

  /** True if no read has used this turn's budget yet. */
  get #isFresh(): boolean {
    return this.#leftMs === this.#msMax;
  }

  /** Records the time that a read took. */
  spend(ms: number): void {
    if (this.#isFresh) setImmediate(this.#renew);
    this.#leftMs -= ms;
  }

  readonly #renew = (): void => {
    this.#leftMs = this.#msMax;
  };
}
