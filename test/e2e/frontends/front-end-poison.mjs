// Preloaded into a server's process (node --import): in a front-end thread, the search kernel fails when its
// program contains one of the words below, as it would with a bug in the engine or in the code around it. No
// product code depends on this module.
import { workerData } from "node:worker_threads";

/** Large enough that a heap of a few hundred MiB is full after a few dozen queries. */
const HELD_BYTES = 8 * 1024 * 1024;
const BYTES_PER_ELEMENT = 8;
const held = [];
const hold = () => held.push(new Array(HELD_BYTES / BYTES_PER_ELEMENT).fill({}));

const POISONS = {
  /** Hangs. */
  poisoncircle() {
    for (;;);
  },
  /** Fills the heap without end, in one turn of the event loop. */
  poisonheap() {
    for (;;) hold();
  },
  /** Fills the heap a little with each query. */
  poisonleak: hold,
  /** Fails where nobody catches the error. */
  poisonthrow() {
    queueMicrotask(() => {
      throw new Error("poisonthrow");
    });
  },
};

if (workerData?.place !== undefined) {
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(RealInstance, [module, imports]) {
      const { exports } = new RealInstance(module, imports);
      const search = (snapshot, program, bytes) => {
        const text = Buffer.from(imports.env.memory.buffer, program, bytes).toString("latin1");
        for (const [word, fail] of Object.entries(POISONS)) if (text.includes(word)) fail();
        return exports.search(snapshot, program, bytes);
      };
      return { exports: { ...exports, search } };
    },
  });
}
