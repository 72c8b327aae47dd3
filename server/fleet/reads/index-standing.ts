// Where an index stands, in memory that all threads see that read it. The owner (the thread with the indexes)
// writes how far the index is. Each thread has a place in which it writes what it reads, so that the owner
// lets nothing go that somebody reads. Two threads that each write one word and then look at the other's
// cannot both miss what the other wrote, because all of these are atomic and so have one order (E. W.
// Dijkstra, Cooperating sequential processes, 1965). The picture is in docs/FORMATS.md.

/** In the place of a thread that holds no generation. */
const NONE = -1n;

/** More generations than an index ever has. */
const NEVER = 2n ** 62n;

// Positions of i64 words.
const PUBLISHED = 0;
const LAST_SEQ = 1;
const SPREAD_FROM = 4;
// Positions of i32 words.
const OPEN = 4;
const REBUILDING = 5;
const MEMORY = 6;
const DOCUMENTS = 7;
/** Bytes before the first place. */
const HEAD_BYTES = 48;
/** Of {i64 generation, i32 uses, i32 uses ended}. */
const PLACE_BYTES = 16;

/** The place of the owner. */
export const OWNER_PLACE = 0;

export class IndexStanding {
  /** Can be posted to other threads. */
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

  /** Of an index that nobody reads yet and that lies in all shards. `places`: one for each thread. */
  static make(places: number, published: number): IndexStanding {
    const standing = new IndexStanding(new SharedArrayBuffer(HEAD_BYTES + places * PLACE_BYTES));
    standing.published = published;
    for (let place = 0; place < places; place++) standing.hold(place, null);
    return standing;
  }

  /** What a read that starts now sees. */
  get published(): number {
    return Number(Atomics.load(this.#longs, PUBLISHED));
  }

  set published(generation: number) {
    Atomics.store(this.#longs, PUBLISHED, BigInt(generation));
  }

  /** The highest sequence number that was given. */
  get lastSeq(): number {
    return Number(Atomics.load(this.#longs, LAST_SEQ));
  }

  set lastSeq(seq: number) {
    Atomics.store(this.#longs, LAST_SEQ, BigInt(seq));
  }

  /**
   * The first generation whose documents lie in all shards; those of earlier ones lie in the home of the
   * index.
   */
  get spreadFrom(): number {
    return Number(Atomics.load(this.#longs, SPREAD_FROM));
  }

  /** To be set before that generation is published. */
  set spreadFrom(generation: number) {
    Atomics.store(this.#longs, SPREAD_FROM, Number.isFinite(generation) ? BigInt(generation) : NEVER);
  }

  /** Live documents. */
  get documents(): number {
    return Atomics.load(this.#words, DOCUMENTS) >>> 0;
  }

  set documents(count: number) {
    Atomics.store(this.#words, DOCUMENTS, count);
  }

  /** It is loaded in all shards in which it lies. */
  get isOpen(): boolean {
    return Atomics.load(this.#words, OPEN) !== 0;
  }

  set isOpen(isOpen: boolean) {
    Atomics.store(this.#words, OPEN, Number(isOpen));
  }

  /** Segments of an older schema wait to be re-indexed. */
  get isRebuilding(): boolean {
    return Atomics.load(this.#words, REBUILDING) !== 0;
  }

  set isRebuilding(isRebuilding: boolean) {
    Atomics.store(this.#words, REBUILDING, Number(isRebuilding));
  }

  /**
   * Changes when what threads remember of the index may not hold any more, although its generation is the
   * same.
   */
  get memory(): number {
    return Atomics.load(this.#words, MEMORY);
  }

  forget(): void {
    Atomics.add(this.#words, MEMORY, 1);
  }

  /** The thread at the place holds this generation and later ones; null: none. */
  hold(place: number, generation: number | null): void {
    Atomics.store(this.#longs, longsOf(place), generation === null ? NONE : BigInt(generation));
  }

  /** Lowest generation that a read holds or may still take. */
  get oldest(): number {
    // First the published one: a thread that begins to hold looks at it again afterwards.
    let oldest = Atomics.load(this.#longs, PUBLISHED);
    for (let place = 0; place < this.#places; place++) {
      const held = Atomics.load(this.#longs, longsOf(place));
      if (held !== NONE && held < oldest) oldest = held;
    }
    return Number(oldest);
  }

  /** The thread at the place begins to use the index. It may go on if the index is open afterwards. */
  beginUse(place: number): void {
    Atomics.add(this.#words, wordsOf(place), 1);
  }

  endUse(place: number): void {
    Atomics.add(this.#words, wordsOf(place) + 1, 1);
    Atomics.sub(this.#words, wordsOf(place), 1);
  }

  /** Some thread but the owner uses the index. */
  get isUsedElsewhere(): boolean {
    for (let place = OWNER_PLACE + 1; place < this.#places; place++)
      if (Atomics.load(this.#words, wordsOf(place)) > 0) return true;
    return false;
  }

  /** How many uses have ended elsewhere. The number may run over. */
  get endedElsewhere(): number {
    let ended = 0;
    for (let place = OWNER_PLACE + 1; place < this.#places; place++)
      ended = (ended + Atomics.load(this.#words, wordsOf(place) + 1)) | 0;
    return ended;
  }

  /** The thread at the place has ended. */
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
