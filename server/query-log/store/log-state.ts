// The current state of one log: its hours, its dictionaries and its open rows. Applies the journal's rows,
// and decides which search a new search supersedes and which search an event belongs to. Depends neither on
// the clock nor on threads, so the same rows always produce the same state.
import { hash } from "node:crypto";
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { DamagedBytesError } from "../../../shards/storage/envelope.js";
import type { Store } from "../../../shards/storage/store.js";
import {
  type Asker,
  decodeAnswered,
  EVENT_TYPES,
  type JournalEvent,
  type JournalSearch,
  NOBODY,
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
import { type Asked, OpenRows, type OpenSearch } from "../rows/open-rows.js";
import type { QueryId } from "../rows/query-ids.js";
import { type Counters, openCounters } from "../rows/records.js";
import { continues, normalisedText } from "../rows/text-form.js";
import { ATTRIBUTION_MS, dayOf, HOUR_MS, hourOf, TYPING_MS } from "../rows/time.js";
import { compareSearches } from "../rows/trails.js";
import type { Blocks, MarkedBlock } from "./blocks.js";
import { Dictionary } from "./dictionary.js";
import {
  firstAfter,
  type LoggedSearch,
  lastBefore,
  StoredSearch,
  storedTrail,
  type Trail,
} from "./logged-search.js";

const EVENT_ID_BYTES = 12;
/** Maximum number of cached decoded answers. Each uses about 500 bytes. */
const ANSWERS_MAX = 8_192;

/**
 * A stored block of searches, with the times of its first and last search. Until the block has been read, the
 * times are the start and end of its hour.
 */
export interface StoredSearches {
  readonly block: number;
  fromMs: number;
  untilMs: number;
}

/** What is stored for one hour. */
export interface Hour {
  /** In ascending order of block number. */
  searches: StoredSearches[];
  /** Block numbers in ascending order. */
  events: number[];
  rolledUp: boolean;
  /** Incremented whenever a block is added or a mark changes. */
  changes: number;
}

export class LogState {
  readonly log: number;
  readonly texts: Dictionary;
  readonly documents: Dictionary;
  readonly hours = new Map<number, Hour>();
  readonly rolledUpDays = new Set<number>();
  /** Ids of new events that are not stored yet: hash to day of the event. */
  eventIds = new Map<string, number>();
  open = new OpenRows();
  nextBlock: number;
  readonly #store: Store;
  readonly #blocks: Blocks;
  /** Decoded answers, keyed by their form in the journal. */
  readonly #answers = new ClockCache<string, Asked>(ANSWERS_MAX);

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
      hour = { searches: [], events: [], rolledUp: false, changes: 0 };
      this.hours.set(number, hour);
    }
    return hour;
  }

  addSearch({ id, took, user, session, answered }: JournalSearch): void {
    // The members are listed individually because V8 creates such objects many times faster than with a
    // spread.
    const { text, typed, words, found, mode, filtered, page, hits } = this.#asked(answered);
    const search: OpenSearch = {
      at: id.atMs,
      counter: id.counter,
      frontEnd: id.frontEnd,
      text,
      typed,
      words,
      found,
      took,
      mode,
      filtered,
      page,
      user,
      session,
      hits,
      marks: 0,
    };
    this.open.addSearch(search);
    if (user !== NOBODY || session !== NOBODY) this.#supersede(search);
  }

  /** Call after marks in the block have changed. */
  marksChanged(block: MarkedBlock): void {
    this.#blocks.changed(block);
    this.hour(block.place.hour).changes++;
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
      const [fromMs, untilMs] = [number * HOUR_MS, (number + 1) * HOUR_MS];
      this.hour(number).searches.push({ block: blockOfKey(key), fromMs, untilMs });
    }
  }

  /** Decodes an answer. Results are cached, because most answers recur. */
  #asked(answered: string): Asked {
    const known = this.#answers.get(answered);
    if (known !== undefined) return known;
    const { text, mode, documents, ...rest } = decodeAnswered(answered);
    const words = normalisedText(text);
    const asked: Asked = {
      ...rest,
      text: this.texts.numberOf(words),
      typed: text === words ? "" : text,
      words,
      mode: SEARCH_MODES.indexOf(mode),
      hits: documents.map((id) => this.documents.numberOf(id)),
    };
    this.#answers.set(answered, asked);
    return asked;
  }

  /**
   * Marks the searches that continued typing makes obsolete: the person's previous search if this search
   * continues it, and this search if the person's next search continues it.
   */
  #supersede(search: OpenSearch): void {
    const [fromMs, toMs] = [search.at - TYPING_MS, search.at + TYPING_MS];
    const trails = this.#ownTrails(search, fromMs, toMs);
    const before = lastBefore(trails, search, fromMs);
    const after = firstAfter(trails, search, toMs);
    if (before !== undefined) supersedeWith(before, search);
    if (after !== undefined) supersedeWith(search, after);
  }

  /** Returns the search itself or, if it is superseded, the search that is counted instead. */
  #last(search: LoggedSearch): LoggedSearch {
    let last = search;
    while ((last.marks & SUPERSEDED) !== 0) {
      const toMs = last.at + TYPING_MS;
      const next = firstAfter(this.#ownTrails(last, last.at, toMs), last, toMs);
      if (next === undefined) break;
      last = next;
    }
    return last;
  }

  #searchWith({ atMs, counter, frontEnd }: QueryId): LoggedSearch | undefined {
    const open = this.open.byId(atMs, counter, frontEnd);
    if (open !== undefined) return open;
    for (const stored of this.#storedBetween(atMs, atMs)) {
      const block = this.#readable(stored);
      const row = block?.rowOf(atMs, counter, frontEnd) ?? -1;
      if (block !== null && row >= 0) return new StoredSearch(this, block, row);
    }
    return undefined;
  }

  /**
   * Finds the search that an event without a query id belongs to: the last one before the event, by the same
   * user or session and for the event's text.
   */
  #searchFor(event: JournalEvent): LoggedSearch | undefined {
    if (event.query === "" || (event.user === NOBODY && event.session === NOBODY)) return undefined;
    const text = this.texts.find(normalisedText(event.query));
    if (text === 0) return undefined;
    const fromMs = event.atMs - ATTRIBUTION_MS;
    const end = { at: event.atMs, frontEnd: Number.POSITIVE_INFINITY, counter: 0 };
    let last = lastBefore(this.open.trails.related(event), end, fromMs, text);
    for (const stored of this.#storedBetween(fromMs, event.atMs)) {
      if (last !== undefined && stored.untilMs < last.at) continue;
      const block = this.#readable(stored, (place) => this.#blocks.mayHold(place, event, text));
      if (block === null) continue;
      const found = lastBefore(this.#relatedTrails(block, event), end, last?.at ?? fromMs, text);
      if (found !== undefined && (last === undefined || compareSearches(found, last) > 0)) last = found;
    }
    return last;
  }

  /**
   * Returns the trails of the person's own searches (see Trails.own). They include all searches from `fromMs`
   * to `toMs`, and possibly others.
   */
  #ownTrails(asker: Asker, fromMs: number, toMs: number): Trail[] {
    const trails: Trail[] = [this.open.trails.own(asker)];
    for (const stored of this.#storedBetween(fromMs, toMs)) {
      const block = this.#readable(stored);
      if (block !== null) trails.push(storedTrail(this, block, block.trails.own(asker)));
    }
    return trails;
  }

  #relatedTrails(block: MarkedBlock, asker: Asker): Trail[] {
    return block.trails.related(asker).map((rows) => storedTrail(this, block, rows));
  }

  /** Yields the stored blocks that may contain searches from `fromMs` to `toMs`, newest first. */
  *#storedBetween(fromMs: number, toMs: number): Generator<StoredSearches> {
    for (let number = hourOf(toMs); number >= hourOf(fromMs); number--) {
      const searches = this.hours.get(number)?.searches ?? [];
      for (let i = searches.length - 1; i >= 0; i--) {
        const stored = searches[i] as StoredSearches;
        if (stored.fromMs <= toMs && stored.untilMs >= fromMs) yield stored;
      }
    }
  }

  /**
   * Reads a block. Returns null if `isWanted` refuses it, or if it is damaged: then no search is found in it,
   * and logging continues.
   */
  #readable(stored: StoredSearches, isWanted?: (place: BlockPlace) => boolean): MarkedBlock | null {
    const place = { log: this.log, hour: hourOf(stored.fromMs), block: stored.block };
    try {
      if (isWanted?.(place) === false) return null;
      const block = this.#blocks.searches(place);
      const { at } = block.searches;
      stored.fromMs = at[0] ?? stored.fromMs;
      stored.untilMs = at.at(-1) ?? stored.fromMs;
      return block;
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

/**
 * Decides whether the person's next search `after` is counted instead of `before`. If so, `after` inherits
 * the clicks and conversions of `before`.
 */
function supersedeWith(before: LoggedSearch, after: LoggedSearch): void {
  if (!continues(after.words, before.words)) {
    before.marks &= ~SUPERSEDED;
    return;
  }
  before.marks |= SUPERSEDED;
  after.marks |= before.marks & (CLICKED | CONVERTED);
}
