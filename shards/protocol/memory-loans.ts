// The ports that a shard's thread gets, and the messages by which another thread borrows the memory of an
// index to read in it. They are objects, because a memory cannot be sent as bytes.
import type { MessagePort } from "node:worker_threads";
import type { LentMemory } from "../../engine-wasm/host/instance/sharing.js";
import type { LentModel } from "../../engine-wasm/host/vectors/model-reader.js";

/** A message to a shard's thread: its ends of the two channels of one more thread that reads it. */
export interface ShardPorts {
  readonly reads: MessagePort;
  readonly memories: MessagePort;
}

/** To the shard. */
export type MemoryRequest =
  | { readonly kind: "borrow"; readonly uid: number }
  /** The model of vectors that is in force is wanted, too, to be read for as long as the loan lasts. */
  | { readonly kind: "model"; readonly uid: number; readonly loan: number }
  /** The memory of this loan is not read any more. */
  | { readonly kind: "return"; readonly loan: number };

/** From the shard. */
export type MemoryNotice =
  | { readonly kind: "lent"; readonly uid: number; readonly loan: number; readonly lent: LentMemory }
  | { readonly kind: "refused"; readonly uid: number }
  /** With the number that the board has for it. When there is none, nothing is told. */
  | {
      readonly kind: "model";
      readonly uid: number;
      readonly loan: number;
      readonly number: number;
      readonly lent: LentModel;
    }
  /** The index has moved to another memory, or was unloaded. */
  | { readonly kind: "ended"; readonly uid: number; readonly loan: number };
