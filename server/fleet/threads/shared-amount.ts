// An amount that several threads have a part in: what they hold or do at the moment. Each thread writes a
// slot of its own, and whoever asks adds them up, so that a thread that has died is taken out by emptying its
// slot (docs/FORMATS.md).

/** A slot has a cache line of its own, because threads write theirs all the time. */
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
   * `thread`: the number of this thread, which no other running one has. `unit`: what a slot counts in, the
   * same in all threads; parts of others are known rounded up to it. A part may have up to 2^31 units.
   */
  constructor(memory: SharedArrayBuffer, thread: number, unit = 1) {
    this.#slots = new Int32Array(memory);
    this.#slot = thread * SLOT_WORDS;
    this.#unit = unit;
  }

  /** The part of this thread, exactly. */
  get own(): number {
    return this.#own;
  }

  /** The parts of all threads. */
  get total(): number {
    let others = 0;
    for (let slot = 0; slot < this.#slots.length; slot += SLOT_WORDS)
      if (slot !== this.#slot) others += Atomics.load(this.#slots, slot);
    return this.#own + others * this.#unit;
  }

  /** To this thread's part; a negative number takes away. */
  add(amount: number): void {
    this.#own += amount;
    Atomics.store(this.#slots, this.#slot, Math.ceil(this.#own / this.#unit));
  }

  /** Takes the part of a thread away that has ended. */
  forget(thread: number): void {
    Atomics.store(this.#slots, thread * SLOT_WORDS, 0);
  }
}
