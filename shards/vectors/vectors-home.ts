// What the vectors of an index get from its shard and from who works on them.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import type { VectorSlots } from "../../engine-wasm/host/vectors/vector-slots.js";
import type { Store } from "../storage/store.js";

/** Of the vectors that queries were compared with lately, in all indexes of a shard. */
export const VECTORS_BYTES_MAX = 32 * 1024 * 1024;

/** What the vectors of an index get from its shard. */
export interface VectorsHome {
  store: Store;
  sync: boolean;
  /** Those that queries were compared with lately. */
  vectors: VectorSlots;
  workbench(): Workbench;
  /** A fresh instance with this model. Throws EngineError("damaged"). */
  embedder(model: Uint8Array): Embedder;
  /** Something went wrong that no request will hear of. */
  report(message: string, error: unknown): void;
}

/** Lets other work run between two pieces of long work. */
export interface Pauses {
  pause(): Promise<void>;
}
