// Token buckets in shared memory: what a single thread admits, and how much several threads admit together.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Throttle } from "../../../../../server/access/tenants/throttle.js";
import { effort } from "../../../../effort.js";
import { inThreads } from "./together.js";

const throttleOf = (bucketsMax: number): Throttle => new Throttle(Throttle.table(bucketsMax), 0);

/** The naive model: a map of token buckets, in whole thousandths of a token. */
class NaiveThrottle {
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  take(name: string, perSecond: number, nowMs: number): number {
    const tokens = this.#tokens(name, perSecond, nowMs);
    this.#buckets.set(name, { tokens: tokens >= 1000 ? tokens - 1000 : tokens, at: nowMs });
    return this.#answer(tokens, perSecond);
  }

  wait(name: string, perSecond: number, nowMs: number): number {
    return this.#answer(this.#tokens(name, perSecond, nowMs), perSecond);
  }

  #answer(tokens: number, perSecond: number): number {
    return tokens >= 1000 ? 0 : Math.max(1, Math.ceil((1000 - tokens) / 1000 / perSecond));
  }

  #tokens(name: string, perSecond: number, nowMs: number): number {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) return perSecond * 1000;
    return Math.min(perSecond * 1000, bucket.tokens + (nowMs - bucket.at) * perSecond);
  }
}

describe("the throttle", () => {
  test("admits a second's worth at once, then the rate", () => {
    const throttle = throttleOf(10);
    const taken = (now: number): number => throttle.take("a", 3, now);
    expect([taken(0), taken(0), taken(0)]).toEqual([0, 0, 0]);
    expect(taken(0)).toBe(1);
    expect(taken(200)).toBe(1);
    expect(taken(400)).toBe(0);
  });

  test("makes up for what was charged beyond the bucket", () => {
    const throttle = throttleOf(10);
    expect(throttle.take("a", 3, 0)).toBe(0);
    throttle.charge("a", 5, 3, 0);
    expect(throttle.take("a", 3, 0)).toBe(2);
    expect(throttle.take("a", 3, 1_300)).toBe(1);
    expect(throttle.take("a", 3, 1_400)).toBe(0);
    throttle.charge("never taken", 5, 3, 0);
    expect(throttle.take("never taken", 3, 0)).toBe(0);
  });

  test("admits exactly a second's worth at once at every rate", () => {
    for (const rate of [1, 3, 7, 999, 70_001, 333_333, 1_000_000]) {
      const throttle = throttleOf(1);
      let taken = 0;
      while (throttle.take("a", rate, 1e9) === 0) taken++;
      expect(taken).toBe(rate);
    }
  });

  test("behaves like the naive twin, whichever of several objects over one table is used", () => {
    const step = fc.record({
      name: fc.integer({ min: 0, max: 3 }),
      thread: fc.integer({ min: 0, max: 2 }),
      wait: fc.boolean(),
      afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_500 })),
    });
    const rates = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(
        rates,
        fc.array(step, { maxLength: 120 }),
        fc.integer({ min: 0, max: 2 ** 40 }),
        (rate, steps, fromMs) => {
          const table = Throttle.table(8);
          const threads = [0, 1, 2].map((thread) => new Throttle(table, thread));
          const naive = new NaiveThrottle();
          let now = fromMs;
          for (const { name, thread, wait, afterMs } of steps) {
            now += afterMs;
            const question = wait ? "wait" : "take";
            const asked = [`name ${name}`, rate[name]!, now] as const;
            expect(threads[thread]![question](...asked)).toBe(naive[question](...asked));
          }
        },
      ),
      { numRuns: effort(200, 2_000) },
    );
  });

  test("reassigns the fullest bucket when the table is full", () => {
    const throttle = throttleOf(8);
    const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const [i, name] of names.entries()) throttle.take(name, 1, i);
    expect(names.map((name) => throttle.wait(name, 1, 10))).toEqual(names.map(() => 1));
    expect(throttle.take("late", 1, 10)).toBe(0);
    expect([throttle.wait("a", 1, 10), throttle.wait("late", 1, 10)]).toEqual([0, 1]);
    for (const name of names.slice(1)) expect(throttle.wait(name, 1, 10)).toBe(1);
  });

  test("never loses a bucket that is not full, however many full ones there were", () => {
    const throttle = throttleOf(8);
    throttle.take("busy", 1, 0);
    for (let i = 0; i < 10_000; i++) {
      const now = 2_000 * (i + 1);
      throttle.take("busy", 1, now);
      throttle.take(`passing ${i}`, 1, now);
      expect(throttle.wait("busy", 1, now + 999)).toBe(1);
    }
  });
});

describe("several threads", () => {
  test("together admit one name's allowed number", async () => {
    const given = { table: Throttle.table(100), rate: 1_000, now: 5_000 };
    const taken = await inThreads<number>(
      4,
      "server/access/tenants/throttle.js",
      given,
      `const throttle = new built.Throttle(given.table, thread);
       let taken = 0;
       for (let i = 0; i < given.rate; i++) if (throttle.take("one", given.rate, given.now) === 0) taken++;
       return taken;`,
    );
    expect(taken.reduce((sum, each) => sum + each, 0)).toBe(1_000);
    expect(new Throttle(given.table, 9).take("one", 1_000, 5_000)).toBe(1);
  });

  test("give a new name a single bucket, even if all see it at the same moment", async () => {
    const given = { table: Throttle.table(1_000_000), rate: 3, now: 5_000, names: effort(20_000, 100_000) };
    const taken = await inThreads<Uint8Array>(
      4,
      "server/access/tenants/throttle.js",
      given,
      `const throttle = new built.Throttle(given.table, thread);
       const taken = new Uint8Array(given.names);
       for (let name = 0; name < given.names; name++)
         for (let i = 0; i < given.rate; i++)
           if (throttle.take("name " + name, given.rate, given.now) === 0) taken[name]++;
       return taken;`,
    );
    const wrong: string[] = [];
    for (let name = 0; name < given.names; name++) {
      const sum = taken.reduce((all, each) => all + each[name]!, 0);
      if (sum !== given.rate) wrong.push(`name ${name}: ${sum}`);
    }
    expect(wrong).toEqual([]);
  });
});
