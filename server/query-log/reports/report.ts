// Computes the reports on a log for the analytics routes.
import type { QueryLog } from "../store/query-log.js";
import { type DocumentRow, DocumentTally } from "./documents-report.js";
import { RowCollector } from "./export.js";
import { BlockCollector, type LogRows } from "./stored-rows.js";
import { type Interval, type SummaryReport, SummaryTally, share } from "./summary.js";
import { TextTally } from "./text-report.js";
import { readWindow, type Window } from "./window.js";

export type ReportRequest = { readonly log: number; readonly window: Window } & (
  | { readonly kind: "queries" | "no-results" | "documents"; readonly limit: number }
  | { readonly kind: "summary"; readonly interval: Interval }
);

export interface QueryRow {
  readonly query: string;
  readonly count: number;
  readonly avg_results: number;
  readonly ctr: number;
}

export interface NoResultsRow {
  readonly query: string;
  readonly count: number;
}

export type Report = readonly QueryRow[] | readonly NoResultsRow[] | readonly DocumentRow[] | SummaryReport;

export async function reportOf(queryLog: QueryLog, request: ReportRequest): Promise<Report> {
  const { log, window } = request;
  if (request.kind === "summary") {
    const tally = await readWindow(queryLog, log, window, ["totals", "people"], () => new SummaryTally());
    return tally.report(window, request.interval);
  }
  if (request.kind === "documents") {
    const tally = await readWindow(queryLog, log, window, ["documents"], (state) => new DocumentTally(state));
    return tally.top(request.limit);
  }
  const tally = await readWindow(queryLog, log, window, ["texts"], (state) => new TextTally(state));
  const rows = await tally.top(request.limit, request.kind === "no-results");
  if (request.kind === "no-results") return rows.map(({ query, count }) => ({ query, count }));
  return rows.map(({ query, count, found, clicked }) => ({
    query,
    count,
    avg_results: found / count,
    ctr: share(clicked, count),
  }));
}

/** Returns the rows in a window of at most an hour as NDJSON. */
export async function exportLines(queryLog: QueryLog, log: number, window: Window): Promise<string> {
  const collector = await readWindow(queryLog, log, window, [], (state) => new RowCollector(state));
  return collector.lines();
}

/** Returns the rows in a window of at most a day, as blocks. */
export async function rowsOf(queryLog: QueryLog, log: number, window: Window): Promise<LogRows> {
  const collector = await readWindow(queryLog, log, window, [], () => new BlockCollector());
  return collector.rows();
}

/** Returns the log's dictionary entries with the given numbers, in the same order. */
export async function wordsOf(
  queryLog: QueryLog,
  log: number,
  dictionary: "texts" | "documents",
  numbers: readonly number[],
): Promise<readonly string[]> {
  const state = await queryLog.state(log);
  return state[dictionary].words(numbers);
}
