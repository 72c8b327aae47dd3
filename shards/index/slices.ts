// Runs long work in slices between requests: one slice per event-loop turn for the whole shard, so a request
// waits for at most one slice, regardless of how many indexes have work to do. Slices are delayed while
// queries run in any thread, even if none of their requests is in this shard, because this thread would
// compete with them for cores.

/** Maximum time a slice waits for queries, so that work progresses even under constant load. */
const PATIENCE_MS = 8;
const LOOK_MS = 1;

export class Slices {
  readonly #sliceMs: number;
  readonly #queries: Int32Array;
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;
  #begunMs = Number.NEGATIVE_INFINITY;

  /**
   * `sliceMs`: target duration of a slice. `queries`: one shared number, the count of running queries,
   * updated by other threads.
   */
  constructor(sliceMs: number, queries: Int32Array) {
    this.#sliceMs = sliceMs;
    this.#queries = queries;
  }

  /**
   * True if the current slice (or work running outside any slice) should end; the caller then calls `next`.
   */
  get over(): boolean {
    return performance.now() - this.#begunMs >= this.#sliceMs;
  }

  /** Yields to other work if the slice is over. */
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
