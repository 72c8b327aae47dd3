// How long this thread may still work for reads in this turn of its event loop. Requests that have arrived meanwhile wait for all of that.

export class LocalTurn {
  readonly #msMax: number;
  #leftMs: number;

  constructor(msMax: number) {
    this.#msMax = msMax;
    this.#leftMs = msMax;
  }

  /** Not above 0 when the rest of the turn is for others. */
  get leftMs(): number {
    return this.#leftMs;
  }

  /** Nothing else was done for reads in this turn. */
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
