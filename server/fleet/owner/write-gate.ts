// Lets writes pass, or holds them back while other work needs the shards free of writes. The work starts when
// the running writes have finished; writes that arrive later wait for it and then continue in order. Knows
// nothing about what a write does.

import { SkeinError } from "../../ground/errors.js";
import { within } from "../../ground/jobs/deadline.js";

export class WriteGate {
  readonly #waitMsMax: number;
  #closed = false;
  #inside = 0;
  /** Waiting writes, in call order. */
  readonly #waiting = new Set<() => void>();
  #onIdle: (() => void) | null = null;

  /** `waitMsMax` is the maximum time (ms) for which a write waits at the gate. */
  constructor(waitMsMax = Number.POSITIVE_INFINITY) {
    this.#waitMsMax = waitMsMax;
  }

  /**
   * Resolves when the write may start; the caller must then call `leave`. Writes start in call order. Throws
   * SK-SYS-503 after waiting for `waitMsMax`.
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
      throw new SkeinError("SK-SYS-503", "writes are waiting too long; retry", { retryAfter: 5 });
    });
  }

  /** True if a write is running or waiting. */
  get busy(): boolean {
    return this.#inside > 0 || this.#waiting.size > 0;
  }

  leave(): void {
    this.#inside--;
    if (this.#inside === 0) this.#onIdle?.();
  }

  /**
   * Runs the work while no write is running. Resolves with undefined, without running it, if the running
   * writes do not finish within `msMax` milliseconds. Must not be called concurrently.
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
