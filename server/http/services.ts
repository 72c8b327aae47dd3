// What the listener and the routes of one HTTP thread work with. These are the parts of the server, and what the thread
// itself knows and counts: limits, throttle, usage, quotas, remembered forms of indexes, metrics, bodies and replies under
// way. main.ts makes the object once for each HTTP thread and passes it down; no module keeps any of it. Two things that
// the thread knows are reached through `reads`: the remembered answers, and the quarantine of each shard.
import type { EmbeddingEndpoints } from "../ai/embedding-endpoints.js";
import type { Analytics } from "../analytics/analytics.js";
import type { LogWriter } from "../analytics/log-writer.js";
import type { AuditLog } from "../audit/audit-log.js";
import type { Backups } from "../backups/backups.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Cluster } from "../cluster/cluster.js";
import type { Coach } from "../coach/coach.js";
import type { Curation } from "../curation.js";
import type { Embedders } from "../embedders/embedders.js";
import type { FilterTexts } from "../ingest/document-filter.js";
import type { Ingest } from "../ingest/write.js";
import type { Lifecycle } from "../lifecycle.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import type { QueriedIndexes } from "../matching/queried-index.js";
import type { Recorder } from "../metrics/recorder.js";
import type { Reads } from "../reads/reads.js";
import type { FixedConfig, LiveSettings } from "../reload/live-settings.js";
import type { Scrape } from "../scrape.js";
import type { Understanding } from "../search/search.js";
import type { SlowQueryLog } from "../search/slow-query-log.js";
import type { GivenVectors } from "../semantic/given-vectors.js";
import type { Previews } from "../sources/preview.js";
import type { Runs } from "../sources/runs.js";
import type { Sources } from "../sources/sources.js";
import type { AtOnce } from "../tenants/at-once.js";
import type { DocumentQuotas } from "../tenants/document-quota.js";
import type { KeyUse } from "../tenants/key-use.js";
import type { MonthlyCounter, RateLimiter } from "../tenants/limiter.js";
import type { Doorkeeper } from "../tenants/principal.js";
import type { SharedAmount } from "../threads/shared-amount.js";
import type { BodyMemory } from "./body-memory.js";
import type { UnsentBytes } from "./unsent.js";

/** What searches work with, on any thread that answers some. */
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
  readonly givenVectors: GivenVectors;
  readonly queriedIndexes: QueriedIndexes;
  readonly understanding: Understanding;
  readonly slowQueries: SlowQueryLog;
  readonly logWriter: LogWriter;
  readonly audit: Pick<AuditLog, "append">;
  /** Requests whose reply has not been handed over yet, of all threads. */
  readonly requests: SharedAmount;
  readonly bodies: BodyMemory;
  readonly unsent: UnsentBytes;
  readonly recorder: Recorder;
  readonly log: Logger;
}

/** How requests come to an index. */
export interface IndexDirectory extends Pick<Lifecycle, "find" | "checkOpen"> {
  /** Requests that use documents of an index, by the uid they began with. */
  readonly uses: { begin(uid: number): EndUse | Promise<EndUse> };
}

type EndUse = () => void;

/** What all routes work with, on the thread that owns the indexes. */
export interface Services
  extends SearchServices,
    Omit<Ingest, keyof SearchServices>,
    FilterTexts,
    Pick<Cluster, "indexes" | "health"> {
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
  /** Imports that tenants have under way. */
  readonly imports: AtOnce;
  readonly embedders: Embedders;
  readonly scrape: Scrape;
}
