// Heartbeats of the front-ends in shared memory, and the index that each of them is reading in an engine.

// Words of one place.
const BEATS = 0;
const READING = 1;
const PLACE_WORDS = 2;

/** Below every index number. */
const NOTHING = 0;

export class Pulse {
  /** Can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  /** `shared` is the memory of a pulse that another thread created. */
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

  /** Records that the thread at the place is reading these documents in an engine, or null after the read. */
  reads(place: number, data: number | null): void {
    Atomics.store(this.#words, place * PLACE_WORDS + READING, data ?? NOTHING);
  }

  /** Number of the documents being read, or null if the thread is in no engine. */
  reading(place: number): number | null {
    const data = Atomics.load(this.#words, place * PLACE_WORDS + READING) >>> 0;
    return data === NOTHING ? null : data;
  }
}
