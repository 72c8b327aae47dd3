// The Piscina entry point of a shard's thread. The first message opens the shard described by workerData.
// Later messages come from Piscina and from the channels for reads and memory loans, and are dispatched here.
// Contains no other logic.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { workerData } from "node:worker_threads";
import { move } from "piscina";
import { EngineModule, type EngineParts } from "../engine-wasm/host/instance/engine-module.js";
import { collectWhenIdle, discardBuffer } from "../engine-wasm/host/runtime/discards.js";
import { handle } from "./handle.js";
import { LargeWork } from "./index/large-work.js";
import { type Lender, MemoryLoans } from "./memory-loans.js";
import { SHARD_DAMAGED, SHARD_UNAVAILABLE, ShardError } from "./protocol/errors.js";
import type { ShardPorts } from "./protocol/memory-loans.js";
import { encodeEmptyReply, encodeError } from "./protocol/reply.js";
import { ReadScheduler } from "./read-scheduler.js";
import { Shard } from "./shard.js";
import { LevelStore } from "./storage/level-store.js";
import { StoreDamagedError } from "./storage/store.js";

/** Data that the server passes to each shard's thread. */
export interface ShardWorkerData {
  shard: number;
  /** The shard's database is <shardsDir>/<shard>. */
  shardsDir: string;
  durability: "fsync" | "os";
  documentBytesMax: number;
  engine: EngineParts;
  /**
   * Incremented while the event loop runs, so that the server can distinguish a busy thread from a hung
   * thread.
   */
  beats: Int32Array;
  /** A single shared number: the count of running queries in the server. */
  queries: Int32Array;
  /** See LargeWork. */
  largeWork: Int32Array;
}

const BEAT_MS = 250;
/** Duration (ms) of one uninterrupted slice of merging. */
const MERGE_SLICE_MS = 2;

async function openShard({
  shard,
  shardsDir,
  durability,
  documentBytesMax,
  engine,
  queries,
  largeWork,
}: ShardWorkerData): Promise<Shard> {
  // Created first, even if later steps fail: this clears the flag left by a thread that died during large
  // work.
  const large = new LargeWork(largeWork, shard);
  const module = new EngineModule(engine, () => reads.meanwhile());
  const location = join(shardsDir, String(shard));
  await mkdir(location, { recursive: true });
  return Shard.open({
    store: await LevelStore.open(location),
    sync: durability === "fsync",
    mergeSliceMs: MERGE_SLICE_MS,
    documentBytesMax,
    queries,
    large,
    engine: () => module.engine(),
    workbench: module.workbench(),
    embedder: (model) => module.embedder(model),
    report: (message, error) => {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`${JSON.stringify({ level: "error", shard, message, detail })}\n`);
    },
  });
}

const { beats } = workerData as ShardWorkerData;

/**
 * Shows the server that the thread is alive. Called for every message, and by a timer, which also runs while
 * the thread waits for the disk.
 */
function beat(): void {
  Atomics.add(beats, 0, 1);
}
setInterval(beat, BEAT_MS).unref();
collectWhenIdle(() => shard?.rest());

let opening: Promise<Shard> | null = null;
let shard: Shard | null = null;
const reads = new ReadScheduler(answerRead);

/** Opens the shard unless it is open. If opening fails, the next message tries again. */
async function opened(): Promise<Shard> {
  opening ??= openShard(workerData as ShardWorkerData);
  try {
    shard = await opening;
    return shard;
  } catch (error) {
    opening = null;
    throw error instanceof StoreDamagedError
      ? new ShardError(SHARD_DAMAGED, error.message, { cause: error })
      : error;
  }
}

function answerRead(request: Uint8Array): Uint8Array | Promise<Uint8Array> {
  beat();
  if (shard !== null) return handle(shard, request);
  return encodeError(new ShardError(SHARD_UNAVAILABLE, "the shard is not open"));
}

function lenderOf(uid: number): Lender {
  if (shard === null) throw new ShardError(SHARD_UNAVAILABLE, "the shard is not open");
  return shard.index(uid);
}

/** Handles a request, or connects another thread through its channel ports. */
export default async function answer(message: Uint8Array | ShardPorts): Promise<unknown> {
  beat();
  if (!(message instanceof Uint8Array)) {
    reads.connect(message.reads);
    new MemoryLoans(message.memories, lenderOf);
    return move(encodeEmptyReply());
  }
  let reply: Uint8Array<ArrayBuffer>;
  try {
    reply = await handle(await opened(), message);
  } catch (error) {
    reply = encodeError(error);
  }
  discardBuffer(message.byteLength);
  return move(reply);
}
