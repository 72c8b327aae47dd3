// Turns the rows of a CSV or TSV feed into items: each row's cells under the header names, all as strings.
// The file import's CSV reader parses the table; this file contains only the rules that are specific to
// feeds.

import { CsvError } from "csv-parse";
import { FeedError } from "../../ground/errors.js";
import { type CsvRow, detectDelimiter, readCsv } from "../formats/csv.js";
import { InputError } from "../formats/input-error.js";
import { type FeedText, INVALID, invalidBytes } from "./charset.js";
import { type FeedItem, isLarger, setMember } from "./feed-item.js";
import { following } from "./following.js";

/**
 * Lines before the header: blank lines, and comments as in Meta's templates. A line such as `#id,title` is a
 * header.
 */
const PREAMBLE = /^(?:[^\S\n]*\n|"?#(?:[^\S\n][^\n]*|[^\n,;\t|]*)\n)+/;

/** A row longer than this many items of maximum size ends the feed: its closing quote must be missing. */
const ENDLESS_ROW_ITEMS = 4;

/**
 * Yields the table's items in groups. Throws FeedError: SK-DS-422 if the feed is not a table, SK-DS-520 if a
 * quoted cell never ends, SK-DS-413 if a row is too long.
 */
export async function* csvItems(
  text: FeedText,
  delimiter: string | null,
  itemBytesMax: number,
  rowsPerGroup?: number,
): AsyncGenerator<readonly FeedItem[]> {
  const pieces = text.pieces[Symbol.asyncIterator]();
  const first = await pieces.next();
  const start: string = first.done === true ? "" : first.value;
  // Comments are replaced with blank lines, so that line numbers in errors match the feed.
  const preamble = PREAMBLE.exec(start)?.[0] ?? "";
  const table = start.slice(preamble.length);
  let at = 0;
  try {
    const whole = following(`${preamble.replace(/[^\n]+/g, "")}${table}`, pieces);
    const { columns, rows } = await readCsv(
      buffers(whole),
      delimiter ?? detectDelimiter(Buffer.from(table)),
      ENDLESS_ROW_ITEMS * itemBytesMax,
      rowsPerGroup,
    );
    if (columns.some((name) => name.includes(INVALID))) {
      throw new FeedError(
        "SK-DS-422",
        `the header of the feed cannot be read: ${invalidBytes(text.encoding)}`,
      );
    }
    for await (const group of rows) {
      yield group.map((row) => rowItem(++at, row, columns, itemBytesMax, text.encoding));
    }
  } catch (error) {
    throw error instanceof InputError ? feedError(error) : error;
  }
}

async function* buffers(pieces: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) yield Buffer.from(piece);
}

function rowItem(
  at: number,
  { at: line, cells, problem }: CsvRow,
  columns: readonly string[],
  itemBytesMax: number,
  encoding: string,
): FeedItem {
  if (problem !== undefined) return { at, value: null, problem: `line ${line}: ${problem}` };
  const value: Record<string, string> = {};
  for (let i = 0; i < columns.length; i++) {
    const cell = cells[i]!;
    if (cell.includes(INVALID)) {
      return { at, value: null, problem: `line ${line}: ${invalidBytes(encoding)}` };
    }
    if (columns[i] !== "") setMember(value, columns[i]!, cell);
  }
  if (!isLarger(cells, itemBytesMax)) return { at, value };
  return { at, value: null, problem: `line ${line}: item is larger than ${itemBytesMax} bytes` };
}

function feedError(error: InputError): FeedError {
  const code = error.cause instanceof CsvError ? error.cause.code : null;
  if (code === "CSV_QUOTE_NOT_CLOSED") {
    return new FeedError("SK-DS-520", `the feed ended early: ${error.message}`, error);
  }
  return new FeedError(code === "CSV_MAX_RECORD_SIZE" ? "SK-DS-413" : "SK-DS-422", error.message, error);
}
