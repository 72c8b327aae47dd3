// An index's standing, in memory shared by all threads that read the index. The owner (the thread that owns
// the indexes) writes the index's state. Each reading thread has a place, where it writes the generation it
// holds, so that the owner drops nothing that is still being read. This needs no lock: if two threads each
// write one word and then read the other's word, at least one of them sees the other's write, because all
// these accesses are atomic and have one total order (E. W. Dijkstra, Cooperating sequential processes,
// 1965). docs/FORMATS.md shows the layout.

/** Written to the place of a thread that holds no generation. */
const NONE = -1n;

/** Higher than any generation that an index can reach. */
const NEVER = 2n ** 62n;

// Indexes into the i64 words.
const PUBLISHED = 0;
const LAST_SEQ = 1;
const SPREAD_FROM = 4;
// Indexes into the i32 words.
const OPEN = 4;
const REBUILDING = 5;
const MEMORY = 6;
const DOCUMENTS = 7;
/** Bytes before the first place. */
const HEAD_BYTES = 48;
/** Bytes per place: {i64 generation, i32 uses, i32 ended uses}. */
const PLACE_BYTES = 16;

/** Place number of the owner. */
export const OWNER_PLACE = 0;

export class IndexStanding {
  /** The standing's memory, which can be posted to other threads. */
  readonly shared: SharedArrayBuffer;
  readonly #longs: BigInt64Array;
  readonly #words: Int32Array;
  readonly #places: number;

  constructor(shared: SharedArrayBuffer) {
    this.shared = shared;
    this.#longs = new BigInt64Array(shared);
    this.#words = new Int32Array(shared);
    this.#places = (shared.byteLength - HEAD_BYTES) / PLACE_BYTES;
  }

  /**
   * Creates a standing for an index that nobody reads yet and whose documents are spread over all shards.
   * `places` is the number of threads that may read the index.
   */
  static make(places: number, published: number): IndexStanding {
    const standing = new IndexStanding(new SharedArrayBuffer(HEAD_BYTES + places * PLACE_BYTES));
    standing.published = published;
    for (let place = 0; place < places; place++) standing.hold(place, null);
    return standing;
  }

  /** The generation that a read would see if it started now. */
  get published(): number {
    return Number(Atomics.load(this.#longs, PUBLISHED));
  }

  set published(generation: number) {
    Atomics.store(this.#longs, PUBLISHED, BigInt(generation));
  }

  /** Highest sequence number assigned so far. */
  get lastSeq(): number {
    return Number(Atomics.load(this.#longs, LAST_SEQ));
  }

  set lastSeq(seq: number) {
    Atomics.store(this.#longs, LAST_SEQ, BigInt(seq));
  }

  /**
   * First generation whose documents are spread over all shards. In earlier generations, all documents are at
   * home.
   */
  get spreadFrom(): number {
    return Number(Atomics.load(this.#longs, SPREAD_FROM));
  }

  /** Set this before `generation` is published. */
  set spreadFrom(generation: number) {
    Atomics.store(this.#longs, SPREAD_FROM, Number.isFinite(generation) ? BigInt(generation) : NEVER);
  }

  /** Number of live documents. */
  get documents(): number {
    return Atomics.load(this.#words, DOCUMENTS) >>> 0;
  }

  set documents(count: number) {
    Atomics.store(this.#words, DOCUMENTS, count);
  }

  /** True if the index is loaded in all of its shards. */
  get isOpen(): boolean {
    return Atomics.load(this.#words, OPEN) !== 0;
  }

  set isOpen(isOpen: boolean) {
    Atomics.store(this.#words, OPEN, Number(isOpen));
  }

  /** True while segments with an older schema are waiting to be re-indexed. */
  get isRebuilding(): boolean {
    return Atomics.load(this.#words, REBUILDING) !== 0;
  }

  set isRebuilding(isRebuilding: boolean) {
    Atomics.store(this.#words, REBUILDING, Number(isRebuilding));
  }

  /** Changes when the threads' caches may have become invalid although no new generation was published. */
  get memory(): number {
    return Atomics.load(this.#words, MEMORY);
  }

  forget(): void {
    Atomics.add(this.#words, MEMORY, 1);
  }

  /**
   * Records that reads of the thread at this place need `generation` and later ones, or nothing if
   * `generation` is null.
   */
  hold(place: number, generation: number | null): void {
    Atomics.store(this.#longs, longsOf(place), generation === null ? NONE : BigInt(generation));
  }

  /** Lowest generation that any current or future read needs. */
  get oldest(): number {
    // Read the published generation before the places. A thread that begins to hold a generation checks
    // afterwards that it is still the published one, so it cannot go unseen.
    let oldest = Atomics.load(this.#longs, PUBLISHED);
    for (let place = 0; place < this.#places; place++) {
      const held = Atomics.load(this.#longs, longsOf(place));
      if (held !== NONE && held < oldest) oldest = held;
    }
    return Number(oldest);
  }

  /**
   * Records that the thread at this place begins a use of the index. The thread must then check that the
   * index is still open before it goes on.
   */
  beginUse(place: number): void {
    Atomics.add(this.#words, wordsOf(place), 1);
  }

  endUse(place: number): void {
    Atomics.add(this.#words, wordsOf(place) + 1, 1);
    Atomics.sub(this.#words, wordsOf(place), 1);
  }

  /** True if any thread other than the owner uses the index. */
  get isUsedElsewhere(): boolean {
    for (let place = OWNER_PLACE + 1; place < this.#places; place++)
      if (Atomics.load(this.#words, wordsOf(place)) > 0) return true;
    return false;
  }

  /** How many uses by threads other than the owner have ended. May wrap around. */
  get endedElsewhere(): number {
    let ended = 0;
    for (let place = OWNER_PLACE + 1; place < this.#places; place++)
      ended = (ended + Atomics.load(this.#words, wordsOf(place) + 1)) | 0;
    return ended;
  }

  /** Clears an ended thread's place. */
  clear(place: number): void {
    this.hold(place, null);
    Atomics.store(this.#words, wordsOf(place), 0);
  }
}

function longsOf(place: number): number {
  return (HEAD_BYTES + place * PLACE_BYTES) / BigInt64Array.BYTES_PER_ELEMENT;
}

function wordsOf(place: number): number {
  return (HEAD_BYTES + place * PLACE_BYTES + BigInt64Array.BYTES_PER_ELEMENT) / Int32Array.BYTES_PER_ELEMENT;
}
