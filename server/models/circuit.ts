// A circuit breaker, which keeps requests from a failing server. After several consecutive failures it opens
// and refuses all requests for a while. After this pause it lets one request through. If that fails too, the
// next pause is twice as long; if it succeeds, the circuit closes.
import type { Clock } from "../ground/outbound/patience.js";

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 60_000;

export class Circuit {
  readonly #failuresMax: number;
  readonly #now: () => number;
  readonly #random: () => number;
  #failures = 0;
  #pauseMs = 0;
  #closedUntilMs = 0;
  #isTrying = false;

  /** The circuit opens after `failuresMax` consecutive failures. */
  constructor(failuresMax: number, clock: Pick<Clock, "now">, random: () => number) {
    this.#failuresMax = failuresMax;
    this.#now = () => clock.now();
    this.#random = random;
  }

  /** True while the server counts as failing: from `failuresMax` failures until the next success. */
  get isOpen(): boolean {
    return this.#failures >= this.#failuresMax;
  }

  /** True if a request would be refused now. */
  get isResting(): boolean {
    return this.isOpen && (this.#isTrying || this.restMs > 0);
  }

  /** Remaining pause in milliseconds. */
  get restMs(): number {
    return this.isOpen ? Math.max(0, this.#closedUntilMs - this.#now()) : 0;
  }

  /**
   * Returns true if a request may be sent. The caller must then report the outcome with `succeeded`, `failed`
   * or `gaveUp`.
   */
  enter(): boolean {
    if (this.isResting) return false;
    this.#isTrying = this.isOpen;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pauseMs = 0;
    this.#isTrying = false;
  }

  /** Reports that the request failed. `afterMs` is how long the server asked clients to wait, or null. */
  failed(afterMs: number | null): void {
    const wasTrying = this.#isTrying;
    this.#isTrying = false;
    if (this.isOpen && !wasTrying) return; // an older request, sent before the circuit opened
    this.#failures++;
    if (!this.isOpen) return;
    this.#pauseMs = Math.min(PAUSE_MS_MAX, Math.max(PAUSE_MS_MIN, 2 * this.#pauseMs));
    this.#closedUntilMs = this.#now() + Math.max(afterMs ?? 0, jittered(this.#pauseMs, this.#random));
  }

  /** Reports that the request was abandoned, so its outcome says nothing about the server. */
  gaveUp(): void {
    this.#isTrying = false;
  }
}

/** Shortens a pause by up to a quarter, so that clients that failed together do not retry together. */
export function jittered(ms: number, random: () => number): number {
  return ms * (1 - random() / 4);
}
