// Reads CSV as records (a header followed by rows of cells), and turns cells into JSON documents once the
// column types are known. An empty cell means that the field is absent. A row of empty cells is skipped,
// because spreadsheets leave such rows behind. Integers keep their exact digits; other numbers become
// doubles.

import { Readable } from "node:stream";
import { CsvError, type Info, parse } from "csv-parse";
import { FIELD_TYPES, type FieldType, type ValueKind } from "../../ground/field-types.js";
import { InputError, messageOf } from "./input-error.js";
import { RECORD_BYTES_MAX } from "./records.js";

export interface CsvRow {
  /** Number of the line on which the row begins, from 1; the header is usually on line 1. */
  readonly at: number;
  readonly cells: readonly string[];
  readonly problem?: string;
}

export interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<CsvRow[]>;
}

const DELIMITERS = [",", ";", "\t", "|"] as const;
const COLUMNS_MAX = 10_000;
const ROWS_PER_GROUP = 256;
/**
 * A group is complete once it has this many characters, even if it has few rows, so that long rows do not
 * pile up in memory.
 */
const GROUP_LENGTH = 1024 * 1024;
/**
 * Number of characters that each cell counts for on top of its text, because even an empty cell takes memory.
 */
const CELL_LENGTH = 16;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Reads the header; rows are read on demand. Throws InputError if the table is unreadable. If the CSV parser
 * found the fault, the error's cause is its CsvError.
 */
export async function readCsv(
  chunks: AsyncIterable<Buffer>,
  delimiter: string | null,
  rowBytesMax = RECORD_BYTES_MAX,
  rowsPerGroup = ROWS_PER_GROUP,
): Promise<CsvTable> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw new InputError("the CSV input is empty");
  const lines = new LineCounter();
  const parser = Readable.from(joined(first.value, iterator, lines)).compose(
    parse({
      delimiter: delimiter ?? detectDelimiter(first.value),
      info: true,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      max_record_size: rowBytesMax,
    }),
  );
  const rows = numbered(parser as AsyncIterable<ParsedRow>, lines, rowBytesMax);
  const header = await rows.next();
  if (header.done === true) throw new InputError("the CSV input has no header line");
  const columns = columnNames(header.value.cells);
  return { columns, rows: grouped(rows, columns.length, rowsPerGroup) };
}

/** Returns the candidate that splits the first line into the most columns, ignoring quoted parts. */
export function detectDelimiter(head: Buffer): string {
  const line = head
    .toString("utf8")
    .split(/\r?\n/, 1)[0]!
    .replace(/"[^"]*"/g, "");
  let best: string = DELIMITERS[0];
  for (const candidate of DELIMITERS) {
    if (line.split(candidate).length > line.split(best).length) best = candidate;
  }
  return best;
}

/**
 * Joins the chunks and checks that they are UTF-8, because decoding other bytes as UTF-8 would silently
 * change characters. Throws InputError with the line number if they are not.
 */
async function* joined(
  first: Buffer,
  iterator: AsyncIterator<Buffer>,
  lines: LineCounter,
): AsyncGenerator<Buffer> {
  const utf8 = new Utf8Lines();
  utf8.check(first);
  lines.add(first);
  yield first;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    utf8.check(next.value);
    lines.add(next.value);
    yield next.value;
  }
  utf8.end();
}

class Utf8Lines {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #line = 1;

  check(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#decode(chunk.subarray(start, end + 1));
      this.#line++;
      start = end + 1;
    }
    this.#decode(chunk.subarray(start));
  }

  end(): void {
    this.#decode();
  }

  /** Checks the bytes. Called without bytes at the end of the text. */
  #decode(bytes?: Buffer): void {
    try {
      this.#decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw new InputError(
        `line ${this.#line} is not UTF-8; convert the file first, for instance with iconv -f LATIN1 -t UTF-8`,
      );
    }
  }
}

/**
 * Finds the line on which a row or cell begins. Keeps each chunk passed to the parser until its lines have
 * been counted.
 */
class LineCounter {
  readonly #ahead: Buffer[] = [];
  /**
   * `#passed` is the number of bytes counted in the first chunk of `#ahead`, `#counted` the number counted in
   * all chunks.
   */
  #passed = 0;
  #counted = 0;
  #line = 1;
  #afterReturn = false;

  add(chunk: Buffer): void {
    this.#ahead.push(chunk);
  }

  /** Line number of the first byte at or after `offset` that is not a line break. Offsets must ascend. */
  lineFrom(offset: number): number {
    while (this.#ahead.length > 0) {
      const chunk = this.#ahead[0]!;
      for (; this.#passed < chunk.length; this.#passed++, this.#counted++) {
        const byte = chunk[this.#passed]!;
        if (this.#counted >= offset && byte !== NEWLINE && byte !== CARRIAGE_RETURN) return this.#line;
        // A line ends with a newline, a carriage return, or both.
        if (byte === CARRIAGE_RETURN || (byte === NEWLINE && !this.#afterReturn)) this.#line++;
        this.#afterReturn = byte === CARRIAGE_RETURN;
      }
      this.#ahead.shift();
      this.#passed = 0;
    }
    return this.#line;
  }
}

interface ParsedRow {
  readonly record: string[];
  readonly info: Info;
}

interface NumberedRow {
  readonly at: number;
  readonly cells: readonly string[];
}

/**
 * Yields the parser's rows, each with the number of the line on which it begins. The parser's own line
 * numbers are wrong after line breaks in quotes.
 */
async function* numbered(
  rows: AsyncIterable<ParsedRow>,
  lines: LineCounter,
  rowBytesMax: number,
): AsyncGenerator<NumberedRow> {
  let start = 0;
  try {
    for await (const { record, info } of rows) {
      if (record.some((cell) => cell.trim() !== "")) yield { at: lines.lineFrom(start), cells: record };
      start = info.bytes;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // The error's offset is that of the delimiter before the faulty cell, or of the previous row's end.
    const line = lines.lineFrom(error.bytes as number);
    throw new InputError(`broken CSV: ${reason(error, rowBytesMax)} line ${line}`, { cause: error });
  }
}

/**
 * Why the parser stopped, as the start of a sentence. The caller appends the number of the line on which the
 * cell begins.
 */
function reason(error: CsvError, rowBytesMax: number): string {
  if (error.code === "CSV_QUOTE_NOT_CLOSED") return "no quote closes the cell that begins on";
  if (error.code === "CSV_MAX_RECORD_SIZE")
    return `a row is longer than ${rowBytesMax / 1024 / 1024} MiB; is a quote missing? Its last cell begins on`;
  return `${messageOf(error)}, in the cell that begins on`;
}

function columnNames(cells: readonly string[]): string[] {
  if (cells.length > COLUMNS_MAX)
    throw new InputError(`the CSV header names ${cells.length} columns, more than ${COLUMNS_MAX}`);
  const names = cells.map((cell) => cell.trim());
  const seen = new Set<string>();
  const twice = names.find((name) => name !== "" && seen.size === seen.add(name).size);
  if (twice !== undefined) throw new InputError(`the CSV header names the column "${twice}" twice`);
  return names;
}

async function* grouped(
  rows: AsyncIterable<NumberedRow>,
  width: number,
  rowsPerGroup: number,
): AsyncGenerator<CsvRow[]> {
  let group: CsvRow[] = [];
  let length = 0;
  for await (const { at, cells } of rows) {
    for (const cell of cells) length += CELL_LENGTH + cell.length;
    if (cells.length === width) group.push({ at, cells });
    else
      group.push({
        at,
        cells,
        problem: `${cells.length === 1 ? "1 cell" : `${cells.length} cells`} where the header has ${width}`,
      });
    if (group.length === rowsPerGroup || length > GROUP_LENGTH) {
      yield group;
      group = [];
      length = 0;
    }
  }
  if (group.length > 0) yield group;
}

const INTEGER = /^[+-]?\d+$/;
const DECIMAL = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const TRUE = /^(true|yes|1)$/i;
const FALSE = /^(false|no|0)$/i;

/**
 * Returns a cell as JSON text, or null for an absent field. A value that does not fit the type stays a
 * string.
 */
export function cellToJson(cell: string, type: FieldType | undefined): string | null {
  const text = cell.trim();
  if (text === "") return null;
  if (type === undefined) return JSON.stringify(cell);
  const { kind, array } = FIELD_TYPES[type];
  return array ? listToJson(text, kind) : valueToJson(cell, kind);
}

function valueToJson(cell: string, kind: ValueKind): string {
  const text = cell.trim();
  switch (kind) {
    case "int":
      return INTEGER.test(text) ? plainInteger(text) : JSON.stringify(cell);
    case "float":
      return DECIMAL.test(text) && Number.isFinite(Number(text)) ? plainNumber(text) : JSON.stringify(cell);
    case "bool":
      if (TRUE.test(text)) return "true";
      return FALSE.test(text) ? "false" : JSON.stringify(cell);
    case "string":
      return JSON.stringify(cell);
  }
}

/** Returns text that is a JSON array unchanged. Splits any other text at vertical bars. */
function listToJson(text: string, kind: ValueKind): string {
  if (text.startsWith("[") && text.endsWith("]")) {
    try {
      JSON.parse(text);
      return text;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  }
  const parts = text.split("|").map((part) => part.trim());
  return `[${parts
    .filter((part) => part !== "")
    .map((part) => valueToJson(part, kind))
    .join(",")}]`;
}

function plainInteger(text: string): string {
  const negative = text.startsWith("-");
  const digits = text.replace(/^[+-]?0*(?=\d)/, "");
  return negative && digits !== "0" ? `-${digits}` : digits;
}

/**
 * Writes a number the way JSON requires: with digits on both sides of the point and no plus sign. The value
 * is rounded to the nearest double.
 */
function plainNumber(text: string): string {
  return JSON.stringify(Number(text));
}

/**
 * Builds a row's document. `types` and `columns` have one entry per cell; columns without a name are left
 * out.
 */
export function rowToDocument(
  columns: readonly string[],
  types: readonly (FieldType | undefined)[],
  cells: readonly string[],
): Buffer {
  const members: string[] = [];
  for (let i = 0; i < columns.length; i++) {
    const value = columns[i] === "" ? null : cellToJson(cells[i] ?? "", types[i]);
    if (value !== null) members.push(`${JSON.stringify(columns[i])}:${value}`);
  }
  return Buffer.from(`{${members.join(",")}}`);
}

/**
 * Names of fields that contain codes rather than quantities. Codes keep their leading zeros and all their
 * digits.
 */
const CODE_NAME = /(^|[_\s-])(id|sku|ean|gtin|upc|isbn|mpn|zip|postcode|postal_code|phone)$/i;
/**
 * True if a field with this name contains codes, so that its values are strings even if they look like
 * numbers.
 */
export function isCodeName(name: string): boolean {
  return CODE_NAME.test(name);
}

const CANONICAL_INTEGER = /^(0|-?[1-9]\d{0,17})$/;

/** Guesses a column's type from a sample of its cells. */
export function guessCellType(name: string, cells: readonly string[]): FieldType {
  const values = cells.map((cell) => cell.trim()).filter((cell) => cell !== "");
  if (values.length === 0 || isCodeName(name)) return "string";
  if (values.every((value) => CANONICAL_INTEGER.test(value))) return "int64";
  if (values.every((value) => DECIMAL.test(value) && !/^[+-]?0\d/.test(value))) return "float";
  if (values.every((value) => /^(true|false|yes|no)$/i.test(value))) return "bool";
  return "string";
}
