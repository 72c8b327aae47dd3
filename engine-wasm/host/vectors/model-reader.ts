// Vectors of queries by the model of an embedder that belongs to another thread, in the same memory, beside that thread. The model never
// changes there, and this reader's scratch is a region of its own; so nothing needs to be agreed on.
import type { EngineInstance } from "../wasm/memory.js";
import { type QueryTerm, vectorOfTerms } from "./query-terms.js";

/** What a thread needs to read the model of an embedder of another one. It can be posted. */
export interface LentModel {
  readonly memory: WebAssembly.Memory;
  /** Address of the model. */
  readonly model: number;
  /** The region that is the reader's scratch. */
  readonly scratch: number;
  readonly scratchBytes: number;
}

export class ModelReader {
  readonly #instance: EngineInstance;
  readonly #model: number;

  /** Becomes the only user of `instance`, which has the lent memory. */
  constructor(instance: EngineInstance, { model, scratch, scratchBytes }: LentModel) {
    this.#instance = instance;
    this.#model = model;
    instance.run((kernels) => kernels.confine(scratch, scratchBytes));
  }

  /** As Embedder.query. Throws EngineError("memory" | "trap" | "unusable"); "memory" says that the scratch is full. */
  query(terms: readonly QueryTerm[]): Float32Array | null {
    return vectorOfTerms(this.#instance, this.#model, terms);
  }
}
