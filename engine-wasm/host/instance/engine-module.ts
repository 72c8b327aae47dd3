// The engine, compiled once per process. A worker thread receives the WebAssembly.Module and the Unicode
// table by structured clone (`parts`) and creates its own instances without compiling again.
import { EngineError } from "../engine-error.js";
import { Embedder } from "../vectors/embedder.js";
import { type TrainOptions, trainModel } from "../vectors/trainer.js";
import { EngineInstance, newMemory } from "../wasm/memory.js";
import type { BuildDocument } from "./build.js";
import { Engine } from "./engine.js";
import { EngineReader } from "./engine-reader.js";
import type { LentMemory } from "./sharing.js";
import { type BuildSchema, Workbench } from "./workbench.js";

/** Everything a worker thread needs to create instances. Can be posted. */
export interface EngineParts {
  module: WebAssembly.Module;
  foldTable: Uint8Array;
  /** Maximum linear memory of one instance. Defaults to the limit of 32-bit addresses. */
  memoryBytesMax?: number;
}

export class EngineModule {
  readonly #module: WebAssembly.Module;
  readonly #foldTable: Uint8Array;
  readonly #memoryBytesMax: number;
  readonly #meanwhile: () => boolean;

  /** `meanwhile` is called regularly while a long kernel runs; see EngineInstance. */
  constructor(parts: EngineParts, meanwhile: () => boolean = () => true) {
    this.#meanwhile = meanwhile;
    this.#module = parts.module;
    this.#foldTable = parts.foldTable;
    this.#memoryBytesMax = parts.memoryBytesMax ?? Number.POSITIVE_INFINITY;
  }

  /** Compiles the engine. Throws EngineError("mismatch") if the bytes are not a WebAssembly module. */
  static async load(wasmBytes: Uint8Array<ArrayBuffer>, foldTable: Uint8Array): Promise<EngineModule> {
    try {
      return new EngineModule({ module: await WebAssembly.compile(wasmBytes), foldTable });
    } catch (cause) {
      throw new EngineError("mismatch", "The engine's bytes are no valid WebAssembly module", { cause });
    }
  }

  /** Parts for `new EngineModule(parts)` in a worker thread. */
  get parts(): EngineParts {
    return { module: this.#module, foldTable: this.#foldTable };
  }

  /** A fresh instance with empty memory and no Unicode table. */
  instantiate(): EngineInstance {
    return new EngineInstance(this.#module, newMemory(this.#memoryBytesMax), this.#meanwhile);
  }

  /** Creates an engine, with its own instance, for one index in one shard. */
  engine(): Engine {
    return new Engine(() => this.instantiate());
  }

  /** Creates a reader for an engine that another thread owns. */
  reader(lent: LentMemory): EngineReader {
    const instanceOf = (memory: WebAssembly.Memory) => new EngineInstance(this.#module, memory);
    return new EngineReader(instanceOf, lent);
  }

  /**
   * Creates an embedder, with its own instance, for one model of one index in one shard. Throws
   * EngineError("damaged").
   */
  embedder(model: Uint8Array): Embedder {
    return new Embedder(this.instantiate(), model);
  }

  /**
   * Trains a model on documents, which takes seconds. Builds a segment from them and trains on it in the same
   * fresh instance, so that training reuses the build's memory. Returns null if every document is refused.
   * See trainModel.
   */
  train(
    schema: BuildSchema,
    documents: readonly BuildDocument[],
    options: TrainOptions,
  ): Uint8Array<ArrayBuffer> | null {
    const instance = this.instantiate();
    const { segment } = new Workbench(() => instance, this.#foldTable).build(schema, documents);
    return segment === null ? null : trainModel(instance, segment, options);
  }

  /** Creates a workbench, with which a thread analyses text and splits and indexes documents. */
  workbench(): Workbench {
    return new Workbench(() => this.instantiate(), this.#foldTable);
  }
}
