// Runs an engine merge, and then creates the merged segment's summary, in slices between requests.
import { engineEntries, type LiveSegment } from "../../segments/open-segment.js";
import type { Slices } from "../slices.js";
import type { ShardIndexState } from "../state.js";

/**
 * Target duration of a step. The engine can only estimate how long it runs, so the clock is checked after
 * each step.
 */
const STEP_MICROSECONDS = 200;

/**
 * Merges the live rows of neighbouring segments into one attached segment and returns its address, or null if
 * `stopped` returned true. The caller must keep the entries alive until the promise settles. At least one row
 * must be live.
 */
export async function mergeSlices(
  { engine }: ShardIndexState,
  entries: readonly LiveSegment[],
  slices: Slices,
  stopped: () => boolean,
): Promise<number | null> {
  let merged: number;
  const merge = engine.beginMerge(engineEntries(entries));
  try {
    let done = false;
    while (!done) {
      await slices.next();
      if (stopped()) return null;
      do done = merge.step(STEP_MICROSECONDS);
      while (!done && !slices.over);
    }
    merged = merge.finish();
  } finally {
    if (engine.usable) merge.cancel();
  }
  for (const _ of engine.summarise(merged)) if (slices.over) await slices.next();
  return merged;
}
