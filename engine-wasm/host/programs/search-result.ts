// Reads the engine's answer to a search program in place: the rows, best first, with their sort keys, and the
// facet counts. Reading needs the program, whose keys and facets define the types of the values. Nothing is
// decoded before it is asked for, because a deep page has tens of thousands of rows but shows only a few.
// docs/FORMATS.md shows the layout.
import {
  FLOAT_TYPES,
  ROW_HAS_WORD,
  ROW_MATCHED,
  ROW_NEIGHBOUR,
  ROW_PINNED,
  STRING_TYPES,
} from "../../assembly/layout.js";
import { EncodedFacet, endOfValue, isOneOf, LENGTH_BYTES } from "./encoded-facet.js";
import type { SearchProgram, SortKey } from "./search-program.js";

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
  readonly facets: readonly EncodedFacet[];
  /**
   * True for each rule of the program that had an effect: it hid a matching row, or buried or boosted a row
   * in the result.
   */
  readonly applied: readonly boolean[];
  /** True if the result contains a pinned row. */
  readonly pinsApplied: boolean;
}

const ROWS_AT = 8;
const KEYS_AT = ROWS_AT + 4;
const SEQS_AT = KEYS_AT + 1;
const SEQ_BYTES = 8;
/** Offsets in a row's head. */
const BONUS_AT = 8;
const FLAGS_AT = BONUS_AT + 8;
const ROW_HEAD_BYTES = FLAGS_AT + 1;
/** Number of rows per step of `readingOfSearchResult`. */
const ROWS_A_STEP = 10_000;

const NO_STARTS: Uint32Array = new Uint32Array(0);
const NO_FACETS: readonly EncodedFacet[] = [];
const NO_RULES: readonly boolean[] = [];

/** Returns the sequence numbers of rows [offset, offset + count) without reading the rest of the answer. */
export function seqsOfResult(bytes: Uint8Array, offset: number, count: number): Float64Array {
  const view = viewOf(bytes);
  const rows = view.getUint32(ROWS_AT, true);
  const seqs = new Float64Array(Math.max(0, Math.min(rows - offset, count)));
  for (let i = 0; i < seqs.length; i++) seqs[i] = seqAt(view, offset + i);
  return seqs;
}

/** True if the answer has more rows than one step should walk over. */
export function isLongResult(bytes: Uint8Array): boolean {
  return viewOf(bytes).getUint32(ROWS_AT, true) > ROWS_A_STEP;
}

/**
 * Finds the parts of an answer. The bytes must not change afterwards: everything is read from them when it is
 * asked for. Throws a RangeError if they are not an answer to `program`.
 */
export function readSearchResult(bytes: Uint8Array, program: SearchProgram): SearchResult {
  const scan = new RowScan(viewOf(bytes), program);
  scan.goOn(Number.POSITIVE_INFINITY);
  return resultOf(bytes, scan, program);
}

/** Like `readSearchResult`, but in steps, because a deep page has many rows. */
export function* readingOfSearchResult(
  bytes: Uint8Array,
  program: SearchProgram,
): Generator<void, SearchResult> {
  const scan = new RowScan(viewOf(bytes), program);
  while (!scan.goOn(ROWS_A_STEP)) yield;
  return resultOf(bytes, scan, program);
}

/** Walks over the rows to find where each of them starts. */
class RowScan {
  readonly view: DataView;
  readonly rows: number;
  readonly first: number;
  /** End of the last row once all have been walked over. */
  at: number;
  rowBytes = 0;
  /** Start of each row if not all have the same size. */
  starts = NO_STARTS;
  readonly #sort: readonly SortKey[];
  #row = 0;

  constructor(view: DataView, { sort }: SearchProgram) {
    if (view.getUint8(KEYS_AT) !== sort.length)
      throw new RangeError("the result has other sort keys than the program");
    this.view = view;
    this.rows = view.getUint32(ROWS_AT, true);
    this.first = SEQS_AT + this.rows * SEQ_BYTES;
    this.at = this.first;
    this.#sort = sort;
  }

  /** Walks over up to `rows` more rows. Returns true once there are no more. */
  goOn(rows: number): boolean {
    const { view, first } = this;
    const last = Math.min(this.rows, this.#row + rows);
    for (; this.#row < last; this.#row++) {
      const row = this.#row;
      const end = endOfRow(view, this.at, this.#sort);
      if (row === 0) this.rowBytes = end - this.at;
      else if (end - this.at !== this.rowBytes && this.starts === NO_STARTS)
        this.starts = evenStarts(first, this.rowBytes, row, this.rows);
      if (this.starts !== NO_STARTS) this.starts[row] = this.at;
      this.at = end;
    }
    return this.#row === this.rows;
  }
}

function resultOf(
  bytes: Uint8Array,
  { view, rows: count, first, at: end, rowBytes, starts }: RowScan,
  program: SearchProgram,
): SearchResult {
  let at = end;
  const rows = new SearchRows(view, count, first, rowBytes, starts, program.sort);
  let facets = NO_FACETS;
  if (program.facets.length > 0) {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const list: EncodedFacet[] = [];
    for (const request of program.facets) {
      const facet = new EncodedFacet(buffer, view, at, request);
      list.push(facet);
      at = facet.end;
    }
    facets = list;
  }
  const { length: rules } = program.rules;
  const applied =
    rules === 0 ? NO_RULES : Array.from({ length: rules }, (_, i) => view.getUint8(at + i) === 1);
  at += rules;
  const pinsApplied = view.getUint8(at++) === 1;
  if (at !== view.byteLength) throw new RangeError(`${view.byteLength - at} bytes after the search result`);
  return {
    found: view.getUint32(0, true),
    pinnedOnly: view.getUint32(4, true),
    rows,
    facets,
    applied,
    pinsApplied,
  };
}

/** A shard's rows, best first. A row is named by its index, from 0. */
class SearchRows {
  readonly length: number;
  readonly #view: DataView;
  /** Start of the first row, and the size of each row if `starts` is empty. */
  readonly #first: number;
  readonly #rowBytes: number;
  /** Start of each row if not all have the same size. */
  readonly #starts: Uint32Array;
  readonly #sort: readonly SortKey[];

  constructor(
    view: DataView,
    length: number,
    first: number,
    rowBytes: number,
    starts: Uint32Array,
    sort: readonly SortKey[],
  ) {
    this.length = length;
    this.#view = view;
    this.#first = first;
    this.#rowBytes = rowBytes;
    this.#starts = starts;
    this.#sort = sort;
  }

  seq(row: number): number {
    return seqAt(this.#view, row);
  }

  /** Integer, 0 <= textMatch < 2^53. */
  textMatch(row: number): number {
    return this.#view.getFloat64(this.#start(row), true);
  }

  /** Integer, 0 <= bonus < 2^53. */
  bonus(row: number): number {
    return this.#view.getFloat64(this.#start(row) + BONUS_AT, true);
  }

  /** See `isMatched` and the functions below it. */
  flags(row: number): number {
    return this.#view.getUint8(this.#start(row) + FLAGS_AT);
  }

  /**
   * Compares one of these rows with a row of another answer to the same program, by each sort key in turn,
   * with missing values last in both directions, then by descending sequence number. Negative if this row
   * comes first. Never 0 for two different rows of one index.
   */
  compare(row: number, others: SearchRows, other: number): number {
    const a = this.#view;
    const sort = this.#sort;
    const b = others.#view;
    let at = this.#start(row) + ROW_HEAD_BYTES;
    let otherAt = others.#start(other) + ROW_HEAD_BYTES;
    for (let i = 0; i < sort.length; i++) {
      const key = sort[i]!;
      const has = a.getUint8(at++);
      const otherHas = b.getUint8(otherAt++);
      if (has !== otherHas) return has === 0 ? 1 : -1;
      if (has === 0) continue;
      const order = isText(key) ? compareTexts(a, at, b, otherAt) : compareNumbers(a, at, b, otherAt, key);
      if (order !== 0) return key.descending ? -order : order;
      at = endOfValue(a, at, isText(key));
      otherAt = endOfValue(b, otherAt, isText(key));
    }
    return others.seq(other) - this.seq(row);
  }

  #start(row: number): number {
    return this.#starts.length > 0 ? this.#starts[row]! : this.#first + row * this.#rowBytes;
  }
}

export const NO_ROWS = new SearchRows(new DataView(new ArrayBuffer(0)), 0, 0, 0, NO_STARTS, []);

/**
 * True if the row matches the query's words. False if it is included only because it is a neighbour or
 * pinned.
 */
export function isMatched(flags: number): boolean {
  return (flags & ROW_MATCHED) !== 0;
}

/** True if the row is a neighbour with `matches`. */
export function isNeighbour(flags: number): boolean {
  return (flags & ROW_NEIGHBOUR) !== 0;
}

/** True if a neighbour with `matches` also has at least one of the words. False for all other rows. */
export function hasWord(flags: number): boolean {
  return (flags & ROW_HAS_WORD) !== 0;
}

export function isPinned(flags: number): boolean {
  return (flags & ROW_PINNED) !== 0;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function seqAt(view: DataView, row: number): number {
  return view.getFloat64(SEQS_AT + row * SEQ_BYTES, true);
}

function endOfRow(view: DataView, start: number, sort: readonly SortKey[]): number {
  let at = start + ROW_HEAD_BYTES;
  for (let i = 0; i < sort.length; i++)
    at = view.getUint8(at) === 0 ? at + 1 : endOfValue(view, at + 1, isText(sort[i]!));
  return at;
}

/** The starts of the first `known` of `rows` rows, which have the same size. */
function evenStarts(first: number, rowBytes: number, known: number, rows: number): Uint32Array {
  const starts = new Uint32Array(rows);
  for (let row = 0; row < known; row++) starts[row] = first + row * rowBytes;
  return starts;
}

/** Compares two texts by their bytes. */
function compareTexts(a: DataView, aAt: number, b: DataView, bAt: number): number {
  const aLength = a.getUint32(aAt, true);
  const bLength = b.getUint32(bAt, true);
  const end = LENGTH_BYTES + Math.min(aLength, bLength);
  for (let i = LENGTH_BYTES; i < end; i++) {
    const order = a.getUint8(aAt + i) - b.getUint8(bAt + i);
    if (order !== 0) return order;
  }
  return aLength - bLength;
}

/** Compares integers by their halves, because a bigint would cost an allocation for each. */
function compareNumbers(a: DataView, aAt: number, b: DataView, bAt: number, key: SortKey): number {
  if (key.by === "seq" || (key.by === "field" && isOneOf(FLOAT_TYPES, key.type)))
    return sign(a.getFloat64(aAt, true), b.getFloat64(bAt, true));
  const order =
    key.by === "field"
      ? sign(a.getInt32(aAt + 4, true), b.getInt32(bAt + 4, true))
      : sign(a.getUint32(aAt + 4, true), b.getUint32(bAt + 4, true));
  return order !== 0 ? order : sign(a.getUint32(aAt, true), b.getUint32(bAt, true));
}

function sign(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isText(key: SortKey): boolean {
  return key.by === "field" && isOneOf(STRING_TYPES, key.type);
}
