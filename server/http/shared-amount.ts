// A total to which several threads contribute, such as the bytes of all request bodies in memory. Each thread
// writes its contribution to its own slot and readers add up the slots, so clearing a dead thread's slot
// removes its contribution (docs/FORMATS.md).

/** Each slot has its own cache line, because every thread writes to its slot all the time. */
const SLOT_WORDS = 16;

export class SharedAmount {
  readonly #slots: Int32Array;
  readonly #slot: number;
  readonly #unit: number;
  #own = 0;

  static memory(threads: number): SharedArrayBuffer {
    return new SharedArrayBuffer(threads * SLOT_WORDS * Int32Array.BYTES_PER_ELEMENT);
  }

  /**
   * `thread` is this thread's number, unique among the running threads. Slots count in multiples of `unit`,
   * which must be the same in all threads; a share may have up to 2^31 units. `total` rounds the other
   * threads' shares up to whole units.
   */
  constructor(memory: SharedArrayBuffer, thread: number, unit = 1) {
    this.#slots = new Int32Array(memory);
    this.#slot = thread * SLOT_WORDS;
    this.#unit = unit;
  }

  /** This thread's exact share. */
  get own(): number {
    return this.#own;
  }

  /** Sum of all threads' shares. */
  get total(): number {
    let others = 0;
    for (let slot = 0; slot < this.#slots.length; slot += SLOT_WORDS)
      if (slot !== this.#slot) others += Atomics.load(this.#slots, slot);
    return this.#own + others * this.#unit;
  }

  /** Adds to this thread's share; a negative amount subtracts. */
  add(amount: number): void {
    this.#own += amount;
    Atomics.store(this.#slots, this.#slot, Math.ceil(this.#own / this.#unit));
  }

  /** Removes an ended thread's share from the total. */
  forget(thread: number): void {
    Atomics.store(this.#slots, thread * SLOT_WORDS, 0);
  }
}
