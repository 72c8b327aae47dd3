// Runs in-memory work that follows a commit. The database already contains the change, so the in-memory state
// must not stay behind. If the work fails, the index is reopened from the database.
import { EngineError } from "../../engine-wasm/host/engine-error.js";

/**
 * Runs `work`. If the engine runs out of memory, throws EngineError("unusable"), so that the index's owner
 * reopens it from the database.
 */
export function mustSucceed(work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof EngineError && cause.code === "memory")) throw cause;
    throw new EngineError("unusable", "The engine's memory is full: it is behind the database", { cause });
  }
}
