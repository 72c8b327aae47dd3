// Preloaded into the server process of restarts.test.ts (node --import): in a front-end thread, the search
// kernel loops forever when its program contains the word, as it would with a bug in the engine. No product
// code depends on this module.
import { workerData } from "node:worker_threads";

if (workerData?.place !== undefined) {
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct(RealInstance, [module, imports]) {
      const { exports } = new RealInstance(module, imports);
      const search = (snapshot, program, bytes) => {
        const text = Buffer.from(imports.env.memory.buffer, program, bytes).toString("latin1");
        while (text.includes("poisoncircle"));
        return exports.search(snapshot, program, bytes);
      };
      return { exports: { ...exports, search } };
    },
  });
}
