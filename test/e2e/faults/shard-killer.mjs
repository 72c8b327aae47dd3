// Preloaded into the server process of shard-death.test.ts (node --import): each shard thread ends itself
// when a file with its number appears in SKEIN_TEST_KILL_DIR, as in a crash, and removes the file once it no
// longer answers. The product knows nothing of it.
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
