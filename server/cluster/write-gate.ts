// Lets writes pass, and stops them for a moment when somebody needs the shards between two writes: those under
// way end, later ones wait and go on in their order. Knows no write.
import { setTimeout as sleep } from "node:timers/promises";

export class WriteGate {
  #closed = false;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];
  #onIdle: (() => void) | null = null;

  /** Resolves when the write may start; `leave` must follow. Writes start in the order of the calls. */
  enter(): Promise<void> {
    if (!this.#closed) {
      this.#inside++;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  leave(): void {
    this.#inside--;
    if (this.#inside === 0) this.#onIdle?.();
  }

  /**
   * Runs the work while no write is under way. Undefined, without running it, when the writes under way do not
   * end within `msMax`. One caller at a time.
   */
  async quiet<T>(msMax: number, work: () => Promise<T>): Promise<T | undefined> {
    this.#closed = true;
    try {
      return (await this.#idle(msMax)) ? await work() : undefined;
    } finally {
      this.#closed = false;
      for (const start of this.#waiting.splice(0)) {
        this.#inside++;
        start();
      }
    }
  }

  async #idle(msMax: number): Promise<boolean> {
    if (this.#inside === 0) return true;
    const timer = new AbortController();
    const idle = new Promise<boolean>((resolve) => {
      this.#onIdle = () => resolve(true);
    });
    const late = sleep(msMax, false, { ref: false, signal: timer.signal }).catch(() => false);
    try {
      return await Promise.race([idle, late]);
    } finally {
      timer.abort();
      this.#onIdle = null;
    }
  }
}
