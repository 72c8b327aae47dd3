// Limits the time lost on failed attempts to a fraction of the time spent on successful ones, so that
// attempts stay cheap even if most of them fail.

/** A successful attempt adds this fraction of its time to the budget. */
const SHARE = 1 / 20;
/** The budget (ms) at first, and the maximum up to which successful attempts raise it. */
const MS_MAX = 25;

export class LossBudget {
  #leftMs = MS_MAX;

  succeeded(ms: number): void {
    this.#leftMs = Math.min(MS_MAX, this.#leftMs + ms * SHARE);
  }

  /**
   * Subtracts a loss of `ms` from the budget. If the budget is too small, returns false and subtracts
   * nothing.
   */
  lose(ms: number): boolean {
    if (ms > this.#leftMs) return false;
    this.#leftMs -= ms;
    return true;
  }
}
