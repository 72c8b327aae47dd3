// The rows that a merge or re-index keeps: the live ones, and those that a write in doubt has deleted. These
// live again if that write is taken back. Until then, the new segments contain them as deleted rows.
import { type LiveSegment, type OpenSegment, reviveRows } from "../../segments/open-segment.js";
import { seqsOfRows } from "../read/live-seqs.js";
import type { ShardIndexState } from "../state.js";

/** Returns the segment with its kept rows as live rows. */
export function withKeptRows(state: ShardIndexState, entry: LiveSegment): LiveSegment {
  const rows = keptDeletedRows(state, entry.segment);
  return rows.length === 0 ? entry : { ...entry, live: reviveRows(state.engine, entry, rows) };
}

/** Seqs of the deleted rows that are kept. */
export function keptDeletedSeqs(state: ShardIndexState, entries: readonly LiveSegment[]): number[] {
  return entries.flatMap(({ segment }) => seqsOfRows(state.engine, segment, keptDeletedRows(state, segment)));
}

function keptDeletedRows(state: ShardIndexState, segment: OpenSegment): number[] {
  if (state.surelyDeletedCount(segment) === state.deletedCount(segment)) return [];
  return state.deletedRows(segment).minus(state.surelyDeleted(segment));
}
