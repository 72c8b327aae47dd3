// What the routes work with, put together once by main.ts.

import type { Backups } from "../backups/backups.js";
import type { Catalog } from "../catalog/catalog.js";
import type { Cluster } from "../cluster/cluster.js";
import type { Config } from "../config.js";
import type { Curation } from "../curation.js";
import type { Lifecycle } from "../lifecycle.js";
import type { Logger } from "../log.js";
import type { Scrape } from "../scrape.js";
import type { SlowQueryLog } from "../search/slow-query-log.js";
import type { DocumentQuotas } from "../tenants/document-quota.js";
import type { Doorkeeper } from "../tenants/principal.js";
import type { Usage } from "../tenants/usage.js";
import type { UnsentBytes } from "./unsent.js";

export interface Services {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly cluster: Cluster;
  readonly curation: Curation;
  readonly lifecycle: Lifecycle;
  readonly doorkeeper: Doorkeeper;
  readonly usage: Usage;
  readonly backups: Backups;
  readonly documentQuotas: DocumentQuotas;
  readonly slowQueries: SlowQueryLog;
  readonly scrape: Scrape;
  readonly unsent: UnsentBytes;
  readonly log: Logger;
}
