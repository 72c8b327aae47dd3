// How many queries are being answered, in memory that the shards' threads see. While there are any, the
// threads put off work that no query waits for. All threads that answer queries count into one number; beside
// it stands what each of them has counted.

const SUM = 0;
const FIRST_OWN = 1;
/** Of a thread's number, which counts in twos: it is about to change the sum. */
const CHANGING = 1;
const ONE = 2;
/** How often the sum is tried to be set anew while other threads change it. */
const REPAIRS_MAX = 1_000;

export class QueryLoad {
  /** The first number is the sum, for `Slices` of each shard. */
  readonly shared: Int32Array;
  readonly #own: number;

  static memory(threads: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer((FIRST_OWN + threads) * Int32Array.BYTES_PER_ELEMENT));
  }

  /** `thread`: the number of this thread, which no other running one has. */
  constructor(shared: Int32Array, thread: number) {
    this.shared = shared;
    this.#own = FIRST_OWN + thread;
  }

  /** How many queries this thread is answering. */
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
   * The queries of a thread that has ended are not answered any more. It may have ended before it had changed
   * the sum, or after.
   */
  forget(thread: number): void {
    Atomics.store(this.shared, FIRST_OWN + thread, 0);
    for (let tries = 0; tries < REPAIRS_MAX; tries++) {
      const before = Atomics.load(this.shared, SUM);
      const first = this.#counted();
      if (first === null || first !== this.#counted()) continue;
      if (Atomics.compareExchange(this.shared, SUM, before, first) === before) return;
    }
    // Another thread has ended in the middle of a change. When that is forgotten, too, the sum is right
    // again.
  }

  #change(by: number): void {
    const own = Atomics.load(this.shared, this.#own);
    Atomics.store(this.shared, this.#own, own | CHANGING);
    Atomics.add(this.shared, SUM, by);
    Atomics.store(this.shared, this.#own, own + by * ONE);
  }

  /** Null while a thread is about to change the sum. */
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
