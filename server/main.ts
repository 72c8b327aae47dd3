// Puts a server together and takes it apart: data directory, catalog, shards, HTTP, in this order and back.
// The catalog's database is the lock: a second server on the same directory does not start.
import { mkdirSync } from "node:fs";
import { EnvelopeError } from "../shards/storage/envelope.js";
import { StoreLockedError } from "../shards/storage/store.js";
import { Catalog } from "./catalog/catalog.js";
import { type Config, ConfigError, defaultShards } from "./config.js";
import { Cluster } from "./coordinator/cluster.js";
import { listen } from "./http/listen.js";
import type { HttpListener } from "./http/port.js";
import { ROUTES } from "./http/routes/table.js";
import { HttpService } from "./http/service.js";
import { Lifecycle } from "./lifecycle.js";
import { createLogger, type Logger } from "./log.js";
import { findAdminKey } from "./tenants/admin-key.js";
import { DEFAULT_TENANT, Doorkeeper } from "./tenants/principal.js";
import { Usage } from "./tenants/usage.js";

export interface RunningServer {
  readonly url: string;
  /** The bootstrap admin key in force. */
  readonly adminKey: string;
  /** Answers running requests, then closes the storage. May be called more than once. */
  stop(): Promise<void>;
}

/** Steps that take the server apart, last one first. */
type Undo = (() => Promise<void>)[];

/**
 * Starts a server and resolves when every index is open and it answers. Throws ConfigError, one line for a
 * person, when the configuration and the machine do not fit.
 */
export async function startServer(config: Config): Promise<RunningServer> {
  const undo: Undo = [];
  try {
    return await start(config, createLogger(config.logLevel), undo);
  } catch (error) {
    await takeApart(undo);
    throw error;
  }
}

async function start(config: Config, log: Logger, undo: Undo): Promise<RunningServer> {
  const { dataDir, durability, limits } = config;
  const catalog = await openCatalog(dataDir);
  undo.push(() => catalog.close());
  const shards = await fixedShards(catalog, config.shards);
  await ensureDefaultTenant(catalog);
  const adminKey = findAdminKey(dataDir, config.adminKey);
  if (adminKey.createdIn !== null) {
    process.stderr.write(`Admin key, shown this once and kept in ${adminKey.createdIn}: ${adminKey.value}\n`);
  }
  const cluster = await Cluster.start({ dataDir, shards, durability, limits, log });
  undo.push(() => cluster.stop());
  const usage = new Usage(catalog, (error) =>
    log.error({ err: error }, "the search counters could not be stored"),
  );
  undo.push(() => usage.stop());
  const lifecycle = new Lifecycle(catalog, cluster, limits, log);
  const doorkeeper = new Doorkeeper(adminKey.value);
  const service = new HttpService({ config, catalog, cluster, lifecycle, doorkeeper, usage, log }, ROUTES);
  const listener = await listenOrExplain(config, service, log);
  undo.push(() => listener.close());
  await lifecycle.openAll();
  service.serve();
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `http://${host}:${listener.port}`;
  log.info({ url, pid: process.pid, shards, dataDir, indexes: catalog.state.indexes.size }, "listening");
  const stop = async (): Promise<void> => {
    log.info("stopping");
    listener.stopAccepting();
    await service.drain(limits.stopGraceMsMax);
    await takeApart(undo);
    log.info("stopped");
  };
  let stopping: Promise<void> | null = null;
  return {
    url,
    adminKey: adminKey.value,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function takeApart(undo: Undo): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
}

async function openCatalog(dataDir: string): Promise<Catalog> {
  try {
    mkdirSync(dataDir, { recursive: true });
  } catch (error) {
    throw new ConfigError(
      `the data directory ${dataDir} cannot be made (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  try {
    return await Catalog.open(dataDir);
  } catch (error) {
    if (error instanceof StoreLockedError)
      throw new ConfigError(`another server is running on the data directory ${dataDir}`);
    if (error instanceof EnvelopeError)
      throw new ConfigError(`the data directory ${dataDir} cannot be read: ${error.message}`);
    throw error;
  }
}

/** The number of shards is decided by the first start: documents are spread by it. */
async function fixedShards(catalog: Catalog, wanted: number | null): Promise<number> {
  const kept = catalog.state.shards;
  if (kept === null) {
    const shards = wanted ?? defaultShards();
    await catalog.change(() => ({ type: "shards.fix", shards }));
    return shards;
  }
  if (wanted === null || wanted === kept) return kept;
  throw new ConfigError(
    `the data directory was made with ${kept} shards and cannot be opened with ${wanted}; export and import to change it`,
  );
}

async function ensureDefaultTenant(catalog: Catalog): Promise<void> {
  if ([...catalog.state.tenants.values()].some((tenant) => tenant.name === DEFAULT_TENANT)) return;
  const createdAt = new Date().toISOString();
  await catalog.change((state) => ({
    type: "tenant.put",
    tenant: { id: state.nextTenantId, name: DEFAULT_TENANT, plan: "default", createdAt },
  }));
}

async function listenOrExplain(config: Config, service: HttpService, log: Logger): Promise<HttpListener> {
  try {
    return await listen(config, service.handle, log);
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
