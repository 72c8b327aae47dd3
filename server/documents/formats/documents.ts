// Provides one interface to every input format: numbered documents with ids, in groups, and a sample from the
// start. CSV rows become documents only here, because that requires column types.

import type { FieldType } from "../../ground/field-types.js";
import { type CsvRow, guessCellType, readCsv, rowToDocument } from "./csv.js";
import { identify } from "./identity.js";
import { InputError } from "./input-error.js";
import { type JsonRecord, readArray, readLines } from "./records.js";
import type { Source } from "./source.js";

export interface InputDocument {
  /** The document's line in the file, or its position in a JSON array. */
  readonly at: number;
  readonly bytes: Buffer;
  /** Present if the document cannot be sent: the reason. */
  readonly problem?: string;
}

export interface DocumentInput {
  /** The first documents, which `all` yields again. */
  readonly sample: readonly InputDocument[];
  /**
   * All documents, including the sample. For CSV, `types` gives the column types; other formats ignore it.
   */
  all(types: ReadonlyMap<string, FieldType> | null): AsyncIterable<InputDocument[]>;
}

export interface InputOptions {
  readonly idField: string | null;
  readonly delimiter: string | null;
  readonly sampleDocuments: number;
}

const SAMPLE_BYTES_MAX = 32 * 1024 * 1024;

/** Opens the input and reads the sample. Throws InputError if the input is unreadable. */
export async function openDocuments(source: Source, options: InputOptions): Promise<DocumentInput> {
  if (source.format === "csv") return openCsv(source, options);
  const groups = source.format === "json" ? readArray(source.chunks) : readLines(source.chunks);
  const front = await take(groups, options.sampleDocuments, (record: JsonRecord) => record.bytes.byteLength);
  const convert = (records: readonly JsonRecord[]) =>
    records.map((record) => withId(record, options.idField));
  return { sample: convert(front.items.flat()), all: () => mapped(front, convert) };
}

async function openCsv(source: Source, options: InputOptions): Promise<DocumentInput> {
  const { columns, rows } = await readCsv(source.chunks, options.delimiter);
  if (options.idField !== null && !columns.includes(options.idField)) {
    throw new InputError(`--id: the CSV has no column "${options.idField}"; it has ${columns.join(", ")}`);
  }
  const bytes = (row: CsvRow) => row.cells.reduce((sum, cell) => sum + cell.length, 0);
  const front = await take(rows, options.sampleDocuments, bytes);
  const sampleRows = front.items.flat().filter((row) => row.problem === undefined);
  const guessed = columns.map((name, i) =>
    guessCellType(
      name,
      sampleRows.map((row) => row.cells[i] ?? ""),
    ),
  );
  const convert = (types: readonly (FieldType | undefined)[]) => (group: readonly CsvRow[]) =>
    group.map((row): InputDocument => {
      if (row.problem !== undefined) return { at: row.at, bytes: Buffer.alloc(0), problem: row.problem };
      return withId({ at: row.at, bytes: rowToDocument(columns, types, row.cells) }, options.idField);
    });
  return {
    sample: convert(guessed)(sampleRows),
    all: (known) => {
      // A column that is not in the schema is stored with its guessed type but not indexed.
      const types = known === null ? guessed : columns.map((name, i) => known.get(name) ?? guessed[i]);
      return mapped(front, convert(types));
    },
  };
}

function withId(record: JsonRecord, idField: string | null): InputDocument {
  return record.problem !== undefined ? record : { at: record.at, ...identify(record.bytes, idField) };
}

interface Front<T> {
  readonly items: T[][];
  readonly rest: AsyncIterator<T[]>;
}

/** Reads whole groups until there are at least `count` items or SAMPLE_BYTES_MAX bytes. */
async function take<T>(
  groups: AsyncIterable<T[]>,
  count: number,
  size: (item: T) => number,
): Promise<Front<T>> {
  const rest = groups[Symbol.asyncIterator]();
  const items: T[][] = [];
  let taken = 0;
  let bytes = 0;
  while (taken < count && bytes < SAMPLE_BYTES_MAX) {
    const next = await rest.next();
    if (next.done === true) break;
    items.push(next.value);
    taken += next.value.length;
    for (const item of next.value) bytes += size(item);
  }
  return { items, rest };
}

async function* mapped<T>(
  front: Front<T>,
  convert: (group: readonly T[]) => InputDocument[],
): AsyncGenerator<InputDocument[]> {
  for (let group = front.items.shift(); group !== undefined; group = front.items.shift())
    yield convert(group);
  for (let next = await front.rest.next(); next.done !== true; next = await front.rest.next()) {
    yield convert(next.value);
  }
}
