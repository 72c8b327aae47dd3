// Limits how many shards do memory-hungry work (large merges and renewals) at once. If all shards did it at
// the same time, the server would need twice the memory of its indexes.

/** One in this many shards may do large work at the same time (rounded up, so always at least one shard). */
const SHARDS_A_WORKER = 4;
/** Interval at which a waiting shard checks whether it may start. */
export const LARGE_LOOK_MS = 50;
/** Time until the garbage of finished work has been collected; see discardMemory. */
const COLLECTED_AFTER_MS = 300;

export class LargeWork {
  readonly #working: Int32Array;
  readonly #shard: number;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  /**
   * `working` is shared and holds one flag per shard: 1 while that shard does large work. Clears this shard's
   * flag, which a previous thread may have left set when it died.
   */
  constructor(working: Int32Array, shard: number) {
    this.#working = working;
    this.#shard = shard;
    Atomics.store(working, shard, 0);
  }

  /** Returns true if the work may start; the caller must then call `end` afterwards. */
  begin(): boolean {
    if (performance.now() < this.#notBeforeMs) return false;
    if (Atomics.exchange(this.#working, this.#shard, 1) === 1) return false; // taken by another index
    const count = this.#working.reduce((sum, _, shard) => sum + Atomics.load(this.#working, shard), 0);
    if (count <= Math.ceil(this.#working.length / SHARDS_A_WORKER)) return true;
    Atomics.store(this.#working, this.#shard, 0);
    return false;
  }

  /**
   * Lets waiting shards start soon. This shard may start again only after the others have had time to do so.
   */
  end(): void {
    this.#notBeforeMs = performance.now() + COLLECTED_AFTER_MS + 2 * LARGE_LOOK_MS;
    setTimeout(() => Atomics.store(this.#working, this.#shard, 0), COLLECTED_AFTER_MS).unref();
  }
}
