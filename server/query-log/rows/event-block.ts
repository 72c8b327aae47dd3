// A block of logged events, which contains all or some of one log's events in one hour, ordered by time.
// Immutable. ON DISK: docs/FORMATS.md shows the layout.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { ColumnReader, ColumnWriter } from "./columns.js";
import { numbered, putNumbered } from "./search-block.js";

export const EVENT_BLOCK_VERSION = 1;

/** The block's columns, with one entry per row. Texts and documents are numbers in the log's dictionaries. */
export interface EventBlock {
  readonly rows: number;
  /** Milliseconds since 1970; non-decreasing. */
  readonly at: Float64Array;
  /** An index into EVENT_TYPES. */
  readonly type: Uint8Array;
  readonly document: Uint32Array;
  /** Number of the text named in the event, or 0 if it names none. */
  readonly text: Uint32Array;
  /** Position of the hit, 1 for the first; 0 if not given. */
  readonly position: Uint32Array;
  /** Value of a conversion, in units of 1 / VALUE_UNITS. */
  readonly value: Float64Array;
  readonly user: Float64Array;
  readonly session: Float64Array;
  /**
   * The following three columns are the query id of the event's search. All are 0 if the log contains no such
   * search.
   */
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
