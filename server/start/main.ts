// Puts a server together and takes it apart: data directory, catalog, shards, HTTP, in this order and back.
// A lock on the data directory comes first: a second server, or a command that works on it, does not start.
import { join } from "node:path";
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import { AuditLog } from "../access/audit/audit-log.js";
import { readCertificate } from "../access/edge/certificate.js";
import { findAdminKey } from "../access/tenants/admin-key.js";
import { AtOnce } from "../access/tenants/at-once.js";
import { ByteQuotas } from "../access/tenants/byte-quota.js";
import { DocumentQuotas } from "../access/tenants/document-quota.js";
import { KeyUse } from "../access/tenants/key-use.js";
import { byteLimits, type Plan, planOfTenant } from "../access/tenants/plans.js";
import { Doorkeeper } from "../access/tenants/principal.js";
import { Usage } from "../access/tenants/usage.js";
import type { ModelServers } from "../catalog/model-servers.js";
import { viewOf } from "../catalog/schema/index-view.js";
import { RecentTokens } from "../catalog/schema/recent-tokens.js";
import { type AnalyserOf, textAnalyser } from "../catalog/schema/text-analyser.js";
import { Coach } from "../coach/coach.js";
import { CoachPool } from "../coach/coach-pool.js";
import { IndexShop } from "../coach/index-shop.js";
import { Intake } from "../documents/ingest/intake-pool.js";
import { FeedPool } from "../documents/sources/feed-pool.js";
import { Previews } from "../documents/sources/preview.js";
import { Runs } from "../documents/sources/runs.js";
import { Sources } from "../documents/sources/sources.js";
import { AnswerCache } from "../fleet/reads/answer-cache.js";
import { OWNER_PLACE } from "../fleet/reads/index-standing.js";
import { Headroom } from "../ground/data-dir/headroom.js";
import { Secrets } from "../ground/data-dir/secrets.js";
import { Jobs } from "../ground/jobs/jobs.js";
import { createLogger, type Logger } from "../ground/log.js";
import { Recorder } from "../ground/metrics/recorder.js";
import { FrontEnds } from "../http/frontends/front-ends.js";
import { chooseTransport } from "../http/listen.js";
import { ROUTES } from "../http/routes/table.js";
import { HttpService } from "../http/service.js";
import type { Services } from "../http/services.js";
import { sharedCounts, threadCounts } from "../http/thread-counts.js";
import { Curation } from "../indexes/curation.js";
import { Embedders } from "../indexes/embedders/embedders.js";
import { TrainerPool } from "../indexes/embedders/trainer-pool.js";
import { VectorMessages } from "../indexes/embedders/vector-messages.js";
import { Lifecycle } from "../indexes/lifecycle.js";
import { Spreading } from "../indexes/reshard/spreading.js";
import { modelServers } from "../models/api-keys.js";
import { ChatEndpoint } from "../models/chat-endpoint.js";
import { EmbeddingEndpoints } from "../models/embedding-endpoints.js";
import { Backups } from "../operate/backups/backups.js";
import { type Config, ConfigError } from "../operate/config.js";
import { finishRotation } from "../operate/offline/rotate-secrets.js";
import { LiveSettings } from "../operate/reload/live-settings.js";
import { reload } from "../operate/reload/reload.js";
import { Scrape } from "../operate/scrape.js";
import { Analytics } from "../query-log/analytics/analytics.js";
import { AnalyticsPool } from "../query-log/analytics/analytics-pool.js";
import { LogWriter } from "../query-log/analytics/log-writer.js";
import { People } from "../query-log/analytics/people.js";
import { PopularLogs } from "../query-log/popularity/popular-logs.js";
import { NOTHING_POPULAR } from "../query-log/popularity/popularity.js";
import { QueriedIndexes } from "../search/matching/queried-index.js";
import { GivenVectors } from "../search/semantic/given-vectors.js";
import { SlowQueryLog } from "../search/slow-query-log.js";
import { QueryUnderstanding } from "../search/understanding/understanding.js";
import { ensureDefaultTenant, openCatalog } from "./catalog.js";
import { takeDataDir } from "./data-dir.js";
import { frontEndsBeside, startListener } from "./listener.js";
import { checkShardDatabases, fixedShards, startShards } from "./shards.js";

export interface RunningServer {
  readonly url: string;
  /** The bootstrap admin key in force. */
  readonly adminKey: string;
  /** Reads the files again that may change while the server runs: the configuration by `read`, and the certificate. */
  reload(read: () => Config): void;
  /** Answers running requests, then closes the storage. May be called more than once. */
  stop(): Promise<void>;
}

/** Steps that take the server apart, last one first. */
type Undo = (() => Promise<void>)[];

/**
 * Starts a server and resolves when it answers; indexes are opened from then on. Throws ConfigError, one line for a
 * person, when the configuration and the machine do not fit.
 */
export async function startServer(config: Config): Promise<RunningServer> {
  const undo: Undo = [];
  const recorder = new Recorder();
  const log = createLogger(config.logLevel, () => recorder.logLineDropped());
  try {
    return await start(config, log, recorder, undo);
  } catch (error) {
    await takeApart(undo);
    throw error;
  }
}

async function start(config: Config, log: Logger, recorder: Recorder, undo: Undo): Promise<RunningServer> {
  const certificate = await orExplain(() => (config.tls === null ? null : readCertificate(config.tls)));
  const { dataDir, durability, limits } = config;
  undo.push(await takeDataDir(dataDir, log));
  const catalog = await openCatalog(dataDir);
  undo.push(() => catalog.close());
  await finishRotation(dataDir, catalog.state);
  for (const found of catalog.damage.found) {
    log.error({ found }, "a record of the catalog is damaged; restore the catalog from a backup");
  }
  const settings = new LiveSettings(config);
  const audit = new AuditLog({ directory: dataDir, durability, limits, meter: recorder.audit, log });
  undo.push(() => audit.close());
  const shards = await fixedShards(catalog, config, log);
  checkShardDatabases(dataDir, catalog);
  await ensureDefaultTenant(catalog);
  const adminKey = findAdminKey(dataDir, config.adminKey);
  if (adminKey.createdIn !== null) {
    process.stderr.write(`Admin key, shown this once and kept in ${adminKey.createdIn}: ${adminKey.value}\n`);
  }
  const transport = await orExplain(() => chooseTransport(config, log));
  const frontEndCount = frontEndsBeside(transport, config, log);
  const frontEnds = new FrontEnds(limits, log);
  const engine = await loadEngine(config.engine);
  const workbench = engine.workbench();
  const recentTokens = new RecentTokens();
  const analyserOf: AnalyserOf = (record) =>
    recentTokens.remembering(textAnalyser(workbench, viewOf(record)));
  const jobs = new Jobs(log);
  const answers = new AnswerCache(limits.rememberedAnswersBytesMax, recorder.answerCache);
  const threads = frontEndCount + 1;
  const memories = sharedCounts(threads, limits);
  const { queries, ...counts } = threadCounts(memories, OWNER_PLACE, limits);
  const parts = { engine, workbench, jobs, answers, queries, limits, log, recorder };
  const onOpened = (uid: number): void => {
    embedders.opened(uid);
    spreading.look(uid);
  };
  const onWritten = (uid: number): void => {
    embedders.written(uid);
    spreading.look(uid);
  };
  const cluster = await startShards({
    dataDir,
    shards,
    threads,
    followers: frontEnds,
    durability,
    ...parts,
    onOpened,
    onWritten,
  });
  undo.push(() => cluster.stop());
  const { indexes, health, reads, writes, moments, calls } = cluster;
  const headroom = new Headroom(dataDir, limits);
  const spreading = new Spreading({
    ...parts,
    catalog,
    indexes,
    writes,
    calls,
    headroom,
    onSpread: onWritten,
  });
  const trainer = new TrainerPool(engine, log);
  undo.push(() => trainer.stop());
  const intake = new Intake({ engine, workbench, limits, log });
  undo.push(() => intake.stop());
  const pool = new FeedPool(engine, config.feeds.concurrency + 1, log); // one more thread for previews
  undo.push(() => pool.stop());
  const secrets = new Secrets(dataDir);
  const embeddings = new EmbeddingEndpoints({ catalog, secrets, addresses: config.ai, limits, recorder });
  undo.push(async () => embeddings.close());
  const embedders = new Embedders({
    catalog,
    indexes,
    reads,
    vectors: new VectorMessages(calls, indexes),
    trainer,
    endpoints: embeddings,
    workbench,
    jobs,
    limits,
    log,
  });
  const analyticsPool = new AnalyticsPool(join(dataDir, "analytics"), log);
  undo.push(() => analyticsPool.stop());
  const people = new People(secrets.pseudonymKey);
  const logWriter = new LogWriter({
    send: (chunk) => analyticsPool.run({ kind: "append", chunk, nowMs: Date.now() }),
    others: () => frontEnds.flushLogs(),
    people,
    waitingBytesMax: limits.queryLogWaitingBytesMax,
    meter: recorder.queryLog,
    log,
  });
  undo.push(() => logWriter.stop());
  const coachPool = new CoachPool(log);
  undo.push(() => coachPool.stop());
  const wording = config.ai.coach === null ? null : new ChatEndpoint(config.ai.coach);
  undo.push(async () => wording?.close());
  const usage = new Usage(catalog, jobs, counts.usage);
  undo.push(() => usage.store());
  const keyUse = new KeyUse(catalog, jobs);
  undo.push(() => keyUse.store());
  undo.push(() => jobs.drain());
  const serversOf = (tenant: number): ModelServers => modelServers(secrets, config.ai, tenant);
  const givenVectors = new GivenVectors(workbench, embeddings);
  const planOf = (tenant: number): Plan => planOfTenant(settings.now.plans, catalog.state, tenant);
  const lifecycle = new Lifecycle({
    jobs,
    catalog,
    indexes,
    writes,
    analyserOf,
    serversOf,
    planOf,
    limits,
    log,
  });
  const documentQuotas = new DocumentQuotas(
    (tenant) => lifecycle.recordsOf(tenant),
    (tenant) => planOf(tenant).documents,
  );
  const byteQuotas = new ByteQuotas({
    limitsOf: (tenant) => byteLimits(planOf(tenant)),
    measure: (tenant) =>
      jobs.run({ name: "measure what a tenant takes", subject: `bytes of tenant ${tenant}` }, () =>
        indexes.sizes(lifecycle.list(tenant)),
      ),
    nowMs: () => performance.now(),
    log,
  });
  const ingest = { workbench, intake, headroom, byteQuotas, reads, writes, limits, log, recorder };
  const runs = new Runs({
    ...ingest,
    catalog,
    indexes,
    jobs,
    pool,
    settings: config.feeds,
    secrets,
    documentQuotas,
  });
  const sources = new Sources({ catalog, runs, secrets, settings: config.feeds, limits, jobs, log });
  const scrape = new Scrape({
    catalog,
    indexes,
    health,
    lifecycle,
    sources,
    dataDir,
    unsent: counts.unsent,
    limits,
    recorder,
    others: () => frontEnds.counted(limits.metricsMsMax),
  });
  const analytics = new Analytics({
    catalog,
    pool: analyticsPool,
    writer: logWriter,
    people,
    jobs,
    limits,
    log,
  });
  const backups = new Backups({
    directory: config.snapshotDir,
    catalog,
    indexes,
    writes,
    moments,
    analytics,
    jobs,
    limits,
    log,
  });
  await backups.clean();
  const curation = new Curation(catalog, analyserOf, limits);
  const popularLogs = new PopularLogs({ pool: analyticsPool, jobs });
  const understanding = new QueryUnderstanding({ catalog, secrets, addresses: config.ai, limits });
  undo.push(async () => understanding.close());
  const services: Services = {
    ...ingest,
    ...counts,
    config,
    settings,
    catalog,
    indexes,
    health,
    analyserOf,
    curation,
    lifecycle,
    embeddings,
    doorkeeper: new Doorkeeper(adminKey.value, limits),
    keyUse,
    sources,
    analytics,
    logWriter,
    coach: new Coach({
      catalog,
      analytics: analyticsPool,
      writer: logWriter,
      pool: coachPool,
      shop: new IndexShop({
        catalog,
        reads,
        limits,
        givenVectors,
        queriedIndexes: new QueriedIndexes(
          analyserOf,
          () => NOTHING_POPULAR,
          limits,
          log,
          config.rankingWithout,
        ),
        understanding,
      }),
      curation,
      usage: counts.usage,
      jobs,
      limits,
      endpoint: wording,
    }),
    runs,
    previews: new Previews(pool, config.feeds, limits, jobs),
    backups,
    audit,
    documentQuotas,
    imports: new AtOnce("imports"),
    embedders,
    givenVectors,
    queriedIndexes: new QueriedIndexes(
      analyserOf,
      (record) => popularLogs.of(record),
      limits,
      log,
      config.rankingWithout,
    ),
    understanding,
    slowQueries: new SlowQueryLog(config.slowQueryMs, limits.slowQueryLinesPerSecondMax, recorder, log),
    scrape,
  };
  const service = new HttpService(services, ROUTES);
  const listener = await orExplain(() =>
    startListener({
      config,
      transport,
      certificate,
      adminKey: adminKey.value,
      service,
      services,
      engine,
      frontEnds,
      count: frontEndCount,
      counts,
      sharedCounts: memories,
      catalog,
      cluster,
      lifecycle,
      popularLogs,
      analyticsPool,
      keyUse,
      audit,
    }),
  );
  undo.push(() => listener.close());
  await lifecycle.begin();
  await runs.begin();
  await sources.begin();
  service.serve();
  frontEnds.serve();
  void jobs.start({ name: "look at all indexes", subject: "stored indexes" }, (signal) =>
    indexes.lookAtAll(signal),
  );
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${certificate === null ? "http" : "https"}://${host}:${listener.port}`;
  log.info({ url, pid: process.pid, shards, dataDir, indexes: catalog.state.indexes.size }, "listening");
  const stop = async (): Promise<void> => {
    log.info("stopping");
    listener.stopAccepting();
    await Promise.all([service.drain(limits.stopGraceMsMax), frontEnds.drain(limits.stopGraceMsMax)]);
    await takeApart(undo);
    log.info("stopped");
  };
  let stopping: Promise<void> | null = null;
  return {
    url,
    adminKey: adminKey.value,
    reload: (read) => void reload({ config, settings, listener, frontEnds, log }, read),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}

async function takeApart(undo: Undo): Promise<void> {
  for (let step = undo.pop(); step !== undefined; step = undo.pop()) await step();
}

/** A failure becomes the line for the person who starts the server. */
async function orExplain<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new ConfigError((error as Error).message);
  }
}
