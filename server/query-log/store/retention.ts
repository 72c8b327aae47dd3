// Deletes old rows: those older than DAYS_KEPT and, while all logs together are too large, the oldest day of
// the largest log.

import type { Store } from "../../../shards/storage/store.js";
import { kindRange, LogKind, logRange, numberRange } from "../rows/keys.js";
import { eventIdDay } from "../rows/records.js";
import { DAY_MS, DAYS_KEPT, dayOf, dayOfHour, HOURS_PER_DAY, LATE_MS_MAX } from "../rows/time.js";
import type { Blocks } from "./blocks.js";
import type { LogState } from "./log-state.js";

/**
 * An event's id is stored for this many days after the event, because an event may be sent again as late as
 * LATE_MS_MAX after it happened.
 */
const EVENT_ID_DAYS = LATE_MS_MAX / DAY_MS + 2;

/** The members of QueryLog that retention uses. */
interface Logs {
  readonly store: Store;
  readonly blocks: Blocks;
  state(log: number): Promise<LogState>;
  change<T>(log: number, work: (state: LogState) => Promise<T>): Promise<T>;
}

export async function forgetOldRows(
  log: Logs,
  logs: readonly number[],
  nowMs: number,
  bytesMax: number,
): Promise<void> {
  const today = dayOf(nowMs);
  for (const number of logs) {
    await forgetDaysBefore(log, number, Math.max(0, today - DAYS_KEPT));
    await forgetEventIds(log, number, today - EVENT_ID_DAYS);
  }
  await keepWithin(log, logs, bytesMax);
}

/** Deletes a log's blocks and rollups from before `day`. */
async function forgetDaysBefore(log: Logs, number: number, day: number): Promise<void> {
  await log.change(number, async (state) => {
    const hour = day * HOURS_PER_DAY;
    const hours = [...state.hours.keys()].filter((known) => known < hour);
    const days = [...state.rolledUpDays].filter((known) => known < day);
    if (hours.length === 0 && days.length === 0) return;
    for (const known of hours) {
      state.hours.delete(known);
      log.blocks.forget(number, known);
    }
    for (const known of days) state.rolledUpDays.delete(known);
    // Delete the marks last: a block without its marks is unreadable, while marks without their block are
    // harmless.
    await log.store.clear(numberRange(number, LogKind.dayRollup, 0, day));
    for (const kind of [LogKind.hourRollup, LogKind.searches, LogKind.events, LogKind.marks])
      await log.store.clear(numberRange(number, kind, 0, hour));
  });
}

async function forgetEventIds(log: Logs, number: number, day: number): Promise<void> {
  const old: Uint8Array[] = [];
  for await (const [key, value] of log.store.entries(kindRange(number, LogKind.eventId)))
    if (eventIdDay(value) < day) old.push(key);
  if (old.length === 0) return;
  await log.store.batch(
    old.map((key) => ({ type: "del", key })),
    { sync: false },
  );
}

async function keepWithin(log: Logs, logs: readonly number[], bytesMax: number): Promise<void> {
  const bytes = new Map<number, number>();
  for (const number of logs) bytes.set(number, await log.store.diskBytes(logRange(number)));
  for (;;) {
    const total = [...bytes.values()].reduce((sum, one) => sum + one, 0);
    const [largest] = [...bytes].sort(([, a], [, b]) => b - a);
    if (largest === undefined || total <= bytesMax) return;
    const [number] = largest;
    const oldest = oldestDay(await log.state(number));
    if (oldest === null) return;
    await forgetDaysBefore(log, number, oldest + 1);
    await log.store.compact(logRange(number));
    bytes.set(number, await log.store.diskBytes(logRange(number)));
  }
}

function oldestDay({ hours }: LogState): number | null {
  const first = Math.min(...hours.keys());
  return Number.isFinite(first) ? dayOfHour(first) : null;
}
