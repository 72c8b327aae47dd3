// Reads the index of an engine that belongs to another thread, in the same memory, beside that thread. Of the state of a kernel nothing is
// shared: the marks of the arena are variables of this instance, and its scratch is a region of its own.

import { discardMemory } from "../runtime/discards.js";
import { type LentModel, ModelReader } from "../vectors/model-reader.js";
import type { QueryTerm } from "../vectors/query-terms.js";
import type { EngineInstance, SnapshotQuestion, WorkLeft } from "../wasm/memory.js";
import { Board } from "./board.js";
import type { LentMemory } from "./sharing.js";

const LARGE_BYTES = 8 * 1024 * 1024;

export class EngineReader {
  readonly #instance: EngineInstance;
  readonly #board: Board;
  readonly #reader: number;
  readonly #instanceOf: (memory: WebAssembly.Memory) => EngineInstance;
  /** The model that was lent, with its number. */
  #model: { readonly number: number; readonly reader: ModelReader } | null = null;
  /** Number of the model that was asked for. */
  #wanted = 0;
  /** Called when the model in force is to be borrowed for `queryVector`, once for each. */
  onModelWanted: () => void = () => undefined;

  constructor(
    instanceOf: (memory: WebAssembly.Memory) => EngineInstance,
    { memory, board, reader, scratch, scratchBytes }: LentMemory,
  ) {
    const instance = instanceOf(memory);
    this.#instanceOf = instanceOf;
    this.#instance = instance;
    this.#board = new Board(memory.buffer, board);
    this.#reader = reader;
    instance.run((kernels) => kernels.confine(scratch, scratchBytes));
  }

  /** The owner has left the memory. */
  get ended(): boolean {
    return this.#board.ended;
  }

  /**
   * The owner has left the memory, and nobody reads here any more. All of it stays while a thread has it in its heap. A small one
   * waits until V8 collects by itself: many small indexes that are written would otherwise have this thread collect all the time.
   */
  discard(): void {
    const { byteLength } = this.#instance.memory.buffer;
    if (byteLength >= LARGE_BYTES) discardMemory(byteLength);
  }

  /** As Board.vectors: what is known of stored vectors holds as long as this stays. */
  get vectorsVersion(): number {
    return this.#board.vectors;
  }

  /** Takes a model that the owner has lent, with the number that the board has for it. */
  takeModel(number: number, lent: LentModel): void {
    this.#model = { number, reader: new ModelReader(this.#instanceOf(lent.memory), lent) };
  }

  /**
   * The vector of a query's terms by the model in force; null when it knows none of them, or there is no model. Undefined: the owner is
   * to be asked. Throws EngineError("memory" | "trap" | "unusable"); "memory" says that the scratch is full.
   */
  queryVector(terms: readonly QueryTerm[]): Float32Array | null | undefined {
    const number = this.#board.model;
    if (number === 0) return null;
    if (this.#model?.number === number) return this.#model.reader.query(terms);
    this.#model = null;
    if (this.#wanted !== number) this.onModelWanted();
    this.#wanted = number;
    return undefined;
  }

  /**
   * Answers a program on the snapshot that reads of this generation see; own bytes. Null when the board does not show it, or the
   * owner is to hear of the read (see Board). Throws EngineError("program" | "damaged" | "memory" | "late" | "trap" | "unusable");
   * "memory" says that the scratch is full, "late" that it takes longer than it may, see EngineInstance.
   */
  answer(
    question: SnapshotQuestion,
    generation: number,
    oldestGeneration: number,
    program: Uint8Array,
    deadline: number,
    work?: WorkLeft,
  ): Uint8Array | null {
    const entered = this.#board.enter(this.#reader);
    if (entered === 0) return null;
    try {
      const snapshot = this.#board.snapshotOf(generation, oldestGeneration, entered);
      return snapshot === null ? null : this.#instance.answer(question, snapshot, program, deadline, work);
    } finally {
      this.#board.leave(this.#reader);
    }
  }
}
