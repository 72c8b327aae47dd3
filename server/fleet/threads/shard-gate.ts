// One gate per shard, in memory shared by all threads. While a shard's gate is open, threads may send reads
// to the shard directly. The owner closes it while a suspect read may end the shard's thread again
// (quarantine.ts). Other threads then send their reads through the owner, which keeps the list of suspects.
// Each thread counts its reads in flight in its own place.

/** Number of words at the start of each shard's entry, before one word per thread. */
const HEAD_WORDS = 1;

export class ShardGate {
  /** The gates' memory, which can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #shards: number;
  readonly #wordsPerShard: number;

  /** `places` is the number of reading threads. `shared` is the memory of gates created by another thread. */
  constructor(shards: number, places: number, shared?: SharedArrayBuffer) {
    this.#shards = shards;
    this.#wordsPerShard = HEAD_WORDS + places;
    const bytes = shards * this.#wordsPerShard * Int32Array.BYTES_PER_ELEMENT;
    this.shared = shared ?? new SharedArrayBuffer(bytes);
    this.#words = new Int32Array(this.shared);
  }

  /**
   * Call before sending a read. If it returns false, the read must go through the owner. If it returns true,
   * call `leave` when the read is over.
   */
  enter(shard: number, place: number): boolean {
    const at = shard * this.#wordsPerShard;
    Atomics.add(this.#words, at + HEAD_WORDS + place, 1);
    if (Atomics.load(this.#words, at) === 0) return true;
    this.leave(shard, place);
    return false;
  }

  leave(shard: number, place: number): void {
    Atomics.sub(this.#words, shard * this.#wordsPerShard + HEAD_WORDS + place, 1);
  }

  setOpen(shard: number, isOpen: boolean): void {
    Atomics.store(this.#words, shard * this.#wordsPerShard, Number(!isOpen));
  }

  /** Number of reads in flight that entered through this gate. */
  inside(shard: number): number {
    const at = shard * this.#wordsPerShard;
    let inside = 0;
    for (let word = at + HEAD_WORDS; word < at + this.#wordsPerShard; word++)
      inside += Atomics.load(this.#words, word);
    return inside;
  }

  /** Clears an ended thread's place. */
  clear(place: number): void {
    for (let shard = 0; shard < this.#shards; shard++)
      Atomics.store(this.#words, shard * this.#wordsPerShard + HEAD_WORDS + place, 0);
  }
}
