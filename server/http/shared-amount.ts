// An amount that is the sum of several threads' shares, such as the bytes they hold. Each thread writes its
// own slot and readers add up the slots, so clearing a dead thread's slot removes its share
// (docs/FORMATS.md).

/** Each slot has its own cache line, because threads constantly write to their slots. */
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
   * `thread` is this thread's number, unique among the running threads. `unit` is the unit in which slots
   * count, the same in all threads. Other threads' shares are rounded up to whole units. A share may have up
   * to 2^31 units.
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

  /** The sum of all threads' shares. */
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

  /** Removes an ended thread's share. */
  forget(thread: number): void {
    Atomics.store(this.#slots, thread * SLOT_WORDS, 0);
  }
}
