// The front-ends' heartbeats in shared memory, and the index that each front-end is currently reading in an
// engine.

// Offsets of the i32 words in a front-end's slot.
const BEATS = 0;
const READING = 1;
const PLACE_WORDS = 2;

/** Value of READING while the thread reads no index; lower than any data number. */
const NOTHING = 0;

export class Pulse {
  /** Can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  /** `shared` is the memory of a pulse created by another thread. */
  constructor(places: number, shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer(places * PLACE_WORDS * Int32Array.BYTES_PER_ELEMENT);
    this.#words = new Int32Array(this.shared);
  }

  beat(place: number): void {
    Atomics.add(this.#words, place * PLACE_WORDS + BEATS, 1);
  }

  beats(place: number): number {
    return Atomics.load(this.#words, place * PLACE_WORDS + BEATS);
  }

  /**
   * Records the data number of the index that the thread in slot `place` is reading in an engine, or null
   * when the read has ended.
   */
  reads(place: number, data: number | null): void {
    Atomics.store(this.#words, place * PLACE_WORDS + READING, data ?? NOTHING);
  }

  /** Data number of the index that the thread is reading in an engine; null if it is reading none. */
  reading(place: number): number | null {
    const data = Atomics.load(this.#words, place * PLACE_WORDS + READING) >>> 0;
    return data === NOTHING ? null : data;
  }
}
