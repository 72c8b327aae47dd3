// Slices of long work between requests: one slice per turn of the event loop for the whole shard, so a
// request waits for one slice at most, however many indexes have work to do. While queries are answered,
// slices wait: this thread's work would take cores from the threads that a query is in, also when none of its
// requests is here.

/** How long a slice waits for queries; so even queries without end leave work its share. */
const PATIENCE_MS = 8;
const LOOK_MS = 1;

export class Slices {
  readonly #sliceMs: number;
  readonly #queries: Int32Array;
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;
  #begunMs = Number.NEGATIVE_INFINITY;

  /**
   * `sliceMs`: how long a slice should last. `queries`: how many queries are being answered, one number,
   * which other threads change.
   */
  constructor(sliceMs: number, queries: Int32Array) {
    this.#sliceMs = sliceMs;
    this.#queries = queries;
  }

  /** Whether the slice under way, or what runs without one, should end: then call `next`. */
  get over(): boolean {
    return performance.now() - this.#begunMs >= this.#sliceMs;
  }

  /** Lets other work run if the slice is over. */
  async pause(): Promise<void> {
    if (this.over) await this.next();
  }

  /** Resolves when the caller's slice begins. It lasts until the caller's next await. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    const now = performance.now();
    if (Atomics.load(this.#queries, 0) > 0 && now - this.#begunMs < PATIENCE_MS) {
      setTimeout(this.#run, LOOK_MS);
      return;
    }
    this.#scheduled = false;
    this.#begunMs = now;
    this.#waiting.shift()?.();
    this.#schedule();
  };
}
