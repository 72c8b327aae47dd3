// Computes query vectors with the model of another thread's embedder, in the same memory and at the same
// time. This needs no synchronisation: the model in that memory never changes, and this reader has its own
// scratch region.
import type { EngineInstance } from "../wasm/memory.js";
import { type QueryTerm, vectorOfTerms } from "./query-terms.js";

/** Everything a thread needs to read the model of another thread's embedder. Can be posted. */
export interface LentModel {
  readonly memory: WebAssembly.Memory;
  /** The model's address. */
  readonly model: number;
  /** The reader's scratch region. */
  readonly scratch: number;
  readonly scratchBytes: number;
}

export class ModelReader {
  readonly #instance: EngineInstance;
  readonly #model: number;

  /** `instance` runs on the lent memory and is used only by this reader. */
  constructor(instance: EngineInstance, { model, scratch, scratchBytes }: LentModel) {
    this.#instance = instance;
    this.#model = model;
    instance.run((kernels) => kernels.confine(scratch, scratchBytes));
  }

  /**
   * Like Embedder.query. Throws EngineError("memory" | "trap" | "unusable"); "memory" means that scratch is
   * full.
   */
  query(terms: readonly QueryTerm[]): Float32Array | null {
    return vectorOfTerms(this.#instance, this.#model, terms);
  }
}
