// Reads another thread's engine, in the same memory and at the same time. Reader and owner share no kernel
// state: each runs its own instance with its own globals, such as the arena's marks, and the reader has its
// own scratch region.

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
  /** The borrowed model and its number. */
  #model: { readonly number: number; readonly reader: ModelReader } | null = null;
  /** Number of the model last requested through `onModelWanted`. */
  #wanted = 0;
  /**
   * Called when `queryVector` first needs a model that this thread must borrow from the owner (see
   * `takeModel`). Called once per model.
   */
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

  /** True once the owner has abandoned the memory. */
  get ended(): boolean {
    return this.#board.ended;
  }

  /**
   * Must be called once the owner has abandoned the memory and no read is running here. The whole memory
   * stays allocated while any thread's heap refers to it, so a large one is reported as garbage. A small one
   * is left to V8's own collection: while many small indexes are being written, this thread would otherwise
   * collect constantly.
   */
  discard(): void {
    const { byteLength } = this.#instance.memory.buffer;
    if (byteLength >= LARGE_BYTES) discardMemory(byteLength);
  }

  /**
   * Changes whenever stored vectors may have changed (see Board.vectors). Anything cached about them stays
   * valid until then.
   */
  get vectorsVersion(): number {
    return this.#board.vectors;
  }

  /** Starts using a model lent by the owner. `number`: the model's number on the board. */
  takeModel(number: number, lent: LentModel): void {
    this.#model = { number, reader: new ModelReader(this.#instanceOf(lent.memory), lent) };
  }

  /**
   * Computes a query's vector from its terms with the current model. Returns null if the model knows none of
   * the terms or there is no model; undefined if the model must first be borrowed from the owner. Throws
   * EngineError("memory" | "trap" | "unusable"); "memory" means that scratch is full.
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
   * Runs a program on the snapshot visible at `generation`. Returns a copy of the result. Returns null if the
   * board does not show that snapshot or the read must go through the owner (see Board.snapshotOf). Throws
   * EngineError("program" | "damaged" | "memory" | "late" | "trap" | "unusable"); "memory" means that scratch
   * is full, "late" that the time is up (see EngineInstance).
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
