// Slices of long work between requests: one slice per turn of the event loop for the whole shard, so a request
// waits for one slice at most, however many indexes have work to do.

export class Turns {
  readonly #sliceMs: number;
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;
  #begunMs = Number.NEGATIVE_INFINITY;

  /** `sliceMs`: how long a slice should last. */
  constructor(sliceMs: number) {
    this.#sliceMs = sliceMs;
  }

  /** Whether the slice under way, or what runs without one, should end: then call `next`. */
  get over(): boolean {
    return performance.now() - this.#begunMs >= this.#sliceMs;
  }

  /** Lets others have their turn when the slice is over. */
  async pause(): Promise<void> {
    if (this.over) await this.next();
  }

  /** Resolves when it is the caller's turn. What runs until the next await is its slice. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#begunMs = performance.now();
      this.#waiting.shift()?.();
      this.#schedule();
    });
  }
}
