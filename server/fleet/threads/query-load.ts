// Counts the queries in progress. The counts are in memory shared with the shards' threads. While any query
// is in progress, those threads postpone work that no query waits for. Each thread that answers queries keeps
// its own count and also updates the sum of all counts.

const SUM = 0;
const FIRST_OWN = 1;
/**
 * Lowest bit of a thread's count, set while the thread is updating the sum. The queries are counted in the
 * bits above it.
 */
const CHANGING = 1;
const ONE = 2;
/** Maximum number of attempts to correct the sum while other threads keep updating it. */
const REPAIRS_MAX = 1_000;

export class QueryLoad {
  /** The first word is the sum, read by `Slices` in each shard. */
  readonly shared: Int32Array;
  readonly #own: number;

  static memory(threads: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer((FIRST_OWN + threads) * Int32Array.BYTES_PER_ELEMENT));
  }

  /** `thread` is this thread's number, unique among the running threads. */
  constructor(shared: Int32Array, thread: number) {
    this.shared = shared;
    this.#own = FIRST_OWN + thread;
  }

  /** Number of queries in progress on this thread. */
  get here(): number {
    return Math.floor(Atomics.load(this.shared, this.#own) / ONE);
  }

  begin(): void {
    this.#change(1);
  }

  end(): void {
    this.#change(-1);
  }

  /**
   * Removes the queries of a thread that has ended and corrects the sum, which the thread may not have
   * updated before it ended.
   */
  forget(thread: number): void {
    Atomics.store(this.shared, FIRST_OWN + thread, 0);
    for (let tries = 0; tries < REPAIRS_MAX; tries++) {
      const before = Atomics.load(this.shared, SUM);
      const first = this.#counted();
      if (first === null || first !== this.#counted()) continue;
      if (Atomics.compareExchange(this.shared, SUM, before, first) === before) return;
    }
    // Another thread must have ended in the middle of an update, which prevents a consistent count. The sum
    // will be corrected when that thread is forgotten.
  }

  #change(by: number): void {
    const own = Atomics.load(this.shared, this.#own);
    Atomics.store(this.shared, this.#own, own | CHANGING);
    Atomics.add(this.shared, SUM, by);
    Atomics.store(this.shared, this.#own, own + by * ONE);
  }

  /** Sum of the threads' own counts; null if a thread is in the middle of an update. */
  #counted(): number | null {
    let sum = 0;
    for (let i = FIRST_OWN; i < this.shared.length; i++) {
      const own = Atomics.load(this.shared, i);
      if ((own & CHANGING) !== 0) return null;
      sum += own / ONE;
    }
    return sum;
  }
}
