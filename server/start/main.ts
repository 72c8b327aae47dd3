// Builds a server floor by floor and shuts it down in reverse order. Each floor receives the objects of all
// floors below it and adds its own.
import { readCertificate } from "../access/edge/certificate.js";
import { Jobs } from "../ground/jobs/jobs.js";
import { createLogger } from "../ground/log.js";
import { fitted, memoryOf } from "../ground/memory-fit.js";
import { Recorder } from "../ground/metrics/recorder.js";
import type { Config } from "../operate/config/config.js";
import { LiveSettings } from "../operate/reload/live-settings.js";
import { reload } from "../operate/reload/reload.js";
import { makeCoach } from "./coach.js";
import { openData } from "./data.js";
import { makeDocuments } from "./documents.js";
import { startFleet } from "./fleet.js";
import { type Ground, orExplain, Teardown } from "./ground.js";
import { makeIndexes } from "./indexes.js";
import { startListener } from "./listener.js";
import { makeOperations } from "./operations.js";
import { openQueryLog } from "./query-log.js";
import { makeSearch } from "./search.js";
import { WarmUps } from "./warm-up.js";

export interface RunningServer {
  readonly url: string;
  /** The bootstrap admin key in use. */
  readonly adminKey: string;
  /**
   * Reloads the configuration by calling `read`, and the certificate files. Applies only what may change
   * while the server runs.
   */
  reload(read: () => Config): void;
  /**
   * Stops the server: lets running requests finish, then closes the storage. Resolves with false if a step
   * failed or took too long; the log then names it. Never rejects. May be called more than once.
   */
  stop(): Promise<boolean>;
}

/** Time (ms) that background work has to end after it was cancelled. */
const JOBS_END_MS_MAX = 10_000;
/** Time (ms) by which front-ends may report later than the grace of a stop that they have answered. */
const DRAIN_EXTRA_MS_MAX = 1_000;

/**
 * Starts a server. Resolves once it answers requests; the indexes are opened after that. Throws ConfigError
 * with a one-line message if the server cannot run with this configuration on this machine.
 */
export async function startServer(wanted: Config): Promise<RunningServer> {
  const config = { ...wanted, limits: fitted(wanted.limits, memoryOf(wanted.limits)) };
  const recorder = new Recorder();
  const log = createLogger(config.logLevel, () => recorder.logLineDropped());
  const teardown = new Teardown(log);
  const { limits } = config;
  if (config.formerLimits.length > 0)
    log.warn({ limits: config.formerLimits }, "these limits are fixed now; ignoring them");
  const settings = new LiveSettings(config);
  try {
    return await start({ config, settings, limits, log, recorder, jobs: new Jobs(log), teardown });
  } catch (error) {
    await teardown.run();
    throw error;
  }
}

async function start(ground: Ground): Promise<RunningServer> {
  const { config, settings, limits, log, jobs, teardown } = ground;
  const certificate = await orExplain(() => (config.tls === null ? null : readCertificate(config.tls)));

  const data = await openData(ground);
  const fleet = await startFleet(data);
  const queryLog = openQueryLog(fleet);
  const search = makeSearch(queryLog);
  const indexes = makeIndexes(search);
  const documents = makeDocuments(indexes);
  const coach = makeCoach(documents);
  const parts = await makeOperations(coach);
  // Jobs use objects of every floor, so they must end first.
  teardown.add("end the background work", () => jobs.drain(), JOBS_END_MS_MAX);
  const { service, listener, warmUpThreads } = await startListener(parts, certificate);
  const drain = async (): Promise<void> => {
    service.refuse();
    listener.stopAccepting();
    const graceMs = limits.stopGraceMsMax;
    await Promise.all([service.drain(graceMs, listener), frontEnds.drain(graceMs)]);
  };
  teardown.add("answer the running requests", drain, limits.stopGraceMsMax + DRAIN_EXTRA_MS_MAX);

  const { lifecycle, runs, sources, frontEnds, catalog, dataDir, shards, adminKey, indexEvents } = parts;
  await lifecycle.begin();
  await runs.begin();
  await sources.begin();
  const warmUps = new WarmUps(parts, warmUpThreads);
  await warmUps.begin();
  indexEvents.watch(warmUps);
  service.serve();
  frontEnds.serve();
  void jobs.start({ name: "look at all indexes", subject: "stored indexes" }, (signal) =>
    parts.indexes.lookAtAll(signal),
  );
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${certificate === null ? "http" : "https"}://${host}:${listener.port}`;
  log.info({ url, pid: process.pid, shards, dataDir, indexes: catalog.state.indexes.size }, "listening");

  const stop = async (): Promise<boolean> => {
    log.info({ msMax: teardown.msMax }, "stopping");
    const failed = await teardown.run();
    if (failed.length === 0) log.info("stopped");
    else log.error({ failed }, "stopped, but not in good order");
    return failed.length === 0;
  };
  let stopping: Promise<boolean> | null = null;
  return {
    url,
    adminKey,
    reload: (read) => void reload({ config, settings, listener, frontEnds, log }, read),
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };
}
