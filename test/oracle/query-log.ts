// A naive model of the query log: keeps all searches and events in lists and scans them for each report.
import type { Answered, JournalEvent, JournalSearch } from "../../server/query-log/rows/journal.js";
import { stepMs } from "../../server/query-log/rows/took.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export type TwinSearch = Omit<JournalSearch, "answered"> & Answered;

export interface TwinWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

const textOf = (typed: string): string =>
  typed.normalize("NFKC").toLowerCase().split(/\s+/).filter(Boolean).join(" ");

const samePerson = (a: { user: number; session: number }, b: { user: number; session: number }): boolean =>
  a.user !== 0 && b.user !== 0 ? a.user === b.user : a.session !== 0 && a.session === b.session;

const typist = ({ user, session }: { user: number; session: number }): string =>
  user === 0 ? `session ${session}` : `user ${user}`;

const isBefore = (a: TwinSearch, b: TwinSearch): boolean => {
  const order = (row: TwinSearch) => [row.id.atMs, row.id.frontEnd, row.id.counter];
  const [one, other] = [order(a), order(b)];
  const at = one.findIndex((value, i) => value !== other[i]);
  return at >= 0 && one[at]! < other[at]!;
};

export class QueryLogTwin {
  readonly #searches: TwinSearch[] = [];
  /** Each event with its search; undefined if that search had not been answered when the event arrived. */
  readonly #events: (JournalEvent & { readonly owner: TwinSearch | undefined })[] = [];

  addSearch(search: TwinSearch): void {
    this.#searches.push(search);
    this.#searches.sort((a, b) => (isBefore(a, b) ? -1 : 1));
  }

  addEvent(event: JournalEvent): void {
    const known = this.#events.some(({ log, eventId }) => log === event.log && eventId === event.eventId);
    if (event.eventId === "" || !known) this.#events.push({ ...event, owner: this.#ownerOf(event) });
  }

  queries(log: number, window: TwinWindow, limit: number): object[] {
    const rows = this.#byText(this.#counted(log, window)).map(([query, searches]) => ({
      query,
      count: searches.length,
      avg_results: searches.reduce((sum, { found }) => sum + found, 0) / searches.length,
      ctr: searches.filter((one) => this.#has(one, "click")).length / searches.length,
    }));
    return rows.sort((a, b) => b.count - a.count || byBytes(a.query, b.query)).slice(0, limit);
  }

  noResults(log: number, window: TwinWindow, limit: number): object[] {
    const none = this.#counted(log, window).filter(({ found }) => found === 0);
    const rows = this.#byText(none).map(([query, searches]) => ({ query, count: searches.length }));
    return rows.sort((a, b) => b.count - a.count || byBytes(a.query, b.query)).slice(0, limit);
  }

  documents(log: number, window: TwinWindow, limit: number): object[] {
    const rows = new Map<string, { clicks: number; conversions: number; units: number }>();
    for (const { document, type, value } of this.#eventsIn(log, window)) {
      const row = rows.get(document) ?? { clicks: 0, conversions: 0, units: 0 };
      row[type === "click" ? "clicks" : "conversions"]++;
      row.units += value;
      rows.set(document, row);
    }
    return [...rows]
      .sort(([idA, a], [idB, b]) => b.clicks - a.clicks || b.conversions - a.conversions || byBytes(idA, idB))
      .slice(0, limit)
      .map(([document_id, { clicks, conversions, units }]) => ({
        document_id,
        clicks,
        conversions,
        conversion_value: units / 10_000,
      }));
  }

  summary(log: number, window: TwinWindow, interval: "hour" | "day"): object {
    const searches = this.#counted(log, window);
    const events = this.#eventsIn(log, window);
    const of = (type: string) => events.filter((event) => event.type === type).length;
    const noResults = searches.filter(({ found }) => found === 0).length;
    const people = searches.map(({ user, session }) => user || session).filter((person) => person !== 0);
    const share = (count: number) => (searches.length === 0 ? 0 : count / searches.length);
    const took = searches.map((search) => search.took).sort((a, b) => a - b);
    const rank = (part: number) =>
      took.length === 0 ? 0 : stepMs(took[Math.ceil(took.length * part) - 1] as number);
    return {
      searches: searches.length,
      no_results: noResults,
      no_result_rate: share(noResults),
      clicks: of("click"),
      ctr: share(searches.filter((one) => this.#has(one, "click")).length),
      conversions: of("conversion"),
      conversion_rate: share(searches.filter((one) => this.#has(one, "conversion")).length),
      conversion_value: events.reduce((sum, { value }) => sum + value, 0) / 10_000,
      users: new Set(people).size,
      p50_ms: rank(0.5),
      p95_ms: rank(0.95),
      series: this.#series(searches, events, window, interval === "hour" ? HOUR_MS : DAY_MS),
    };
  }

  #series(
    searches: readonly TwinSearch[],
    events: readonly JournalEvent[],
    { fromMs, toMs }: TwinWindow,
    stepMs: number,
  ): object[] {
    const series: object[] = [];
    for (let start = Math.floor(fromMs / stepMs) * stepMs; start < toMs; start += stepMs) {
      const isIn = (atMs: number) => atMs >= start && atMs < start + stepMs;
      const inside = searches.filter(({ id }) => isIn(id.atMs));
      series.push({
        from: new Date(start).toISOString(),
        searches: inside.length,
        no_results: inside.filter(({ found }) => found === 0).length,
        clicks: events.filter(({ type, atMs }) => type === "click" && isIn(atMs)).length,
      });
    }
    return series;
  }

  #eventsIn(log: number, { fromMs, toMs }: TwinWindow): JournalEvent[] {
    return this.#events.filter((event) => event.log === log && event.atMs >= fromMs && event.atMs < toMs);
  }

  #counted(log: number, { fromMs, toMs }: TwinWindow): TwinSearch[] {
    return this.#searches.filter(
      (search) =>
        search.log === log &&
        search.id.atMs >= fromMs &&
        search.id.atMs < toMs &&
        this.#successor(search) === undefined,
    );
  }

  #byText(searches: readonly TwinSearch[]): [string, TwinSearch[]][] {
    const texts = new Map<string, TwinSearch[]>();
    for (const search of searches) {
      const text = textOf(search.text);
      texts.set(text, [...(texts.get(text) ?? []), search]);
    }
    return [...texts];
  }

  /**
   * Returns the search that supersedes this one: the next by the same user (in the same session if the user
   * is unknown), if it continues the typing within five seconds.
   */
  #successor(search: TwinSearch): TwinSearch | undefined {
    if (search.user === 0 && search.session === 0) return undefined;
    const next = this.#searches.find(
      (other) => other.log === search.log && typist(other) === typist(search) && isBefore(search, other),
    );
    if (next === undefined || next.id.atMs - search.id.atMs > 5_000) return undefined;
    const [longer, shorter] = [textOf(next.text), textOf(search.text)];
    return longer !== shorter && longer.startsWith(shorter) ? next : undefined;
  }

  /** True if an event of this type belongs to the search or to a search that it supersedes. */
  #has(search: TwinSearch, type: string): boolean {
    return this.#events.some((event) => {
      if (event.type !== type || event.log !== search.log) return false;
      let { owner } = event;
      for (let next = owner; next !== undefined; next = this.#successor(next)) owner = next;
      return owner === search;
    });
  }

  #ownerOf({ log, search: id, query, atMs, user, session }: JournalEvent): TwinSearch | undefined {
    if (id !== null) {
      return this.#searches.find(
        (search) =>
          search.log === log &&
          search.id.atMs === id.atMs &&
          search.id.counter === id.counter &&
          search.id.frontEnd === id.frontEnd,
      );
    }
    if (query === "") return undefined;
    return this.#searches.findLast(
      (search) =>
        search.log === log &&
        samePerson(search, { user, session }) &&
        textOf(search.text) === textOf(query) &&
        search.id.atMs <= atMs &&
        search.id.atMs >= atMs - 30 * 60_000,
    );
  }
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
