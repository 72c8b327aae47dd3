// The shared memory through which threads follow an index's state: each thread has a place in it, and no
// generation is released while a thread holds it.
import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import { HeldGenerations } from "../../../../../server/fleet/reads/held-generations.js";
import { IndexStanding } from "../../../../../server/fleet/reads/index-standing.js";

test("the oldest generation is the lowest that any thread holds", () => {
  const standing = IndexStanding.make(3, 5);
  const [one, other] = [new HeldGenerations(standing, 1), new HeldGenerations(standing, 2)];
  expect([one.hold(), standing.oldest]).toEqual([5, 5]);
  standing.published = 7;
  expect([other.hold(), one.hold(), one.hold(), standing.oldest]).toEqual([7, 7, 7, 5]);
  one.release(5);
  expect(standing.oldest).toBe(7);
  standing.published = 2 ** 40;
  one.release(7);
  expect([one.oldest, other.oldest]).toEqual([7, 7]);
  standing.clear(2);
  one.release(7);
  expect(standing.oldest).toBe(2 ** 40);
});

test("uses are counted per thread, and the owner's are not uses elsewhere", () => {
  const standing = IndexStanding.make(3, 0);
  standing.beginUse(0);
  expect(standing.isUsedElsewhere).toBe(false);
  standing.beginUse(2);
  standing.beginUse(2);
  standing.endUse(2);
  expect([standing.isUsedElsewhere, standing.endedElsewhere]).toEqual([true, 1]);
  standing.clear(2);
  expect([standing.isUsedElsewhere, standing.endedElsewhere]).toEqual([false, 1]);
});

test("document counts and sequence numbers may be large", () => {
  const standing = new IndexStanding(IndexStanding.make(1, 3).shared);
  standing.documents = 4_000_000_000;
  standing.lastSeq = 2 ** 50;
  expect([standing.documents, standing.lastSeq, standing.published]).toEqual([4_000_000_000, 2 ** 50, 3]);
});

/** Length, in 64-bit words, of a memory with `places` places for threads. */
function wordsOf(places: number): number {
  return new BigInt64Array(IndexStanding.make(places, 0).shared).length;
}

/**
 * Holds and releases generations until told to stop. Reports how often it held a generation and how often a
 * held generation was found released.
 */
const HOLDER = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { shared, seen, place, at } = workerData;
  const longs = new BigInt64Array(shared);
  const given = new BigInt64Array(seen);
  let holds = 0;
  let wrong = 0;
  while (Atomics.load(given, 1) === 0n) {
    let generation = 0n;
    do {
      generation = Atomics.load(longs, 0);
      Atomics.store(longs, at, generation);
    } while (Atomics.load(longs, 0) !== generation);
    for (let i = 0; i < 50; i++) if (Atomics.load(given, 0) > generation) wrong++;
    Atomics.store(longs, at, -1n);
    Atomics.store(given, 1 + place, BigInt(++holds));
  }
  parentPort.postMessage({ holds, wrong });
`;

test("no generation is released while another thread is taking hold of it", async () => {
  const standing = IndexStanding.make(3, 0);
  /**
   * Contains the oldest unreleased generation, whether the test is over, and each other thread's number of
   * holds.
   */
  const seen = new SharedArrayBuffer(32);
  const given = new BigInt64Array(seen);
  const { shared } = standing;
  const workers = [1, 2].map((place) => {
    const at = wordsOf(place); // offset of this place, after all lower ones
    return new Worker(HOLDER, { eval: true, workerData: { shared, seen, place, at } });
  });
  const told = workers.map(
    (worker) =>
      new Promise<{ holds: number; wrong: number }>((resolve, reject) => {
        worker.once("message", resolve);
        worker.once("error", reject);
      }),
  );
  const areAtIt = () => [2, 3].every((of) => Atomics.load(given, of) > 0n);
  for (let generation = 1; generation <= 300_000 || !areAtIt(); generation++) {
    standing.published = generation;
    Atomics.store(given, 0, BigInt(standing.oldest));
    if (generation % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  Atomics.store(given, 1, 1n);
  for (const { holds, wrong } of await Promise.all(told)) {
    expect(holds).toBeGreaterThan(0);
    expect(wrong).toBe(0);
  }
});
