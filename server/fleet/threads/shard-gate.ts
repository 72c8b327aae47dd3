// Records, in memory shared by all threads, whether threads may send reads to the shards directly. The owner
// closes a shard's gate while a suspect read may end the shard's thread again (quarantine.ts). Other threads'
// reads then pass through the owner, which keeps the list of suspects. Each thread counts its reads in flight
// in its own place.

/** Number of words per shard before the threads' words. */
const HEAD_WORDS = 1;

export class ShardGate {
  /** Can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #shards: number;
  readonly #wordsPerShard: number;

  /**
   * `places` is the number of reading threads. `shared` is the memory of a gate created by another thread.
   */
  constructor(shards: number, places: number, shared?: SharedArrayBuffer) {
    this.#shards = shards;
    this.#wordsPerShard = HEAD_WORDS + places;
    const bytes = shards * this.#wordsPerShard * Int32Array.BYTES_PER_ELEMENT;
    this.shared = shared ?? new SharedArrayBuffer(bytes);
    this.#words = new Int32Array(this.shared);
  }

  /** Must be called before a thread sends a read. If it returns false, the read must go through the owner. */
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

  /** Number of reads that have entered but not left. */
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
