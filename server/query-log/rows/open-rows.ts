// A log's open rows, which are in the journal but not yet in a block. They are kept in memory and can be
// found by id and by person. A checkpoint turns them into blocks.
import type { EventBlock } from "./event-block.js";
import type { Person } from "./journal.js";
import type { SearchBlock } from "./search-block.js";
import { hourOf } from "./time.js";
import { compareSearches, Trails } from "./trails.js";

/** A query and its results, with values as stored in a row; see SearchBlock. */
export interface Asked {
  readonly text: number;
  readonly typed: string;
  /** The normalised text. Empty in rows that were read back from a block. */
  readonly words: string;
  readonly found: number;
  readonly mode: number;
  readonly filtered: boolean;
  readonly page: number;
  readonly hits: readonly number[];
}

export interface OpenSearch extends Asked {
  readonly at: number;
  readonly counter: number;
  readonly frontEnd: number;
  readonly took: number;
  readonly user: Person;
  readonly session: Person;
  /** Flags; see marks.ts. */
  marks: number;
}

/** An event that will become a row of an EventBlock, with the same members. */
export interface OpenEvent {
  readonly at: number;
  readonly type: number;
  readonly document: number;
  readonly text: number;
  readonly position: number;
  readonly value: number;
  readonly user: Person;
  readonly session: Person;
  readonly searchAt: number;
  readonly searchCounter: number;
  readonly searchFrontEnd: number;
}

export class OpenRows {
  readonly searches: OpenSearch[] = [];
  readonly events: OpenEvent[] = [];
  readonly trails = new Trails<OpenSearch>(compareSearches);
  readonly #byCounter = new Map<number, OpenSearch[]>();

  get size(): number {
    return this.searches.length + this.events.length;
  }

  addSearch(search: OpenSearch): void {
    this.searches.push(search);
    add(this.#byCounter, search.counter, search);
    this.trails.add(search, search);
  }

  byId(atMs: number, counter: number, frontEnd: number): OpenSearch | undefined {
    return this.#byCounter.get(counter)?.find((search) => search.at === atMs && search.frontEnd === frontEnd);
  }
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Groups rows by hour and sorts each group with `compare`. */
function byHour<T extends { readonly at: number }>(
  rows: readonly T[],
  compare: (a: T, b: T) => number,
): Map<number, T[]> {
  const hours = new Map<number, T[]>();
  for (const row of rows) add(hours, hourOf(row.at), row);
  for (const list of hours.values()) list.sort(compare);
  return hours;
}

export function searchesByHour(searches: readonly OpenSearch[]): Map<number, OpenSearch[]> {
  return byHour(searches, compareSearches);
}

export function eventsByHour(events: readonly OpenEvent[]): Map<number, OpenEvent[]> {
  return byHour(events, (a, b) => a.at - b.at);
}

export function searchBlockOf(rows: readonly OpenSearch[]): SearchBlock {
  const hitsFrom = new Uint32Array(rows.length + 1);
  for (let row = 0; row < rows.length; row++)
    hitsFrom[row + 1] = (hitsFrom[row] as number) + (rows[row] as OpenSearch).hits.length;
  const block = {
    rows: rows.length,
    at: new Float64Array(rows.length),
    counter: new Uint32Array(rows.length),
    frontEnd: new Float64Array(rows.length),
    text: new Uint32Array(rows.length),
    typed: rows.map(({ typed }) => typed),
    found: new Uint32Array(rows.length),
    took: new Uint16Array(rows.length),
    mode: new Uint8Array(rows.length),
    filtered: new Uint8Array(rows.length),
    page: new Uint32Array(rows.length),
    user: new Float64Array(rows.length),
    session: new Float64Array(rows.length),
    hitsFrom,
    hits: new Uint32Array(hitsFrom[rows.length] as number),
  };
  for (let row = 0; row < rows.length; row++) {
    const search = rows[row] as OpenSearch;
    block.at[row] = search.at;
    block.counter[row] = search.counter;
    block.frontEnd[row] = search.frontEnd;
    block.text[row] = search.text;
    block.found[row] = search.found;
    block.took[row] = search.took;
    block.mode[row] = search.mode;
    block.filtered[row] = search.filtered ? 1 : 0;
    block.page[row] = search.page;
    block.user[row] = search.user;
    block.session[row] = search.session;
    block.hits.set(search.hits, hitsFrom[row]);
  }
  return block;
}

export function eventBlockOf(rows: readonly OpenEvent[]): EventBlock {
  return {
    rows: rows.length,
    at: Float64Array.from(rows, ({ at }) => at),
    type: Uint8Array.from(rows, ({ type }) => type),
    document: Uint32Array.from(rows, ({ document }) => document),
    text: Uint32Array.from(rows, ({ text }) => text),
    position: Uint32Array.from(rows, ({ position }) => position),
    value: Float64Array.from(rows, ({ value }) => value),
    user: Float64Array.from(rows, ({ user }) => user),
    session: Float64Array.from(rows, ({ session }) => session),
    searchAt: Float64Array.from(rows, ({ searchAt }) => searchAt),
    searchCounter: Uint32Array.from(rows, ({ searchCounter }) => searchCounter),
    searchFrontEnd: Float64Array.from(rows, ({ searchFrontEnd }) => searchFrontEnd),
  };
}

/** Turns a block's rows back into open rows. */
export function searchesOf(block: SearchBlock, marks: Uint8Array): OpenSearch[] {
  return Array.from({ length: block.rows }, (_, row) => ({
    at: block.at[row] as number,
    counter: block.counter[row] as number,
    frontEnd: block.frontEnd[row] as number,
    text: block.text[row] as number,
    typed: block.typed[row] as string,
    words: "",
    found: block.found[row] as number,
    took: block.took[row] as number,
    mode: block.mode[row] as number,
    filtered: block.filtered[row] === 1,
    page: block.page[row] as number,
    user: block.user[row] as number,
    session: block.session[row] as number,
    hits: [...block.hits.subarray(block.hitsFrom[row] as number, block.hitsFrom[row + 1] as number)],
    marks: marks[row] as number,
  }));
}

export function eventsOf(block: EventBlock): OpenEvent[] {
  return Array.from({ length: block.rows }, (_, row) => ({
    at: block.at[row] as number,
    type: block.type[row] as number,
    document: block.document[row] as number,
    text: block.text[row] as number,
    position: block.position[row] as number,
    value: block.value[row] as number,
    user: block.user[row] as number,
    session: block.session[row] as number,
    searchAt: block.searchAt[row] as number,
    searchCounter: block.searchCounter[row] as number,
    searchFrontEnd: block.searchFrontEnd[row] as number,
  }));
}
