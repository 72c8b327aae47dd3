// How much work may be lost: a share of the work that was not, so that trying costs little however often it
// fails.

/** Of the work that succeeded. */
const SHARE = 1 / 20;
/** As much may be lost in one go, at the start and after long work without a loss. */
const MS_MAX = 25;

export class LossBudget {
  #leftMs = MS_MAX;

  succeeded(ms: number): void {
    this.#leftMs = Math.min(MS_MAX, this.#leftMs + ms * SHARE);
  }

  /** False when that is more than may be lost. */
  lose(ms: number): boolean {
    if (ms > this.#leftMs) return false;
    this.#leftMs -= ms;
    return true;
  }
}
