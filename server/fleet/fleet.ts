// Assembles the shards and their indexes: the threads, the open indexes, and what is built on them (reads,
// writes, backup snapshots, health). Keeps no state of its own. Callers get only the parts they need, never
// the whole Fleet.
import { join } from "node:path";
import type { EngineModule } from "../../engine-wasm/host/instance/engine-module.js";
import type { Workbench } from "../../engine-wasm/host/instance/workbench.js";
import { encodePing, encodeShutdown } from "../../shards/protocol/control.js";
import type { ShardError } from "../../shards/protocol/errors.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import { Locations } from "../catalog/schema/placement.js";
import type { Jobs } from "../ground/jobs/jobs.js";
import type { Limits } from "../ground/limits.js";
import type { Logger } from "../ground/log.js";
import type { Recorder } from "../ground/metrics/recorder.js";
import type { WordMemories } from "../question/words/word-memory.js";
import { OpenIndexes } from "./owner/open-indexes.js";
import type { OnReindexed } from "./owner/rebuild.js";
import { ShardHealth } from "./owner/shard-health.js";
import { ShardMoments } from "./owner/shard-moments.js";
import { Writes } from "./owner/writes.js";
import type { AnswerCache } from "./reads/answer-cache.js";
import { Reads } from "./reads/reads.js";
import { ThreadReader } from "./reads/thread-reader.js";
import { readersOf } from "./threads/borrowed-memories.js";
import { Quarantines } from "./threads/quarantines.js";
import type { QueryLoad } from "./threads/query-load.js";
import { ShardCalls } from "./threads/shard-calls.js";
import { ShardGate } from "./threads/shard-gate.js";
import { type ConnectedShard, type ShardFollowers, ShardPool } from "./threads/shard-pool.js";

export interface FleetOptions {
  readonly dataDir: string;
  readonly shards: number;
  readonly durability: "fsync" | "os";
  readonly engine: EngineModule;
  readonly workbench: Workbench;
  readonly jobs: Jobs;
  readonly answers: AnswerCache;
  readonly words: WordMemories;
  /** Counts the queries in progress on this thread. The shards see the count. */
  readonly queries: QueryLoad;
  readonly limits: Limits;
  readonly log: Logger;
  readonly recorder: Recorder;
  /** Number of threads that may read indexes, including this one. */
  readonly threads: number;
  /** The other threads that read the shards. */
  readonly followers?: ShardFollowers;
  /** `onOpened` is called after an index has been opened, `onWritten` after its documents have changed. */
  readonly onOpened?: (uid: number) => void;
  readonly onWritten?: (uid: number) => void;
  readonly onReindexed?: OnReindexed;
}

export interface Fleet {
  readonly indexes: OpenIndexes;
  readonly reads: Reads;
  readonly writes: Writes;
  readonly calls: ShardCalls;
  /** Gives other threads access to the shards. */
  readonly access: ShardAccess;
  readonly moments: ShardMoments;
  readonly health: ShardHealth;
  /**
   * Waits for running requests except reads, then closes the shards' databases and ends their threads.
   * Terminates a thread that needs too long. Rejects if a shard did not close in good order.
   */
  stop(): Promise<void>;
}

/** What another thread needs to read from the shards. */
export interface ShardAccess {
  /** Number of shards. */
  readonly shards: number;
  readonly queries: QueryLoad;
  readonly gate: ShardGate;
  readonly quarantines: Quarantines;
  /** See ShardPool.connect. */
  connect(shard: number): ConnectedShard | null;
}

/** Time (ms) that a shard has to close its indexes and its database. */
const CLOSE_MS_MAX = 12_000;

/** Starts the shards without opening any index. Throws the error of a shard that fails to start. */
export async function openFleet(options: FleetOptions): Promise<Fleet> {
  const { dataDir, shards, durability, engine, workbench, jobs, limits, log, recorder } = options;
  const { threads, queries, followers, onOpened = unheard, onWritten = unheard } = options;
  const { onReindexed = async () => true } = options;
  const gate = new ShardGate(shards, threads);
  const locations = new Locations(shards);
  const largeWork = new Int32Array(new SharedArrayBuffer(shards * Int32Array.BYTES_PER_ELEMENT));
  const pool: ShardPool = new ShardPool({
    shards,
    workerData: (shard, beats) => ({
      shard,
      shardsDir: join(dataDir, "shards"),
      durability,
      documentBytesMax: limits.documentBytesMax,
      engine: { ...engine.parts, memoryBytesMax: limits.engineBytesMax },
      beats,
      queries: queries.shared,
      largeWork,
    }),
    readerOf: readersOf(engine, log),
    ping: encodePing,
    checkReply: decodeEmptyReply,
    limits,
    log,
    recover: (shard, ask) => indexes.recover(shard, ask),
    ...(followers === undefined ? {} : { followers }),
  });
  const indexes = new OpenIndexes({
    locations,
    threads,
    ask: (shard, request) => pool.ask(shard, request),
    jobs,
    limits,
    log,
    recorder,
    answers: options.answers,
    words: options.words,
    onOpened,
    onReindexed,
  });
  const quarantines = new Quarantines(pool, gate, log);
  const onDamage = (shard: number, error: ShardError): void => indexes.onDamage(shard, error);
  const calls = new ShardCalls(pool, onDamage);
  const reads = new Reads({
    indexes,
    threads: new ThreadReader(pool, quarantines, onDamage),
    readers: pool,
    workbench,
    queries,
    oneOfSeveral: false,
    limits,
    meter: recorder.localReads,
  });
  try {
    await pool.start();
  } catch (error) {
    await pool.close(encodeShutdown).catch(() => undefined);
    throw error;
  }
  return {
    indexes,
    reads,
    writes: new Writes(indexes, calls, jobs, log, onWritten),
    calls,
    access: { shards, queries, gate, quarantines, connect: (shard) => pool.connect(shard) },
    moments: new ShardMoments(calls, log),
    health: new ShardHealth(pool, calls, (uid) => indexes.find(uid)?.newest, log),
    async stop() {
      indexes.stop();
      await pool.close(encodeShutdown, CLOSE_MS_MAX);
    },
  };
}

function unheard(): void {}
