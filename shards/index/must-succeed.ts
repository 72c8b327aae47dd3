// What follows a commit: the database has the change already, so memory must follow or be read anew.
import { EngineError } from "../../engine-wasm/host/engine-error.js";

/** Does it; when the engine has no memory for it, its owner is told to reopen the index from the database. */
export function mustSucceed(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof EngineError && cause.code === "memory")) throw cause;
    throw new EngineError("unusable", "The engine's memory is full: it is behind the database", { cause });
  }
}
