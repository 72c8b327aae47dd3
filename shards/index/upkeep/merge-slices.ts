// Runs an engine merge, and what follows from it, in slices between requests.
import { engineEntries, type LiveSegment } from "../../segments/open-segment.js";
import type { Slices } from "../slices.js";
import type { ShardIndexState } from "../state.js";

/** Work between two looks at the clock. The engine only estimates how long its work takes. */
const STEP_MICROSECONDS = 200;

/**
 * The live rows of neighbouring segments as one attached segment, by its address, or null when `stopped` said so
 * on the way. The caller holds the entries until the promise settles, and at least one row lives.
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
