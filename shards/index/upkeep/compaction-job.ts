// Reclaims disk space. Replaced segments' pieces, documents that no reader can see, and replaced vectors have
// been deleted, but remain in the database's tables until those are rewritten. Answers do not change.

import {
  codesOf,
  documentRange,
  indexRange,
  modelsOf,
  piecesRange,
  vectorsOf,
} from "../../storage/keyspace.js";
import type { KeyRange } from "../../storage/store.js";
import { VALUE_BYTES } from "../../vectors/vector-record.js";
import { GARBAGE_BYTES_MAX, GARBAGE_SHARE_MAX } from "../limits.js";
import type { ShardIndexState } from "../state.js";
import type { JobContext } from "./job-context.js";

/** Disk space in bytes that a table needs per value for its key and index entry. */
const ENTRY_BYTES = 24;

/** Compacts the index's pieces, vectors and documents, each only if that would free enough space. */
export async function compactionJob(context: JobContext): Promise<void> {
  const { state } = context;
  const { uid, dead, liveDocs, maxSeq } = state;
  const { store } = state.home;
  for (const { range, used } of knownRanges(state)) {
    if (isMuch((await store.diskBytes(range)) - used, used)) await store.compact(range);
  }
  const documents = documentRange(uid, 0, maxSeq);
  const bytes = await store.diskBytes(documents);
  const garbage = bytes * (dead.released / Math.max(1, dead.released + liveDocs));
  if (isMuch(garbage, bytes - garbage)) await compactDocuments(context, documents);
}

/**
 * Returns the ranges whose live values have a known total size. The rest of their disk space can be
 * reclaimed.
 */
function knownRanges({
  uid,
  entries,
  vectors,
  liveDocs,
}: ShardIndexState): { range: KeyRange; used: number }[] {
  const sum = (bytesOf: (segment: (typeof entries)[number]["segment"]) => number): number =>
    entries.reduce((total, { segment }) => total + bytesOf(segment), 0);
  const hasVectors = vectors.policy.source !== "none";
  return [
    { range: piecesRange(uid), used: sum(({ record }) => record.bytes) },
    { range: codesOf(uid), used: sum(({ codes }) => codes?.bytes ?? 0) },
    { range: modelsOf(uid), used: vectors.model?.bytes ?? 0 },
    { range: vectorsOf(uid), used: hasVectors ? liveDocs * (VALUE_BYTES + ENTRY_BYTES) : 0 },
  ];
}

/** Compacts the whole index, because every byte counts when disk space is short. */
export async function wholeCompactionJob(context: JobContext): Promise<void> {
  await compactDocuments(context, indexRange(context.state.uid));
}

/**
 * Compacts a range that contains all of the index's documents. Deletions that happen during the compaction
 * count towards the next one.
 */
async function compactDocuments({ state, lane }: JobContext, range: KeyRange): Promise<void> {
  const { uid, dead, home } = state;
  const { released } = dead;
  await home.store.compact(range);
  await lane.run(() => home.store.batch([dead.givenBack(uid, released)], { sync: false }));
}

function isMuch(garbage: number, used: number): boolean {
  return garbage > Math.max(GARBAGE_BYTES_MAX, used * GARBAGE_SHARE_MAX);
}
