// Lets writes pass, and stops them for a moment when somebody needs the shards between two writes: those
// under way end, later ones wait and go on in their order. Knows no write.

import { SkeinError } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";

export class WriteGate {
  readonly #waitMsMax: number;
  #closed = false;
  #inside = 0;
  /** In the order of the calls. */
  readonly #waiting = new Set<() => void>();
  #onIdle: (() => void) | null = null;

  /** `waitMsMax`: how long a write may have to wait. */
  constructor(waitMsMax = Number.POSITIVE_INFINITY) {
    this.#waitMsMax = waitMsMax;
  }

  /**
   * Resolves when the write may start; `leave` must follow. Writes start in the order of the calls. Throws
   * SK-SYS-503 when the wait is too long.
   */
  enter(): Promise<void> {
    if (!this.#closed) {
      this.#inside++;
      return Promise.resolve();
    }
    let start = (): void => undefined;
    const started = new Promise<void>((resolve) => {
      start = () => {
        this.#inside++;
        resolve();
      };
    });
    this.#waiting.add(start);
    return within(started, this.#waitMsMax, () => {
      this.#waiting.delete(start);
      throw new SkeinError("SK-SYS-503", "writes wait too long at the moment; retry", { retryAfter: 5 });
    });
  }

  /** A write is under way or waits. */
  get busy(): boolean {
    return this.#inside > 0 || this.#waiting.size > 0;
  }

  leave(): void {
    this.#inside--;
    if (this.#inside === 0) this.#onIdle?.();
  }

  /**
   * Runs the work while no write is under way. Undefined, without running it, when the writes under way do
   * not end within `msMax`. One caller at a time.
   */
  async quiet<T>(msMax: number, work: () => Promise<T>): Promise<T | undefined> {
    this.#closed = true;
    try {
      return (await this.#idle(msMax)) ? await work() : undefined;
    } finally {
      this.#closed = false;
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      for (const start of waiting) start();
    }
  }

  async #idle(msMax: number): Promise<boolean> {
    if (this.#inside === 0) return true;
    const idle = new Promise<boolean>((resolve) => {
      this.#onIdle = () => resolve(true);
    });
    try {
      return await within(idle, msMax, () => false);
    } finally {
      this.#onIdle = null;
    }
  }
}
