// Long work is done in slices: one per event loop iteration, fewer while queries are answered, but never
// none.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Slices } from "../../../../shards/index/slices.js";

const SLICE_MS = 2;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setImmediate", "setTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs endless work and returns the start times of its slices within the first `ms` milliseconds. */
async function slicesIn(
  ms: number,
  queries: Int32Array,
  change?: { atMs: number; queries: number },
): Promise<number[]> {
  const slices = new Slices(SLICE_MS, queries);
  const startedMs = performance.now();
  const begun: number[] = [];
  let ended = false;
  const work = (async () => {
    while (!ended) {
      await slices.next();
      begun.push(performance.now() - startedMs);
      await new Promise((resolve) => setTimeout(resolve, SLICE_MS));
    }
  })();
  for (let at = 0; at < ms; at++) {
    if (at === change?.atMs) queries[0] = change.queries;
    await vi.advanceTimersByTimeAsync(1);
  }
  ended = true;
  queries[0] = 0;
  await vi.advanceTimersByTimeAsync(100);
  await work;
  return begun.filter((beginMs) => beginMs < ms);
}

test("without queries, slices follow each other directly", async () => {
  expect((await slicesIn(40, new Int32Array(1))).length).toBeGreaterThan(10);
});

test("while queries run, slices wait but still make progress", async () => {
  const begun = await slicesIn(40, Int32Array.of(1));
  const gaps = begun.slice(1).map((beginMs, i) => beginMs - begun[i]!);
  expect(begun[0]).toBeLessThan(SLICE_MS);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(8);
  expect(Math.max(...gaps)).toBeLessThan(12);
});

test("a waiting slice begins when the last query ends", async () => {
  const begun = await slicesIn(8, Int32Array.of(2), { atMs: 4, queries: 0 });
  expect(begun[1]).toBeGreaterThanOrEqual(4);
  expect(begun[1]).toBeLessThanOrEqual(6);
});
