// Frees an engine's memory by moving the index to a fresh instance. Linear memory never shrinks, so nothing
// else frees the memory left over from merges, dropped segments and large queries. Results do not change.
import { dropEntries, takeEntries } from "../../segments/open-segment.js";
import {
  WASTED_BYTES_MAX,
  WASTED_IDLE_BYTES_MAX,
  WASTED_IDLE_SHARE_MAX,
  WASTED_SHARE_MAX,
} from "../limits.js";
import type { ShardIndexState } from "../state.js";
import type { JobContext } from "./job-context.js";

/** When to free engine memory that the index does not use: never, when the index is idle, or now. */
export type RenewalNeed = "none" | "idle" | "now";

/** `kept`: bytes that the last renewal could not free, because memory grows in steps. */
export function renewalNeed({ engine }: ShardIndexState, kept: number): RenewalNeed {
  const used = engine.usedBytes();
  const wasted = engine.memoryBytes() - used - kept;
  if (wasted > Math.max(WASTED_BYTES_MAX, used * WASTED_SHARE_MAX)) return "now";
  return wasted > Math.max(WASTED_IDLE_BYTES_MAX, used * WASTED_IDLE_SHARE_MAX) ? "idle" : "none";
}

/**
 * Moves the index to a fresh engine. Runs in the lane and as the only job, so no segment can be added during
 * the move, and only the snapshots refer to segments. Segments are copied between reads. Resolves with the
 * number of bytes still wasted afterwards. Has no effect if `stopped` returns true before the move.
 */
export function renewalJob({ state, lane, slices }: JobContext, stopped: () => boolean): Promise<number> {
  return lane.run(async () => {
    const { engine, snapshots } = state;
    const renewal = engine.beginRenewal();
    const { entries } = snapshots;
    takeEntries(entries);
    try {
      const steps = renewal.copyAhead(new Set(entries.map(({ segment }) => segment)));
      while (steps.next().done !== true) {
        if (slices.over) await slices.next();
        if (stopped() || !engine.usable) return 0;
      }
    } finally {
      dropEntries(entries);
    }
    snapshots.renewEngine(renewal);
    return engine.memoryBytes() - engine.usedBytes();
  });
}
