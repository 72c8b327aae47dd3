// Encodes and decodes the stored records of the query log. Each kind of record has its own kind of envelope.
import { pack } from "msgpackr/pack";
import { unpack } from "msgpackr/unpack";
import {
  ENVELOPE_LOG_COUNTERS,
  ENVELOPE_LOG_EVENTS,
  ENVELOPE_LOG_JOURNAL,
  ENVELOPE_LOG_MARKS,
  ENVELOPE_LOG_ROLLUP,
  ENVELOPE_LOG_SEARCHES,
  seal,
  unseal,
} from "../../../shards/storage/envelope.js";
import type { StoreOp } from "../../../shards/storage/store.js";
import { EVENT_BLOCK_VERSION, type EventBlock, encodeEventBlock } from "./event-block.js";
import { JOURNAL_VERSION } from "./journal.js";
import {
  type BlockPlace,
  blockKey,
  countersKey,
  eventIdKey,
  journalKey,
  LogKind,
  rollupKey,
} from "./keys.js";
import { encodeMarks, MARKS_VERSION } from "./marks.js";
import { ALL_PARTS, ROLLUP_PARTS, ROLLUP_VERSION, type Rollup } from "./rollup.js";
import { encodeSearchBlock, SEARCH_BLOCK_VERSION, type SearchBlock } from "./search-block.js";

const COUNTERS_VERSION = 1;

/** The next free numbers of a log: in its two dictionaries, and for its blocks. */
export interface Counters {
  readonly nextText: number;
  readonly nextDocument: number;
  readonly nextBlock: number;
}

export function putJournal(number: number, chunk: Uint8Array): StoreOp {
  return {
    type: "put",
    key: journalKey(number),
    value: seal(ENVELOPE_LOG_JOURNAL, JOURNAL_VERSION, chunk),
  };
}

export function openJournal(value: Uint8Array): Uint8Array {
  return unseal(ENVELOPE_LOG_JOURNAL, JOURNAL_VERSION, value, "the journal of the query log");
}

export function putCounters(log: number, counters: Counters): StoreOp {
  return {
    type: "put",
    key: countersKey(log),
    value: seal(ENVELOPE_LOG_COUNTERS, COUNTERS_VERSION, pack(counters)),
  };
}

/**
 * Reads the counters. `value` contains the stored bytes; it is undefined for a new log, whose counters start
 * at 1.
 */
export function openCounters(value: Uint8Array | undefined): Counters {
  if (value === undefined) return { nextText: 1, nextDocument: 1, nextBlock: 1 };
  return unpack(
    unseal(ENVELOPE_LOG_COUNTERS, COUNTERS_VERSION, value, "the counters of a query log"),
  ) as Counters;
}

export function putSearches({ log, hour, block }: BlockPlace, searches: SearchBlock): StoreOp {
  return {
    type: "put",
    key: blockKey(log, LogKind.searches, hour, block),
    value: seal(ENVELOPE_LOG_SEARCHES, SEARCH_BLOCK_VERSION, encodeSearchBlock(searches)),
  };
}

export function putMarks({ log, hour, block }: BlockPlace, marks: Uint8Array): StoreOp {
  return {
    type: "put",
    key: blockKey(log, LogKind.marks, hour, block),
    value: seal(ENVELOPE_LOG_MARKS, MARKS_VERSION, encodeMarks(marks)),
  };
}

export function putEvents({ log, hour, block }: BlockPlace, events: EventBlock): StoreOp {
  return {
    type: "put",
    key: blockKey(log, LogKind.events, hour, block),
    value: seal(ENVELOPE_LOG_EVENTS, EVENT_BLOCK_VERSION, encodeEventBlock(events)),
  };
}

export function deleteBlock({ log, hour, block }: BlockPlace, kind: "searches" | "events"): StoreOp[] {
  const kinds = kind === "searches" ? [LogKind.searches, LogKind.marks] : [LogKind.events];
  return kinds.map((one) => ({ type: "del", key: blockKey(log, one, hour, block) }));
}

export type RollupKind = typeof LogKind.hourRollup | typeof LogKind.dayRollup;

/** Returns the operations that store a rollup. `period` is an hour or a day. */
export function putRollup(log: number, kind: RollupKind, period: number, rollup: Rollup): StoreOp[] {
  return ALL_PARTS.map((part) => ({
    type: "put",
    key: rollupKey(log, kind, period, ROLLUP_PARTS[part]),
    value: seal(ENVELOPE_LOG_ROLLUP, ROLLUP_VERSION, rollup.part(part)),
  }));
}

export function deleteRollup(log: number, kind: RollupKind, period: number): StoreOp[] {
  return ALL_PARTS.map((part) => ({ type: "del", key: rollupKey(log, kind, period, ROLLUP_PARTS[part]) }));
}

export function openRollup(value: Uint8Array): Uint8Array {
  return unseal(ENVELOPE_LOG_ROLLUP, ROLLUP_VERSION, value, "a rollup of the query log");
}

/**
 * Returns the operation that stores the hash of an event's id, so that a repeated event is recognised. `hash`
 * is in hexadecimal.
 */
export function putEventId(log: number, hash: string, day: number): StoreOp {
  const value = Buffer.allocUnsafe(4);
  value.writeUInt32LE(day, 0);
  return { type: "put", key: eventIdKey(log, Buffer.from(hash, "hex")), value };
}

/** Returns the day of the event. */
export function eventIdDay(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset).getUint32(0, true);
}
