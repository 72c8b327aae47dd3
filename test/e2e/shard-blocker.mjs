// Preloaded into the server process of metrics.test.ts (node --import): a shard's thread stands still for as many
// milliseconds as a file with its number says that appears in SKEIN_TEST_BLOCK_DIR. The product knows nothing of it.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";

const folder = process.env.SKEIN_TEST_BLOCK_DIR;
const data = Array.isArray(workerData) ? workerData.find((part) => part?.shard !== undefined) : workerData;

if (!isMainThread && folder !== undefined && data?.shard !== undefined) {
  const order = join(folder, String(data.shard));
  setInterval(() => {
    let ms;
    try {
      ms = Number(readFileSync(order, "utf8"));
      rmSync(order);
    } catch (error) {
      if (error.code === "ENOENT") return;
      throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  }, 10).unref();
}
