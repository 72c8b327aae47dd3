// Gives an engine's memory back: linear memory never shrinks, so what merges, dropped segments and large queries
// leave behind is returned by moving the index to a fresh instance. Answers do not change.
import { dropEntries, takeEntries } from "../../segments/open-segment.js";
import {
  WASTED_BYTES_MAX,
  WASTED_IDLE_BYTES_MAX,
  WASTED_IDLE_SHARE_MAX,
  WASTED_SHARE_MAX,
} from "../limits.js";
import type { ShardIndexState } from "../state.js";
import type { JobContext } from "./job-context.js";

/** When to give back the memory that the engine holds and the index does not use: never, once nobody needs the index, or now. */
export type RenewalNeed = "none" | "idle" | "now";

/** `kept`: what the last renewal could not give back, since memory grows in steps. */
export function renewalNeed({ engine }: ShardIndexState, kept: number): RenewalNeed {
  const used = engine.usedBytes();
  const wasted = engine.memoryBytes() - used - kept;
  if (wasted > Math.max(WASTED_BYTES_MAX, used * WASTED_SHARE_MAX)) return "now";
  return wasted > Math.max(WASTED_IDLE_BYTES_MAX, used * WASTED_IDLE_SHARE_MAX) ? "idle" : "none";
}

/**
 * Moves the index to a fresh engine. It runs in the lane and as the only job, so that no segment is added and only the snapshots
 * hold segments; these are copied between reads. Resolves with the bytes that are wasted even so. It has no effect when
 * `stopped` turns true on the way.
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
