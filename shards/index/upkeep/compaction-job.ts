// Gives disk back: the pieces of segments that merges have replaced and the documents that nobody can see are deleted,
// but stay in the database's tables until those are written anew. Answers do not change.
import { documentRange, indexRange, piecesRange } from "../../storage/keyspace.js";
import { GARBAGE_BYTES_MAX, GARBAGE_SHARE_MAX } from "../limits.js";
import type { JobContext } from "./job-context.js";

/** Compacts the index's pieces and its documents, each unless there is little disk to win. */
export async function compactionJob({ state }: JobContext): Promise<void> {
  const { uid, dead, liveDocs, maxSeq } = state;
  const { store } = state.home;
  const pieces = piecesRange(uid);
  const used = state.entries.reduce((sum, { segment }) => sum + segment.record.bytes, 0);
  if (isMuch((await store.diskBytes(pieces)) - used, used)) await store.compact(pieces);
  const documents = documentRange(uid, 0, maxSeq);
  const bytes = await store.diskBytes(documents);
  const garbage = bytes * (dead.released / Math.max(1, dead.released + liveDocs));
  if (!isMuch(garbage, bytes - garbage)) return;
  dead.released = 0;
  await store.compact(documents);
}

/** Compacts all of the index: on a short disk everything counts. */
export async function wholeCompactionJob({ state }: JobContext): Promise<void> {
  state.dead.released = 0;
  await state.home.store.compact(indexRange(state.uid));
}

function isMuch(garbage: number, used: number): boolean {
  return garbage > Math.max(GARBAGE_BYTES_MAX, used * GARBAGE_SHARE_MAX);
}
