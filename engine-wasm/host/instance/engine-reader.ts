// Reads the index of an engine that belongs to another thread, in the same memory, beside that thread. Of the state of a kernel nothing is
// shared: the marks of the arena are variables of this instance, and its scratch is a region of its own.
import type { EngineInstance, SnapshotQuestion } from "../wasm/memory.js";
import { Board } from "./board.js";
import type { LentMemory } from "./sharing.js";

export class EngineReader {
  readonly #instance: EngineInstance;
  readonly #board: Board;
  readonly #reader: number;

  /** Becomes the only user of `instance`, which has the lent memory. */
  constructor(instance: EngineInstance, { memory, board, reader, scratch, scratchBytes }: LentMemory) {
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
   * Answers a program on the snapshot that reads of this generation see; own bytes. Null when the board does not show it, or the
   * owner is to hear of the read (see Board). Throws EngineError("program" | "damaged" | "memory" | "late" | "trap" | "unusable");
   * "memory" says that the scratch is full.
   */
  answer(
    question: SnapshotQuestion,
    generation: number,
    oldestGeneration: number,
    program: Uint8Array,
    deadline: number,
  ): Uint8Array | null {
    const entered = this.#board.enter(this.#reader);
    if (entered === 0) return null;
    try {
      const snapshot = this.#board.snapshotOf(generation, oldestGeneration, entered);
      return snapshot === null ? null : this.#instance.answer(question, snapshot, program, deadline);
    } finally {
      this.#board.leave(this.#reader);
    }
  }
}
