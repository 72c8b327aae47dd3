// Provides each index's popular searches and clicked documents, for ranking and suggestions. Callers never
// wait: they get the cached value, and stale entries are refreshed from the query log in the background.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";
import { type IndexRecord, logOf } from "../../catalog/records/index-record.js";
import type { Jobs } from "../../ground/jobs/jobs.js";
import type { AnalyticsPool } from "../analytics/analytics-pool.js";
import type { Popular } from "../reports/popular.js";
import { DAY_MS } from "../rows/time.js";
import { NOTHING_POPULAR } from "./popularity.js";

/** Only the last WINDOW_MS milliseconds of the log count. */
const WINDOW_MS = 30 * DAY_MS;
/**
 * Minimum age (ms) at which an access refreshes an entry. It starts at AGE_MS_MIN and doubles with each
 * refresh, up to AGE_MS_MAX.
 */
const AGE_MS_MIN = 5_000;
const AGE_MS_MAX = 600_000;
/**
 * Maximum share of the log thread's time that refreshing one index may take. An index that takes longer to
 * refresh is therefore refreshed less often.
 */
const READ_SHARE = 1 / 500;
/** Maximum number of indexes in the cache. */
const INDEXES_MAX = 1_000;

interface Known {
  popular: Popular;
  readAgainMs: number;
  ageMs: number;
  isReading: boolean;
}

interface PopularLogsOptions {
  readonly pool: AnalyticsPool;
  readonly jobs: Jobs;
}

export class PopularLogs {
  readonly #options: PopularLogsOptions;
  /** Keyed by log number. */
  readonly #known = new ClockCache<number, Known>(INDEXES_MAX);

  constructor(options: PopularLogsOptions) {
    this.#options = options;
  }

  /** Returns the cached value, which is the same object until its contents change. */
  of(record: IndexRecord): Popular {
    const log = logOf(record);
    const known = this.#known.get(log) ?? this.#add(log);
    if (!known.isReading && Date.now() >= known.readAgainMs && this.#options.pool.used)
      void this.#read(log, known);
    return known.popular;
  }

  #add(log: number): Known {
    const known = {
      popular: NOTHING_POPULAR,
      readAgainMs: Number.NEGATIVE_INFINITY,
      ageMs: AGE_MS_MIN,
      isReading: false,
    };
    this.#known.set(log, known);
    return known;
  }

  /** Refreshes the entry. On failure, logs the error and keeps the cached value. */
  #read(log: number, known: Known): Promise<void> {
    const { pool, jobs } = this.#options;
    known.isReading = true;
    const job = { name: "read what is popular", subject: `popular searches of query log ${log}` };
    return jobs.start(job, async () => {
      const startedMs = Date.now();
      const window = { fromMs: startedMs - WINDOW_MS, toMs: startedMs + 1 };
      try {
        const popular = await pool.runInLine({ kind: "popular", log, window });
        if (!isSame(popular, known.popular)) known.popular = popular;
      } finally {
        const tookMs = Date.now() - startedMs;
        known.readAgainMs = Date.now() + Math.max(known.ageMs, tookMs / READ_SHARE);
        known.ageMs = Math.min(2 * known.ageMs, AGE_MS_MAX);
        known.isReading = false;
      }
    });
  }
}

/**
 * True if both have the same contents. Cached answers depend on what is popular, so an equal result must not
 * replace the value and invalidate them.
 */
function isSame(one: Popular, other: Popular): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
