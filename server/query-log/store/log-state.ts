// One log as it is now: its hours, its dictionaries and its open rows. Applies the rows of the journal: decides which search a
// new one supersedes, and to which search an event belongs. Knows no clock and no thread: the same rows give the same state.
import { hash } from "node:crypto";
import { DamagedBytesError } from "../../../shards/storage/envelope.js";
import type { Store } from "../../../shards/storage/store.js";
import {
  type Asker,
  EVENT_TYPES,
  type JournalEvent,
  type JournalSearch,
  NOBODY,
  type Person,
  SEARCH_MODES,
} from "../rows/journal.js";
import {
  type BlockPlace,
  blockOfKey,
  countersKey,
  eventIdKey,
  firstNumberOfKey,
  LogKind,
  logKindOfKey,
  numberKey,
} from "../rows/keys.js";
import { CLICKED, CONVERTED, SUPERSEDED } from "../rows/marks.js";
import { OpenRows, type OpenSearch } from "../rows/open-rows.js";
import type { QueryId } from "../rows/query-ids.js";
import { type Counters, openCounters } from "../rows/records.js";
import { continues, normalisedText } from "../rows/text-form.js";
import { ATTRIBUTION_MS, dayOf, HOUR_MS, hourOf, TYPING_MS } from "../rows/time.js";
import { compareSearches, type SearchPlace } from "../rows/trails.js";
import type { Blocks, MarkedBlock } from "./blocks.js";
import { Dictionary } from "./dictionary.js";

const EVENT_ID_BYTES = 12;

/** What is stored of an hour. */
export interface Hour {
  /** Numbers of blocks, ascending. */
  searches: number[];
  events: number[];
  rolledUp: boolean;
  /** Goes up when a block is added or a mark changes. */
  changes: number;
  /** No search of its blocks was later. */
  untilMs: number;
}

/** A search, wherever it stands. */
interface LoggedSearch extends SearchPlace, Asker {
  readonly text: number;
  readonly words: string;
  marks: number;
}

/** Searches in their order. */
interface Trail {
  readonly length: number;
  at(i: number): LoggedSearch | undefined;
}

export class LogState {
  readonly log: number;
  readonly texts: Dictionary;
  readonly documents: Dictionary;
  readonly hours = new Map<number, Hour>();
  readonly rolledUpDays = new Set<number>();
  /** Ids of events that are not stored yet, with the day on which the event happened. */
  eventIds = new Map<string, number>();
  open = new OpenRows();
  nextBlock: number;
  readonly #store: Store;
  readonly #blocks: Blocks;

  private constructor(log: number, store: Store, blocks: Blocks, counters: Counters) {
    this.log = log;
    this.#store = store;
    this.#blocks = blocks;
    this.texts = new Dictionary(store, log, "text", counters.nextText);
    this.documents = new Dictionary(store, log, "document", counters.nextDocument);
    this.nextBlock = counters.nextBlock;
  }

  static async load(log: number, store: Store, blocks: Blocks): Promise<LogState> {
    const counters = await store.get(countersKey(log));
    const state = new LogState(log, store, blocks, openCounters(counters));
    const range = { from: numberKey(log, LogKind.searches, 0), to: numberKey(log, LogKind.eventId, 0) };
    for await (const key of store.keys(range)) state.#found(key);
    return state;
  }

  get counters(): Counters {
    return { nextText: this.texts.next, nextDocument: this.documents.next, nextBlock: this.nextBlock };
  }

  hour(number: number): Hour {
    let hour = this.hours.get(number);
    if (hour === undefined) {
      hour = { searches: [], events: [], rolledUp: false, changes: 0, untilMs: Number.NEGATIVE_INFINITY };
      this.hours.set(number, hour);
    }
    return hour;
  }

  addSearch(row: JournalSearch): void {
    const words = normalisedText(row.text);
    const search: OpenSearch = {
      at: row.id.atMs,
      counter: row.id.counter,
      frontEnd: row.id.frontEnd,
      text: this.texts.numberOf(words),
      typed: row.text === words ? "" : row.text,
      words,
      found: row.found,
      took: row.took,
      mode: SEARCH_MODES.indexOf(row.mode),
      filtered: row.filtered,
      page: row.page,
      user: row.user,
      session: row.session,
      hits: row.documents.map((id) => this.documents.numberOf(id)),
      marks: 0,
    };
    this.open.addSearch(search);
    if (search.user !== NOBODY || search.session !== NOBODY) this.#supersede(search);
  }

  addEvent(row: JournalEvent): void {
    if (row.eventId !== "" && !this.#isNew(row.eventId, row.atMs)) return;
    const search = row.search === null ? this.#searchFor(row) : this.#searchWith(row.search);
    if (search !== undefined) this.#last(search).marks |= row.type === "click" ? CLICKED : CONVERTED;
    this.open.events.push({
      at: row.atMs,
      type: EVENT_TYPES.indexOf(row.type),
      document: this.documents.numberOf(row.document),
      text: row.query === "" ? 0 : this.texts.numberOf(normalisedText(row.query)),
      position: row.position,
      value: row.value,
      user: row.user,
      session: row.session,
      searchAt: search?.at ?? 0,
      searchCounter: search?.counter ?? 0,
      searchFrontEnd: search?.frontEnd ?? 0,
    });
  }

  #found(key: Uint8Array): void {
    const kind = logKindOfKey(key);
    const number = firstNumberOfKey(key);
    if (kind === LogKind.dayRollup) this.rolledUpDays.add(number);
    else if (kind === LogKind.hourRollup) this.hour(number).rolledUp = true;
    else if (kind === LogKind.events) this.hour(number).events.push(blockOfKey(key));
    else if (kind === LogKind.searches) {
      const hour = this.hour(number);
      hour.searches.push(blockOfKey(key));
      hour.untilMs = (number + 1) * HOUR_MS;
    }
  }

  /** The person's search before this one was a beginning of it; or this one is a beginning of the one after it. */
  #supersede(search: OpenSearch): void {
    const fromMs = search.at - TYPING_MS;
    const before = lastBefore(this.#ownTrails(search, fromMs, search.at), search, fromMs);
    const after = this.#after(search);
    if (before !== undefined) supersedeWith(before, search);
    if (after !== undefined) supersedeWith(search, after);
  }

  /** The search that is counted for a superseded one. */
  #last(search: LoggedSearch): LoggedSearch {
    let last = search;
    while ((last.marks & SUPERSEDED) !== 0) {
      const next = this.#after(last);
      if (next === undefined) break;
      last = next;
    }
    return last;
  }

  #searchWith({ atMs, counter, frontEnd }: QueryId): LoggedSearch | undefined {
    const open = this.open.byId(atMs, counter, frontEnd);
    if (open !== undefined) return open;
    for (const block of this.#blocksBetween(atMs, atMs)) {
      const row = block.rowOf(atMs, counter, frontEnd);
      if (row >= 0) return new StoredSearch(this, block, row, this.#blocks);
    }
    return undefined;
  }

  /** The last search for the event's text by the same person. */
  #searchFor(event: JournalEvent): LoggedSearch | undefined {
    if (event.query === "" || (event.user === NOBODY && event.session === NOBODY)) return undefined;
    const text = this.texts.find(normalisedText(event.query));
    if (text === 0) return undefined;
    const fromMs = event.atMs - ATTRIBUTION_MS;
    const end = { at: event.atMs, frontEnd: Number.POSITIVE_INFINITY, counter: 0 };
    return lastBefore(this.#relatedTrails(event, fromMs, event.atMs), end, fromMs, text);
  }

  /** The person's next search, while they may still be typing. */
  #after(search: LoggedSearch): LoggedSearch | undefined {
    const toMs = search.at + TYPING_MS;
    let first: LoggedSearch | undefined;
    for (const trail of this.#ownTrails(search, search.at, toMs)) {
      let place = countBefore(trail, search);
      let next = trail.at(place);
      if (next !== undefined && compareSearches(next, search) === 0) next = trail.at(++place);
      if (next === undefined || next.at > toMs) continue;
      if (first === undefined || compareSearches(next, first) < 0) first = next;
    }
    return first;
  }

  /** What one typed, at least from `fromMs` to `toMs`: see Trails. */
  *#ownTrails(asker: Asker, fromMs: number, toMs: number): Generator<Trail> {
    yield this.open.trails.own(asker);
    for (const block of this.#blocksBetween(fromMs, toMs))
      yield this.#storedTrail(block, block.trails.own(asker));
  }

  *#relatedTrails(asker: Asker, fromMs: number, toMs: number): Generator<Trail> {
    yield* this.open.trails.related(asker);
    for (const block of this.#blocksBetween(fromMs, toMs))
      for (const rows of block.trails.related(asker)) yield this.#storedTrail(block, rows);
  }

  #storedTrail(block: MarkedBlock, rows: readonly number[]): Trail {
    const at = (i: number): LoggedSearch | undefined =>
      i < rows.length ? new StoredSearch(this, block, rows[i] as number, this.#blocks) : undefined;
    return { length: rows.length, at };
  }

  /** The stored blocks that may have a search from `fromMs` to `toMs`. What is damaged belongs to nobody, and logging goes on. */
  *#blocksBetween(fromMs: number, toMs: number): Generator<MarkedBlock> {
    for (let number = hourOf(fromMs); number <= hourOf(toMs); number++) {
      const hour = this.hours.get(number);
      if (hour === undefined || hour.untilMs < fromMs) continue;
      for (const block of hour.searches) {
        const found = this.#readable({ log: this.log, hour: number, block });
        if (found !== null) yield found;
      }
    }
  }

  #readable(place: BlockPlace): MarkedBlock | null {
    try {
      return this.#blocks.searches(place);
    } catch (error) {
      if (error instanceof DamagedBytesError) return null;
      throw error;
    }
  }

  #isNew(eventId: string, atMs: number): boolean {
    const bytes = hash("sha256", eventId, "buffer").subarray(0, EVENT_ID_BYTES);
    const name = bytes.toString("hex");
    if (this.eventIds.has(name) || this.#store.getSync(eventIdKey(this.log, bytes)) !== undefined)
      return false;
    this.eventIds.set(name, dayOf(atMs));
    return true;
  }
}

/** A search in a block. */
class StoredSearch implements LoggedSearch {
  readonly #state: LogState;
  readonly #block: MarkedBlock;
  readonly #row: number;
  readonly #blocks: Blocks;

  constructor(state: LogState, block: MarkedBlock, row: number, blocks: Blocks) {
    this.#state = state;
    this.#block = block;
    this.#row = row;
    this.#blocks = blocks;
  }

  get at(): number {
    return this.#block.searches.at[this.#row] as number;
  }

  get counter(): number {
    return this.#block.searches.counter[this.#row] as number;
  }

  get frontEnd(): number {
    return this.#block.searches.frontEnd[this.#row] as number;
  }

  get text(): number {
    return this.#block.searches.text[this.#row] as number;
  }

  get words(): string {
    return this.#state.texts.word(this.text);
  }

  get user(): Person {
    return this.#block.searches.user[this.#row] as number;
  }

  get session(): Person {
    return this.#block.searches.session[this.#row] as number;
  }

  get marks(): number {
    return this.#block.marks[this.#row] as number;
  }

  set marks(marks: number) {
    if (marks === this.marks) return;
    this.#block.marks[this.#row] = marks;
    this.#blocks.changed(this.#block);
    this.#state.hour(this.#block.place.hour).changes++;
  }
}

/** Decides whether `after`, the person's next search, is counted instead of `before`. It then has what belonged to that. */
function supersedeWith(before: LoggedSearch, after: LoggedSearch): void {
  if (!continues(after.words, before.words)) {
    before.marks &= ~SUPERSEDED;
    return;
  }
  before.marks |= SUPERSEDED;
  after.marks |= before.marks & (CLICKED | CONVERTED);
}

/** The last search before a place, from `fromMs` on, for that text if one is given. */
function lastBefore(
  trails: Iterable<Trail>,
  place: SearchPlace,
  fromMs: number,
  text?: number,
): LoggedSearch | undefined {
  let last: LoggedSearch | undefined;
  for (const trail of trails) {
    for (let i = countBefore(trail, place) - 1; i >= 0; i--) {
      const search = trail.at(i) as LoggedSearch;
      if (search.at < fromMs || (last !== undefined && compareSearches(search, last) < 0)) break;
      if (text !== undefined && search.text !== text) continue;
      last = search;
      break;
    }
  }
  return last;
}

/** How many searches of a trail come before a place. */
function countBefore(trail: Trail, place: SearchPlace): number {
  let low = 0;
  for (let high = trail.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (compareSearches(trail.at(middle) as LoggedSearch, place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
