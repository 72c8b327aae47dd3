// What the miners need of a log, gathered in two passes over its rows: how often each text was searched; then, of the texts that
// came several times, what was shown and clicked, and which searches people made after one that did not help them.
import { EVENT_TYPES, NOBODY } from "../query-log/rows/journal.js";
import { CLICKED, SUPERSEDED } from "../query-log/rows/marks.js";
import { DAY_MS } from "../query-log/rows/time.js";
import type { LogRows } from "../reports/stored-rows.js";
import type { Shop } from "./shop.js";

/** A search belongs to the one before it when the person makes it within this time. */
const FOLLOWS_MS_MAX = 5 * 60_000;
/** Rarer texts are not looked at. */
const SEARCHES_MIN = 3;
/** Hits of which it is known how often they were shown and clicked. */
export const PLACES = 10;
const CLICK = EVENT_TYPES.indexOf("click");

/** How a document did in the searches for one text, by its place from 0 on. */
export interface Exposure {
  readonly shown: Float64Array;
  readonly clicks: Float64Array;
  /** Clicks in all places, deeper ones included. */
  clicksInAll: number;
}

export interface TextDigest {
  readonly number: number;
  text: string;
  searches: number;
  noResults: number;
  clicked: number;
  /** Searches without a click that the same person followed with another search that had one. */
  rescued: number;
  /** Of the last search. */
  found: number;
  /** How many people searched it; searches of unknown people count each. */
  people: number;
  /** By number of the document. */
  readonly documents: Map<number, Exposure>;
}

/** People who searched one text without a click, and then another one. */
export interface Step {
  readonly from: number;
  readonly to: number;
  people: number;
  /** Of these, who clicked after the second search. */
  helped: number;
}

export interface LogDigest {
  /** Searches that count and events. */
  readonly rows: number;
  readonly searches: number;
  readonly clicked: number;
  readonly hasClicks: boolean;
  /** By number; only those that were searched several times. */
  readonly texts: ReadonlyMap<number, TextDigest>;
  readonly steps: readonly Step[];
  /** Clicks for each time that a hit was shown, by its place from 0 on. */
  readonly clickRate: readonly number[];
}

interface Visitor {
  readonly at: number;
  readonly text: number;
  readonly clicked: boolean;
}

interface LoggedClick {
  readonly counter: number;
  readonly document: number;
  readonly position: number;
}

export async function digestLog(shop: Shop, fromMs: number, toMs: number): Promise<LogDigest> {
  const counts = new Map<number, number>();
  /** By the time of their search. */
  const clicks = new Map<number, LoggedClick[]>();
  let rows = 0;
  for await (const day of days(shop, fromMs, toMs)) {
    for (const { block, marks } of day.searches) {
      for (let row = 0; row < block.rows; row++) {
        if (((marks[row] as number) & SUPERSEDED) !== 0) continue;
        const text = block.text[row] as number;
        counts.set(text, (counts.get(text) ?? 0) + 1);
        rows++;
      }
    }
    for (const block of day.events) {
      rows += block.rows;
      for (let row = 0; row < block.rows; row++) {
        const at = block.searchAt[row] as number;
        if (block.type[row] !== CLICK || at === 0) continue;
        const click = {
          counter: block.searchCounter[row] as number,
          document: block.document[row] as number,
          position: block.position[row] as number,
        };
        const list = clicks.get(at);
        if (list === undefined) clicks.set(at, [click]);
        else list.push(click);
      }
    }
  }
  const gathering = new Gathering(counts, clicks);
  for await (const day of days(shop, fromMs, toMs)) gathering.add(day);
  const digest = gathering.end(rows);
  const known = [...digest.texts.values()];
  const words = await shop.texts(known.map(({ number }) => number));
  for (const [i, text] of known.entries()) text.text = words[i] as string;
  return digest;
}

async function* days(shop: Shop, fromMs: number, toMs: number): AsyncGenerator<LogRows> {
  for (let from = fromMs; from < toMs; ) {
    const to = Math.min(toMs, (Math.floor(from / DAY_MS) + 1) * DAY_MS);
    yield await shop.rows(from, to);
    from = to;
  }
}

class Gathering {
  readonly #counts: ReadonlyMap<number, number>;
  readonly #clicks: ReadonlyMap<number, readonly LoggedClick[]>;
  readonly #texts = new Map<number, TextDigest>();
  readonly #steps = new Map<string, Step>();
  /** By person: the last search. */
  readonly #visitors = new Map<number, Visitor>();
  /** "person text" and "person from to" that were counted. */
  readonly #counted = new Set<string>();
  readonly #shown = new Float64Array(PLACES);
  readonly #clickedAt = new Float64Array(PLACES);
  #searches = 0;
  #clicked = 0;

  constructor(counts: ReadonlyMap<number, number>, clicks: ReadonlyMap<number, readonly LoggedClick[]>) {
    this.#counts = counts;
    this.#clicks = clicks;
  }

  add({ searches }: LogRows): void {
    for (const { block, marks } of searches) {
      for (let row = 0; row < block.rows; row++) {
        const mark = marks[row] as number;
        if ((mark & SUPERSEDED) !== 0) continue;
        const clicked = (mark & CLICKED) !== 0;
        this.#searches++;
        if (clicked) this.#clicked++;
        const number = block.text[row] as number;
        const found = block.found[row] as number;
        const at = block.at[row] as number;
        const person = (block.user[row] as number) || (block.session[row] as number);
        const text = this.#text(number);
        if (text !== null) {
          text.searches++;
          text.found = found;
          if (found === 0) text.noResults++;
          if (clicked) text.clicked++;
          if (person === NOBODY || this.#isFirst(`${person} ${number}`)) text.people++;
          const from = block.hitsFrom[row] as number;
          const hits = block.hits.subarray(from, block.hitsFrom[row + 1] as number);
          if (block.page[row] === 1)
            this.#expose(text, hits, this.#clicksOf(at, block.counter[row] as number));
        }
        if (person !== NOBODY) this.#visit(person, { at, text: number, clicked });
      }
    }
  }

  end(rows: number): LogDigest {
    return {
      rows,
      searches: this.#searches,
      clicked: this.#clicked,
      hasClicks: this.#clicked > 0,
      texts: this.#texts,
      steps: [...this.#steps.values()],
      clickRate: [...this.#shown].map((shown, place) =>
        shown === 0 ? 0 : (this.#clickedAt[place] as number) / shown,
      ),
    };
  }

  #text(number: number): TextDigest | null {
    const known = this.#texts.get(number);
    if (known !== undefined) return known;
    if ((this.#counts.get(number) ?? 0) < SEARCHES_MIN) return null;
    const text: TextDigest = {
      number,
      text: "",
      searches: 0,
      noResults: 0,
      clicked: 0,
      rescued: 0,
      found: 0,
      people: 0,
      documents: new Map(),
    };
    this.#texts.set(number, text);
    return text;
  }

  #clicksOf(at: number, counter: number): readonly LoggedClick[] {
    const all = this.#clicks.get(at);
    return all === undefined ? [] : all.filter((click) => click.counter === counter);
  }

  /** Counts what the first page showed, and each clicked document once. */
  #expose({ documents }: TextDigest, hits: Uint32Array, clicks: readonly LoggedClick[]): void {
    for (let place = 0; place < hits.length; place++) {
      const { shown } = exposureOf(documents, hits[place] as number);
      shown[place] = (shown[place] as number) + 1;
      this.#shown[place] = (this.#shown[place] as number) + 1;
    }
    for (const document of new Set(clicks.map((click) => click.document))) {
      const exposure = exposureOf(documents, document);
      exposure.clicksInAll++;
      const told = clicks.find((click) => click.document === document)?.position ?? 0;
      const place = hits.indexOf(document) >= 0 ? hits.indexOf(document) : told - 1;
      if (place < 0 || place >= PLACES) continue;
      exposure.clicks[place] = (exposure.clicks[place] as number) + 1;
      if (place < hits.length) this.#clickedAt[place] = (this.#clickedAt[place] as number) + 1;
    }
  }

  /** A person's next search. */
  #visit(person: number, search: Visitor): void {
    const before = this.#visitors.get(person);
    this.#visitors.set(person, search);
    if (before === undefined || search.at - before.at > FOLLOWS_MS_MAX || before.clicked) return;
    if (before.text === search.text) return;
    if (search.clicked) {
      const text = this.#texts.get(before.text);
      if (text !== undefined) text.rescued++;
    }
    if (!this.#counts.has(search.text) || !this.#isFirst(`${person} ${before.text} ${search.text}`)) return;
    const name = `${before.text} ${search.text}`;
    const step = this.#steps.get(name) ?? { from: before.text, to: search.text, people: 0, helped: 0 };
    step.people++;
    if (search.clicked) step.helped++;
    this.#steps.set(name, step);
  }

  #isFirst(name: string): boolean {
    if (this.#counted.has(name)) return false;
    this.#counted.add(name);
    return true;
  }
}

function exposureOf(documents: Map<number, Exposure>, document: number): Exposure {
  let exposure = documents.get(document);
  if (exposure === undefined) {
    exposure = { shown: new Float64Array(PLACES), clicks: new Float64Array(PLACES), clicksInAll: 0 };
    documents.set(document, exposure);
  }
  return exposure;
}
