// Reads blocks, and caches blocks of searches along with their marks. Changed marks stay in memory until a
// checkpoint stores them.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import {
  DamagedBytesError,
  ENVELOPE_LOG_EVENTS,
  ENVELOPE_LOG_MARKS,
  ENVELOPE_LOG_SEARCHES,
  unseal,
} from "../../../shards/storage/envelope.js";
import type { Store } from "../../../shards/storage/store.js";
import { AskedFilter } from "../rows/asked-filter.js";
import { decodeEventBlock, EVENT_BLOCK_VERSION, type EventBlock } from "../rows/event-block.js";
import type { Asker, Person } from "../rows/journal.js";
import { type BlockPlace, blockKey, type LogKeyKind, LogKind } from "../rows/keys.js";
import { decodeMarks, MARKS_VERSION } from "../rows/marks.js";
import { decodeSearchBlock, SEARCH_BLOCK_VERSION, type SearchBlock } from "../rows/search-block.js";
import { Trails } from "../rows/trails.js";

/** Maximum number of rows in all cached blocks. */
const ROWS_MAX = 200_000;
/** Maximum total size in bytes of the cached AskedFilters, enough for about 5 million searches. */
const FILTER_BYTES_MAX = 16 * 1024 * 1024;

/** A block or rollup in a report's plan was deleted before it was read, for example by a merge. */
export class BlockGoneError extends Error {
  override readonly name = "BlockGoneError";
}

export class MarkedBlock {
  readonly place: BlockPlace;
  readonly searches: SearchBlock;
  readonly marks: Uint8Array;
  #trails: Trails<number> | null = null;

  constructor(place: BlockPlace, searches: SearchBlock, marks: Uint8Array) {
    this.place = place;
    this.searches = searches;
    this.marks = marks;
  }

  /** Each person's rows in the block. */
  get trails(): Trails<number> {
    this.#trails ??= this.#trailsOfRows();
    return this.#trails;
  }

  /** Returns the row with this query id, or -1 if the block does not contain it. */
  rowOf(atMs: number, counter: number, frontEnd: number): number {
    const { at, rows } = this.searches;
    let low = 0;
    for (let high = rows; low < high; ) {
      const middle = (low + high) >>> 1;
      if ((at[middle] as number) < atMs) low = middle + 1;
      else high = middle;
    }
    for (let row = low; row < rows && at[row] === atMs; row++)
      if (this.searches.counter[row] === counter && this.searches.frontEnd[row] === frontEnd) return row;
    return -1;
  }

  #trailsOfRows(): Trails<number> {
    const { rows, user, session } = this.searches;
    const trails = new Trails<number>((a, b) => a - b);
    for (let row = 0; row < rows; row++)
      trails.add({ user: user[row] as Person, session: session[row] as Person }, row);
    return trails;
  }
}

export class Blocks {
  readonly #store: Store;
  /** Cached blocks, by a name made from their place. The maps below use the same keys. */
  readonly #known = new ClockCache<string, MarkedBlock>(ROWS_MAX);
  readonly #filters = new ClockCache<string, { readonly place: BlockPlace; readonly filter: AskedFilter }>(
    FILTER_BYTES_MAX,
  );
  /** Blocks whose changed marks are not stored yet. */
  readonly #changed = new Map<string, MarkedBlock>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns a block of searches. Throws BlockGoneError, DamagedBytesError. */
  searches(place: BlockPlace): MarkedBlock {
    const name = nameOf(place);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const block = this.#changed.get(name) ?? this.#read(place);
    this.add(block);
    return block;
  }

  /** Caches a block that is already stored. */
  add(block: MarkedBlock): void {
    this.#known.set(nameOf(block.place), block, block.searches.rows);
  }

  /**
   * If false, neither the user nor the session searched for the text in the block. Throws the same errors as
   * `searches`.
   */
  mayHold(place: BlockPlace, asker: Asker, text: number): boolean {
    const name = nameOf(place);
    const known = this.#filters.get(name);
    if (known !== undefined) return known.filter.mayHold(asker, text);
    const filter = new AskedFilter(this.searches(place).searches);
    this.#filters.set(name, { place, filter }, filter.bytes);
    return filter.mayHold(asker, text);
  }

  /** Reads a block of events. Throws BlockGoneError, DamagedBytesError. */
  events(place: BlockPlace): EventBlock {
    return decodeEventBlock(this.#payload(place, LogKind.events, ENVELOPE_LOG_EVENTS, EVENT_BLOCK_VERSION));
  }

  changed(block: MarkedBlock): void {
    const name = nameOf(block.place);
    this.#changed.set(name, block);
    if (this.#known.get(name) !== block) this.add(block);
  }

  /** Returns the log's blocks whose changed marks are not stored yet. */
  changedOf(log: number): MarkedBlock[] {
    return [...this.#changed.values()].filter(({ place }) => place.log === log);
  }

  /** Call once the changed marks are stored or the blocks are deleted. */
  forgetChanges(blocks: readonly MarkedBlock[]): void {
    for (const { place } of blocks) this.#changed.delete(nameOf(place));
  }

  /** Drops the cached blocks of a whole log or of one of its hours. */
  forget(log: number, hour?: number): void {
    for (const blocks of [this.#known, this.#changed, this.#filters])
      for (const [name, { place }] of blocks.entries())
        if (place.log === log && (hour === undefined || place.hour === hour)) blocks.delete(name);
  }

  #read(place: BlockPlace): MarkedBlock {
    const searches = decodeSearchBlock(
      this.#payload(place, LogKind.searches, ENVELOPE_LOG_SEARCHES, SEARCH_BLOCK_VERSION),
    );
    const marks = decodeMarks(this.#payload(place, LogKind.marks, ENVELOPE_LOG_MARKS, MARKS_VERSION));
    if (marks.length !== searches.rows)
      throw new DamagedBytesError(
        `a block of the query log has ${searches.rows} rows and ${marks.length} marks`,
      );
    return new MarkedBlock(place, searches, Uint8Array.from(marks));
  }

  #payload(place: BlockPlace, kind: LogKeyKind, envelope: number, version: number): Uint8Array {
    const value = this.#store.getSync(blockKey(place.log, kind, place.hour, place.block));
    if (value === undefined) throw new BlockGoneError(`the query log has no block ${nameOf(place)}`);
    return unseal(envelope, version, value, `block ${nameOf(place)} of the query log`);
  }
}

function nameOf({ log, hour, block }: BlockPlace): string {
  return `${log}/${hour}/${block}`;
}
