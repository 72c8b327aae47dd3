// Signs of life of the front-ends, in memory that the owner sees, and what each of them reads in an engine at the moment.

// Words of a place.
const BEATS = 0;
const READING = 1;
const PLACE_WORDS = 2;

/** An index has a uid above this. */
const NOTHING = 0;

export class Pulse {
  /** Can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #words: Int32Array;

  /** `shared`: of the pulse that another thread has made. */
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

  /** The thread at the place is inside of an engine, for a read of documents with this number in the shards; null: no longer. */
  reads(place: number, data: number | null): void {
    Atomics.store(this.#words, place * PLACE_WORDS + READING, data ?? NOTHING);
  }

  /** Null: the thread is in no engine. */
  reading(place: number): number | null {
    const data = Atomics.load(this.#words, place * PLACE_WORDS + READING) >>> 0;
    return data === NOTHING ? null : data;
  }
}
