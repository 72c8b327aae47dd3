// Runs long work in slices between requests. The whole shard runs one slice per event-loop turn, so a request
// waits for at most one slice, regardless of how many indexes have work to do. Slices are delayed while
// queries run in any thread, even if this shard has no part in them, because this thread would compete with
// them for cores.

/** Maximum time that a slice waits for queries, so that work progresses even under constant load. */
const PATIENCE_MS = 8;
const LOOK_MS = 1;

export class Slices {
  readonly #sliceMs: number;
  readonly #queries: Int32Array;
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;
  #begunMs = Number.NEGATIVE_INFINITY;

  /**
   * `sliceMs`: target duration of a slice. `queries`: a single shared number, the count of running queries,
   * which other threads update.
   */
  constructor(sliceMs: number, queries: Int32Array) {
    this.#sliceMs = sliceMs;
    this.#queries = queries;
  }

  /**
   * True if the latest slice began at least `sliceMs` ago. The caller, even if it does not run in a slice,
   * should then call `next`.
   */
  get over(): boolean {
    return performance.now() - this.#begunMs >= this.#sliceMs;
  }

  /** Gives way to other work if the slice is over. */
  async pause(): Promise<void> {
    if (this.over) await this.next();
  }

  /** Resolves when the caller's slice begins. The slice lasts until the caller's next await. */
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
