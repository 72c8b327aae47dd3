// One log line per query that took long, with what an operator needs to find out why. A server that is slow
// altogether would drown in them, so there are only so many per second; all are counted.
import type { IndexRecord } from "../catalog/types.js";
import { SkeinError } from "../errors.js";
import { isObject } from "../input/json-value.js";
import type { Logger } from "../log.js";
import { QUERY_PHASES, type QueryTrace } from "../metrics/query-trace.js";
import type { Recorder } from "../metrics/recorder.js";

const TEXT_LENGTH_MAX = 200;

export class SlowQueryLog {
  readonly #slowMs: number;
  readonly #linesPerSecondMax: number;
  readonly #recorder: Recorder;
  readonly #log: Logger;
  #secondStartedMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #skipped = 0;

  /** `slowMs` 0: nothing is slow. */
  constructor(slowMs: number, linesPerSecondMax: number, recorder: Recorder, log: Logger) {
    this.#slowMs = slowMs;
    this.#linesPerSecondMax = linesPerSecondMax;
    this.#recorder = recorder;
    this.#log = log;
  }

  /** A query ended; its trace is stopped. `error` is why it was not answered. */
  ended(record: IndexRecord, body: unknown, trace: QueryTrace, shards: number, error?: unknown): void {
    if (this.#slowMs === 0 || trace.totalMs < this.#slowMs) return;
    this.#recorder.slowQueries++;
    const now = performance.now();
    if (now - this.#secondStartedMs >= 1000) {
      this.#secondStartedMs = now;
      this.#lines = 0;
    }
    if (this.#lines >= this.#linesPerSecondMax) {
      this.#skipped++;
      return;
    }
    this.#lines++;
    this.#log.warn(
      {
        index: record.name,
        tenant: record.tenant,
        ...requestOf(body),
        took_ms: rounded(trace.totalMs),
        phases_ms: phasesOf(trace),
        found: trace.found,
        shards,
        ...(error === undefined ? {} : { error: error instanceof SkeinError ? error.code : String(error) }),
        ...(this.#skipped === 0 ? {} : { skipped: this.#skipped }),
      },
      "slow query",
    );
    this.#skipped = 0;
  }
}

/** Opening only of a query that had to wait for it. */
function phasesOf(trace: QueryTrace): Record<string, number> {
  const entered = QUERY_PHASES.filter((phase) => phase !== "open" || trace.phaseMs("open") > 0);
  return Object.fromEntries(entered.map((phase) => [phase, rounded(trace.phaseMs(phase))]));
}

/** The members that decide what a query costs, each as short text, null when absent. */
function requestOf(body: unknown): Record<string, string | null> {
  const members = isObject(body) ? body : {};
  return {
    q: short(members.q),
    filter: short(members.filter_by ?? members.filters),
    sort: short(members.sort_by ?? members.sort),
    facets: short(members.facet_by ?? members.facets),
  };
}

/** Numbers of the body may be bigint, which JSON does not take. */
function short(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const exact = (_: string, member: unknown): unknown =>
    typeof member === "bigint" ? String(member) : member;
  const text = typeof value === "string" ? value : JSON.stringify(value, exact);
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX)}...`;
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
