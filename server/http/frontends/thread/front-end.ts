// Assembles a front-end from its listener, the search routes, and its own reads. A front-end never changes
// data: it forwards requests for all other routes to the owner, and gets indexes, tenants and keys from the
// owner.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { EngineModule } from "../../../../engine-wasm/host/instance/engine-module.js";
import type { ShardError } from "../../../../shards/protocol/errors.js";
import { indexNamed } from "../../../catalog/lookups.js";
import { Locations } from "../../../catalog/schema/placement.js";
import { Reads } from "../../../fleet/reads/reads.js";
import { ThreadReader } from "../../../fleet/reads/thread-reader.js";
import { readersOf } from "../../../fleet/threads/borrowed-memories.js";
import { SUSPECT_MS } from "../../../fleet/threads/quarantine.js";
import { ShardGate } from "../../../fleet/threads/shard-gate.js";
import { Secrets } from "../../../ground/data-dir/secrets.js";
import { createLogger } from "../../../ground/log.js";
import { Recorder } from "../../../ground/metrics/recorder.js";
import { LiveSettings } from "../../../operate/reload/live-settings.js";
import { LogStorageError } from "../../../query-log/analytics/analytics-pool.js";
import { LogWriter } from "../../../query-log/analytics/log-writer.js";
import { People } from "../../../query-log/analytics/people.js";
import { queryRoutes } from "../../routes/query.js";
import { engineParts, searchParts } from "../../search-parts.js";
import { HttpService } from "../../service.js";
import type { IndexDirectory, SearchServices } from "../../services.js";
import { threadCounts } from "../../thread-counts.js";
import { listen } from "../../transport/listen.js";
import type { OwnListener } from "../../transport/port.js";
import { warmUp } from "../../warm-up.js";
import { type Calls, ThreadChannel } from "../channel.js";
import type { FrontEndCalls, FrontEndData, OwnerCalls } from "../messages.js";
import { limitsOfEach, receivedConfig } from "../posted-config.js";
import { Pulse } from "../pulse.js";
import { FollowedCatalog } from "./followed-catalog.js";
import { FollowedIndexes } from "./followed-indexes.js";
import { FollowedIsolation } from "./followed-isolation.js";
import { FollowedPopular } from "./followed-popular.js";
import { FollowedShards } from "./followed-shards.js";
import { Forwarder } from "./forwarder.js";
import { UsedKeys } from "./used-keys.js";

const NO_CONNECTIONS = { connections: 0 };

export interface FrontEnd {
  /** Closes all connections and releases all resources. */
  close(): Promise<void>;
  /**
   * Closes all connections at once, in the middle of whatever the thread is doing. Afterwards the thread may
   * be ended at any moment; what it has counted and logged has been sent to the owner.
   */
  cut(): void;
}

/**
 * Resolves when the front-end is listening. `onClose` is called when the owner asks the thread to end.
 * Rejects if the address cannot be used.
 */
export async function startFrontEnd(data: FrontEndData, onClose: () => void): Promise<FrontEnd> {
  const { place, places, shared } = data;
  const whole = receivedConfig(data.config);
  const limits = limitsOfEach(whole.limits, places - 1);
  const config = { ...whole, limits };
  const settings = new LiveSettings(config);
  const recorder = new Recorder();
  const log = createLogger(config.logLevel, () => recorder.logLineDropped());
  const calls: Calls = {};
  const owner = new ThreadChannel<OwnerCalls>(data.owner, calls);
  const catalog = new FollowedCatalog(data.catalog);
  const engine = new EngineModule(data.engine);
  const { workbench, analyserOf, answers, words } = engineParts(engine, limits, recorder);
  const indexes = new FollowedIndexes({
    place,
    locations: new Locations(data.shards),
    catalog,
    owner,
    memories: { answers, words, recorder },
  });
  const { queries, ...counts } = threadCounts(shared.counts, place, limits);
  const shards = new FollowedShards(data.shards, readersOf(engine, log), limits, recorder);
  const gate = new ShardGate(data.shards, places, shared.gate);
  const pulse = new Pulse(places, shared.pulse);
  const onDamage = (shard: number, { code, message, uid = 0 }: ShardError): void =>
    owner.tell("damaged", { shard, code, message, uid });
  const reads = new Reads({
    indexes,
    threads: new ThreadReader(shards, new FollowedIsolation(gate, place, owner), onDamage),
    readers: shards,
    workbench,
    queries,
    oneOfSeveral: true,
    limits,
    meter: recorder.localReads,
    onReading: (uid) => pulse.reads(place, uid),
  });
  for (const left of data.leftToShards) reads.leaveToShards(left, SUSPECT_MS);

  const secrets = new Secrets(config.dataDir);
  const popular = new FollowedPopular(owner, log);
  const { close: closeModels, ...searching } = searchParts({
    config,
    adminKey: data.adminKey,
    catalog,
    secrets,
    workbench,
    analyserOf,
    popularOf: (record) => popular.of(record),
    limits,
    log,
    recorder,
  });
  const logWriter = new LogWriter({
    send: async (chunk) => {
      if (!(await owner.ask("append", chunk))) throw new LogStorageError("the disk does not take them");
    },
    people: new People(secrets.pseudonymKey),
    waitingBytesMax: limits.queryLogWaitingBytesMax,
    meter: recorder.queryLog,
    log,
  });
  const lifecycle: IndexDirectory = {
    find: (tenant, name) => indexNamed(catalog.state, tenant, name),
    checkOpen: () => undefined, // the owner checks this in `attach` and `open`
    uses: indexes,
  };
  const services: SearchServices = {
    config,
    limits,
    settings,
    catalog,
    lifecycle,
    ...searching,
    ...counts,
    keyUse: new UsedKeys((keyId, nowMs) => owner.tell("keyUsed", { keyId, nowMs })),
    reads,
    logWriter,
    audit: { append: (entry) => owner.ask("audit", entry) },
    recorder,
    log,
  };
  const forwarder = new Forwarder(owner);
  const service = new HttpService<SearchServices>(services, queryRoutes, forwarder.handle);

  let listener: OwnListener | null = null;
  let { certificate } = data;
  const mine: FrontEndCalls = {
    ...forwarder.calls,
    serve: () => service.serve(),
    changed: (command) => catalog.apply(command),
    settings: (posted) => void settings.take(receivedConfig(posted)),
    certificate: (pair) => {
      certificate = pair;
      return listener?.useCertificate(pair);
    },
    shardBegan: ({ shard, life, ports }) => shards.began(shard, life, ports),
    shardEnded: async (shard) => {
      shards.ended(shard);
      await yieldToEventLoop(); // lets the failed reads report to the owner before this call returns
    },
    counted: () => recorder.values(),
    flushLog: () => logWriter.flush(),
    leaveToShards: ({ data: left, ms }) => reads.leaveToShards(left, ms),
    warmUp: (wanted) => warmUp(services, service, wanted),
    stopAccepting() {
      service.refuse();
      listener?.stopAccepting();
    },
    drain: async (ms) =>
      void (await Promise.all([service.drain(ms, listener ?? NO_CONNECTIONS), forwarder.drain(ms)])),
    close: onClose,
  };
  Object.assign(calls, mine);

  const { handle: handler, malformed } = service;
  const { host, port: wanted } = config;
  const exchanges = { limits, memory: services.bodies, unsent: services.unsent };
  const given = { ...exchanges, host, port: wanted, isShared: true, certificate, handler, malformed };
  listener = await listen(data.transport, given);
  if (certificate !== null && certificate !== given.certificate) await listener.useCertificate(certificate);
  owner.tell("listening", listener.port);
  return {
    async close() {
      await listener?.close();
      await logWriter.stop().catch((error: unknown) => log.error({ err: error }, "searches are lost"));
      owner.tell("lastCounted", recorder.values());
      closeModels();
      shards.close();
      owner.close(new Error("the front-end ends"));
    },
    cut() {
      listener?.cut();
      owner.tell("lastCounted", recorder.values());
      void logWriter.flush();
    },
  };
}
