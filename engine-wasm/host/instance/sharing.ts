// The owner's side of an engine that other threads read. Delays freeing a region while a reader may still see
// it.
import type { EngineInstance } from "../wasm/memory.js";
import { BOARD_BYTES, Board, type PublishedSnapshot, READERS_MAX } from "./board.js";

/** Everything a thread needs to read another thread's engine. Can be posted. */
export interface LentMemory {
  readonly memory: WebAssembly.Memory;
  /** Address of the board. */
  readonly board: number;
  /** Index of the reader's word on the board. */
  readonly reader: number;
  /** The reader's scratch region. */
  readonly scratch: number;
  readonly scratchBytes: number;
}

export class Sharing {
  readonly #instance: EngineInstance;
  readonly #boardRegion: number;
  readonly #board: Board;
  /** The current loans, by the reader's index on the board. */
  readonly #loans = new Map<number, { readonly lent: LentMemory; readonly onEnd: () => void }>();
  /** Retired regions, each with the first epoch whose snapshots no longer refer to the region. */
  #limbo: { readonly region: number; readonly epoch: number }[] = [];

  /** Throws EngineError("memory"). */
  constructor(instance: EngineInstance, snapshots: readonly PublishedSnapshot[], model: number) {
    this.#instance = instance;
    this.#boardRegion = instance.reserve(BOARD_BYTES);
    this.#board = new Board(instance.memory.buffer, this.#boardRegion);
    this.#board.clear();
    this.#board.write(snapshots);
    this.#board.showModel(model);
  }

  /**
   * Gives a new reader a word on the board and a scratch region. Returns null if there are already
   * READERS_MAX readers. Throws EngineError("memory").
   */
  lend(scratchBytes: number, onEnd: () => void): LentMemory | null {
    let reader = 0;
    while (this.#loans.has(reader)) reader++;
    if (reader === READERS_MAX) return null;
    const scratch = this.#instance.reserve(scratchBytes);
    const lent = {
      memory: this.#instance.memory,
      board: this.#boardRegion,
      reader,
      scratch,
      scratchBytes,
    };
    this.#loans.set(reader, { lent, onEnd });
    return lent;
  }

  /** Ends a loan, after the reader has stopped or its thread has ended. */
  takeBack({ reader, scratch }: LentMemory): void {
    if (this.#loans.get(reader)?.lent.scratch !== scratch) return;
    this.#loans.delete(reader);
    this.#board.leave(reader);
    this.#instance.release(scratch);
    this.sweep();
  }

  publish(snapshots: readonly PublishedSnapshot[]): void {
    this.#board.write(snapshots);
    this.sweep();
  }

  showModel(model: number): void {
    this.#board.showModel(model);
  }

  vectorsChanged(): void {
    this.#board.vectorsChanged();
  }

  /** Number of completed reads; may wrap. */
  get reads(): number {
    return this.#board.reads;
  }

  /** Frees a region that no published snapshot refers to, once no reader can see it. */
  release(region: number): void {
    const { epoch } = this.#board;
    if (this.#board.isUnseenSince(epoch)) this.#instance.release(region);
    else this.#limbo.push({ region, epoch });
  }

  /** Frees every retired region that no reader can see. */
  sweep(): void {
    if (this.#limbo.length === 0) return;
    const seen = this.#limbo.filter(({ epoch }) => !this.#board.isUnseenSince(epoch));
    for (const one of this.#limbo) if (!seen.includes(one)) this.#instance.release(one.region);
    this.#limbo = seen;
  }

  /**
   * Marks the memory as abandoned and tells every borrower through its `onEnd`. Readers in the middle of a
   * read keep the memory alive.
   */
  end(): void {
    this.#board.end();
    for (const { onEnd } of this.#loans.values()) onEnd();
  }
}
