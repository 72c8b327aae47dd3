// A semaphore, which limits how many tasks run concurrently. The other tasks wait and start in order of
// arrival.

export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs the work once a slot is free. If the signal aborts while the work is still waiting, throws the
   * signal's reason.
   */
  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(signal);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        reject(signal.reason);
      };
      const begin = (): void => {
        signal.removeEventListener("abort", onAbort);
        resolve();
      };
      signal.addEventListener("abort", onAbort);
      this.#waiting.push(begin);
    });
  }

  /** Passes the slot to the first waiting task. */
  #leave(): void {
    const begin = this.#waiting.shift();
    if (begin === undefined) this.#free++;
    else begin();
  }
}
