// Merges neighbouring segments into one while reads and writes continue.
import type { MergeChoice } from "../../segments/merge-policy.js";
import { dropEntries, type OpenSegment, takeEntries } from "../../segments/open-segment.js";
import { adoptSegment } from "../fresh-segment.js";
import { KillWatch, prepareReplacement, switchSegments } from "../segment-switch.js";
import type { JobContext } from "./job-context.js";
import { mergeSlices } from "./merge-slices.js";

/** Resolves when the merged segment is in place. Has no effect if `stopped` returns true before that. */
export async function mergeJob(
  { state, lane, slices }: JobContext,
  choice: MergeChoice,
  stopped: () => boolean,
): Promise<void> {
  const entries = state.entries.slice(choice.first, choice.first + choice.count);
  const { schemaVersion } = entries[0]!.segment.record;
  const watch = new KillWatch(state, entries);
  const fresh: OpenSegment[] = [];
  takeEntries(entries);
  try {
    if (entries.some(({ segment }) => state.deletedCount(segment) < segment.record.rows)) {
      const merged = await mergeSlices(state, entries, slices, stopped);
      if (merged === null) return;
      fresh.push(adoptSegment(state, merged, schemaVersion));
    }
    const replacements = await Promise.all(fresh.map((one) => prepareReplacement(state, one)));
    await lane.run(() => switchSegments(state, entries, replacements, watch, slices));
  } finally {
    watch.end();
    for (const segment of fresh) segment.drop();
    dropEntries(entries);
  }
}
