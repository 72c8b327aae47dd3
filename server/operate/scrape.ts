// Builds the reply to GET /metrics: measures the shards, the largest indexes and the disk, and prints the
// results along with the counters. The number of indexes and the time for measuring are limited. Concurrent
// scrapes share one result.
import { statfs } from "node:fs/promises";
import type { Catalog } from "../catalog/catalog.js";
import type { IndexRecord } from "../catalog/records/index-record.js";
import type { Sources } from "../documents/sources/sources.js";
import type { OpenIndexes } from "../fleet/owner/open-indexes.js";
import type { ShardHealth } from "../fleet/owner/shard-health.js";
import { within } from "../ground/jobs/deadline.js";
import type { Limits } from "../ground/limits.js";
import { Exposition } from "../ground/metrics/exposition.js";
import type { Readings } from "../ground/metrics/readings.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { RecorderValues } from "../ground/metrics/recorder-values.js";
import type { Lifecycle } from "../indexes/lifecycle.js";

/** A result is reused for this long (ms). */
const SHARED_MS = 250;

interface Measured {
  readonly record: IndexRecord;
  readonly documents: number;
}

export interface ScrapeOptions {
  readonly catalog: Catalog;
  readonly indexes: OpenIndexes;
  readonly health: ShardHealth;
  readonly lifecycle: Lifecycle;
  readonly sources: Pick<Sources, "overdue">;
  readonly dataDir: string;
  /** Number of reply bytes that clients have not received yet. */
  readonly unsent: { readonly bytes: number };
  readonly limits: Limits;
  readonly recorder: Recorder;
  /**
   * Returns the metric values of other threads, including ended ones (ToldValues). Absent if there are no
   * other threads.
   */
  readonly others?: () => Promise<readonly RecorderValues[]>;
}

export class Scrape {
  readonly #options: ScrapeOptions;
  readonly #exposition: Exposition;
  #text: Promise<string> | null = null;
  #sharedUntilMs = 0;

  constructor(options: ScrapeOptions) {
    this.#options = options;
    this.#exposition = new Exposition(options.recorder);
  }

  get contentType(): string {
    return this.#exposition.contentType;
  }

  /** Returns the metrics as text. Reuses a result for SHARED_MS after its measurement. */
  text(): Promise<string> {
    if (this.#text !== null && performance.now() < this.#sharedUntilMs) return this.#text;
    const text = this.#take();
    this.#text = text;
    const share = (ms: number) => () => {
      this.#sharedUntilMs = performance.now() + ms;
    };
    text.then(share(SHARED_MS), share(0));
    this.#sharedUntilMs = Number.POSITIVE_INFINITY; // all scrapes share the measurement until it is complete
    return text;
  }

  async #take(): Promise<string> {
    const { others } = this.#options;
    const [readings, told = []] = await Promise.all([this.#readings(), others?.()]);
    const shards = readings.shards.map((reading) => {
      const reads = told.reduce((sum, { shardReads }) => sum + (shardReads.get(reading.shard) ?? 0), 0);
      return { ...reading, sent: reading.sent + reads };
    });
    return this.#exposition.text({ ...readings, shards }, told);
  }

  async #readings(): Promise<Readings> {
    const { limits, indexes: open, health, sources, dataDir, unsent } = this.#options;
    const { largest, otherDocuments, statuses } = this.#overview(limits.metricsIndexesMax);
    const uids = largest.map(({ record }) => record.uid);
    const [{ shards, stats }, disk] = await Promise.all([
      health.survey(uids, limits.metricsMsMax),
      diskOf(dataDir, limits.metricsMsMax),
    ]);
    const indexes = largest.flatMap(({ record: { uid, name, tenant } }) => {
      const progress = open.progress(uid);
      return progress === null ? [] : [{ name, tenant, ...progress, stats: stats.get(uid) ?? null }];
    });
    return {
      shards,
      shardRequestsMax: limits.shardQueueRequestsMax,
      indexes,
      otherDocuments,
      residency: open.counts,
      statuses,
      overdueSources: sources.overdue(limits.metricsIndexesMax),
      unsentBytes: unsent.bytes,
      disk,
    };
  }

  /**
   * Finds the `count` indexes with the most documents, adds up the documents of all other indexes, and counts
   * indexes by status, in one pass over the catalog.
   */
  #overview(count: number) {
    const statuses = new Map<string, number>();
    const largest: Measured[] = [];
    let others = 0;
    let otherDocuments = 0;
    for (const record of this.#options.catalog.state.indexes.values()) {
      const documents = this.#options.indexes.documents(record.uid);
      const status = this.#options.lifecycle.status(record);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const at = largest.findLastIndex((entry) => entry.documents >= documents) + 1;
      if (at < count) largest.splice(at, 0, { record, documents });
      else otherDocuments += documents;
      if (at >= count) others++;
      if (largest.length > count) {
        otherDocuments += (largest.pop() as Measured).documents;
        others++;
      }
    }
    return { largest, otherDocuments: others === 0 ? null : otherDocuments, statuses };
  }
}

/** Returns the disk's total and free space, or null if the system does not report them in time. */
async function diskOf(path: string, msMax: number): Promise<Readings["disk"]> {
  const asked = statfs(path).then(
    ({ bsize, bavail, blocks }) => ({ freeBytes: bavail * bsize, sizeBytes: blocks * bsize }),
    () => null,
  );
  return within(asked, msMax, () => null);
}
