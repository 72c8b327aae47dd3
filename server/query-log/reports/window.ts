// Reads the data for a report's period. Uses rollups for whole hours and days where they exist, and single
// rows for the rest.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { EventBlock } from "../rows/event-block.js";
import { LogKind, rollupKey } from "../rows/keys.js";
import type { OpenEvent, OpenSearch } from "../rows/open-rows.js";
import { openRollup, type RollupKind } from "../rows/records.js";
import { ROLLUP_PARTS, type RollupPart } from "../rows/rollup.js";
import { dayOfHour, HOUR_MS, HOURS_PER_DAY, hourOf } from "../rows/time.js";
import type { Blocks, MarkedBlock } from "../store/blocks.js";
import { BlockGoneError } from "../store/blocks.js";
import { changedHours } from "../store/checkpoint.js";
import type { LogState } from "../store/log-state.js";
import type { QueryLog } from "../store/query-log.js";

/** The period from `fromMs` (inclusive) to `toMs` (exclusive). */
export interface Window {
  readonly fromMs: number;
  readonly toMs: number;
}

type Slice =
  | { readonly kind: "rollup"; readonly of: RollupKind; readonly period: number }
  | { readonly kind: "searches" | "events"; readonly hour: number; readonly block: number };

/**
 * Receives a window's data: rollups, blocks and open rows. Blocks may also contain rows outside the window.
 */
export interface WindowReader {
  openSearch?(search: OpenSearch): void;
  openEvent?(event: OpenEvent): void;
  searches?(block: MarkedBlock, window: Window): void;
  events?(block: EventBlock, window: Window): void;
  /** Receives one part (see rollup.ts) of the rollup of an hour or day. */
  rollup(part: RollupPart, bytes: Uint8Array): void;
}

/** Maximum number of attempts to read a window. An attempt fails if a block is deleted before it is read. */
const PLANS_MAX = 8;

/**
 * Reads a window: the given parts of its rollups, and single rows where there is no rollup. Passes them to a
 * reader from `newReader`, and resolves with the reader once it has received everything. If an attempt fails,
 * its reader is discarded.
 */
export async function readWindow<T extends WindowReader>(
  queryLog: QueryLog,
  log: number,
  window: Window,
  parts: readonly RollupPart[],
  newReader: (state: LogState) => T,
): Promise<T> {
  for (let plans = 1; ; plans++) {
    const state = await queryLog.state(log);
    const reader = newReader(state);
    try {
      await readOnce(queryLog, state, window, parts, reader);
      return reader;
    } catch (error) {
      if (!(error instanceof BlockGoneError) || plans === PLANS_MAX) throw error;
    }
  }
}

async function readOnce(
  { store, blocks }: QueryLog,
  state: LogState,
  window: Window,
  parts: readonly RollupPart[],
  reader: WindowReader,
): Promise<void> {
  const { log } = state;
  const slices = slicesOf(state, blocks, window, parts.length > 0);
  readOpenRows(state, window, reader);
  for (const slice of slices) {
    await yieldToEventLoop();
    if (slice.kind === "rollup") {
      for (const part of parts) {
        const value = store.getSync(rollupKey(log, slice.of, slice.period, ROLLUP_PARTS[part]));
        if (value === undefined) throw new BlockGoneError("a rollup of the query log is out of date");
        reader.rollup(part, openRollup(value));
      }
    } else if (slice.kind === "searches") reader.searches?.(blocks.searches({ log, ...slice }), window);
    else reader.events?.(blocks.events({ log, ...slice }), window);
  }
}

function readOpenRows({ open }: LogState, { fromMs, toMs }: Window, reader: WindowReader): void {
  for (const search of open.searches)
    if (search.at >= fromMs && search.at < toMs) reader.openSearch?.(search);
  for (const event of open.events) if (event.at >= fromMs && event.at < toMs) reader.openEvent?.(event);
}

/**
 * Returns what to read for the window, in chronological order: rollups, or blocks where there are no rollups.
 * If `rollups` is false, returns only blocks.
 */
function slicesOf(state: LogState, blocks: Blocks, { fromMs, toMs }: Window, rollups: boolean): Slice[] {
  const changed = changedHours(blocks.changedOf(state.log));
  const changedDays = new Set([...changed].map(dayOfHour));
  const isWhole = (hour: number): boolean => hour * HOUR_MS >= fromMs && (hour + 1) * HOUR_MS <= toMs;
  const slices: Slice[] = [];
  const numbers = [...state.hours.keys()].filter((hour) => hour >= hourOf(fromMs) && hour * HOUR_MS < toMs);
  const taken = new Set<number>();
  for (const number of numbers.sort((a, b) => a - b)) {
    const day = dayOfHour(number);
    if (taken.has(day)) continue;
    const dayIsWhole = isWhole(day * HOURS_PER_DAY) && isWhole((day + 1) * HOURS_PER_DAY - 1);
    if (rollups && dayIsWhole && state.rolledUpDays.has(day) && !changedDays.has(day)) {
      slices.push({ kind: "rollup", of: LogKind.dayRollup, period: day });
      taken.add(day);
      continue;
    }
    const hour = state.hour(number);
    if (rollups && isWhole(number) && hour.rolledUp && !changed.has(number)) {
      slices.push({ kind: "rollup", of: LogKind.hourRollup, period: number });
      continue;
    }
    for (const { block } of hour.searches) slices.push({ kind: "searches", hour: number, block });
    for (const block of hour.events) slices.push({ kind: "events", hour: number, block });
  }
  return slices;
}
