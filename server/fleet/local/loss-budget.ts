// Limits wasted time to a fraction of the useful time, so that attempts stay cheap even if most of them fail.

/** Fraction of the successful time that may be lost. */
const SHARE = 1 / 20;
/** Maximum budget (ms): the budget at the start, and its upper limit however long nothing has been lost. */
const MS_MAX = 25;

export class LossBudget {
  #leftMs = MS_MAX;

  succeeded(ms: number): void {
    this.#leftMs = Math.min(MS_MAX, this.#leftMs + ms * SHARE);
  }

  /** Takes a loss of `ms` from the budget. Returns false, and takes nothing, if the budget is smaller. */
  lose(ms: number): boolean {
    if (ms > this.#leftMs) return false;
    this.#leftMs -= ms;
    return true;
  }
}
