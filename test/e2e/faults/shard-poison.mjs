// Preloaded into the server process of poison.test.ts (node --import): the search kernel comes to a
// bad end when its program holds one of the words below, the way a defect of the engine would. The product knows
// nothing of it.
import { isMainThread, workerData } from "node:worker_threads";

const ENDS = {
  poisonexit: () => process.exit(1),
  // The thread is held without work for the processor. The tests of the threads have one that runs in a circle.
  poisonhang: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  poisontrap: () => {
    throw new WebAssembly.RuntimeError("unreachable");
  },
  poisonheap: () => {
    for (const held = []; ; ) held.push(new Array(100_000).fill({}));
  },
};

/** A thread that answers HTTP: the main one, or that of a front-end, which has a place. */
const answersHttp = isMainThread || workerData?.place !== undefined;
/** There, too, a trap is an end that the server survives. */
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
