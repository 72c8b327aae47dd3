// Merges neighbouring segments into one while reads and writes continue.
import type { MergeChoice } from "../../segments/merge-policy.js";
import { dropEntries, type OpenSegment, takeEntries } from "../../segments/open-segment.js";
import { adoptSegment } from "../fresh-segment.js";
import { KillWatch, prepareReplacement, switchSegments } from "../segment-switch.js";
import type { JobContext } from "./job-context.js";
import { keptDeletedSeqs, withKeptRows } from "./kept-rows.js";
import { mergeSlices } from "./merge-slices.js";

/** Resolves when the merged segment is in place. Has no effect if `stopped` returns true before that. */
export async function mergeJob(
  { state, lane, slices }: JobContext,
  choice: MergeChoice,
  stopped: () => boolean,
): Promise<void> {
  const chosen = state.entries.slice(choice.first, choice.first + choice.count);
  const entries = chosen.map((entry) => withKeptRows(state, entry));
  const { schemaVersion } = entries[0]!.segment.record;
  const watch = new KillWatch(state, entries, keptDeletedSeqs(state, entries));
  const fresh: OpenSegment[] = [];
  takeEntries(entries);
  try {
    if (entries.some(({ segment }) => state.surelyDeletedCount(segment) < segment.record.rows)) {
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
