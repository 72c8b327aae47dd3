// The board of a shared engine: a region of its memory by which other threads read an index beside the thread that owns it. The owner
// writes which snapshots there are. Each reader writes when it is reading, so that the owner frees no region that somebody may
// still see. Beside them it shows which model of vectors is in force, and that stored vectors have changed. This is epoch-based reclamation (K. Fraser, Practical lock-freedom, 2004): the epoch changes with every change of the
// snapshots, and what went out of sight by that is free once no reader is inside of an earlier epoch. While the epoch is odd, the table
// of snapshots is being written. The picture is in docs/FORMATS.md.

/** A snapshot that readers may see. */
export interface PublishedSnapshot {
  readonly generation: number;
  readonly address: number;
}

/** Readers of one engine at a time. */
export const READERS_MAX = 64;
/** Of more snapshots than this the board shows the newest. */
const SNAPSHOTS_MAX = 8;

// Positions of u32 words.
const EPOCH = 0;
const ENDED = 1;
const SNAPSHOTS = 2; // in the table
const OMITTED = 3; // older ones that are not
const READS = 4; // so far
const MODEL = 5; // of vectors that is in force, 0: none
const VECTORS = 6; // how often stored vectors have changed; may run over
const READERS = 8;
const TABLE = READERS + READERS_MAX; // of {f64 generation, u32 address, u32 0}
const ENTRY_WORDS = 4;
export const BOARD_BYTES = (TABLE + SNAPSHOTS_MAX * ENTRY_WORDS) * 4;

const FIRST_EPOCH = 2; // 0 says that a reader is outside
/** How often a reader looks again when the owner is changing the snapshots at this moment. */
const ENTER_TRIES = 100;

export class Board {
  readonly #words: Int32Array;
  readonly #doubles: Float64Array;

  /** The region lies at `address`, a multiple of 16, of an engine's memory. */
  constructor(memory: ArrayBufferLike, address: number) {
    this.#words = new Int32Array(memory, address, BOARD_BYTES / 4);
    this.#doubles = new Float64Array(memory, address, BOARD_BYTES / 8);
  }

  /** The owner makes the region a board without snapshots. */
  clear(): void {
    this.#words.fill(0);
    Atomics.store(this.#words, EPOCH, FIRST_EPOCH);
  }

  /** The owner shows these snapshots, generations ascending, in the place of those before. */
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

  /** The owner shows which model of vectors is in force; see `model`. */
  showModel(model: number): void {
    Atomics.store(this.#words, MODEL, model);
  }

  /** A number for the model of vectors that is in force, another one after each change; 0 when there is none. */
  get model(): number {
    return Atomics.load(this.#words, MODEL);
  }

  /** The owner shows that stored vectors have changed, or which of them can be compared; see `vectors`. */
  vectorsChanged(): void {
    Atomics.add(this.#words, VECTORS, 1);
  }

  /** Another number when stored vectors may be others than before, or can be compared that could not. */
  get vectors(): number {
    return Atomics.load(this.#words, VECTORS);
  }

  /** The owner leaves this memory. */
  end(): void {
    Atomics.store(this.#words, ENDED, 1);
  }

  get epoch(): number {
    return Atomics.load(this.#words, EPOCH);
  }

  /** No reader can still see what the snapshots of this epoch do not show. */
  isUnseenSince(epoch: number): boolean {
    for (let reader = 0; reader < READERS_MAX; reader++) {
      const inside = Atomics.load(this.#words, READERS + reader);
      if (inside !== 0 && ((inside - epoch) | 0) < 0) return false;
    }
    return true;
  }

  /**
   * A reader begins to read: what the board shows in this epoch stays as it is until `leave`. Returns the epoch; 0 when the owner
   * has left, or the table cannot be read now.
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

  /** How often readers have left. The number may run over. */
  get reads(): number {
    return Atomics.load(this.#words, READS);
  }

  get ended(): boolean {
    return Atomics.load(this.#words, ENDED) !== 0;
  }

  /**
   * For a reader that has entered in this epoch: the newest snapshot that is not younger than a generation, or the oldest one if all are
   * younger. Null when the board does not show it, or shows others by now, and when there are snapshots that no read of
   * `oldestGeneration` or later can get: the owner is to hear of that.
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
