// The shards' turns at work that takes much memory for a while: large merges, and moves to fresh memory. If all shards did theirs at the
// same time, the server would need twice the memory of its indexes.

/** One of so many shards works at a time. */
const SHARDS_A_WORKER = 4;
/** How often a shard looks whether it may begin. */
export const LARGE_LOOK_MS = 50;
/** Until what the work has left behind is collected, see discardMemory. */
const COLLECTED_AFTER_MS = 300;

export class LargeWork {
  readonly #working: Int32Array;
  readonly #shard: number;
  #notBeforeMs = Number.NEGATIVE_INFINITY;

  /** `working`: a number for each shard, 1 while it works, which all of them see. A thread that has ended may have left its own. */
  constructor(working: Int32Array, shard: number) {
    this.#working = working;
    this.#shard = shard;
    Atomics.store(working, shard, 0);
  }

  /** True when the work may begin; `end` is to be called after it. */
  begin(): boolean {
    if (performance.now() < this.#notBeforeMs) return false;
    if (Atomics.exchange(this.#working, this.#shard, 1) === 1) return false; // another index of this shard
    const count = this.#working.reduce((sum, _, shard) => sum + Atomics.load(this.#working, shard), 0);
    if (count <= Math.ceil(this.#working.length / SHARDS_A_WORKER)) return true;
    Atomics.store(this.#working, this.#shard, 0);
    return false;
  }

  /** The others may begin soon, and this shard when they have had the time to. */
  end(): void {
    this.#notBeforeMs = performance.now() + COLLECTED_AFTER_MS + 2 * LARGE_LOOK_MS;
    setTimeout(() => Atomics.store(this.#working, this.#shard, 0), COLLECTED_AFTER_MS).unref();
  }
}
