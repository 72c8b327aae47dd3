// What the listener and the routes of one HTTP thread work with: the parts of the server, and all that the thread itself
// knows and counts: limits, throttle, usage, quotas, remembered forms of indexes, metrics, bodies and replies under way.
// Made once by main.ts, for one thread, and passed down; nothing of it is kept in a module. Two things that the thread
// knows are reached through `reads`: remembered answers, which main.ts makes for it, and the quarantine of each shard.
import type { Backups } from "../backups/backups.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Cluster } from "../cluster/cluster.js";
import type { Config } from "../config.js";
import type { Curation } from "../curation.js";
import type { FilterTexts } from "../ingest/document-filter.js";
import type { Ingest } from "../ingest/write.js";
import type { Lifecycle } from "../lifecycle.js";
import type { Scrape } from "../scrape.js";
import type { QueriedIndexes } from "../search/queried-index.js";
import type { SlowQueryLog } from "../search/slow-query-log.js";
import type { DocumentQuotas } from "../tenants/document-quota.js";
import type { Doorkeeper } from "../tenants/principal.js";
import type { Throttle } from "../tenants/throttle.js";
import type { Usage } from "../tenants/usage.js";
import type { BodyMemory } from "./body-memory.js";
import type { UnsentBytes } from "./unsent.js";

export interface Services extends Ingest, FilterTexts, Pick<Cluster, "indexes" | "health"> {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly curation: Curation;
  readonly lifecycle: Lifecycle;
  readonly doorkeeper: Doorkeeper;
  readonly usage: Usage;
  readonly throttle: Throttle;
  readonly backups: Backups;
  readonly documentQuotas: DocumentQuotas;
  readonly queriedIndexes: QueriedIndexes;
  readonly slowQueries: SlowQueryLog;
  readonly scrape: Scrape;
  readonly bodies: BodyMemory;
  readonly unsent: UnsentBytes;
}
