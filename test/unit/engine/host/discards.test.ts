// Discards from many threads at once: each asks V8 for a collection of its own. Uses the built module, since a
// worker thread loads JavaScript.
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { effort } from "../../../effort.js";

const MODULE = new URL("../../../../dist/engine-wasm/host/instance/discards.js", import.meta.url).href;
const THREADS = 16;
const ROUNDS = effort(3, 8);

/** Lets go of 1 GiB, then lives until the collection has come. Resolves with the error that ended it, if any. */
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

test("threads that collect for the first time at the same moment do not end each other", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const ends = await Promise.all(Array.from({ length: THREADS }, discardInThread));
    expect(ends.filter((end) => end !== null)).toEqual([]);
  }
});
