// Gives disk back: the pieces of segments that merges have replaced are deleted, but stay in the database's tables
// until those are written anew. Answers do not change.
import { piecesRange } from "../../storage/keyspace.js";
import { GARBAGE_BYTES_MAX, GARBAGE_SHARE_MAX } from "../limits.js";
import type { JobContext } from "./job-context.js";

/** Compacts the index's pieces, unless there is little disk to win. */
export async function compactionJob({ state }: JobContext): Promise<void> {
  const { store } = state.home;
  const range = piecesRange(state.uid);
  const used = state.entries.reduce((sum, { segment }) => sum + segment.record.bytes, 0);
  const garbage = (await store.diskBytes(range)) - used;
  if (garbage > Math.max(GARBAGE_BYTES_MAX, used * GARBAGE_SHARE_MAX)) await store.compact(range);
}
