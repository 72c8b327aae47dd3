// Replaces neighbouring segments with new ones at the end of a merge or re-index. Rows deleted since the job
// began are located by seq and deleted in the new segments too. Search results do not change.
import { shardFault } from "../fault.js";
import { DeletedRows } from "../segments/deleted-rows.js";
import {
  dropEntries,
  engineEntries,
  type LiveSegment,
  liveOf,
  type OpenSegment,
  takeEntries,
} from "../segments/open-segment.js";
import { deletePieces, finishedOp, putPieces, writePiecesAhead } from "../segments/segment-pieces.js";
import { deletedRowsKey } from "../storage/keyspace.js";
import { inTurn } from "../storage/lazy-ops.js";
import type { StoreOp } from "../storage/store.js";
import { carryCodes } from "../vectors/carried-codes.js";
import { deleteCodes } from "../vectors/stored-codes.js";
import { BATCH_SEGMENT_BYTES } from "./limits.js";
import { mustSucceed } from "./must-succeed.js";
import type { Slices } from "./slices.js";
import { putDeletedRows, type ShardIndexState } from "./state.js";

/**
 * Records the rows that writes delete in the given segments while a job works on them. `deleted`: the seqs of
 * already deleted rows that the job keeps.
 */
export class KillWatch {
  readonly #state: ShardIndexState;
  readonly seqs: number[];

  constructor(state: ShardIndexState, entries: readonly LiveSegment[], deleted: readonly number[]) {
    this.#state = state;
    this.seqs = [...deleted];
    const watched = new Set(entries.map(({ segment }) => segment));
    state.onKilled = (segment, seq) => {
      if (watched.has(segment)) this.seqs.push(seq);
    };
  }

  end(): void {
    this.#state.onKilled = () => undefined;
  }
}

/** A segment ready to be switched in, and the store operations that make it durable. */
export interface Replacement {
  segment: OpenSegment;
  ops: Iterable<StoreOp>;
}

/** Prepares a segment for the switch. A large segment's pieces are written in advance. */
export async function prepareReplacement(state: ShardIndexState, segment: OpenSegment): Promise<Replacement> {
  const { id, bytes } = segment.record;
  const view = (): Uint8Array => state.engine.segmentView(segment.address);
  if (bytes <= BATCH_SEGMENT_BYTES) return { segment, ops: putPieces(state.uid, id, view) };
  shardFault("merge.before-pieces");
  await writePiecesAhead(state.home.store, state.uid, id, view, state.home.sync);
  shardFault("merge.after-pieces");
  return { segment, ops: [finishedOp(state.uid, id)] };
}

/**
 * Commits and publishes the switch. `replaced` are neighbours in the newest snapshot. `replacements` together
 * contain the rows that were live in `replaced` when the watch started; the list is empty if there were none.
 * Runs in the index's lane.
 */
export async function switchSegments(
  state: ShardIndexState,
  replaced: readonly LiveSegment[],
  replacements: readonly Replacement[],
  watch: KillWatch,
  slices: Slices,
): Promise<void> {
  const first = state.entries.findIndex(({ segment }) => segment === replaced[0]!.segment);
  const fresh = replacements.map(({ segment }) => segment);
  const deleted = deletedSince(state, fresh, watch.seqs);
  await carryCodes(state, replaced, fresh, slices);
  const gone = new Set(replaced.map(({ segment }) => segment.record.id));
  const segments = state.entries.map(({ segment }) => segment);
  segments.splice(first, replaced.length, ...fresh);
  const ops: StoreOp[] = [];
  for (const { segment } of replaced) {
    ops.push(...deletePieces(state.uid, segment.record.id, segment.record.pieces));
    if (state.deletedCount(segment) > 0)
      ops.push({ type: "del", key: deletedRowsKey(state.uid, segment.record.id) });
    if (state.vectors.mayBeStored) ops.push(...deleteCodes(state.uid, segment.record));
  }
  ops.push(...putDeletedRows(state.uid, deleted));
  const kept = [...state.deleted].filter(([id]) => !gone.has(id));
  const { schema, generation, maxSeq } = state;
  const next = { schema, generation, maxSeq, segments, deleted: new Map([...kept, ...deleted]) };
  shardFault("merge.before-switch");
  await state.commit(inTurn(...replacements.map((replacement) => replacement.ops), ops), next);
  shardFault("merge.after-switch");
  state.deleted = next.deleted;
  const entries = [...state.entries];
  mustSucceed(() => {
    entries.splice(first, replaced.length, ...fresh.map((segment) => freshEntry(state, segment, deleted)));
    state.snapshots.publish(generation, entries, maxSeq);
  });
}

function freshEntry(
  state: ShardIndexState,
  segment: OpenSegment,
  deleted: ReadonlyMap<number, DeletedRows>,
): LiveSegment {
  const rows = deleted.get(segment.record.id);
  return { segment, live: rows === undefined ? null : liveOf(state.engine, rows, segment) };
}

/** Finds the new segments' rows with these seqs. Returns them as deleted rows, by segment id. */
function deletedSince(
  state: ShardIndexState,
  fresh: readonly OpenSegment[],
  seqs: readonly number[],
): Map<number, DeletedRows> {
  const rows = new Map<number, number[]>();
  if (seqs.length > 0 && fresh.length > 0) {
    const entries = fresh.map((segment): LiveSegment => ({ segment, live: null }));
    takeEntries(entries);
    const snapshot = state.engine.setSnapshot(engineEntries(entries));
    for (const { entry, row } of state.engine.locate(snapshot, Float64Array.from(seqs))) {
      if (entry < 0) continue;
      const list = rows.get(entry);
      if (list === undefined) rows.set(entry, [row]);
      else list.push(row);
    }
    state.engine.releaseSnapshot(snapshot);
    dropEntries(entries);
  }
  return new Map(
    Array.from(rows, ([entry, dead]) => {
      const { id, rows: count } = fresh[entry]!.record;
      return [id, DeletedRows.none(count).with(dead)];
    }),
  );
}
