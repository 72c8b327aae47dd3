// The Piscina entry of a shard's thread: opens the shard named by workerData with the first message and hands
// messages through. No logic.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { workerData } from "node:worker_threads";
import { move } from "piscina";
import { discardBuffer } from "../engine-wasm/host/discards.js";
import { EngineModule, type EngineParts } from "../engine-wasm/host/engine-module.js";
import { handle } from "./handle.js";
import { SHARD_DAMAGED, ShardError } from "./protocol/errors.js";
import { encodeError } from "./protocol/reply.js";
import { Shard } from "./shard.js";
import { LevelStore } from "./storage/level-store.js";
import { StoreDamagedError } from "./storage/store.js";

/** What the server passes to each shard's thread. */
export interface ShardWorkerData {
  shard: number;
  /** The shard's database is <shardsDir>/<shard>. */
  shardsDir: string;
  durability: "fsync" | "os";
  /** Length of one uninterrupted slice of merging. */
  mergeSliceMs: number;
  documentBytesMax: number;
  engine: EngineParts;
  /** Goes up while the thread turns, so that the server can tell work from hanging. */
  beats: Int32Array;
}

const BEAT_MS = 250;

async function openShard({
  shard,
  shardsDir,
  durability,
  mergeSliceMs,
  documentBytesMax,
  engine,
}: ShardWorkerData): Promise<Shard> {
  const module = new EngineModule(engine);
  const location = join(shardsDir, String(shard));
  await mkdir(location, { recursive: true });
  return Shard.open({
    store: await LevelStore.open(location),
    sync: durability === "fsync",
    mergeSliceMs,
    documentBytesMax,
    engine: () => module.engine(),
    workbench: module.workbench(),
    report: (message, error) => {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      process.stderr.write(`${JSON.stringify({ level: "error", shard, message, detail })}\n`);
    },
  });
}

/** Slices of merging must have an end. */
function checked(data: ShardWorkerData): ShardWorkerData {
  if (data.mergeSliceMs > 0) return data;
  throw new TypeError(`shard worker: mergeSliceMs must be a positive number, not ${data.mergeSliceMs}`);
}

const { beats } = workerData as ShardWorkerData;

/** With every message, and while the thread waits for its disk. */
function beat(): void {
  Atomics.add(beats, 0, 1);
}
setInterval(beat, BEAT_MS).unref();

let opening: Promise<Shard> | null = null;

export default async function answer(message: Uint8Array): Promise<unknown> {
  beat();
  let reply: Uint8Array<ArrayBuffer>;
  try {
    opening ??= openShard(checked(workerData as ShardWorkerData));
    const opened = opening;
    reply = await handle(await opened, message);
  } catch (error) {
    opening = null; // only opening throws; the next message tries again
    reply = encodeError(
      error instanceof StoreDamagedError
        ? new ShardError(SHARD_DAMAGED, error.message, { cause: error })
        : error,
    );
  }
  discardBuffer(message.byteLength);
  return move(reply);
}
