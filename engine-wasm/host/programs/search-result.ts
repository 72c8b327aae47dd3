// Decodes the engine's answer to a search program: the rows, best first, with their sort values, and facet
// counts. Decoding needs the program, whose keys and facets define the types of the values. Rows are decoded
// on demand, because a deep page has tens of thousands of rows but shows only a few.
import {
  FLOAT_TYPES,
  LONG_TYPES,
  ROW_HAS_WORD,
  ROW_MATCHED,
  ROW_NEIGHBOUR,
  ROW_PINNED,
  STRING_TYPES,
  TYPE_COUNT,
} from "../../assembly/layout.js";
import { ByteReader } from "../bytes.js";
import { finished } from "../runtime/steps.js";
import type { FacetRequest, SearchProgram, SortKey } from "./search-program.js";

/**
 * A sort value: bigint for int64, relevance and class; number for int32, bool (0, 1), float and seq; folded
 * UTF-8 bytes for strings (compared bytewise); null if the document has no value (always last).
 */
export type SortValue = bigint | number | Uint8Array | null;

export interface SearchRow {
  readonly seq: number;
  /** Integer, 0 <= textMatch < 2^53. */
  readonly textMatch: number;
  /** Integer, 0 <= bonus < 2^53. */
  readonly bonus: number;
  /**
   * True if the row matches the query's words. False if it is included only because it is a neighbour or
   * pinned.
   */
  readonly matched: boolean;
  /** True if the row is a neighbour with `matches`. */
  readonly neighbour: boolean;
  /** True if a neighbour with `matches` also has at least one of the words. False for all other rows. */
  readonly hasWord: boolean;
  readonly pinned: boolean;
  /** In the order of the program's sort keys. */
  readonly keys: readonly SortValue[];
}

/** An array, or a list whose rows are decoded on each access. */
export interface SearchRows extends Iterable<SearchRow> {
  readonly length: number;
  /** Undefined after the last row; `index` must not be negative. */
  at(index: number): SearchRow | undefined;
}

/** string for strings, bigint for int64, number for int32, bool (0, 1) and float. */
export type FacetValue = string | bigint | number;

export interface FacetCount {
  readonly value: FacetValue;
  /** Number of matching documents with this value, at least 1. */
  readonly count: number;
}

export interface SearchResult {
  /** Number of documents found in the shard. */
  readonly found: number;
  /**
   * Number of found documents that match neither by words nor as neighbours and are found only because they
   * are pinned.
   */
  readonly pinnedOnly: number;
  readonly rows: SearchRows;
  /** In the order of the program's facets. */
  readonly facets: readonly (readonly FacetCount[])[];
  /**
   * For each facet, an upper bound on the counts of values missing from it; 0 if the facet does not have
   * `share`.
   */
  readonly facetBounds: readonly number[];
  /**
   * True for each rule of the program that had an effect: it hid a matching row, or buried or boosted a row
   * in the result.
   */
  readonly applied: readonly boolean[];
  /** True if the result contains a pinned row. */
  readonly pinsApplied: boolean;
}

export interface DecodedSearchResult extends SearchResult {
  readonly rows: readonly SearchRow[];
}

/** Returns the sequence numbers of rows [offset, offset + count) without decoding the rest of the answer. */
export function seqsOfResult(bytes: Uint8Array, offset: number, count: number): Float64Array {
  const reader = new ByteReader(bytes);
  reader.skip(8); // number found, number found only as pinned
  const rows = reader.u32();
  const seqs = new Float64Array(Math.max(0, Math.min(rows - offset, count)));
  reader.seek(SEQS_AT);
  if (seqs.length > 0) reader.skip(offset * Float64Array.BYTES_PER_ELEMENT);
  for (let i = 0; i < seqs.length; i++) seqs[i] = reader.f64();
  return seqs;
}

/** Offset of the first seq, after the document and row counts and the number of sort keys. */
const SEQS_AT = 13;
/** Offset of the bonus in a row's head, after the text match. */
const BONUS_AT = 8;
const FLAGS_AT = 16;
const ROW_HEAD_BYTES = 17;
/** Size of a value that is not a string. */
const SORT_VALUE_BYTES = 8;
/** Number of rows per step of decodingOfSearchResult. */
const ROWS_A_STEP = 1_000;

/** Decodes all rows. Throws a RangeError if the bytes are not an answer to `program`. */
export function decodeSearchResult(bytes: Uint8Array, program: SearchProgram): DecodedSearchResult {
  const result = finished(decodingOfSearchResult(bytes, program));
  const rows = Array.from(result.rows, (row): SearchRow => {
    const { seq, textMatch, bonus, matched, neighbour, hasWord, pinned, keys } = row;
    return { seq, textMatch, bonus, matched, neighbour, hasWord, pinned, keys };
  });
  return { ...result, rows };
}

/**
 * Decodes in small steps, for deep pages with many rows. The bytes must not change afterwards, because the
 * returned rows are decoded from them on demand.
 */
export function* decodingOfSearchResult(
  bytes: Uint8Array,
  program: SearchProgram,
): Generator<void, SearchResult> {
  const reader = new ByteReader(bytes);
  const found = reader.u32();
  const pinnedOnly = reader.u32();
  const rowCount = reader.u32();
  const keyCount = reader.u8();
  if (keyCount !== program.sort.length)
    throw new RangeError("the result has other sort keys than the program");
  reader.skip(rowCount * Float64Array.BYTES_PER_ELEMENT);
  const starts = new Uint32Array(rowCount);
  for (let row = 0; row < rowCount; row++) {
    if (row % ROWS_A_STEP === ROWS_A_STEP - 1) yield;
    starts[row] = reader.at;
    reader.skip(ROW_HEAD_BYTES);
    for (const key of program.sort) skipSortValue(reader, key);
  }
  const rows = new EncodedRows(reader, starts, program.sort);
  const facetBounds: number[] = [];
  const facets = program.facets.map((facet) => {
    const values = reader.u32();
    facetBounds.push(facet.share === true ? reader.u32() : 0);
    return decodeFacet(reader, facet, values);
  });
  const applied = program.rules.map(() => reader.u8() === 1);
  const pinsApplied = reader.u8() === 1;
  if (reader.remaining !== 0) throw new RangeError(`${reader.remaining} bytes after the search result`);
  return { found, pinnedOnly, rows, facets, facetBounds, applied, pinsApplied };
}

class EncodedRows implements SearchRows {
  readonly #reader: ByteReader;
  /** Start of each row's bytes, which do not include its seq. */
  readonly #starts: Uint32Array;
  readonly #sort: readonly SortKey[];

  /** `reader` covers the whole result and must not be used elsewhere from now on. */
  constructor(reader: ByteReader, starts: Uint32Array, sort: readonly SortKey[]) {
    this.#reader = reader;
    this.#starts = starts;
    this.#sort = sort;
  }

  get length(): number {
    return this.#starts.length;
  }

  at(index: number): SearchRow | undefined {
    return index < this.#starts.length ? new EncodedRow(this, index) : undefined;
  }

  *[Symbol.iterator](): Iterator<SearchRow> {
    for (let i = 0; i < this.length; i++) yield this.at(i)!;
  }

  seqOf(index: number): number {
    this.#reader.seek(SEQS_AT + index * Float64Array.BYTES_PER_ELEMENT);
    return this.#reader.f64();
  }

  /** A reader positioned `at` bytes into the row's head. */
  readerOf(index: number, at: number): ByteReader {
    this.#reader.seek(this.#starts[index]! + at);
    return this.#reader;
  }

  keysOf(index: number): SortValue[] {
    const reader = this.readerOf(index, ROW_HEAD_BYTES);
    return this.#sort.map((key) => decodeSortValue(reader, key));
  }
}

/**
 * A row whose values are decoded on demand, because a shard returns more rows than are shown. With a single
 * shard, the sort keys are not decoded at all: its rows are already sorted.
 */
class EncodedRow implements SearchRow {
  readonly #rows: EncodedRows;
  readonly #index: number;
  #keys: readonly SortValue[] | null = null;

  constructor(rows: EncodedRows, index: number) {
    this.#rows = rows;
    this.#index = index;
  }

  get seq(): number {
    return this.#rows.seqOf(this.#index);
  }

  get textMatch(): number {
    return this.#rows.readerOf(this.#index, 0).f64();
  }

  get bonus(): number {
    return this.#rows.readerOf(this.#index, BONUS_AT).f64();
  }

  get matched(): boolean {
    return this.#has(ROW_MATCHED);
  }

  get neighbour(): boolean {
    return this.#has(ROW_NEIGHBOUR);
  }

  get hasWord(): boolean {
    return this.#has(ROW_HAS_WORD);
  }

  get pinned(): boolean {
    return this.#has(ROW_PINNED);
  }

  get keys(): readonly SortValue[] {
    this.#keys ??= this.#rows.keysOf(this.#index);
    return this.#keys;
  }

  #has(flag: number): boolean {
    return (this.#rows.readerOf(this.#index, FLAGS_AT).u8() & flag) !== 0;
  }
}

function decodeSortValue(reader: ByteReader, key: SortKey): SortValue {
  if (reader.u8() === 0) return null;
  if (key.by === "seq") return reader.f64();
  if (key.by !== "field") return reader.u64();
  if (isString(key.type)) return reader.bytes(reader.u32());
  return decodeNumber(reader, key.type);
}

function skipSortValue(reader: ByteReader, key: SortKey): void {
  if (reader.u8() === 0) return;
  reader.skip(key.by === "field" && isString(key.type) ? reader.u32() : SORT_VALUE_BYTES);
}

function decodeFacet(reader: ByteReader, facet: FacetRequest, values: number): FacetCount[] {
  const counts: FacetCount[] = new Array(values);
  for (let i = 0; i < counts.length; i++) {
    const count = reader.u32();
    counts[i] = { count, value: isString(facet.type) ? reader.string32() : decodeNumber(reader, facet.type) };
  }
  return counts;
}

function isString(type: number): boolean {
  return ((STRING_TYPES >> type) & 1) === 1;
}

function decodeNumber(reader: ByteReader, type: number): number | bigint {
  if (type >= TYPE_COUNT) throw new RangeError(`the field type ${type} has no numbers`);
  if (((FLOAT_TYPES >> type) & 1) === 1) return reader.f64();
  return ((LONG_TYPES >> type) & 1) === 1 ? reader.i64() : Number(reader.i64());
}
