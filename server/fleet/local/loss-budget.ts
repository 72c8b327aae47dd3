// Limits wasted work to a share of the useful work, so that trying stays cheap however often it fails.

/** Share of the successful work. */
const SHARE = 1 / 20;
/** Maximum loss in one go, both at the start and after a long time without a loss. */
const MS_MAX = 25;

export class LossBudget {
  #leftMs = MS_MAX;

  succeeded(ms: number): void {
    this.#leftMs = Math.min(MS_MAX, this.#leftMs + ms * SHARE);
  }

  /** Records a loss. Returns false if the budget is exceeded. */
  lose(ms: number): boolean {
    if (ms > this.#leftMs) return false;
    this.#leftMs -= ms;
    return true;
  }
}
