// The cache keeps the same entries as a naive model, never exceeds its bound, and frees dropped entries.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ClockCache } from "../../../../engine-wasm/host/runtime/clock-cache.js";

interface ListedEntry {
  readonly key: number;
  readonly value: number;
  readonly weight: number;
  used: boolean;
}

/**
 * The naive model: a list of entries in eviction order. An entry that has been used gets a second chance:
 * instead of being evicted, it moves to the end.
 */
class ListedCache {
  list: ListedEntry[] = [];
  readonly #weightMax: number;

  constructor(weightMax: number) {
    this.#weightMax = weightMax;
  }

  get weight(): number {
    return this.list.reduce((sum, { weight }) => sum + weight, 0);
  }

  get(key: number): number | undefined {
    const entry = this.list.find((other) => other.key === key);
    if (entry !== undefined) entry.used = true;
    return entry?.value;
  }

  set(key: number, value: number, weight: number): void {
    this.delete(key);
    if (weight > this.#weightMax) return;
    while (this.weight + weight > this.#weightMax) {
      const [first, ...rest] = this.list as [ListedEntry, ...ListedEntry[]];
      this.list = first.used ? [...rest, { ...first, used: false }] : rest;
    }
    this.list.push({ key, value, weight, used: false });
  }

  delete(key: number): void {
    this.list = this.list.filter((other) => other.key !== key);
  }
}

const key = fc.nat(20);
const step = fc.oneof(
  { weight: 30, arbitrary: fc.record({ do: fc.constant("get" as const), key }) },
  {
    weight: 30,
    arbitrary: fc.record({ do: fc.constant("set" as const), key, value: fc.nat(), weight: fc.nat(12) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("delete" as const), key }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("clear" as const) }) },
);

test("it keeps what a naive list keeps, within its limit", () => {
  fc.assert(
    fc.property(fc.nat(30), fc.array(step, { maxLength: 300 }), (weightMax, steps) => {
      const cache = new ClockCache<number, number>(weightMax);
      const listed = new ListedCache(weightMax);
      for (const next of steps) {
        if (next.do === "get") expect(cache.get(next.key)).toBe(listed.get(next.key));
        else if (next.do === "delete") for (const each of [cache, listed]) each.delete(next.key);
        else if (next.do === "clear") {
          cache.clear();
          listed.list = [];
        } else {
          for (const each of [cache, listed]) each.set(next.key, next.value, next.weight);
          const kept = [...cache.entries()].find(([other]) => other === next.key)?.[1];
          expect(kept).toBe(next.weight <= weightMax ? next.value : undefined);
        }
        expect([...cache.entries()]).toEqual(listed.list.map((entry) => [entry.key, entry.value]));
        expect(listed.weight).toBeLessThanOrEqual(weightMax);
      }
    }),
  );
});

test("an entry used between evictions stays, however many others pass through", () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 20 }), fc.nat(200), (weightMax, passing) => {
      const cache = new ClockCache<string, number>(weightMax);
      cache.set("used", 1);
      for (let i = 0; i < passing; i++) {
        cache.set(`passing ${i}`, i);
        expect(cache.get("used")).toBe(1);
      }
    }),
  );
});

test("entries may be deleted during iteration", () => {
  const cache = new ClockCache<number, number>(10);
  for (let i = 0; i < 10; i++) cache.set(i, i);
  for (const [number] of cache.entries()) if (number % 2 === 0) cache.delete(number);
  expect([...cache.entries()].map(([number]) => number)).toEqual([1, 3, 5, 7, 9]);
});

test("nothing deleted, replaced or cleared stays in memory", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const cache = new ClockCache<number, Uint8Array>(1_000);
  const fill = (): void => {
    for (let i = 0; i < 1_001; i++) cache.set(i, new Uint8Array(0)); // the last one evicts another
  };
  const heldBytes = (work: () => void): number => {
    collect();
    const before = process.memoryUsage().heapUsed;
    work();
    collect();
    return process.memoryUsage().heapUsed - before;
  };
  fill();
  const churn = (): void => {
    for (let i = 0; i < 100_000; i++) cache.set(500, new Uint8Array(0));
  };
  expect(heldBytes(churn)).toBeLessThan(2_000_000);
  cache.clear();
  expect(heldBytes(fill)).toBeGreaterThan(0);
  expect(heldBytes(() => cache.clear())).toBeLessThan(-100_000);
});
