// Collects rows for a thread that evaluates them itself. Blocks that are completely inside the window are
// passed on unchanged; other rows and open rows are copied to new blocks.
import type { EventBlock } from "../rows/event-block.js";
import {
  eventBlockOf,
  eventsOf,
  type OpenEvent,
  type OpenSearch,
  searchBlockOf,
  searchesByHour,
  searchesOf,
} from "../rows/open-rows.js";
import type { SearchBlock } from "../rows/search-block.js";
import type { MarkedBlock } from "../store/blocks.js";
import type { Window, WindowReader } from "./window.js";

/**
 * Blocks in order of their hours, followed by blocks of open rows. They do not contain the texts as typed.
 */
export interface LogRows {
  readonly searches: readonly { readonly block: SearchBlock; readonly marks: Uint8Array }[];
  readonly events: readonly EventBlock[];
}

export class BlockCollector implements WindowReader {
  readonly #searches: { block: SearchBlock; marks: Uint8Array }[] = [];
  readonly #events: EventBlock[] = [];
  readonly #openSearches: OpenSearch[] = [];
  readonly #openEvents: OpenEvent[] = [];

  openSearch(search: OpenSearch): void {
    this.#openSearches.push(search);
  }

  openEvent(event: OpenEvent): void {
    this.#openEvents.push(event);
  }

  searches({ searches, marks }: MarkedBlock, window: Window): void {
    if (isWhole(searches, window)) this.#add(searches, marks);
    else this.#addSearches(searchesOf(searches, marks).filter(({ at }) => isIn(at, window)));
  }

  events(block: EventBlock, window: Window): void {
    if (isWhole(block, window)) this.#events.push(block);
    else this.#events.push(eventBlockOf(eventsOf(block).filter(({ at }) => isIn(at, window))));
  }

  /** Never called, because no rollups are requested. */
  rollup(): void {
    throw new Error("rows are read, not rollups");
  }

  rows(): LogRows {
    const hours = [...searchesByHour(this.#openSearches)].sort(([a], [b]) => a - b);
    for (const [, rows] of hours) this.#addSearches(rows);
    if (this.#openEvents.length > 0) this.#events.push(eventBlockOf(this.#openEvents));
    return { searches: this.#searches, events: this.#events };
  }

  #addSearches(rows: readonly OpenSearch[]): void {
    this.#add(
      searchBlockOf(rows),
      Uint8Array.from(rows, ({ marks }) => marks),
    );
  }

  #add(block: SearchBlock, marks: Uint8Array): void {
    this.#searches.push({ block: { ...block, typed: [] }, marks });
  }
}

function isWhole({ at }: { readonly at: Float64Array }, window: Window): boolean {
  return at.length > 0 && isIn(at[0] as number, window) && isIn(at.at(-1) as number, window);
}

function isIn(at: number, { fromMs, toMs }: Window): boolean {
  return at >= fromMs && at < toMs;
}
