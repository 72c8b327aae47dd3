// The services and state that the listener and routes of one HTTP thread use, such as limits, usage, quotas,
// indexes prepared for queries, metrics and running requests. Each HTTP thread creates one such object and
// passes it down; modules keep no state. The answer cache and the shards' quarantines are reached through
// `reads`.
import type { AuditLog } from "../access/audit/audit-log.js";
import type { AtOnce } from "../access/tenants/at-once.js";
import type { DocumentQuotas } from "../access/tenants/document-quota.js";
import type { KeyUse } from "../access/tenants/key-use.js";
import type { MonthlyCounter, RateLimiter } from "../access/tenants/limiter.js";
import type { Doorkeeper } from "../access/tenants/principal.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Coach } from "../coach/coach.js";
import type { FilterTexts } from "../documents/ingest/document-filter.js";
import type { Ingest } from "../documents/ingest/write.js";
import type { Previews } from "../documents/sources/preview.js";
import type { Runs } from "../documents/sources/runs.js";
import type { Sources } from "../documents/sources/sources.js";
import type { Fleet } from "../fleet/fleet.js";
import type { Reads } from "../fleet/reads/reads.js";
import type { Limits } from "../ground/limits.js";
import type { Logger } from "../ground/log.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { Curation } from "../indexes/curation.js";
import type { Embedders } from "../indexes/embedders/embedders.js";
import type { Lifecycle } from "../indexes/lifecycle.js";
import type { EmbeddingEndpoints } from "../models/embedding-endpoints.js";
import type { Backups } from "../operate/backups/backups.js";
import type { FixedConfig, LiveSettings } from "../operate/reload/live-settings.js";
import type { Scrape } from "../operate/scrape.js";
import type { Analytics } from "../query-log/analytics/analytics.js";
import type { LogWriter } from "../query-log/analytics/log-writer.js";
import type { PreparedShapes } from "../question/request/prepared-shapes.js";
import type { Understanding } from "../search/attempt.js";
import type { QueriedIndexes } from "../search/matching/queried-index.js";
import type { HitSizes } from "../search/query-cost.js";
import type { ReplyBuffers } from "../search/reply-writer.js";
import type { GivenVectors } from "../search/semantic/given-vectors.js";
import type { SlotTurns } from "../search/slot-turns.js";
import type { SlowQueryLog } from "../search/slow-query-log.js";
import type { Admissions } from "./admission.js";
import type { SharedAmount } from "./shared-amount.js";
import type { BodyMemory } from "./transport/body-memory.js";
import type { UnsentBytes } from "./transport/unsent.js";

/** The services needed for searches. Every thread that answers searches has them. */
export interface SearchServices {
  readonly config: FixedConfig;
  readonly limits: Limits;
  readonly settings: LiveSettings;
  readonly catalog: Pick<Catalog, "state" | "damage">;
  readonly lifecycle: IndexDirectory;
  readonly doorkeeper: Doorkeeper;
  readonly usage: MonthlyCounter;
  readonly throttle: RateLimiter;
  readonly keyUse: Pick<KeyUse, "used">;
  readonly reads: Reads;
  /** See ObservedSearching. */
  readonly remembersAnswers: boolean;
  readonly givenVectors: GivenVectors;
  readonly queriedIndexes: QueriedIndexes;
  readonly preparedShapes: PreparedShapes;
  readonly understanding: Understanding;
  readonly slowQueries: SlowQueryLog;
  readonly logWriter: LogWriter;
  readonly hitSizes: HitSizes;
  readonly replies: ReplyBuffers;
  readonly slotTurns: SlotTurns;
  readonly audit: Pick<AuditLog, "append">;
  /** Number of requests, in all threads, that have not been completely answered yet. */
  readonly requests: SharedAmount;
  readonly bodies: BodyMemory;
  readonly admission: Admissions;
  readonly unsent: UnsentBytes;
  readonly recorder: Recorder;
  readonly log: Logger;
}

/** Finds the index that a request names, and begins the request's use of it. */
export interface IndexDirectory extends Pick<Lifecycle, "find" | "checkOpen"> {
  /**
   * Begins a request's use of an index. Takes the uid found when the request began, because a swap may give
   * the index's name to another index.
   */
  readonly uses: { begin(uid: number): EndUse | Promise<EndUse> };
}

type EndUse = () => void;

/** The services needed for all routes. Only the main thread, which owns the indexes, has them. */
export interface Services
  extends SearchServices,
    Omit<Ingest, keyof SearchServices>,
    FilterTexts,
    Pick<Fleet, "indexes" | "health"> {
  readonly catalog: Catalog;
  readonly lifecycle: Lifecycle;
  readonly curation: Curation;
  readonly embeddings: EmbeddingEndpoints;
  readonly sources: Sources;
  readonly analytics: Analytics;
  readonly coach: Coach;
  readonly runs: Runs;
  readonly previews: Previews;
  readonly backups: Backups;
  readonly audit: AuditLog;
  readonly documentQuotas: DocumentQuotas;
  /** Limits the number of imports that each tenant may run at the same time. */
  readonly imports: AtOnce;
  readonly embedders: Embedders;
  readonly scrape: Scrape;
}
