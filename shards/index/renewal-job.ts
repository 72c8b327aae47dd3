// Gives an engine's memory back: linear memory never shrinks, so what merges, dropped segments and large queries
// leave behind is returned by moving the index to a fresh instance. Answers do not change.
import type { JobContext } from "./job-context.js";
import { WASTED_BYTES_MAX, WASTED_SHARE_MAX } from "./limits.js";
import type { IndexState } from "./state.js";

/** True when the engine holds much memory that the index does not use. */
export function renewalDue({ engine }: IndexState): boolean {
  const used = engine.usedBytes();
  return engine.memoryBytes() - used > Math.max(WASTED_BYTES_MAX, used * WASTED_SHARE_MAX);
}

/** In the lane and as the only job, so that nobody but the snapshots holds segments; one uninterrupted step. */
export function renewalJob({ state, lane }: JobContext): Promise<void> {
  return lane.run(async () => state.snapshots.renewEngine());
}
