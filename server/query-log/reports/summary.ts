// Computes the summary of a period: number of searches, results, clicks and people, latency, and a series by
// hour or day.

import { ColumnReader } from "../rows/columns.js";
import type { EventBlock } from "../rows/event-block.js";
import { NOBODY, type Person, VALUE_UNITS } from "../rows/journal.js";
import { SUPERSEDED } from "../rows/marks.js";
import type { OpenEvent, OpenSearch } from "../rows/open-rows.js";
import { Rollup, type RollupPart, readPeople, type Totals } from "../rows/rollup.js";
import { HOUR_MS, HOURS_PER_DAY, hourOf } from "../rows/time.js";
import { percentileMs } from "../rows/took.js";
import type { MarkedBlock } from "../store/blocks.js";
import { countDistinct } from "./distinct.js";
import type { Window, WindowReader } from "./window.js";

export type Interval = "hour" | "day";

export interface SummaryReport {
  readonly searches: number;
  readonly no_results: number;
  readonly no_result_rate: number;
  readonly clicks: number;
  readonly ctr: number;
  readonly conversions: number;
  readonly conversion_rate: number;
  readonly conversion_value: number;
  readonly users: number;
  readonly p50_ms: number;
  readonly p95_ms: number;
  readonly series: readonly SeriesEntry[];
}

interface SeriesEntry {
  /** ISO 8601, UTC. */
  readonly from: string;
  readonly searches: number;
  readonly no_results: number;
  readonly clicks: number;
}

export class SummaryTally implements WindowReader {
  readonly #rollup = new Rollup(["totals"]);
  /** Who searched: one list per rollup or block, each in ascending order without duplicates. */
  readonly #people: Float64Array[] = [];
  readonly #openPeople = new Set<Person>();

  openSearch({ at, text, found, took, user, session, marks }: OpenSearch): void {
    if ((marks & SUPERSEDED) !== 0) return;
    this.#rollup.addSearch(at, text, found, took, NOBODY, marks);
    if (user !== NOBODY || session !== NOBODY) this.#openPeople.add(user || session);
  }

  openEvent({ at, type, document, value }: OpenEvent): void {
    this.#rollup.addEvent(at, type, document, value);
  }

  searches({ searches, marks }: MarkedBlock, { fromMs, toMs }: Window): void {
    const part = new Rollup(["people"]);
    part.addSearches(searches, marks, fromMs, toMs);
    this.#people.push(Float64Array.from(part.people).sort());
    this.#rollup.addSearches(searches, marks, fromMs, toMs);
  }

  events(block: EventBlock, { fromMs, toMs }: Window): void {
    this.#rollup.addEvents(block, fromMs, toMs);
  }

  rollup(part: RollupPart, bytes: Uint8Array): void {
    if (part === "people") this.#people.push(readPeople(new ColumnReader(bytes)));
    else this.#rollup.addPart(part, bytes);
  }

  report(window: Window, interval: Interval): SummaryReport {
    const { totals } = this.#rollup;
    const { searches, noResults, clicked, converted, clicks, conversions, value, took } = totals;
    return {
      searches,
      no_results: noResults,
      no_result_rate: share(noResults, searches),
      clicks,
      ctr: share(clicked, searches),
      conversions,
      conversion_rate: share(converted, searches),
      conversion_value: value / VALUE_UNITS,
      users: countDistinct([...this.#people, Float64Array.from(this.#openPeople).sort()]),
      p50_ms: percentileMs(took, 0.5),
      p95_ms: percentileMs(took, 0.95),
      series: seriesOf(totals, window, interval),
    };
  }
}

export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Returns one entry for each hour or day that overlaps the window, even if it has no searches. */
function seriesOf({ hours }: Totals, { fromMs, toMs }: Window, interval: Interval): SeriesEntry[] {
  const step = interval === "hour" ? 1 : HOURS_PER_DAY;
  const series: SeriesEntry[] = [];
  const first = Math.floor(hourOf(fromMs) / step) * step;
  for (let start = first; start * HOUR_MS < toMs; start += step) {
    const entry = { searches: 0, no_results: 0, clicks: 0 };
    for (let hour = start; hour < start + step; hour++) {
      const counts = hours.get(hour);
      if (counts === undefined) continue;
      entry.searches += counts.searches;
      entry.no_results += counts.noResults;
      entry.clicks += counts.clicks;
    }
    series.push({ from: new Date(start * HOUR_MS).toISOString(), ...entry });
  }
  return series;
}
