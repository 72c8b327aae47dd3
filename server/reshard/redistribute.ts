// Moves every document to the shard that owns it under another number of shards. It copies from the old databases to new
// ones, index by index, in the order of the sequence numbers, which stay as they are. It runs at a start, before anybody
// is served. The new databases count for nothing until the catalog has the new number, so the work may end anywhere and
// go on at a later start.
import { join } from "node:path";
import { type EngineKind, loadEngine } from "../../engine-wasm/host/instance/engine-files.js";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import {
  decodeOpenReply,
  encodeClose,
  encodeDrop,
  encodeOpen,
  encodePing,
  encodeShutdown,
} from "../../shards/protocol/control.js";
import {
  encodeAdopt,
  encodeStoredModel,
  type MovedDocument,
  movedBytes,
} from "../../shards/protocol/operations/move.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import { decodeModelOfReply, encodeModel, type NumberedModel } from "../../shards/protocol/vectors.js";
import { hasDatabase } from "../../shards/storage/level-reader/level-files.js";
import type { IndexRecord } from "../catalog/types.js";
import { fault } from "../fault.js";
import { shardOf } from "../ingest/prepare.js";
import type { Limits } from "../limits.js";
import type { Logger } from "../log.js";
import { viewOf } from "../schema/index-view.js";
import { vectorPolicy } from "../schema/vector-policy.js";
import { decodeReply } from "../threads/shard-errors.js";
import { type Message, ShardPool } from "../threads/shard-pool.js";
import { DocumentStream } from "./document-stream.js";
import { beginPlan, newShards, shardsInForce, writePlan } from "./folders.js";
import { ReshardProgress } from "./progress.js";

/** The bytes of the documents in one message, of which one segment is made. */
const ADOPT_BYTES = 1024 * 1024;
const ADOPTS_IN_FLIGHT_MAX = 2;

export interface RedistributeOptions {
  readonly dataDir: string;
  readonly from: number;
  readonly to: number;
  readonly indexes: readonly IndexRecord[];
  readonly limits: Limits;
  readonly engine: EngineKind;
  readonly log: Logger;
}

/** When this resolves the new databases are complete and durable. */
export async function redistribute(options: RedistributeOptions): Promise<void> {
  const { dataDir, from, to, indexes, log } = options;
  let plan = await beginPlan(dataDir, from, to);
  if (plan.complete) return;
  if (indexes.length > 0) checkSource(shardsInForce(dataDir), from);
  const engine = await loadEngine(options.engine);
  const source = pool(options, engine, shardsInForce(dataDir), from);
  const target = pool(options, engine, newShards(dataDir), to);
  const pools = [source, target];
  try {
    for (const one of pools) await one.start();
    const done = new Set(plan.done);
    const progress = new ReshardProgress(log, from, to);
    for (const { uid } of indexes) {
      const stream = new DocumentStream(source, uid);
      progress.expect(await stream.open(), done.has(uid));
    }
    progress.begin();
    for (const record of indexes) {
      if (done.has(record.uid)) continue;
      await moveIndex(record, source, target, engine.workbench(), progress);
      plan = { ...plan, done: [...plan.done, record.uid] };
      await writePlan(dataDir, plan);
      fault("reshard.after-index");
      progress.finished(record.name);
    }
    progress.end();
  } finally {
    for (const one of pools) await one.close(encodeShutdown);
  }
  await writePlan(dataDir, { ...plan, complete: true });
  fault("reshard.after-complete");
}

/** Throws when a shard's database is missing. Opening it would make an empty one, and its documents would be lost silently. */
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
  return new ShardPool({
    shards,
    workerData: (shard, beats) => ({
      shard,
      beats,
      queries: new Int32Array(1),
      shardsDir,
      durability: "fsync",
      mergeSliceMs: limits.mergeSliceMsMax,
      documentBytesMax: limits.documentBytesMax,
      engine: { ...engine.parts, memoryBytesMax: limits.engineBytesMax },
    }),
    ping: encodePing,
    checkPing: decodeEmptyReply,
    limits,
    log,
    // A thread that ended has lost its open index. The requests to it fail, and the next start goes on.
    recover: async () => undefined,
  });
}

async function moveIndex(
  record: IndexRecord,
  source: ShardPool,
  target: ShardPool,
  workbench: Workbench,
  progress: ReshardProgress,
): Promise<void> {
  const { uid } = record;
  const everywhere = async <T>(encode: () => Message, decode: (reply: Uint8Array) => T): Promise<void> => {
    const asked = Array.from({ length: target.count }, async (_, shard) =>
      decodeReply(await target.ask(shard, encode()), decode),
    );
    await Promise.all(asked);
  };
  // An earlier start may have left a part of the index.
  await everywhere(() => encodeDrop(uid), decodeEmptyReply);
  const stream = new DocumentStream(source, uid);
  const expected = await stream.open();
  const vectors = vectorPolicy(record, expected);
  const { shardSchema: schema } = viewOf(record);
  await everywhere(() => encodeOpen({ uid, schema, made: false, vectors }), decodeOpenReply);
  // Vectors travel with their documents, and those of a model count only where it is in force.
  const model = vectors.source === "documents" ? await newestModel(source, uid) : null;
  if (model !== null) await everywhere(() => encodeModel(uid, model), decodeEmptyReply);
  const { generation, maxSeq } = stream;
  const homes = Array.from({ length: target.count }, (_, shard) => new Home(target, shard, uid, generation));
  let moved = 0;
  for (let document = await stream.next(); document !== null; document = await stream.next()) {
    await homes[shardOf(workbench.hash(document.id), target.count)]!.add(document);
    moved++;
    progress.moved(1);
  }
  for (const home of homes) await home.flush();
  if (moved !== expected) {
    throw new Error(`the index "${record.name}" counts ${expected} documents but ${moved} are stored`);
  }
  await everywhere(() => encodeAdopt({ uid, generation, maxSeq, documents: [] }), decodeEmptyReply);
  await everywhere(() => encodeClose(uid), decodeEmptyReply);
}

/** The newest embedded model that a shard has; null when none can be read. */
async function newestModel(source: ShardPool, uid: number): Promise<NumberedModel | null> {
  let newest: NumberedModel | null = null;
  for (let shard = 0; shard < source.count; shard++) {
    const model = decodeReply(await source.ask(shard, encodeStoredModel(uid)), decodeModelOfReply);
    if (model !== null && model.number > (newest?.number ?? 0)) newest = model;
  }
  return newest;
}

/** The part of an index in one new shard. It is filled by messages of bounded size, of which a few are under way at a time. */
class Home {
  readonly #target: ShardPool;
  readonly #shard: number;
  readonly #uid: number;
  readonly #generation: number;
  readonly #inFlight: Promise<void>[] = [];
  #documents: MovedDocument[] = [];
  #bytes = 0;

  constructor(target: ShardPool, shard: number, uid: number, generation: number) {
    this.#target = target;
    this.#shard = shard;
    this.#uid = uid;
    this.#generation = generation;
  }

  async add(document: MovedDocument): Promise<void> {
    this.#documents.push(document);
    this.#bytes += movedBytes(document);
    if (this.#bytes >= ADOPT_BYTES) await this.#send(ADOPTS_IN_FLIGHT_MAX);
  }

  /** Resolves when everything is durable. */
  async flush(): Promise<void> {
    await this.#send(1);
  }

  async #send(inFlightMax: number): Promise<void> {
    const documents = this.#documents;
    this.#documents = [];
    this.#bytes = 0;
    const last = documents.at(-1);
    if (last !== undefined) {
      const request = { uid: this.#uid, generation: this.#generation, maxSeq: last.seq, documents };
      const sent = this.#adopt(encodeAdopt(request));
      sent.catch(() => undefined);
      this.#inFlight.push(sent);
    }
    while (this.#inFlight.length >= inFlightMax) await this.#inFlight.shift();
  }

  async #adopt(request: Message): Promise<void> {
    decodeReply(await this.#target.ask(this.#shard, request), decodeEmptyReply);
  }
}
