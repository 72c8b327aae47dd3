// Keys of the query log's database. All of a log's keys start with its number, so a single range delete drops
// the log. Numbers are big-endian, so byte order is numeric order. ON DISK: docs/FORMATS.md shows the same
// table.
//
//   | 0 u32   | 00 journal      | number u48                                  |
//   | log u32 | 01 counters                                                   |
//   |         | 02 text         | number u32                                  |
//   |         | 03 number of a text | UTF-8                                   |
//   |         | 04 document     | number u32                                  |
//   |         | 05 number of a document | UTF-8                               |
//   |         | 10 searches     | hour u32 | block u32                        |
//   |         | 11 marks        | hour u32 | block u32                        |
//   |         | 12 events       | hour u32 | block u32                        |
//   |         | 13 hour rollup  | hour u32 | part u8                          |
//   |         | 14 day rollup   | day u32 | part u8                           |
//   |         | 15 event id     | hash, 12 bytes                              |
import type { KeyRange } from "../../../shards/storage/store.js";

/** The number with which keys of data shared by all logs begin. No log has this number. */
const SHARED = 0;

// ON DISK - never renumber
export const LogKind = {
  journal: 0x00,
  counters: 0x01,
  text: 0x02,
  textNumber: 0x03,
  document: 0x04,
  documentNumber: 0x05,
  searches: 0x10,
  marks: 0x11,
  events: 0x12,
  hourRollup: 0x13,
  dayRollup: 0x14,
  eventId: 0x15,
} as const;
export type LogKeyKind = (typeof LogKind)[keyof typeof LogKind];

/** A block's log, hour and number, which its key consists of. */
export interface BlockPlace {
  readonly log: number;
  readonly hour: number;
  readonly block: number;
}

const HEAD = 5;

function head(log: number, kind: LogKeyKind, restBytes: number): Buffer {
  const key = Buffer.allocUnsafe(HEAD + restBytes);
  key.writeUInt32BE(log, 0);
  key[4] = kind;
  return key;
}

export function journalKey(number: number): Uint8Array {
  const key = head(SHARED, LogKind.journal, 6);
  key.writeUIntBE(number, HEAD, 6);
  return key;
}

export function journalNumber(key: Uint8Array): number {
  return Buffer.from(key).readUIntBE(HEAD, 6);
}

export function countersKey(log: number): Uint8Array {
  return head(log, LogKind.counters, 0);
}

export function numberKey(log: number, kind: LogKeyKind, number: number): Uint8Array {
  const key = head(log, kind, 4);
  key.writeUInt32BE(number, HEAD);
  return key;
}

export function wordKey(log: number, kind: LogKeyKind, text: string): Uint8Array {
  return Buffer.concat([head(log, kind, 0), Buffer.from(text)]);
}

/** Returns the text or document id at the end of a dictionary key. */
export function wordOfKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset + HEAD, key.byteLength - HEAD).toString("utf8");
}

/** Returns the key of a block of searches, marks or events. */
export function blockKey(log: number, kind: LogKeyKind, hour: number, block: number): Uint8Array {
  const key = head(log, kind, 8);
  key.writeUInt32BE(hour, HEAD);
  key.writeUInt32BE(block, HEAD + 4);
  return key;
}

/** Returns the key of one part of a rollup. `period` is an hour or a day. */
export function rollupKey(log: number, kind: LogKeyKind, period: number, part: number): Uint8Array {
  const key = head(log, kind, 5);
  key.writeUInt32BE(period, HEAD);
  key[HEAD + 4] = part;
  return key;
}

export function eventIdKey(log: number, hash: Uint8Array): Uint8Array {
  return Buffer.concat([head(log, LogKind.eventId, 0), hash]);
}

export function logKindOfKey(key: Uint8Array): number {
  return key[4] as number;
}

export function logOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(0);
}

/** Returns the number that follows the kind in a key: an hour, a day or a dictionary number. */
export function firstNumberOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(HEAD);
}

/** Returns the block number in a key of searches, marks or events. */
export function blockOfKey(key: Uint8Array): number {
  return new DataView(key.buffer, key.byteOffset).getUint32(HEAD + 4);
}

/** Returns the range of all keys of one log, or of the logs in [log, end). */
export function logRange(log: number, end = log + 1): KeyRange {
  return { from: head(log, LogKind.journal, 0), to: head(end, LogKind.journal, 0) };
}

export function journalRange(): KeyRange {
  return kindRange(SHARED, LogKind.journal);
}

export function kindRange(log: number, kind: LogKeyKind): KeyRange {
  const to = head(log, kind, 0);
  to[4] = kind + 1;
  return { from: head(log, kind, 0), to };
}

/** Returns the range of a log's keys of one kind with an hour, day or dictionary number in [from, to). */
export function numberRange(log: number, kind: LogKeyKind, from: number, to: number): KeyRange {
  return { from: numberKey(log, kind, from), to: numberKey(log, kind, to) };
}

/** Returns the range of all logs' keys. Excludes the data shared by all logs. */
export function allLogs(): KeyRange {
  return { from: head(SHARED + 1, LogKind.journal, 0), to: Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff]) };
}
