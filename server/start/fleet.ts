// Creates the shard threads, their indexes, and the counters that this thread shares with the front-ends.
import { loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import { recordReindexed } from "../catalog/reindexed.js";
import { OWNER_PLACE } from "../fleet/reads/index-standing.js";
import type { Logger } from "../ground/log.js";
import { FrontEnds } from "../http/frontends/front-ends.js";
import { engineParts } from "../http/search-parts.js";
import { sharedCounts, threadCounts } from "../http/thread-counts.js";
import { chooseTransport, type HttpTransport } from "../http/transport/listen.js";
import { canShareNodePort } from "../http/transport/node-transport.js";
import type { Config } from "../operate/config/config.js";
import type { DataFloor } from "./data.js";
import { orExplain } from "./ground.js";
import { IndexEvents } from "./index-events.js";
import { startShards } from "./shards.js";

/** Time (ms) that the shards have to close, which includes terminating those that do not. */
const SHARDS_STOP_MS_MAX = 15_000;

/** Starts the shard threads. Opens no index and starts no front-end. */
export async function startFleet(data: DataFloor) {
  const { catalog, config, dataDir, shards, jobs, limits, log, recorder, teardown } = data;
  const transport = await orExplain(() => chooseTransport(config, log));
  const frontEndCount = frontEndsBeside(transport, config, log);
  const frontEnds = new FrontEnds(limits, log);
  const threads = frontEndCount + 1;
  const memories = sharedCounts(threads);
  const counts = threadCounts(memories, OWNER_PLACE, limits);
  const parts = engineParts(await loadEngine(config.engine), limits, recorder);
  const indexEvents = new IndexEvents();
  const { stop, ...fleet } = await startShards({
    ...parts,
    dataDir,
    shards,
    threads,
    followers: frontEnds,
    durability: config.durability,
    jobs,
    queries: counts.queries,
    limits,
    log,
    recorder,
    onOpened: indexEvents.opened,
    onReindexed: (record) => recordReindexed(catalog, record, log),
    onWritten: indexEvents.written,
  });
  teardown.add("close the shards", stop, SHARDS_STOP_MS_MAX);
  return {
    ...data,
    ...parts,
    ...fleet,
    transport,
    frontEnds,
    frontEndCount,
    sharedCounts: memories,
    counts,
    indexEvents,
  };
}

export type FleetFloor = Awaited<ReturnType<typeof startFleet>>;

/** Returns the number of front-end threads. If it is 0, the main thread answers requests itself. */
function frontEndsBeside(transport: HttpTransport, { frontEnds }: Config, log: Logger): number {
  if (frontEnds === 1) return 0;
  if (transport !== "node" || canShareNodePort(process.versions.node)) return frontEnds;
  log.warn({ frontEnds }, "one front-end: node:http cannot share an address before Node 22.12");
  return 0;
}
