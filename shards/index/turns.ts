// Slices of background work between requests: one slice per turn of the event loop for the whole shard, so a
// request waits for one slice at most, however many indexes have work to do.

export class Turns {
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;

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
      this.#waiting.shift()?.();
      this.#schedule();
    });
  }
}
