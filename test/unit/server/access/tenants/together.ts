// Runs the same code in several threads that start at the same moment. The code is JavaScript and imports
// built modules, because a thread cannot load TypeScript.
import { Worker } from "node:worker_threads";

const DIST = new URL("../../../../../dist/", import.meta.url);

const START = `
const { parentPort, workerData } = require("node:worker_threads");
const { module, ready, threads, thread, given, source } = workerData;
import(module).then((built) => {
  const work = new Function("built", "given", "thread", source);
  if (Atomics.add(ready, 0, 1) === threads - 1) {
    Atomics.store(ready, 1, 1);
    Atomics.notify(ready, 1);
  } else Atomics.wait(ready, 1, 0);
  parentPort.postMessage(work(built, given, thread));
});
`;

/**
 * Runs `source`, the body of a function with the parameters built, given and thread, in each thread. Resolves
 * with the results.
 */
export async function inThreads<T>(
  threads: number,
  module: string,
  given: unknown,
  source: string,
): Promise<T[]> {
  const ready = new Int32Array(new SharedArrayBuffer(8));
  const url = new URL(module, DIST).href;
  return Promise.all(
    Array.from({ length: threads }, async (_, thread) => {
      const workerData = { module: url, ready, threads, thread, given, source };
      const worker = new Worker(START, { eval: true, workerData });
      const result = await new Promise<T>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      });
      await worker.terminate();
      return result;
    }),
  );
}

/**
 * Starts a thread that runs `source`, the body of a function with the parameters built and given, and never
 * ends on its own.
 */
export async function endlessThread(module: string, given: unknown, source: string): Promise<Worker> {
  const url = new URL(module, DIST).href;
  const worker = new Worker(ENDLESS, { eval: true, workerData: { module: url, given, source } });
  await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  return worker;
}

const ENDLESS = `
const { parentPort, workerData } = require("node:worker_threads");
const { module, given, source } = workerData;
import(module).then((built) => {
  parentPort.postMessage("begins");
  new Function("built", "given", source)(built, given);
});
`;
