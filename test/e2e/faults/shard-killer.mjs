// Preloaded (node --import) into the servers of tests that kill shards, such as shard-death.test.ts. If a
// file named after a shard's number appears in SKEIN_TEST_KILL_DIR, that shard's thread exits as in a crash.
// The last thing it does is to remove the file. No product code depends on this module.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";

const folder = process.env.SKEIN_TEST_KILL_DIR;
const data = Array.isArray(workerData) ? workerData.find((part) => part?.shard !== undefined) : workerData;

if (!isMainThread && folder !== undefined && data?.shard !== undefined) {
  const order = join(folder, String(data.shard));
  setInterval(() => {
    if (!existsSync(order)) return;
    process.once("exit", () => rmSync(order));
    process.exit(1);
  }, 10).unref();
}
