// The board of a shared engine is a region of its memory through which other threads read an index while its
// owner writes. The owner publishes the current snapshots. Each reader records that it is reading, so that
// the owner does not free a region that a reader may still see. The board also shows the current vector model
// and signals changes to stored vectors. This is epoch-based reclamation (K. Fraser, Practical lock-freedom,
// 2004): the epoch advances whenever the snapshots change, and anything removed by that change can be freed
// once no reader is still inside an earlier epoch. While the epoch is odd, the owner is writing the snapshot
// table. docs/FORMATS.md shows the layout.

/** A snapshot visible to readers. */
export interface PublishedSnapshot {
  readonly generation: number;
  readonly address: number;
}

/** Maximum number of concurrent readers per engine. */
export const READERS_MAX = 64;
/** Maximum number of snapshots on the board. If there are more, the board shows only the newest. */
const SNAPSHOTS_MAX = 8;

// Offsets in the board, in u32 words.
const EPOCH = 0;
const ENDED = 1;
const SNAPSHOTS = 2; // number of snapshots in the table
const OMITTED = 3; // number of older snapshots left out of the table
const READS = 4; // number of completed reads
const MODEL = 5; // current vector model, 0: none
const VECTORS = 6; // number of changes to stored vectors; may wrap
const READERS = 8;
const TABLE = READERS + READERS_MAX; // entries of {f64 generation, u32 address, u32 0}
const ENTRY_WORDS = 4;
export const BOARD_BYTES = (TABLE + SNAPSHOTS_MAX * ENTRY_WORDS) * 4;

const FIRST_EPOCH = 2; // never 0, because a reader's word is 0 while it is not reading
/**
 * Number of attempts to enter before a reader gives up. An attempt fails while the owner changes the
 * snapshots.
 */
const ENTER_TRIES = 100;

export class Board {
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;

  /** `address`: start of a region in the engine's memory, a multiple of 16. */
  constructor(memory: ArrayBufferLike, address: number) {
    this.#words = new Int32Array(memory, address, BOARD_BYTES / 4);
    this.#doubles = new Float64Array(memory, address, BOARD_BYTES / 8);
  }

  /** Owner: turns the region into a board without snapshots. */
  clear(): void {
    this.#words.fill(0);
    Atomics.store(this.#words, EPOCH, FIRST_EPOCH);
  }

  /** Owner: replaces the published snapshots. `snapshots` is sorted by ascending generation. */
  write(snapshots: readonly PublishedSnapshot[]): void {
    const epoch = Atomics.load(this.#words, EPOCH);
    Atomics.store(this.#words, EPOCH, epoch + 1);
    const shown = snapshots.slice(-SNAPSHOTS_MAX);
    for (const [i, { generation, address }] of shown.entries()) {
      this.#doubles[(TABLE + i * ENTRY_WORDS) / 2] = generation;
      this.#words[TABLE + i * ENTRY_WORDS + 2] = address;
    }
    this.#words[SNAPSHOTS] = shown.length;
    this.#words[OMITTED] = snapshots.length - shown.length;
    Atomics.store(this.#words, EPOCH, (epoch + 2) | 0 || FIRST_EPOCH);
  }

  /** Owner: publishes the current vector model's number; see `model`. */
  showModel(model: number): void {
    Atomics.store(this.#words, MODEL, model);
  }

  /** Number of the current vector model; 0 if there is none. Every new model gets a new number. */
  get model(): number {
    return Atomics.load(this.#words, MODEL);
  }

  /** Owner: signals that stored vectors, or the set of comparable vectors, have changed; see `vectors`. */
  vectorsChanged(): void {
    Atomics.add(this.#words, VECTORS, 1);
  }

  /** Changes whenever stored vectors, or the set of comparable vectors, may have changed. */
  get vectors(): number {
    return Atomics.load(this.#words, VECTORS);
  }

  /** Owner: abandons this memory. */
  end(): void {
    Atomics.store(this.#words, ENDED, 1);
  }

  get epoch(): number {
    return Atomics.load(this.#words, EPOCH);
  }

  /**
   * True if no reader is still inside an epoch before `epoch`. Then no reader can see a region that the
   * snapshots of `epoch` no longer refer to.
   */
  isUnseenSince(epoch: number): boolean {
    for (let reader = 0; reader < READERS_MAX; reader++) {
      const inside = Atomics.load(this.#words, READERS + reader);
      if (inside !== 0 && ((inside - epoch) | 0) < 0) return false;
    }
    return true;
  }

  /**
   * Enters the current epoch for a reader: everything that the board shows stays in place until `leave`.
   * Returns the epoch, or 0 if the owner has abandoned the memory or was changing the snapshots at every
   * attempt.
   */
  enter(reader: number): number {
    for (let tries = 0; tries < ENTER_TRIES; tries++) {
      const epoch = this.epoch;
      if ((epoch & 1) !== 0) continue;
      Atomics.store(this.#words, READERS + reader, epoch);
      if (this.epoch !== epoch) continue;
      if (!this.ended) return epoch;
      break;
    }
    Atomics.store(this.#words, READERS + reader, 0);
    return 0;
  }

  leave(reader: number): void {
    Atomics.add(this.#words, READS, 1);
    Atomics.store(this.#words, READERS + reader, 0);
  }

  /** Number of completed reads. May wrap. */
  get reads(): number {
    return Atomics.load(this.#words, READS);
  }

  get ended(): boolean {
    return Atomics.load(this.#words, ENDED) !== 0;
  }

  /**
   * Called by a reader inside the epoch `entered`. Returns the newest snapshot whose generation is not above
   * `generation`, or the oldest snapshot if all are newer. Returns null if the board no longer shows that
   * snapshot. Also returns null if the board still shows a snapshot that no read of `oldestGeneration` or
   * later needs: the read must then go through the owner, which learns from it that it can drop that
   * snapshot.
   */
  snapshotOf(generation: number, oldestGeneration: number, entered: number): number | null {
    const count = this.#words[SNAPSHOTS]!;
    let i = count - 1;
    while (i > 0 && this.#generation(i) > generation) i--;
    const isShown = count > 0 && (this.#words[OMITTED] === 0 || this.#generation(i) <= generation);
    const isOutdated = count > 1 && this.#generation(1) <= oldestGeneration;
    const address = this.#address(i);
    return isShown && !isOutdated && this.epoch === entered ? address : null;
  }

  #generation(i: number): number {
    return this.#doubles[(TABLE + i * ENTRY_WORDS) / 2]!;
  }

  #address(i: number): number {
    return this.#words[TABLE + i * ENTRY_WORDS + 2]! >>> 0;
  }
}
