// Exports the log as NDJSON, one line per search or event, ordered by time within each hour.

import type { EventBlock } from "../rows/event-block.js";
import { EVENT_TYPES, NOBODY, type Person, SEARCH_MODES, VALUE_UNITS } from "../rows/journal.js";
import { CLICKED, CONVERTED, SUPERSEDED } from "../rows/marks.js";
import { eventsOf, type OpenEvent, type OpenSearch, searchesOf } from "../rows/open-rows.js";
import { queryIdText } from "../rows/query-ids.js";
import { stepMs } from "../rows/took.js";
import type { MarkedBlock } from "../store/blocks.js";
import type { LogState } from "../store/log-state.js";
import type { Window, WindowReader } from "./window.js";

/** Collects a window's rows. The window covers at most an hour. */
export class RowCollector implements WindowReader {
  readonly #state: LogState;
  readonly #searches: OpenSearch[] = [];
  readonly #events: OpenEvent[] = [];

  constructor(state: LogState) {
    this.#state = state;
  }

  openSearch(search: OpenSearch): void {
    this.#searches.push(search);
  }

  openEvent(event: OpenEvent): void {
    this.#events.push(event);
  }

  searches({ searches, marks }: MarkedBlock, window: Window): void {
    for (const row of searchesOf(searches, marks)) if (isIn(row, window)) this.#searches.push(row);
  }

  events(block: EventBlock, window: Window): void {
    for (const row of eventsOf(block)) if (isIn(row, window)) this.#events.push(row);
  }

  /** Never called, because an export requests no rollups. */
  rollup(): void {
    throw new Error("an export reads rows, not rollups");
  }

  /** Returns the collected rows as NDJSON. Every line ends with a newline. */
  async lines(): Promise<string> {
    const { texts, documents } = this.#state;
    const text = await wordsBy(
      texts,
      [...this.#searches, ...this.#events].map((row) => row.text),
    );
    const shown = this.#searches.flatMap(({ hits }) => hits);
    const document = await wordsBy(documents, [...shown, ...this.#events.map((row) => row.document)]);
    const rows = [
      ...this.#searches.map((row) => ({ at: row.at, shown: searchLine(row, text, document) })),
      ...this.#events.map((row) => ({ at: row.at, shown: eventLine(row, text, document) })),
    ];
    return rows
      .sort((a, b) => a.at - b.at)
      .map((row) => `${JSON.stringify(row.shown)}\n`)
      .join("");
  }
}

type WordOf = (number: number) => string;

async function wordsBy(
  dictionary: { words(numbers: readonly number[]): Promise<string[]> },
  numbers: readonly number[],
): Promise<WordOf> {
  const known = [...new Set(numbers)];
  const words = await dictionary.words(known);
  const byNumber = new Map(known.map((number, i) => [number, words[i] as string]));
  return (number) => byNumber.get(number) ?? "";
}

function searchLine(row: OpenSearch, text: WordOf, document: WordOf): object {
  const query = text(row.text);
  return {
    type: "search",
    timestamp: new Date(row.at).toISOString(),
    query_id: queryIdText({ atMs: row.at, counter: row.counter, frontEnd: row.frontEnd }),
    query,
    typed: row.typed === "" ? query : row.typed,
    found: row.found,
    took_ms: stepMs(row.took),
    search_mode: SEARCH_MODES[row.mode],
    filtered: row.filtered,
    page: row.page,
    documents: row.hits.map(document),
    user: personText(row.user),
    session: personText(row.session),
    counted: (row.marks & SUPERSEDED) === 0,
    clicked: (row.marks & CLICKED) !== 0,
    converted: (row.marks & CONVERTED) !== 0,
  };
}

function eventLine(row: OpenEvent, text: WordOf, document: WordOf): object {
  const { searchAt: atMs, searchCounter: counter, searchFrontEnd: frontEnd } = row;
  return {
    type: EVENT_TYPES[row.type],
    timestamp: new Date(row.at).toISOString(),
    query_id: atMs === 0 ? null : queryIdText({ atMs, counter, frontEnd }),
    query: row.text === 0 ? null : text(row.text),
    document_id: document(row.document),
    position: row.position === 0 ? null : row.position,
    value: row.value / VALUE_UNITS,
    user: personText(row.user),
    session: personText(row.session),
  };
}

function personText(person: Person): string | null {
  return person === NOBODY ? null : person.toString(16).padStart(12, "0");
}

function isIn({ at }: { readonly at: number }, { fromMs, toMs }: Window): boolean {
  return at >= fromMs && at < toMs;
}
