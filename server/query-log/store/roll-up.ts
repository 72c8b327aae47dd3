// Computes the rollups of past hours and days, and merges an hour's blocks at the same time. Depends only on
// stored data, so it can be skipped, interrupted and repeated.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Store, StoreOp } from "../../../shards/storage/store.js";
import type { EventBlock } from "../rows/event-block.js";
import type { BlockPlace } from "../rows/keys.js";
import { LogKind, rollupKey } from "../rows/keys.js";
import {
  eventBlockOf,
  eventsByHour,
  eventsOf,
  searchBlockOf,
  searchesByHour,
  searchesOf,
} from "../rows/open-rows.js";
import { deleteBlock, openRollup, putEvents, putMarks, putRollup, putSearches } from "../rows/records.js";
import { ALL_PARTS, ROLLUP_PARTS, Rollup } from "../rows/rollup.js";
import { dayOfHour, HOUR_MS, HOURS_PER_DAY, hourOf } from "../rows/time.js";
import type { Blocks, MarkedBlock } from "./blocks.js";
import { changedHours } from "./checkpoint.js";
import type { Hour, LogState } from "./log-state.js";

/** Delay (ms) from the end of an hour until it may be rolled up, so that late rows are included. */
const GRACE_MS = 60_000;
/** An hour's blocks are merged only if they have fewer rows than this in total. */
const MERGED_ROWS_MAX = 65_536;

/** A computed rollup: the operations that store it, and the change of state to make once it is stored. */
export interface RollUp {
  readonly ops: readonly StoreOp[];
  /** True if the period's data has not changed since the rollup was computed. */
  isCurrent(): boolean;
  stored(): void;
}

/**
 * Returns the past hours that have no rollup yet and are ready for one. An hour with open rows or unstored
 * marks has to wait for the next checkpoint.
 */
export function hoursToRollUp(state: LogState, blocks: Blocks, nowMs: number): number[] {
  const waiting = new Set([
    ...state.open.searches.map(({ at }) => hourOf(at)),
    ...state.open.events.map(({ at }) => hourOf(at)),
    ...changedHours(blocks.changedOf(state.log)),
  ]);
  return [...state.hours]
    .filter(([number, hour]) => !hour.rolledUp && !waiting.has(number) && isOver(number, nowMs))
    .map(([number]) => number);
}

/** Returns past days without a rollup whose hours all have one. */
export function daysToRollUp(state: LogState, nowMs: number): number[] {
  const days = new Map<number, boolean>();
  for (const [number, { rolledUp }] of state.hours) {
    const day = dayOfHour(number);
    days.set(day, (days.get(day) ?? true) && rolledUp);
  }
  return [...days]
    .filter(
      ([day, ready]) => ready && !state.rolledUpDays.has(day) && isOver((day + 1) * HOURS_PER_DAY - 1, nowMs),
    )
    .map(([day]) => day);
}

function isOver(hour: number, nowMs: number): boolean {
  return (hour + 1) * HOUR_MS + GRACE_MS <= nowMs;
}

/** Computes an hour's rollup in small steps, so that the thread can do other work in between. */
export async function rollUpHour(state: LogState, blocks: Blocks, number: number): Promise<RollUp> {
  const { log } = state;
  const hour = state.hour(number);
  const { changes } = hour;
  const rollup = new Rollup();
  const searches: MarkedBlock[] = [];
  const events: EventBlock[] = [];
  let rows = 0;
  for (const { block } of hour.searches) {
    const marked = blocks.searches({ log, hour: number, block });
    rollup.addSearches(marked.searches, marked.marks);
    rows += marked.searches.rows;
    if (rows < MERGED_ROWS_MAX) searches.push(marked);
    await yieldToEventLoop();
  }
  for (const block of hour.events) {
    const found = blocks.events({ log, hour: number, block });
    rollup.addEvents(found);
    rows += found.rows;
    if (rows < MERGED_ROWS_MAX) events.push(found);
    await yieldToEventLoop();
  }
  const merges = rows < MERGED_ROWS_MAX && (hour.searches.length > 1 || hour.events.length > 1);
  const merged = merges ? mergedBlocks(state, number, hour, searches, events) : null;
  return {
    ops: [...(merged?.ops ?? []), ...putRollup(log, LogKind.hourRollup, number, rollup)],
    isCurrent: () => hour.changes === changes && state.hours.get(number) === hour,
    stored() {
      if (merged !== null) {
        merged.stored();
        blocks.forget(log, number);
      }
      hour.rolledUp = true;
    },
  };
}

/** Merges the hour's blocks into one block of searches and one block of events. */
function mergedBlocks(
  state: LogState,
  number: number,
  hour: Hour,
  searches: readonly MarkedBlock[],
  events: readonly EventBlock[],
): { readonly ops: StoreOp[]; stored(): void } {
  const { log } = state;
  const ops: StoreOp[] = [];
  const after = { searches: [...hour.searches], events: [...hour.events] };
  const place = (block: number): BlockPlace => ({ log, hour: number, block });
  if (after.searches.length > 1) {
    for (const { block } of after.searches) ops.push(...deleteBlock(place(block), "searches"));
    const rows = searches.flatMap((block) => searchesOf(block.searches, block.marks));
    const sorted = searchesByHour(rows).get(number) ?? [];
    const { block } = after.searches[0]!;
    after.searches = [{ block, fromMs: sorted[0]!.at, untilMs: sorted.at(-1)!.at }];
    ops.push(putSearches(place(block), searchBlockOf(sorted)));
    ops.push(
      putMarks(
        place(block),
        Uint8Array.from(sorted, ({ marks }) => marks),
      ),
    );
  }
  if (after.events.length > 1) {
    for (const block of after.events) ops.push(...deleteBlock(place(block), "events"));
    const sorted = eventsByHour(events.flatMap(eventsOf)).get(number) ?? [];
    after.events = after.events.slice(0, 1);
    ops.push(putEvents(place(after.events[0]!), eventBlockOf(sorted)));
  }
  return { ops, stored: () => Object.assign(hour, after) };
}

/** Computes a day's rollup from the rollups of its hours. */
export async function rollUpDay(state: LogState, store: Store, day: number): Promise<RollUp> {
  const { log } = state;
  const numbers = hoursOfDay(state, day);
  const changes = numbers.map((number) => state.hour(number).changes);
  const rollup = new Rollup();
  for (const part of ALL_PARTS) {
    for (const number of numbers) {
      const value = store.getSync(rollupKey(log, LogKind.hourRollup, number, ROLLUP_PARTS[part]));
      if (value !== undefined) rollup.addPart(part, openRollup(value));
      await yieldToEventLoop();
    }
  }
  return {
    ops: putRollup(log, LogKind.dayRollup, day, rollup),
    isCurrent: () =>
      hoursOfDay(state, day).length === numbers.length && // no hour was added
      numbers.every(
        (number, i) =>
          state.hours.get(number)?.rolledUp === true && state.hour(number).changes === changes[i],
      ),
    stored: () => void state.rolledUpDays.add(day),
  };
}

function hoursOfDay({ hours }: LogState, day: number): number[] {
  return [...hours.keys()].filter((number) => dayOfHour(number) === day);
}
