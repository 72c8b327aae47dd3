// Amounts shared by several threads: sums, limits for all threads together, and the end of a thread.
import { describe, expect, test } from "vitest";
import { QueryLoad } from "../../../../server/fleet/threads/query-load.js";
import { SharedAmount } from "../../../../server/http/shared-amount.js";
import { BodyMemory } from "../../../../server/http/transport/body-memory.js";
import { UnsentBytes } from "../../../../server/http/transport/unsent.js";
import { effort } from "../../../effort.js";
import { endlessThread, inThreads } from "../access/tenants/together.js";

const GIB = 2 ** 30;

/** Returns the same amount as seen by each of three threads. */
function amounts(unit?: number): [SharedAmount, SharedAmount, SharedAmount] {
  const memory = SharedAmount.memory(3);
  return [0, 1, 2].map((thread) => new SharedAmount(memory, thread, unit)) as ReturnType<typeof amounts>;
}

describe("an amount", () => {
  test("is the sum of all parts, without the part of a thread that has ended", () => {
    const [a, b, c] = amounts();
    a.add(5);
    b.add(7);
    b.add(-2);
    c.add(1);
    expect([a.total, b.total, c.total]).toEqual([11, 11, 11]);
    expect([a.own, b.own, c.own]).toEqual([5, 5, 1]);
    a.forget(1);
    expect([a.total, c.total]).toEqual([6, 6]);
  });

  test("with a unit is exact in a thread's own part, and rounded up in the others'", () => {
    const [a, b] = amounts(1024);
    a.add(5 * GIB + 1);
    b.add(1);
    expect(a.total).toBe(5 * GIB + 1 + 1024);
    expect(b.total).toBe(5 * GIB + 1024 + 1);
    a.add(-5 * GIB - 1);
    expect([a.total, b.total]).toEqual([1024, 1]);
  });

  test("never exceeds a limit checked after adding", async () => {
    const given = { memory: SharedAmount.memory(4), most: 3 };
    const kept = await inThreads<number>(
      4,
      "server/http/shared-amount.js",
      given,
      `const amount = new built.SharedAmount(given.memory, thread);
       for (let i = 0; i < 20000; i++) {
         amount.add(1);
         if (amount.total <= given.most && i > 10000) return 1;
         amount.add(-1);
       }
       return 0;`,
    );
    const sum = kept.reduce((all, each) => all + each, 0);
    expect(sum).toBeLessThanOrEqual(given.most);
    expect(new SharedAmount(given.memory, 0).total).toBeLessThanOrEqual(given.most);
  });
});

describe("the byte limits", () => {
  test("leave half of the memory for bodies to the other tenants", () => {
    const memory = new BodyMemory(1_000, 500, amounts()[0]);
    expect(memory.reserve(400, 7)).toBe(true);
    expect(memory.reserve(101, 7)).toBe(false);
    expect(memory.reserve(500, 8)).toBe(true);
    memory.release(400, 7);
    expect(memory.reserve(501, 7)).toBe(false);
    expect(memory.reserve(500, 7)).toBe(true);
    expect(memory.reserve(1, 9)).toBe(false);
  });

  test("let one tenant send the largest body", () => {
    const memory = new BodyMemory(1_000, 800, amounts()[0]);
    expect(memory.reserve(800, 7)).toBe(true);
    expect(memory.reserve(1, 7)).toBe(false);
    expect(memory.reserve(200, 8)).toBe(true);
  });

  test("apply to all threads together", () => {
    const [a, b] = amounts(1024);
    const first = new BodyMemory(10_240, 0, a);
    const second = new BodyMemory(10_240, 0, b);
    expect(first.reserve(6_000, null)).toBe(true);
    expect(second.reserve(6_000, null)).toBe(false);
    expect(second.reserve(4_096, null)).toBe(true);
    expect(first.reserve(145, null)).toBe(false);
    first.release(6_000, null);
    expect(second.reserve(6_144, null)).toBe(true);
    expect([a.own, b.own]).toEqual([0, 10_240]);
    const [c, d] = amounts(1024).map((amount) => new UnsentBytes(2_048, amount)) as [
      UnsentBytes,
      UnsentBytes,
    ];
    c.add(2_048);
    expect([c.full, d.full]).toEqual([false, false]);
    d.add(1);
    expect([c.full, d.full, c.bytes]).toEqual([true, true, 3_072]);
    d.remove(1);
    expect([c.full, d.full]).toEqual([false, false]);
  });
});

test("the shards know the number of queries in all living threads", () => {
  const memory = QueryLoad.memory(3);
  const [a, b, c] = [0, 1, 2].map((thread) => new QueryLoad(memory, thread)) as [
    QueryLoad,
    QueryLoad,
    QueryLoad,
  ];
  for (const load of [a, b, b, b, c]) load.begin();
  b.end();
  expect(Atomics.load(a.shared, 0)).toBe(4);
  a.forget(1);
  a.forget(1);
  expect(Atomics.load(a.shared, 0)).toBe(2);
  a.end();
  c.end();
  expect(Atomics.load(a.shared, 0)).toBe(0);
});

test("a thread terminated anywhere leaves no query", async () => {
  const memory = QueryLoad.memory(2);
  const owner = new QueryLoad(memory, 0);
  for (let round = 0; round < effort(20, 300); round++) {
    const worker = await endlessThread(
      "server/fleet/threads/query-load.js",
      memory,
      `const load = new built.QueryLoad(given, 1);
       for (;;) { load.begin(); load.begin(); load.end(); load.end(); }`,
    );
    for (let i = 0; i < round * 500; i++) {
      owner.begin();
      owner.end();
    }
    await worker.terminate();
    owner.forget(1);
    expect(Atomics.load(memory, 0)).toBe(0);
  }
});
