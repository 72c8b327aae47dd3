// The work in memory that follows a commit. The database has the change already, so memory must follow it; where it cannot, the
// index is read anew from the database.
import { EngineError } from "../../engine-wasm/host/engine-error.js";

/** Does the work. When the engine has no memory for it, the owner of the index is told to reopen it from the database. */
export function mustSucceed(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof EngineError && cause.code === "memory")) throw cause;
    throw new EngineError("unusable", "The engine's memory is full: it is behind the database", { cause });
  }
}
