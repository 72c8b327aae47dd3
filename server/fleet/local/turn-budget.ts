// How long reads may still work in this turn of the event loop. Requests that arrive during the turn wait for
// its end.

export class TurnBudget {
  readonly #msMax: number;
  #leftMs: number;

  constructor(msMax: number) {
    this.#msMax = msMax;
    this.#leftMs = msMax;
  }

  /** 0 or less once reads have used up their part of the turn. */
  get leftMs(): number {
    return this.#leftMs;
  }

  /** True if no read has used any of this turn. */
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
