// What an index's vectors need from the shard and from the jobs that work on them.
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import type { Embedder } from "../../engine-wasm/host/vectors/embedder.js";
import type { VectorSlots } from "../../engine-wasm/host/vectors/vector-slots.js";
import type { Store } from "../storage/store.js";

/** Memory for vectors recently compared with queries, shared by all of a shard's indexes. */
export const VECTORS_BYTES_MAX = 32 * 1024 * 1024;

/** Dependencies that an index's vectors get from the shard. */
export interface VectorsHome {
  store: Store;
  sync: boolean;
  /** Vectors recently compared with queries. */
  vectors: VectorSlots;
  workbench(): Workbench;
  /** Creates an embedder, with its own instance, for this model. Throws EngineError("damaged"). */
  embedder(model: Uint8Array): Embedder;
  /** Logs a failure that no request reports. */
  report(message: string, error: unknown): void;
}

/** Lets other work run between pieces of long work. */
export interface Pauses {
  pause(): Promise<void>;
}
