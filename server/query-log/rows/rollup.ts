// A rollup contains the sums over one hour or one day of a log, for reports. Its four parts (totals, texts,
// documents and people) are stored separately, so that a report reads only the parts it needs. A rollup
// depends only on its period's blocks. If any of them changes, the rollup is deleted and later computed
// again. ON DISK: docs/FORMATS.md shows the layouts.
import { ColumnReader, ColumnWriter } from "./columns.js";
import type { EventBlock } from "./event-block.js";
import { EVENT_TYPES, NOBODY, type Person } from "./journal.js";
import { CLICKED, CONVERTED, SUPERSEDED } from "./marks.js";
import type { SearchBlock } from "./search-block.js";
import { hourOf } from "./time.js";

export const ROLLUP_VERSION = 1;

// ON DISK - never renumber
export const ROLLUP_PARTS = { totals: 1, texts: 2, documents: 3, people: 4 } as const;
export type RollupPart = keyof typeof ROLLUP_PARTS;
export const ALL_PARTS = Object.keys(ROLLUP_PARTS) as RollupPart[];

export interface HourCounts {
  searches: number;
  noResults: number;
  clicks: number;
}

export interface Totals {
  /** Number of searches. Like all counts of searches, excludes superseded searches. */
  searches: number;
  noResults: number;
  /** Number of searches with a click. */
  clicked: number;
  /** Number of searches with a conversion. */
  converted: number;
  /** Numbers of events. An event counts in its own hour, not in that of its search. */
  clicks: number;
  conversions: number;
  /** Total value of the conversions; see VALUE_UNITS. */
  value: number;
  /** Number of searches by duration step; see took.ts. */
  readonly took: Map<number, number>;
  readonly hours: Map<number, HourCounts>;
}

export interface TextCounts {
  searches: number;
  noResults: number;
  /** Total number of hits over all searches. */
  found: number;
  clicked: number;
}

export interface DocumentCounts {
  clicks: number;
  conversions: number;
  value: number;
}

const CLICK = EVENT_TYPES.indexOf("click");

/** Adds up rows, or rollups of shorter periods. */
export class Rollup {
  readonly #parts: ReadonlySet<RollupPart>;
  readonly totals: Totals = {
    searches: 0,
    noResults: 0,
    clicked: 0,
    converted: 0,
    clicks: 0,
    conversions: 0,
    value: 0,
    took: new Map(),
    hours: new Map(),
  };
  /** Keyed by the text's dictionary number. */
  readonly texts = new Map<number, TextCounts>();
  readonly documents = new Map<number, DocumentCounts>();
  /** The people who searched. A person is a user or, for a search without a user, a session. */
  readonly people = new Set<Person>();

  /** Only the given parts are added up. */
  constructor(parts: readonly RollupPart[] = ALL_PARTS) {
    this.#parts = new Set(parts);
  }

  /** Adds the searches in [fromMs, toMs). `marks` has one byte per row; see marks.ts. */
  addSearches(block: SearchBlock, marks: Uint8Array, fromMs = -Infinity, toMs = Infinity): void {
    for (let row = 0; row < block.rows; row++) {
      const at = block.at[row] as number;
      if (at < fromMs || at >= toMs || ((marks[row] as number) & SUPERSEDED) !== 0) continue;
      this.addSearch(
        at,
        block.text[row] as number,
        block.found[row] as number,
        block.took[row] as number,
        (block.user[row] as number) || (block.session[row] as number),
        marks[row] as number,
      );
    }
  }

  /** Adds one search. The caller must leave out superseded searches. */
  addSearch(at: number, text: number, found: number, took: number, person: Person, marks: number): void {
    const none = found === 0 ? 1 : 0;
    const clicked = (marks & CLICKED) !== 0 ? 1 : 0;
    if (this.#parts.has("totals")) {
      const { totals } = this;
      totals.searches++;
      totals.noResults += none;
      totals.clicked += clicked;
      totals.converted += (marks & CONVERTED) !== 0 ? 1 : 0;
      totals.took.set(took, (totals.took.get(took) ?? 0) + 1);
      const hour = this.#hour(hourOf(at));
      hour.searches++;
      hour.noResults += none;
    }
    if (this.#parts.has("texts")) addText(this.texts, text, 1, none, found, clicked);
    if (this.#parts.has("people") && person !== NOBODY) this.people.add(person);
  }

  /** Adds the events in [fromMs, toMs). */
  addEvents(block: EventBlock, fromMs = -Infinity, toMs = Infinity): void {
    for (let row = 0; row < block.rows; row++) {
      const at = block.at[row] as number;
      if (at < fromMs || at >= toMs) continue;
      this.addEvent(at, block.type[row] as number, block.document[row] as number, block.value[row] as number);
    }
  }

  /** `type` is an index into EVENT_TYPES. */
  addEvent(at: number, type: number, document: number, value: number): void {
    const click = type === CLICK ? 1 : 0;
    if (this.#parts.has("totals")) {
      this.totals.clicks += click;
      this.totals.conversions += 1 - click;
      this.totals.value += value;
      this.#hour(hourOf(at)).clicks += click;
    }
    if (this.#parts.has("documents")) addDocument(this.documents, document, click, 1 - click, value);
  }

  /** Adds one stored part of another rollup to this rollup. */
  addPart(part: RollupPart, bytes: Uint8Array): void {
    const columns = new ColumnReader(bytes);
    if (part === "totals") this.#addTotals(columns);
    else if (part === "people") for (const person of readPeople(columns)) this.people.add(person);
    else if (part === "texts")
      eachText(columns, (text, searches, noResults, found, clicked) =>
        addText(this.texts, text, searches, noResults, found, clicked),
      );
    else
      eachDocument(columns, (document, clicks, conversions, value) =>
        addDocument(this.documents, document, clicks, conversions, value),
      );
  }

  part(part: RollupPart): Uint8Array {
    const columns = new ColumnWriter();
    if (part === "totals") putTotals(columns, this.totals);
    else if (part === "people") putPeople(columns, this.people);
    else if (part === "texts") putTexts(columns, this.texts);
    else putDocuments(columns, this.documents);
    return columns.finish();
  }

  #addTotals(columns: ColumnReader): void {
    const { totals } = this;
    totals.searches += columns.next();
    totals.noResults += columns.next();
    totals.clicked += columns.next();
    totals.converted += columns.next();
    totals.clicks += columns.next();
    totals.conversions += columns.next();
    totals.value += columns.next();
    for (let left = columns.next(); left > 0; left--) {
      const step = columns.next();
      totals.took.set(step, (totals.took.get(step) ?? 0) + columns.next());
    }
    for (let left = columns.next(); left > 0; left--) {
      const hour = this.#hour(columns.next());
      hour.searches += columns.next();
      hour.noResults += columns.next();
      hour.clicks += columns.next();
    }
  }

  #hour(number: number): HourCounts {
    let hour = this.totals.hours.get(number);
    if (hour === undefined) {
      hour = { searches: 0, noResults: 0, clicks: 0 };
      this.totals.hours.set(number, hour);
    }
    return hour;
  }
}

function addText(
  texts: Map<number, TextCounts>,
  text: number,
  searches: number,
  noResults: number,
  found: number,
  clicked: number,
): void {
  const counts = texts.get(text);
  if (counts === undefined) {
    texts.set(text, { searches, noResults, found, clicked });
    return;
  }
  counts.searches += searches;
  counts.noResults += noResults;
  counts.found += found;
  counts.clicked += clicked;
}

function addDocument(
  documents: Map<number, DocumentCounts>,
  document: number,
  clicks: number,
  conversions: number,
  value: number,
): void {
  const counts = documents.get(document);
  if (counts === undefined) {
    documents.set(document, { clicks, conversions, value });
    return;
  }
  counts.clicks += clicks;
  counts.conversions += conversions;
  counts.value += value;
}

function putTotals(columns: ColumnWriter, totals: Totals): void {
  const { searches, noResults, clicked, converted, clicks, conversions } = totals;
  columns.putAll([searches, noResults, clicked, converted, clicks, conversions]);
  columns.put(totals.value);
  columns.put(totals.took.size);
  for (const entry of byNumber(totals.took)) columns.putAll(entry);
  columns.put(totals.hours.size);
  for (const [number, hour] of byNumber(totals.hours))
    columns.putAll([number, hour.searches, hour.noResults, hour.clicks]);
}

function putPeople(columns: ColumnWriter, people: ReadonlySet<Person>): void {
  columns.put(people.size);
  columns.putRising(Float64Array.from(people).sort());
}

/** Reads the people in a rollup, in ascending order. */
export function readPeople(columns: ColumnReader): Float64Array {
  return columns.risingInto(new Float64Array(columns.count()));
}

function putTexts(columns: ColumnWriter, texts: ReadonlyMap<number, TextCounts>): void {
  columns.put(texts.size);
  let before = 0;
  for (const [text, { searches, noResults, found, clicked }] of byNumber(texts)) {
    columns.put(text - before);
    columns.put(searches);
    columns.put(noResults);
    columns.put(found);
    columns.put(clicked);
    before = text;
  }
}

/** Calls back with the number and the counts of each text, in ascending order of number. */
export function eachText(
  columns: ColumnReader,
  use: (text: number, searches: number, noResults: number, found: number, clicked: number) => void,
): void {
  let text = 0;
  for (let left = columns.next(); left > 0; left--) {
    text += columns.next();
    use(text, columns.next(), columns.next(), columns.next(), columns.next());
  }
}

function putDocuments(columns: ColumnWriter, documents: ReadonlyMap<number, DocumentCounts>): void {
  columns.put(documents.size);
  let before = 0;
  for (const [document, { clicks, conversions, value }] of byNumber(documents)) {
    columns.put(document - before);
    columns.put(clicks);
    columns.put(conversions);
    columns.put(value);
    before = document;
  }
}

function eachDocument(
  columns: ColumnReader,
  use: (document: number, clicks: number, conversions: number, value: number) => void,
): void {
  let document = 0;
  for (let left = columns.next(); left > 0; left--) {
    document += columns.next();
    use(document, columns.next(), columns.next(), columns.next());
  }
}

function byNumber<T>(map: ReadonlyMap<number, T>): [number, T][] {
  return [...map].sort(([a], [b]) => a - b);
}
