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
   * Stops the server: lets running requests finish, then closes the storage. May be called more than once.
   */
  stop(): Promise<void>;
}

/**
 * Starts a server. Resolves once it answers requests; the indexes are opened after that. Throws ConfigError
 * with a one-line message if the server cannot run with this configuration on this machine.
 */
export async function startServer(wanted: Config): Promise<RunningServer> {
  const config = { ...wanted, limits: fitted(wanted.limits, memoryOf(wanted.limits)) };
  const recorder = new Recorder();
  const log = createLogger(config.logLevel, () => recorder.logLineDropped());
  const teardown = new Teardown();
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
  teardown.add(() => jobs.drain()); // jobs use objects of every floor, so they must end first
  const { service, listener } = await startListener(parts, certificate);

  const { lifecycle, runs, sources, frontEnds, catalog, dataDir, shards, adminKey } = parts;
  await lifecycle.begin();
  await runs.begin();
  await sources.begin();
  service.serve();
  frontEnds.serve();
  void jobs.start({ name: "look at all indexes", subject: "stored indexes" }, (signal) =>
    parts.indexes.lookAtAll(signal),
  );
  const host = config.host.includes(":") ? `[${config.host}]` : config.host;
  const url = `${certificate === null ? "http" : "https"}://${host}:${listener.port}`;
  log.info({ url, pid: process.pid, shards, dataDir, indexes: catalog.state.indexes.size }, "listening");

  const stop = async (): Promise<void> => {
    log.info("stopping");
    listener.stopAccepting();
    await Promise.all([service.drain(limits.stopGraceMsMax), frontEnds.drain(limits.stopGraceMsMax)]);
    await teardown.run();
    log.info("stopped");
  };
  let stopping: Promise<void> | null = null;
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
