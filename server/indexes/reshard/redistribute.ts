// Moves every document to the shard that owns it under a new number of shards. Copies the indexes one by one
// from the old databases to new ones, in the order of sequence numbers, which do not change. Runs at startup,
// before any request is served. The new databases are not used until the catalog has the new number, so the
// move may be interrupted at any point and continues at a later start.
import { join } from "node:path";
import { type EngineKind, loadEngine } from "../../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../../engine-wasm/host/instance/engine-module.js";
import { encodeClose, encodeDrop, encodePing, encodeShutdown } from "../../../shards/protocol/control.js";
import { decodeEmptyReply } from "../../../shards/protocol/reply.js";
import { hasDatabase } from "../../../shards/storage/level-reader/level-files.js";
import { vectorPolicy } from "../../catalog/definition/embedder-sources.js";
import type { IndexRecord } from "../../catalog/records/index-record.js";
import { dataNumbers, Locations, startsAtHome } from "../../catalog/schema/placement.js";
import { resolveDoubts } from "../../fleet/owner/in-doubt.js";
import { IndexMessages } from "../../fleet/owner/index-messages.js";
import { ShardPool } from "../../fleet/threads/shard-pool.js";
import { fault } from "../../ground/fault.js";
import type { Limits } from "../../ground/limits.js";
import type { Logger } from "../../ground/log.js";
import { DocumentStream } from "./document-stream.js";
import { beginPlan, newShards, shardsInForce, writePlan } from "./folders.js";
import { each, moveIndex } from "./move-index.js";
import type { AskShard } from "./new-part.js";
import { ReshardProgress } from "./progress.js";

export interface RedistributeOptions {
  readonly dataDir: string;
  readonly from: number;
  readonly to: number;
  readonly indexes: readonly IndexRecord[];
  readonly limits: Limits;
  readonly engine: EngineKind;
  readonly log: Logger;
}

/**
 * Fills the new databases, which are complete and durable when this resolves. Returns the uids of the indexes
 * that have a home there.
 */
export async function redistribute(options: RedistributeOptions): Promise<ReadonlySet<number>> {
  const { dataDir, from, to, indexes, log } = options;
  let plan = await beginPlan(dataDir, from, to);
  if (plan.complete) return new Set(plan.home);
  if (indexes.length > 0) checkSource(shardsInForce(dataDir), from);
  const engine = await loadEngine(options.engine);
  const source = pool(options, engine, shardsInForce(dataDir), from);
  const target = pool(options, engine, newShards(dataDir), to);
  const pools = [source, target];
  let closed: PromiseSettledResult<void>[] = [];
  try {
    for (const one of pools) await one.start();
    await resolveDoubts(indexes, messagesTo(source), log);
    const done = new Set(plan.done);
    const progress = new ReshardProgress(log, from, to);
    const [sourceOf, targetOf] = [new Locations(from), new Locations(to)];
    const counts = new Map<number, number>();
    for (const record of indexes) {
      const { uid } = record;
      const documents = await new DocumentStream(askOf(source), sourceOf.of(record)).open();
      counts.set(uid, documents);
      progress.expect(documents, done.has(uid));
    }
    progress.begin();
    for (const record of indexes) {
      const { uid } = record;
      if (done.has(uid)) continue;
      const isHome = startsAtHome(to, options.limits) && counts.get(uid)! <= options.limits.homeDocumentsMax;
      const location = isHome ? targetOf.home(uid) : targetOf.spread(uid);
      await dropEarlier(target, uid);
      await moveIndex({
        record,
        workbench: engine.workbench(),
        source: { ask: askOf(source), location: sourceOf.of(record) },
        target: { ask: askOf(target), location },
        onMoved: () => progress.moved(1),
      });
      await each(askOf(target), location.places, () => encodeClose(location.data), decodeEmptyReply);
      const home = isHome ? [...plan.home, uid] : plan.home;
      plan = { ...plan, done: [...plan.done, uid], home };
      await writePlan(dataDir, plan);
      fault("reshard.after-index");
      progress.finished(record.name);
    }
    progress.end();
  } finally {
    closed = await Promise.allSettled(pools.map((one) => one.close(encodeShutdown)));
  }
  for (const end of closed) if (end.status === "rejected") throw end.reason;
  await writePlan(dataDir, { ...plan, complete: true });
  fault("reshard.after-complete");
  return new Set(plan.home);
}

/** Drops documents of the index that an interrupted earlier start has already copied. */
async function dropEarlier(target: ShardPool, uid: number): Promise<void> {
  const { all } = new Locations(target.count);
  for (const data of dataNumbers({ uid }))
    await each(askOf(target), all, () => encodeDrop(data), decodeEmptyReply);
}

function messagesTo(pool: ShardPool): IndexMessages {
  return new IndexMessages({
    locations: new Locations(pool.count),
    ask: askOf(pool),
    policyOf: (record) => vectorPolicy(record, 0),
    onDamage: (_shard, error) => {
      throw error;
    },
  });
}

function askOf(pool: ShardPool): AskShard {
  return (shard, request) => pool.ask(shard, request);
}

/**
 * Throws if an old shard's database is missing. Opening it would create an empty database, and its documents
 * would be lost without notice.
 */
function checkSource(shardsDir: string, shards: number): void {
  for (let shard = 0; shard < shards; shard++) {
    const location = join(shardsDir, String(shard));
    if (!hasDatabase(location)) throw new Error(`the database at ${location} is missing`);
  }
}

function pool(
  { limits, log }: RedistributeOptions,
  engine: EngineModule,
  shardsDir: string,
  shards: number,
): ShardPool {
  const largeWork = new Int32Array(new SharedArrayBuffer(shards * Int32Array.BYTES_PER_ELEMENT));
  return new ShardPool({
    shards,
    workerData: (shard, beats) => ({
      shard,
      beats,
      queries: new Int32Array(1),
      largeWork,
      shardsDir,
      durability: "fsync",
      documentBytesMax: limits.documentBytesMax,
      engine: { ...engine.parts, memoryBytesMax: limits.engineBytesMax },
    }),
    ping: encodePing,
    checkReply: decodeEmptyReply,
    limits,
    log,
    // A restarted thread would not have the index open. Its requests fail instead, and the next start
    // continues.
    recover: async () => undefined,
  });
}
