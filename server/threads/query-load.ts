// How many queries are being answered, in memory that the shards' threads see. While there are any, the threads put off work that
// no query waits for. All threads that answer queries count into one number; beside it stands what each of them has counted.

const SUM = 0;
const FIRST_OWN = 1;

export class QueryLoad {
  /** The first number is the sum, for `Turns` of each shard. */
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

  begin(): void {
    Atomics.add(this.shared, SUM, 1);
    Atomics.add(this.shared, this.#own, 1);
  }

  end(): void {
    Atomics.sub(this.shared, SUM, 1);
    Atomics.sub(this.shared, this.#own, 1);
  }

  /** The queries of a thread that has ended are not answered any more. */
  forget(thread: number): void {
    Atomics.sub(this.shared, SUM, Atomics.exchange(this.shared, FIRST_OWN + thread, 0));
  }
}
