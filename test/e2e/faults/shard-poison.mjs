// Preloaded into the server process of poison.test.ts (node --import): the search kernel fails when its
// program contains one of the words below, as it would with a bug in the engine. No product code depends on
// this module.
import { isMainThread, workerData } from "node:worker_threads";

const ENDS = {
  poisonexit: () => process.exit(1),
  // Blocks the thread without using the processor. The thread tests cover a busy loop.
  poisonhang: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  poisontrap: () => {
    throw new WebAssembly.RuntimeError("unreachable");
  },
  poisonheap: () => {
    for (const held = []; ; ) held.push(new Array(100_000).fill({}));
  },
};

/**
 * True if this thread answers HTTP: the main thread, or a front-end thread, whose workerData has a `place`.
 */
const answersHttp = isMainThread || workerData?.place !== undefined;
/** A thread that answers HTTP survives only a trap, so in these threads the other poisons have no effect. */
const ends = answersHttp ? { poisontrap: ENDS.poisontrap } : ENDS;

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(RealInstance, [module, imports]) {
    const { exports } = new RealInstance(module, imports);
    const search = (snapshot, program, bytes) => {
      const text = Buffer.from(imports.env.memory.buffer, program, bytes).toString("latin1");
      for (const [word, end] of Object.entries(ends)) if (text.includes(word)) end();
      return exports.search(snapshot, program, bytes);
    };
    return { exports: { ...exports, search } };
  },
});
