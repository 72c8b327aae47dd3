// Warms up the threads that answer searches: before the server reports that it is ready, and after the first
// import into an index while the server runs.
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { IndexUse } from "../fleet/reads/reads.js";
import { within } from "../ground/jobs/deadline.js";
import type { WarmUpWanted } from "../http/warm-up-run.js";
import type { IndexWatcher } from "./index-events.js";
import type { OperationsFloor } from "./operations.js";

/** Smaller indexes are not worth it, and give too few words. */
const DOCUMENTS_MIN = 1_000;
/** At a start, the largest indexes are used, because most of the code is the same for all indexes. */
const INDEXES_MAX = 3;
/** Maximum delay (ms) of readiness. The warm-up then continues in quiet moments. */
const DELAY_MS_MAX = 500;
/** Time (ms) without a write after which an import counts as finished. */
const WRITTEN_MS = 250;
/** What a thread's first index gets: V8 has optimised most of the code after about 500 queries. */
const WHOLE = { queriesMax: 500, msMax: 1_500 };
/** For each further index: enough to fill the thread's per-index caches. */
const SHARE = { queriesMax: 50, msMax: 200 };

/** Sends queries to all threads that answer searches. Resolves with the number of queries answered. */
export type WarmUpThreads = (wanted: WarmUpWanted) => Promise<number>;

type Parts = Pick<OperationsFloor, "catalog" | "indexes" | "jobs" | "limits" | "log">;

export class WarmUps implements IndexWatcher {
  readonly #parts: Parts;
  readonly #warmUpThreads: WarmUpThreads;
  /** Indexes that need no warm-up after an import. */
  readonly #known = new Set<number>();
  #isWarm = false;

  constructor(parts: Parts, threads: WarmUpThreads) {
    this.#parts = parts;
    this.#warmUpThreads = threads;
  }

  /** Warms up with the largest indexes. Resolves when that is done, or after a short time. */
  async begin(): Promise<void> {
    const { catalog, indexes, jobs, limits } = this.#parts;
    const large = [...catalog.state.indexes.values()]
      .filter(({ uid }) => this.#isLarge(uid))
      .sort((a, b) => indexes.documents(b.uid) - indexes.documents(a.uid));
    for (const { uid } of large) this.#known.add(uid);
    if (large.length === 0) return;
    const work = jobs.start({ name: "warm up", subject: "all searches" }, async (signal) => {
      for (const record of large.slice(0, Math.min(INDEXES_MAX, limits.openIndexesMax)))
        await this.#warmUp(record, signal, await indexes.use(record.uid).catch(() => undefined));
    });
    await within(work, DELAY_MS_MAX, () => undefined);
  }

  opened(): void {}

  written(uid: number): void {
    if (this.#known.has(uid) || !this.#isLarge(uid)) return;
    const { catalog, indexes, jobs } = this.#parts;
    const job = { name: "warm up", subject: `searches of index ${uid}` };
    jobs.after(WRITTEN_MS, job, async (signal) => {
      const record = catalog.state.indexes.get(uid);
      if (record === undefined || this.#known.has(uid)) return;
      this.#know(uid);
      await this.#warmUp(record, signal, await indexes.useLoaded(uid));
    });
  }

  /** Also forgets indexes that have been deleted. */
  #know(uid: number): void {
    const { indexes } = this.#parts.catalog.state;
    for (const known of this.#known) if (!indexes.has(known)) this.#known.delete(known);
    this.#known.add(uid);
  }

  #isLarge(uid: number): boolean {
    return this.#parts.indexes.documents(uid) >= DOCUMENTS_MIN;
  }

  /** Ends the use. Does nothing without one: the index is damaged, which has been logged, or not loaded. */
  async #warmUp({ uid, name }: IndexRecord, signal: AbortSignal, use: IndexUse | undefined): Promise<void> {
    if (use === undefined) return;
    const { indexes, log } = this.#parts;
    try {
      if (signal.aborted) return;
      const startedMs = performance.now();
      const documents = indexes.documents(uid);
      const queries = await this.#warmUpThreads({ uid, documents, ...(this.#isWarm ? SHARE : WHOLE) });
      if (queries === 0) return; // the index is closed or has been deleted
      this.#isWarm = true;
      log.info({ index: name, queries, ms: Math.round(performance.now() - startedMs) }, "warmed up");
    } finally {
      use.end();
    }
  }
}
