// Runs an engine merge in slices between requests.
import { engineEntries, type SnapshotEntry } from "../segments/open-segment.js";
import type { IndexState } from "./state.js";
import type { Turns } from "./turns.js";

/**
 * The live rows of neighbouring segments as one attached segment, by its address, or null when `stopped` said so
 * on the way. The caller holds the entries until the promise settles, and at least one row lives.
 */
export async function mergeSlices(
  { engine, home }: IndexState,
  entries: readonly SnapshotEntry[],
  turns: Turns,
  stopped: () => boolean,
): Promise<number | null> {
  const merge = engine.beginMerge(engineEntries(entries));
  try {
    let done = false;
    while (!done) {
      await turns.next();
      if (stopped()) return null;
      done = merge.step(home.mergeSliceMs * 1000);
    }
    return merge.finish();
  } finally {
    if (engine.usable) merge.cancel();
  }
}
