// Logs one line per slow query, with what an operator needs to find the reason. The rate of lines is limited,
// because a server that is slow overall would log every query. All slow queries are counted.
import type { IndexRecord } from "../catalog/records/index-record.js";
import { SkeinError } from "../ground/errors.js";
import { isObject, type JsonObject } from "../ground/input/json-value.js";
import type { Logger } from "../ground/log.js";
import { QUERY_PHASES, type QueryTrace } from "../ground/metrics/query-trace.js";
import type { Recorder } from "../ground/metrics/recorder.js";

const TEXT_LENGTH_MAX = 200;

/** A body that is parsed only if it is logged. */
interface LoggedBody {
  /** Throws SkeinError if the body is not JSON. */
  value(): unknown;
}

export class SlowQueryLog {
  readonly #slowMs: number;
  readonly #linesPerSecondMax: number;
  readonly #recorder: Recorder;
  readonly #log: Logger;
  #secondStartedMs = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #skipped = 0;

  /** If `slowMs` is 0, no query counts as slow. */
  constructor(slowMs: number, linesPerSecondMax: number, recorder: Recorder, log: Logger) {
    this.#slowMs = slowMs;
    this.#linesPerSecondMax = linesPerSecondMax;
    this.#recorder = recorder;
    this.#log = log;
  }

  /**
   * Logs and counts the query if it was slow. Call after the query has ended and its trace has stopped.
   * `error` is the reason if the query was not answered.
   */
  ended(requestId: string, record: IndexRecord, body: LoggedBody, trace: QueryTrace, error?: unknown): void {
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
        id: requestId,
        index: record.name,
        tenant: record.tenant,
        ...requestOf(body),
        took_ms: rounded(trace.totalMs),
        phases_ms: phasesOf(trace),
        found: trace.found,
        shards: trace.shards,
        ...(error === undefined ? {} : { error: error instanceof SkeinError ? error.code : String(error) }),
        ...(this.#skipped === 0 ? {} : { skipped: this.#skipped }),
      },
      "slow query",
    );
    this.#skipped = 0;
  }
}

/** Phases that most queries skip. They are logged only if they ran. */
const SELDOM: ReadonlySet<string> = new Set(["open", "semantic"]);

/** Returns the duration of each phase. */
function phasesOf(trace: QueryTrace): Record<string, number> {
  const entered = QUERY_PHASES.filter((phase) => !SELDOM.has(phase) || trace.phaseMs(phase) > 0);
  return Object.fromEntries(entered.map((phase) => [phase, rounded(trace.phaseMs(phase))]));
}

/** Returns the body members that determine a query's cost, each as short text, or null if absent. */
function requestOf(body: LoggedBody): Record<string, string | null> {
  const members = membersOf(body);
  return {
    q: short(members.q),
    filter: short(members.filter_by ?? members.filters),
    sort: short(members.sort_by ?? members.sort),
    facets: short(members.facet_by ?? members.facets),
  };
}

/** A body that is not a JSON object has no members: that is why its query failed. */
function membersOf(body: LoggedBody): JsonObject {
  try {
    const value = body.value();
    return isObject(value) ? value : {};
  } catch (error) {
    if (error instanceof SkeinError) return {};
    throw error;
  }
}

/** The body may contain bigint numbers, which JSON.stringify refuses. */
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
