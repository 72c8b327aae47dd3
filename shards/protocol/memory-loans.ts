// The ports passed to a shard's thread, and the messages with which another thread borrows an index's memory
// for reading. The messages are objects, because a memory cannot be sent as bytes.
import type { MessagePort } from "node:worker_threads";
import type { LentMemory } from "../../engine-wasm/host/instance/sharing.js";
import type { LentModel } from "../../engine-wasm/host/vectors/model-reader.js";

/**
 * Sent to a shard's thread to connect another thread that reads: the shard's ends of the two channels between
 * them.
 */
export interface ShardPorts {
  readonly reads: MessagePort;
  readonly memories: MessagePort;
}

/** Messages to the shard. */
export type MemoryRequest =
  | { readonly kind: "borrow"; readonly uid: number }
  /** Also requests the current vector model, which stays readable for the duration of the loan. */
  | { readonly kind: "model"; readonly uid: number; readonly loan: number }
  /** The borrower has stopped reading the loan's memory. */
  | { readonly kind: "return"; readonly loan: number };

/** Messages from the shard. */
export type MemoryNotice =
  | { readonly kind: "lent"; readonly uid: number; readonly loan: number; readonly lent: LentMemory }
  | { readonly kind: "refused"; readonly uid: number }
  /** The model and its number on the board. Not sent if there is no model. */
  | {
      readonly kind: "model";
      readonly uid: number;
      readonly loan: number;
      readonly number: number;
      readonly lent: LentModel;
    }
  /** The index has moved to another memory or was unloaded. */
  | { readonly kind: "ended"; readonly uid: number; readonly loan: number };
