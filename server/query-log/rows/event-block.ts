// A block of logged events: those of one log that happened in one hour, or a part of them, ordered by their time. It never
// changes.
// ON DISK: docs/FORMATS.md shows the layout.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { ColumnReader, ColumnWriter } from "./columns.js";
import { numbered, putNumbered } from "./search-block.js";

export const EVENT_BLOCK_VERSION = 1;

/** By row. Texts and documents are numbers of the log's dictionaries. */
export interface EventBlock {
  readonly rows: number;
  /** Milliseconds since 1970; never falls. */
  readonly at: Float64Array;
  /** A number of EVENT_TYPES. */
  readonly type: Uint8Array;
  readonly document: Uint32Array;
  /** The text that the event told, 0 for none. */
  readonly text: Uint32Array;
  /** 1 for the first hit, 0 when it is not told. */
  readonly position: Uint32Array;
  /** See VALUE_UNITS. */
  readonly value: Float64Array;
  readonly user: Float64Array;
  readonly session: Float64Array;
  /** The id of the search that the event belongs to; 0, 0 and 0 when there is none in the log. */
  readonly searchAt: Float64Array;
  readonly searchCounter: Uint32Array;
  readonly searchFrontEnd: Float64Array;
}

export function encodeEventBlock(block: EventBlock): Uint8Array {
  const columns = new ColumnWriter();
  columns.put(block.rows);
  columns.putRising(block.at);
  columns.putAll(block.type);
  columns.putAll(block.document);
  columns.putAll(block.text);
  columns.putAll(block.position);
  columns.putAll(block.value);
  putNumbered(columns, block.user);
  putNumbered(columns, block.session);
  columns.putNear(block.searchAt);
  columns.putAll(block.searchCounter);
  putNumbered(columns, block.searchFrontEnd);
  return deflateRawSync(columns.finish());
}

export function decodeEventBlock(bytes: Uint8Array): EventBlock {
  const columns = new ColumnReader(inflateRawSync(bytes));
  const rows = columns.count();
  const at = columns.risingInto(new Float64Array(rows));
  const type = columns.into(new Uint8Array(rows));
  const document = columns.into(new Uint32Array(rows));
  const text = columns.into(new Uint32Array(rows));
  const position = columns.into(new Uint32Array(rows));
  const value = columns.into(new Float64Array(rows));
  const user = numbered(columns, rows);
  const session = numbered(columns, rows);
  const searchAt = columns.nearInto(new Float64Array(rows));
  const searchCounter = columns.into(new Uint32Array(rows));
  const searchFrontEnd = numbered(columns, rows);
  return {
    rows,
    at,
    type,
    document,
    text,
    position,
    value,
    user,
    session,
    searchAt,
    searchCounter,
    searchFrontEnd,
  };
}
