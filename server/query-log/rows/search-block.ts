// A block of logged searches, which contains all or some of one log's searches in one hour, ordered by time
// and then by id. Immutable; facts that become known later are stored in its marks (marks.ts). ON DISK:
// docs/FORMATS.md shows the layout.
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { ColumnReader, ColumnWriter } from "./columns.js";
import type { Person } from "./journal.js";

export const SEARCH_BLOCK_VERSION = 1;

/** The block's columns, with one entry per row. Texts and documents are numbers in the log's dictionaries. */
export interface SearchBlock {
  readonly rows: number;
  /** Milliseconds since 1970; non-decreasing. */
  readonly at: Float64Array;
  /** The query id consists of `at`, `counter` and `frontEnd`. */
  readonly counter: Uint32Array;
  readonly frontEnd: Float64Array;
  /** Dictionary number of the normalised text. */
  readonly text: Uint32Array;
  /** The text as typed, or empty if it equals the normalised text. */
  readonly typed: readonly string[];
  readonly found: Uint32Array;
  /** The search's duration as a step; see took.ts. */
  readonly took: Uint16Array;
  /** An index into SEARCH_MODES. */
  readonly mode: Uint8Array;
  /** 1 if the query had a filter. */
  readonly filtered: Uint8Array;
  readonly page: Uint32Array;
  readonly user: Float64Array;
  readonly session: Float64Array;
  /**
   * The documents of a row's first hits are the entries of `hits` in [hitsFrom[row], hitsFrom[row + 1]).
   * `hitsFrom` therefore has one entry more than there are rows.
   */
  readonly hitsFrom: Uint32Array;
  readonly hits: Uint32Array;
}

/** Encodes a block for storage. */
export function encodeSearchBlock(block: SearchBlock): Uint8Array {
  const columns = new ColumnWriter();
  columns.put(block.rows);
  columns.putRising(block.at);
  putNumbered(columns, block.frontEnd);
  columns.putNear(block.counter);
  columns.putAll(block.text);
  putTyped(columns, block.typed);
  columns.putAll(block.found);
  columns.putAll(block.took);
  columns.putAll(block.mode);
  columns.putAll(block.filtered);
  columns.putAll(block.page);
  putNumbered(columns, block.user);
  putNumbered(columns, block.session);
  for (let row = 0; row < block.rows; row++)
    columns.put((block.hitsFrom[row + 1] as number) - (block.hitsFrom[row] as number));
  columns.putAll(block.hits);
  return deflateRawSync(columns.finish());
}

export function decodeSearchBlock(bytes: Uint8Array): SearchBlock {
  const columns = new ColumnReader(inflateRawSync(bytes));
  const rows = columns.count();
  const at = columns.risingInto(new Float64Array(rows));
  const frontEnd = numbered(columns, rows);
  const counter = columns.nearInto(new Uint32Array(rows));
  const text = columns.into(new Uint32Array(rows));
  const typed = readTyped(columns, rows);
  const found = columns.into(new Uint32Array(rows));
  const took = columns.into(new Uint16Array(rows));
  const mode = columns.into(new Uint8Array(rows));
  const filtered = columns.into(new Uint8Array(rows));
  const page = columns.into(new Uint32Array(rows));
  const user = numbered(columns, rows);
  const session = numbered(columns, rows);
  const hitsFrom = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) hitsFrom[row + 1] = (hitsFrom[row] as number) + columns.next();
  columns.room(hitsFrom[rows] as number);
  const hits = columns.into(new Uint32Array(hitsFrom[rows] as number));
  return {
    rows,
    at,
    counter,
    frontEnd,
    text,
    typed,
    found,
    took,
    mode,
    filtered,
    page,
    user,
    session,
    hitsFrom,
    hits,
  };
}

/** Writes large, repeating numbers: each distinct number once, then one index per row. */
export function putNumbered(columns: ColumnWriter, values: Float64Array): void {
  const places = new Map<Person, number>();
  for (const value of values) if (!places.has(value)) places.set(value, places.size);
  columns.put(places.size);
  columns.putAll(places.keys());
  for (const value of values) columns.put(places.get(value) as number);
}

export function numbered(columns: ColumnReader, rows: number): Float64Array {
  const known = columns.into(new Float64Array(columns.count()));
  const values = new Float64Array(rows);
  for (let row = 0; row < rows; row++) values[row] = known[columns.next()] as number;
  return values;
}

/** Writes the texts as typed. Index 0 means that the text was typed in its normalised form. */
function putTyped(columns: ColumnWriter, typed: readonly string[]): void {
  const places = new Map([["", 0]]);
  for (const text of typed) if (!places.has(text)) places.set(text, places.size);
  columns.put(places.size);
  for (const text of places.keys()) columns.putText(text);
  for (const text of typed) columns.put(places.get(text) as number);
}

function readTyped(columns: ColumnReader, rows: number): string[] {
  const known = Array.from({ length: columns.count() }, () => columns.text());
  return Array.from({ length: rows }, () => known[columns.next()] as string);
}
