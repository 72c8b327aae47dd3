// Garbage collections that threads request from V8: by many threads at once, and by an idle thread. Uses the
// built module, because a worker thread cannot load TypeScript.
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { effort } from "../../../effort.js";

const MODULE = new URL("../../../../dist/engine-wasm/host/runtime/discards.js", import.meta.url).href;
const THREADS = 16;
const ROUNDS = effort(2, 8);

/**
 * Starts a thread that reports 1 GiB as discarded and lives long enough for the collection. Resolves with the
 * error that ended the thread, or null.
 */
function discardInThread(): Promise<string | null> {
  const code = `import(${JSON.stringify(MODULE)}).then(({ discardMemory }) => {
    discardMemory(2 ** 30);
    setTimeout(() => undefined, 400);
  });`;
  return new Promise((resolve) => {
    const worker = new Worker(code, { eval: true });
    worker.once("error", (error) => resolve(String(error)));
    worker.once("exit", () => resolve(null));
  });
}

test("threads that first collect garbage at the same moment do not crash each other", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const ends = await Promise.all(Array.from({ length: THREADS }, discardInThread));
    expect(ends.filter((end) => end !== null)).toEqual([]);
  }
});

/**
 * Starts a thread that drops an array of `bytes` bytes. Resolves with true if the array has been collected by
 * the time the thread is idle.
 */
function collectsAtRest(bytes: number): Promise<boolean> {
  const code = `import(${JSON.stringify(MODULE)}).then(({ collectWhenIdle }) => {
    const { parentPort } = require("node:worker_threads");
    parentPort.ref(); // lives until it has answered
    let held = Array.from({ length: ${bytes} / 8 }, (_, i) => i + 0.5);
    const reference = new WeakRef(held);
    held = null;
    collectWhenIdle(() => setImmediate(() => {
      parentPort.postMessage(reference.deref() === undefined);
      process.exit();
    }));
  });`;
  return new Promise((resolve, reject) => {
    const worker = new Worker(code, { eval: true });
    worker.once("error", reject);
    worker.once("message", resolve);
    worker.once("exit", () => reject(new Error("the thread has ended without an answer")));
  });
}

test("an idle thread collects garbage only if it is worthwhile, otherwise it keeps the compiled query code", async () => {
  const collected = [1024, 64 * 1024 * 1024].map(collectsAtRest);
  expect(await Promise.all(collected)).toEqual([false, true]);
});
