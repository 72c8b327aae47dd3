// Collects the data that the miners need, in two passes over the log's rows. The first pass counts the
// searches for each text. The second collects, for texts searched more than once, which hits were shown and
// clicked, and what people searched for after an unsuccessful search.
import type { LogRows } from "../query-log/reports/stored-rows.js";
import { EVENT_TYPES, NOBODY } from "../query-log/rows/journal.js";
import { CLICKED, SUPERSEDED } from "../query-log/rows/marks.js";
import type { SearchBlock } from "../query-log/rows/search-block.js";
import { DAY_MS } from "../query-log/rows/time.js";
import { NumberPairs } from "./number-pairs.js";
import type { Shop } from "./shop.js";

/** If a person searches again within this time, the two searches may count as a Step. */
const FOLLOWS_MS_MAX = 5 * 60_000;
/** Texts with fewer searches get no TextDigest. */
const SEARCHES_MIN = 2;
/** Number of positions for which impressions and clicks are recorded. */
export const PLACES = 10;
const NO_COUNTS: readonly number[] = Array.from({ length: PLACES }, () => 0);
const NO_HITS = new Uint32Array(0);
const CLICK = EVENT_TYPES.indexOf("click");

/**
 * How often a document was shown and clicked in the searches for one text. Both arrays are indexed by
 * position from 0.
 */
export interface Exposure {
  readonly shown: number[];
  readonly clicks: number[];
  /** Clicks at all positions, even those beyond the arrays. */
  clicksInAll: number;
}

export interface TextDigest {
  readonly number: number;
  text: string;
  searches: number;
  noResults: number;
  clicked: number;
  /** Number of searches without a click whose user then searched for something else and clicked. */
  rescued: number;
  /** Number of results that the most recent search found. */
  found: number;
  /**
   * Number of people who searched for the text. Each search by an unidentified person counts as another
   * person.
   */
  people: number;
  /** Exposures by document number. */
  readonly documents: Map<number, Exposure>;
}

/** A pair of texts: people searched for the first and did not click, then searched for the second. */
export interface Step {
  readonly from: number;
  readonly to: number;
  people: number;
  /** Number of people who clicked after the second search. */
  helped: number;
}

export interface LogDigest {
  /** Total number of events and searches, not counting superseded searches. */
  readonly rows: number;
  readonly searches: number;
  readonly clicked: number;
  readonly hasClicks: boolean;
  /** By text number. Contains only texts searched more than once. */
  readonly texts: ReadonlyMap<number, TextDigest>;
  readonly steps: readonly Step[];
  /** Click-through rate by position from 0. */
  readonly clickRate: readonly number[];
}

/** A person's most recent search. */
interface Visitor {
  /** The person's index, counting from 0 in order of appearance. */
  readonly place: number;
  /** Time (Unix milliseconds) and text of that search, and whether it led to a click. */
  at: number;
  text: number;
  clicked: boolean;
}

interface GatheredText extends TextDigest {
  /** The text's index, counting from 0 in order of appearance. */
  readonly place: number;
  /**
   * The hits shown most recently, and how many times in a row they were shown. Counting repeats saves time,
   * because most searches for a text show the same hits.
   */
  page: { readonly hits: Uint32Array; times: number };
}

interface GatheredStep extends Step {
  /** The step's index, counting from 0 in order of appearance. */
  readonly place: number;
}

interface LoggedClick {
  readonly counter: number;
  readonly document: number;
  readonly position: number;
}

export async function digestLog(shop: Shop, fromMs: number, toMs: number): Promise<LogDigest> {
  const counts = new Map<number, number>();
  /** Clicks by the time of the search whose hits were clicked. */
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
  readonly #texts = new Map<number, GatheredText>();
  /** Steps by the first text's number, then by the second's. */
  readonly #steps = new Map<number, Map<number, GatheredStep>>();
  #stepCount = 0;
  /** Visitors by the person's number in the log. */
  readonly #visitors = new Map<number, Visitor>();
  /**
   * The pairs of visitor and text, and of visitor and step, that have already been counted, so that each
   * person counts once.
   */
  readonly #searched = new NumberPairs();
  readonly #stepped = new NumberPairs();
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
        const visitor = person === NOBODY ? null : this.#visitor(person);
        if (text !== null) {
          text.searches++;
          text.found = found;
          if (found === 0) text.noResults++;
          if (clicked) text.clicked++;
          if (visitor === null || this.#searched.add(visitor.place, text.place)) text.people++;
          if (block.page[row] === 1)
            this.#expose(text, block, row, clicked ? this.#clicksOf(at, block.counter[row] as number) : []);
        }
        if (visitor !== null) this.#visit(visitor, at, number, clicked);
      }
    }
  }

  end(rows: number): LogDigest {
    for (const text of this.#texts.values()) this.#countPage(text);
    return {
      rows,
      searches: this.#searches,
      clicked: this.#clicked,
      hasClicks: this.#clicked > 0,
      texts: this.#texts,
      steps: [...this.#steps.values()].flatMap((to) => [...to.values()]),
      clickRate: [...this.#shown].map((shown, place) =>
        shown === 0 ? 0 : (this.#clickedAt[place] as number) / shown,
      ),
    };
  }

  #visitor(person: number): Visitor {
    let visitor = this.#visitors.get(person);
    if (visitor === undefined) {
      visitor = { place: this.#visitors.size, at: Number.NEGATIVE_INFINITY, text: 0, clicked: false };
      this.#visitors.set(person, visitor);
    }
    return visitor;
  }

  #text(number: number): GatheredText | null {
    const known = this.#texts.get(number);
    if (known !== undefined) return known;
    if ((this.#counts.get(number) ?? 0) < SEARCHES_MIN) return null;
    const text: GatheredText = {
      place: this.#texts.size,
      page: { hits: NO_HITS, times: 0 },
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

  /** Counts one search: its first page's impressions, and one click for each clicked document. */
  #expose(
    text: GatheredText,
    { hits: all, hitsFrom }: SearchBlock,
    row: number,
    clicks: readonly LoggedClick[],
  ): void {
    const from = hitsFrom[row] as number;
    const to = hitsFrom[row + 1] as number;
    if (!isAt(all, from, to, text.page.hits)) {
      this.#countPage(text);
      text.page = { hits: all.slice(from, to), times: 0 };
    }
    text.page.times++;
    if (clicks.length === 0) return;
    const { documents } = text;
    const { hits } = text.page;
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

  /** Adds the impressions of the hits in `page`, which were shown `times` times. */
  #countPage({ documents, page: { hits, times } }: GatheredText): void {
    for (const [place, document] of hits.entries()) {
      const { shown } = exposureOf(documents, document);
      shown[place] = (shown[place] as number) + times;
      this.#shown[place] = (this.#shown[place] as number) + times;
    }
  }

  /**
   * Records a person's next search. If it forms a Step with the person's previous search, records the step as
   * well.
   */
  #visit(visitor: Visitor, at: number, text: number, clicked: boolean): void {
    const before = { ...visitor };
    visitor.at = at;
    visitor.text = text;
    visitor.clicked = clicked;
    if (at - before.at > FOLLOWS_MS_MAX || before.clicked || before.text === text) return;
    if (clicked) {
      const first = this.#texts.get(before.text);
      if (first !== undefined) first.rescued++;
    }
    if (!this.#counts.has(text)) return;
    const step = this.#step(before.text, text);
    if (!this.#stepped.add(visitor.place, step.place)) return;
    step.people++;
    if (clicked) step.helped++;
  }

  #step(from: number, to: number): GatheredStep {
    let steps = this.#steps.get(from);
    if (steps === undefined) {
      steps = new Map();
      this.#steps.set(from, steps);
    }
    let step = steps.get(to);
    if (step === undefined) {
      step = { place: this.#stepCount++, from, to, people: 0, helped: 0 };
      steps.set(to, step);
    }
    return step;
  }
}

/** True if [from, to) of `all` contains exactly these numbers. */
function isAt(all: Uint32Array, from: number, to: number, numbers: Uint32Array): boolean {
  if (to - from !== numbers.length) return false;
  for (let i = 0; i < numbers.length; i++) if (all[from + i] !== numbers[i]) return false;
  return true;
}

function exposureOf(documents: Map<number, Exposure>, document: number): Exposure {
  let exposure = documents.get(document);
  if (exposure === undefined) {
    exposure = { shown: [...NO_COUNTS], clicks: [...NO_COUNTS], clicksInAll: 0 };
    documents.set(document, exposure);
  }
  return exposure;
}
