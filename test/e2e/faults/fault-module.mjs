// Preloaded (node --import) into the processes that fault-world.ts starts: arms every fault point in its
// thread. Each point passed is appended to SKEIN_TEST_FAULT_DIR/passed. A file <point>/<turn>-<what> in that
// folder decides what happens at the next pass: skip, throw, kill or stop. No product code depends on this
// module.
import { appendFileSync, existsSync, readdirSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

const folder = process.env.SKEIN_TEST_FAULT_DIR;
const LOOK_MS = 5;

function told(point) {
  const turns = join(folder, point);
  for (;;) {
    try {
      const [turn] = readdirSync(turns).sort();
      if (turn === undefined) return "skip";
      unlinkSync(join(turns, turn)); // if two threads compete, only one succeeds; with rmSync both would
      return turn.split("-")[1];
    } catch (error) {
      // no action is armed, or another thread took it first
      if (error.code !== "ENOENT") throw error;
      if (error.path === turns) return "skip";
    }
  }
}

async function failures() {
  const { StoreWriteError } = await import("../../../dist/shards/storage/store.js");
  const { SkeinError } = await import("../../../dist/server/ground/errors.js");
  return (point) => {
    if (!isMainThread || point.startsWith("catalog.")) return new StoreWriteError(`fault at ${point}`);
    if (/^(backup|restore|reshard|audit|secrets)\./.test(point) && point !== "backup.after-take")
      return Object.assign(new Error(`ENOSPC: fault at ${point}`), { code: "ENOSPC" });
    return new SkeinError("SK-SYS-503", `fault at ${point}`, { retryAfter: 1 });
  };
}

/**
 * Makes the server begin to stop while the thread is at this point. In a shard's thread, waits until the main
 * thread has received the signal.
 */
function stop(stopping) {
  if (isMainThread) {
    process.emit("SIGTERM", "SIGTERM");
    return;
  }
  process.kill(process.pid, "SIGTERM");
  while (!existsSync(stopping)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
}

if (folder !== undefined) {
  const stopping = join(folder, "stopping");
  if (isMainThread) {
    rmSync(stopping, { force: true });
    process.once("SIGTERM", () => writeFileSync(stopping, ""));
  }
  const failure = await failures();
  const server = await import("../../../dist/server/ground/fault.js");
  const shards = await import("../../../dist/shards/fault.js");
  const [points, armFault] = isMainThread
    ? [server.SERVER_FAULT_POINTS, server.armFault]
    : [shards.SHARD_FAULT_POINTS, shards.armShardFault];
  for (const point of points) {
    armFault(point, () => {
      appendFileSync(join(folder, "passed"), `${point}\n`);
      const what = told(point);
      if (what === "throw") throw failure(point);
      if (what === "stop") return stop(stopping);
      if (what !== "kill") return;
      process.kill(process.pid, "SIGKILL");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    });
  }
}
