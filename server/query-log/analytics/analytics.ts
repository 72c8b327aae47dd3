// The routes' interface to analytics: stores events and computes reports. Also maintains the query log and
// drops the logs of deleted indexes.
import type { BackupFileSums } from "../../../shards/storage/backup-file.js";
import type { Catalog } from "../../catalog/catalog.js";
import { type IndexRecord, logOf } from "../../catalog/records/index-record.js";
import type { CatalogState } from "../../catalog/state.js";
import { SkeinError } from "../../ground/errors.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import type { Report, ReportRequest } from "../reports/report.js";
import type { Window } from "../reports/window.js";
import { dayOf, HOUR_MS } from "../rows/time.js";
import type { AnalyticsPool } from "./analytics-pool.js";
import { type ReadEvents, readEvents } from "./event-request.js";
import type { LogWriter } from "./log-writer.js";
import type { NamedPerson, People } from "./people.js";

const UPKEEP_MS = 60_000;
const DROP_AGAIN_MS = 60_000;

interface AnalyticsOptions {
  readonly catalog: Catalog;
  readonly pool: AnalyticsPool;
  readonly writer: LogWriter;
  readonly people: People;
  readonly jobs: Jobs;
  readonly limits: Limits;
  readonly log: Logger;
}

/** A report request before the index's log number is added. */
type Asked<T> = T extends unknown ? Omit<T, "log"> : never;

export class Analytics {
  readonly #options: AnalyticsOptions;
  #sweptDay = Number.NaN;
  /** The catalog's indexes at the last check, used to detect deleted indexes. */
  #indexes: CatalogState["indexes"];
  #logs: ReadonlySet<number>;

  constructor(options: AnalyticsOptions) {
    this.#options = options;
    const { catalog, jobs } = options;
    this.#indexes = catalog.state.indexes;
    this.#logs = logsOf(catalog.state);
    catalog.watch((state) => this.#dropDeleted(state));
    jobs.every(UPKEEP_MS, { name: "look after the query log", subject: "query log" }, () => this.#upkeep());
  }

  /** Accepts events. Throws SK-AN-400, or SK-AN-503 while events cannot be stored. */
  takeEvents(record: IndexRecord, body: unknown, userId: string | null, nowMs: number): ReadEvents {
    const { people, writer, limits } = this.#options;
    const context = { tenant: record.tenant, log: logOf(record), userId, people, nowMs };
    const events = readEvents(body, context, limits);
    if (writer.full) {
      throw new SkeinError("SK-AN-503", "events cannot be stored at the moment; retry in a moment", {
        retryAfter: 1,
      });
    }
    for (const event of events.accepted) writer.happened(event);
    return events;
  }

  /** Computes a report, which includes everything logged before the call. Throws SK-AN-503. */
  async report(record: IndexRecord, asked: Asked<ReportRequest>): Promise<Report> {
    const { pool, writer } = this.#options;
    await writer.flush();
    const request = { ...asked, log: logOf(record) } as ReportRequest;
    return pool.runInLine({ kind: "report", request });
  }

  /** Yields NDJSON, one hour's rows at a time. Throws SK-AN-503. */
  async *export(record: IndexRecord, { fromMs, toMs }: Window): AsyncGenerator<Uint8Array> {
    const { pool, writer } = this.#options;
    await writer.flush();
    const log = logOf(record);
    for (let from = fromMs; from < toMs; ) {
      const to = Math.min(toMs, (Math.floor(from / HOUR_MS) + 1) * HOUR_MS);
      const lines = await pool.runInLine({ kind: "export", log, window: { fromMs: from, toMs: to } });
      if (lines.length > 0) yield lines;
      from = to;
    }
  }

  /**
   * Anonymises a user's or a session's searches and events. Resolves with the number of anonymised rows.
   * Throws SK-AN-503.
   */
  async forget(record: IndexRecord, named: NamedPerson): Promise<number> {
    const { pool, writer, people } = this.#options;
    await writer.flush();
    return pool.runInLine({
      kind: "forget",
      log: logOf(record),
      person: people.person(record.tenant, named),
    });
  }

  /** Writes all logs to a new file. Resolves with null if nothing has ever been logged. Throws SK-AN-503. */
  async backup(path: string, signal: AbortSignal): Promise<BackupFileSums | null> {
    const { pool, writer } = this.#options;
    await writer.flush();
    if (!pool.used) return null;
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const giveUp = (): void => void Atomics.store(stop, 0, 1);
    signal.addEventListener("abort", giveUp);
    try {
      return await pool.run({ kind: "backup", path, stop });
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** Runs the log's periodic work, and once a day also a sweep of all logs. */
  async #upkeep(): Promise<void> {
    const { catalog, pool, limits } = this.#options;
    if (!pool.used) return;
    const nowMs = Date.now();
    await pool.run({ kind: "upkeep", nowMs });
    if (dayOf(nowMs) === this.#sweptDay) return;
    const logs = [...logsOf(catalog.state)];
    await pool.run({ kind: "sweep", nowMs, bytesMax: limits.queryLogBytesMax, logs });
    this.#sweptDay = dayOf(nowMs);
  }

  #dropDeleted(state: CatalogState): void {
    if (state.indexes === this.#indexes) return;
    this.#indexes = state.indexes;
    const logs = logsOf(state);
    for (const log of this.#logs) if (!logs.has(log)) this.#drop(log);
    this.#logs = logs;
  }

  /**
   * Drops a log. A failed attempt is repeated once after DROP_AGAIN_MS. If that fails too, the next sweep
   * drops the log.
   */
  #drop(log: number): void {
    const { pool, jobs } = this.#options;
    if (!pool.used) return;
    const job = { name: "drop a query log", subject: `query log ${log}` };
    void jobs.start(job, async () => {
      try {
        await pool.run({ kind: "drop", log });
      } catch (error) {
        jobs.after(DROP_AGAIN_MS, job, () => pool.run({ kind: "drop", log }));
        throw error;
      }
    });
  }
}

function logsOf(state: CatalogState): ReadonlySet<number> {
  return new Set([...state.indexes.values()].map(logOf));
}
