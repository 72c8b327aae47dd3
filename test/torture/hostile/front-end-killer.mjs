// Preloaded (node --import) into the attacked server. If a file named after a way to end appears in
// SKEIN_TEST_KILL_DIR, the first front-end's thread ends that way. No product code depends on this module.
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, workerData } from "node:worker_threads";

const folder = process.env.SKEIN_TEST_KILL_DIR;

if (!isMainThread && folder !== undefined && workerData?.place === 0) {
  const [exits, outOfHeap] = ["front-end exits", "front-end out of heap"].map((way) => join(folder, way));
  setInterval(() => {
    if (existsSync(exits)) {
      rmSync(exits);
      process.exit(1);
    }
    if (existsSync(outOfHeap)) {
      rmSync(outOfHeap);
      for (const kept = []; ; ) kept.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
    }
  }, 10).unref();
}
