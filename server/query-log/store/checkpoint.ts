// Makes checkpoints. A checkpoint turns all logs' open rows into blocks and deletes the journal that contains
// these rows. Both happen in one batch: after a crash, the disk contains either the rows in the journal or
// their blocks.
import type { StoreOp } from "../../../shards/storage/store.js";
import type { BlockPlace } from "../rows/keys.js";
import { LogKind } from "../rows/keys.js";
import { eventBlockOf, eventsByHour, OpenRows, searchBlockOf, searchesByHour } from "../rows/open-rows.js";
import { deleteRollup, putCounters, putEventId, putEvents, putMarks, putSearches } from "../rows/records.js";
import { dayOfHour } from "../rows/time.js";
import { type Blocks, MarkedBlock } from "./blocks.js";
import type { LogState } from "./log-state.js";

/** What a checkpoint stores for one log. */
export interface LogCheckpoint {
  readonly ops: readonly StoreOp[];
  /** Updates the log's state. Must be called once the operations are stored. */
  stored(): void;
}

/**
 * Prepares the checkpoint of one log. Returns null if there is nothing to store. No row may be applied until
 * the returned operations are stored.
 */
export function checkpointOf(state: LogState, blocks: Blocks): LogCheckpoint | null {
  const { log, open } = state;
  const changed = blocks.changedOf(log);
  if (open.size === 0 && changed.length === 0) return null;
  const ops: StoreOp[] = [];
  const searches: MarkedBlock[] = [];
  const events: BlockPlace[] = [];
  let nextBlock = state.nextBlock;
  for (const [hour, rows] of searchesByHour(open.searches)) {
    const marks = Uint8Array.from(rows, (row) => row.marks);
    const block = new MarkedBlock({ log, hour, block: nextBlock++ }, searchBlockOf(rows), marks);
    ops.push(putSearches(block.place, block.searches), putMarks(block.place, marks));
    searches.push(block);
  }
  for (const [hour, rows] of eventsByHour(open.events)) {
    const place = { log, hour, block: nextBlock++ };
    ops.push(putEvents(place, eventBlockOf(rows)));
    events.push(place);
  }
  for (const { place, marks } of changed) ops.push(putMarks(place, marks));
  const places = [...[...searches, ...changed].map(({ place }) => place), ...events];
  const hours = new Set(places.map(({ hour }) => hour));
  ops.push(...staleRollups(state, hours));
  ops.push(...state.texts.pendingOps(), ...state.documents.pendingOps());
  for (const [hash, day] of state.eventIds) ops.push(putEventId(log, hash, day));
  ops.push(putCounters(log, { ...state.counters, nextBlock }));
  const stored = (): void => {
    state.nextBlock = nextBlock;
    state.open = new OpenRows();
    state.eventIds = new Map();
    state.texts.stored();
    state.documents.stored();
    for (const block of searches) addSearches(state, blocks, block);
    for (const place of events) addEvents(state, place);
    forgetRollups(state, hours);
    blocks.forgetChanges(changed);
  };
  return { ops, stored };
}

function addSearches(state: LogState, blocks: Blocks, block: MarkedBlock): void {
  const hour = state.hour(block.place.hour);
  const { at } = block.searches;
  hour.searches.push({ block: block.place.block, fromMs: at[0]!, untilMs: at.at(-1)! });
  hour.changes++;
  blocks.add(block);
}

function addEvents(state: LogState, { hour: number, block }: BlockPlace): void {
  const hour = state.hour(number);
  hour.events.push(block);
  hour.changes++;
}

/** Returns the operations that delete the rollups of the changed hours and of their days. */
export function staleRollups(
  { log, hours, rolledUpDays }: LogState,
  changed: ReadonlySet<number>,
): StoreOp[] {
  const days = new Set([...changed].map(dayOfHour));
  return [
    ...[...changed]
      .filter((hour) => hours.get(hour)?.rolledUp === true)
      .flatMap((hour) => deleteRollup(log, LogKind.hourRollup, hour)),
    ...[...days]
      .filter((day) => rolledUpDays.has(day))
      .flatMap((day) => deleteRollup(log, LogKind.dayRollup, day)),
  ];
}

/** Marks the changed hours and their days as not rolled up. Must be called once their rollups are deleted. */
export function forgetRollups(state: LogState, changed: ReadonlySet<number>): void {
  for (const hour of changed) {
    state.hour(hour).rolledUp = false;
    state.rolledUpDays.delete(dayOfHour(hour));
  }
}

/** Returns the hours of blocks whose changed marks are not stored yet. Their rollups are out of date. */
export function changedHours(changed: readonly MarkedBlock[]): Set<number> {
  return new Set(changed.map(({ place }) => place.hour));
}
