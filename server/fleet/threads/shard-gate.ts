// Whether threads may send reads to the shards by themselves, in memory that all of them see. The owner
// closes the gate of a shard while some read may end it again (quarantine.ts): then reads pass through the
// owner, which knows what each of them asks. Each thread counts in its place what it has inside.

/** Words of a shard before those of the places. */
const HEAD_WORDS = 1;

export class ShardGate {
  /** Can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #shards: number;
  readonly #wordsPerShard: number;

  /** `places`: one for each thread that reads. `shared`: of the gate that another thread has made. */
  constructor(shards: number, places: number, shared?: SharedArrayBuffer) {
    this.#shards = shards;
    this.#wordsPerShard = HEAD_WORDS + places;
    const bytes = shards * this.#wordsPerShard * Int32Array.BYTES_PER_ELEMENT;
    this.shared = shared ?? new SharedArrayBuffer(bytes);
    this.#words = new Int32Array(this.shared);
  }

  /** A thread begins to read. False: through the owner only. */
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

  /** Reads that have entered and not left. */
  inside(shard: number): number {
    const at = shard * this.#wordsPerShard;
    let inside = 0;
    for (let word = at + HEAD_WORDS; word < at + this.#wordsPerShard; word++)
      inside += Atomics.load(this.#words, word);
    return inside;
  }

  /** The thread at the place has ended. */
  clear(place: number): void {
    for (let shard = 0; shard < this.#shards; shard++)
      Atomics.store(this.#words, shard * this.#wordsPerShard + HEAD_WORDS + place, 0);
  }
}
