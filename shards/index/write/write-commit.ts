// Commits a write: stores new segments, deleted rows and documents in one batch, then publishes a snapshot
// for each generation in the commit. A read of any generation therefore sees exactly that generation's write
// and all earlier writes.
import { shardFault } from "../../fault.js";
import type { DeadList } from "../../segments/dead-documents.js";
import { DeletedRows } from "../../segments/deleted-rows.js";
import type { DoubtfulWrite } from "../../segments/manifest.js";
import { killRows, type LiveSegment, type OpenSegment } from "../../segments/open-segment.js";
import { putPieces } from "../../segments/segment-pieces.js";
import { inTurn } from "../../storage/lazy-ops.js";
import type { StoreOp } from "../../storage/store.js";
import { type NewVectors, vectorPuts } from "../../vectors/vector-record.js";
import { attachSegment } from "../fresh-segment.js";
import { mustSucceed } from "../must-succeed.js";
import type { Slices } from "../slices.js";
import { putDeletedRows, type ShardIndexState } from "../state.js";
import type { DyingRow, NewRow } from "./write-plan.js";

/** A built segment with each row's lifetime. */
export interface NewSegment {
  bytes: Uint8Array;
  rows: NewRow[];
  /** Null if the vectors are to be made later. */
  vectors: NewVectors | null;
}

export interface WriteChange {
  /**
   * Ascending; the last generation becomes the index's generation. `maxSeq`: largest seq that any write has
   * assigned so far, even if no document was stored under it.
   */
  generations: { generation: number; maxSeq: number }[];
  /** Those of the generations that other shards write too. */
  inDoubt: DoubtfulWrite[];
  oldestGeneration: number;
  segments: NewSegment[];
  dying: DyingRow[];
  /** Put operations for documents visible in at least one generation. */
  documents: Iterable<StoreOp>;
  dead: DeadList[];
  /** Set to sync the commit regardless of the server's durability setting. */
  sync?: true;
}

export async function commitWrite(
  state: ShardIndexState,
  change: WriteChange,
  slices: Slices,
): Promise<void> {
  const { uid } = state;
  const before = state.entries;
  const opened: OpenSegment[] = [];
  try {
    for (const { bytes, vectors } of change.segments) {
      const segment = attachSegment(state, bytes, state.schema.version);
      opened.push(segment);
      if (vectors !== null) state.vectors.attach(segment, vectors);
      await slices.pause();
      // Publishing would otherwise make the summary in one go.
      for (const _ of state.engine.summarise(segment.address)) await slices.pause();
    }
    const deleted = deletedAfter(state, before, opened, change);
    await slices.pause();
    const released = state.dead.releasable(change.oldestGeneration);
    const pieces = opened.map(({ record }, i) => putPieces(uid, record.id, () => change.segments[i]!.bytes));
    const ops = inTurn(
      change.documents,
      ...change.segments.map(({ vectors }) => (vectors === null ? [] : vectorPuts(uid, vectors.shown))),
      ...pieces,
      putDeletedRows(uid, deleted),
      state.dead.puts(uid, change.dead),
      state.dead.deletes(uid, released, state.vectors.mayBeStored),
    );
    const next = {
      schema: state.schema,
      ...change.generations.at(-1)!,
      segments: [...before.map(({ segment }) => segment), ...opened],
      deleted: new Map([...state.deleted, ...deleted]),
      inDoubt: change.inDoubt,
    };
    shardFault("commit.before-batch");
    await state.commit(ops, next, change.sync);
    shardFault("commit.after-batch");
    state.generation = next.generation;
    state.maxSeq = next.maxSeq;
    state.deleted = next.deleted;
    state.dead.forget(released);
    state.dead.add(change.dead);
    mustSucceed(() => {
      shardFault("commit.publish");
      publishAll(state, change, before, opened);
    });
    for (const { entry, seq } of change.dying) {
      const { segment } = before[entry]!;
      segment.codes?.waiting.delete(seq);
      state.onKilled(segment, seq);
    }
    state.snapshots.retire(change.oldestGeneration);
  } finally {
    for (const segment of opened) segment.drop();
  }
}

/** Returns each affected segment's deleted rows after the change's last generation. */
function deletedAfter(
  state: ShardIndexState,
  before: readonly LiveSegment[],
  opened: readonly OpenSegment[],
  change: WriteChange,
): Map<number, DeletedRows> {
  const deleted = new Map<number, DeletedRows>();
  for (const [entry, rows] of rowsByEntry(change.dying)) {
    const { segment } = before[entry]!;
    deleted.set(segment.record.id, state.deletedRows(segment).with(rows));
  }
  for (const [i, { record }] of opened.entries()) {
    const rows = notLive(change.segments[i]!.rows, Number.MAX_SAFE_INTEGER);
    if (rows.length > 0) deleted.set(record.id, DeletedRows.none(record.rows).with(rows));
  }
  return deleted;
}

function rowsByEntry(dying: readonly DyingRow[]): Map<number, number[]> {
  const byEntry = new Map<number, number[]>();
  for (const { entry, row } of dying) {
    const rows = byEntry.get(entry);
    if (rows === undefined) byEntry.set(entry, [row]);
    else rows.push(row);
  }
  return byEntry;
}

/** Rows of a new segment that are not visible in a generation. */
function notLive(rows: readonly NewRow[], generation: number): number[] {
  const dead: number[] = [];
  for (const [row, { born, died }] of rows.entries()) {
    if (born > generation || died <= generation) dead.push(row);
  }
  return dead;
}

function publishAll(
  state: ShardIndexState,
  change: WriteChange,
  before: readonly LiveSegment[],
  opened: readonly OpenSegment[],
): void {
  let older = [...before];
  for (const { generation, maxSeq } of change.generations) {
    const isOnly = change.generations.length === 1;
    const killed = rowsByEntry(
      isOnly ? change.dying : change.dying.filter(({ died }) => died === generation),
    );
    older = older.map((entry, i) => {
      const rows = killed.get(i);
      return rows === undefined ? entry : { ...entry, live: killRows(state.engine, entry, rows) };
    });
    const newer = opened.map((segment, i) => {
      const rows = notLive(change.segments[i]!.rows, generation);
      return { segment, live: killRows(state.engine, { segment, live: null }, rows) };
    });
    state.snapshots.publish(generation, [...older, ...newer], maxSeq);
  }
}
