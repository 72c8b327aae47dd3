// Preloaded (node --import) into the servers of tests that block shards (world/blocked-shards.ts). If a file
// named after a shard's number appears in SKEIN_TEST_BLOCK_DIR, that shard's thread renames it to
// <number>.held and blocks until the file is gone. No product code depends on this module.
import { existsSync, renameSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";

const folder = process.env.SKEIN_TEST_BLOCK_DIR;
const data = Array.isArray(workerData) ? workerData.find((part) => part?.shard !== undefined) : workerData;

if (!isMainThread && folder !== undefined && data?.shard !== undefined) {
  const order = join(folder, String(data.shard));
  const held = `${order}.held`;
  const clock = new Int32Array(new SharedArrayBuffer(4));
  setInterval(() => {
    try {
      renameSync(order, held);
    } catch (error) {
      if (error.code === "ENOENT") return;
      throw error;
    }
    while (existsSync(held)) Atomics.wait(clock, 0, 0, 10);
  }, 10).unref();
}
