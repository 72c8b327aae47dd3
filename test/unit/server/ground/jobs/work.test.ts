// Work that may wait: it runs synchronously until it waits, and ends in the same way whether or not it waits.
import { describe, expect, it } from "vitest";
import { run, settled, together, type Work } from "../../../../../server/ground/jobs/work.js";

const later = <T>(value: T): Promise<T> => new Promise((resolve) => setImmediate(resolve, value));
const failing = (): Promise<never> => later(0).then(() => Promise.reject(new Error("late")));

function fails(): Work<never> {
  throw new Error("at once");
}

/** Calls itself `depth` times, and waits for each value on its way back. */
function* nested(depth: number, value: (depth: number) => number | Promise<number>): Work<number> {
  if (depth === 0) return 0;
  const sum = yield* nested(depth - 1, value);
  return sum + (yield* settled(value(depth)));
}

describe("run", () => {
  it("returns the value itself if nothing waits", () => {
    expect(run(settled(7))).toBe(7);
    expect(run(nested(500, () => 1))).toBe(500);
  });

  it("returns a promise if something waits, and goes on with the promises' values", async () => {
    const promise = run(nested(200, (depth) => (depth % 3 === 0 ? later(1) : 1)));
    expect(promise).toBeInstanceOf(Promise);
    expect(await promise).toBe(200);
  });

  it("throws what the work throws before it waits, and rejects with it afterwards", async () => {
    const work = function* (value: number | Promise<number>): Work<number> {
      yield* settled(value);
      return yield* fails();
    };
    expect(() => run(work(1))).toThrow("at once");
    await expect(run(work(later(1)))).rejects.toThrow("at once");
  });

  it("throws a promise's reason into the work, which may go on", async () => {
    const work = function* (): Work<string> {
      try {
        return yield* settled(failing());
      } catch (error) {
        return `${(error as Error).message}, ${yield* settled(later("caught"))}`;
      }
    };
    expect(await run(work())).toBe("late, caught");
    await expect(run(settled(failing()))).rejects.toThrow("late");
  });

  it("runs finally blocks once, after whatever ends the work", async () => {
    let released = 0;
    const work = function* (value: number | Promise<number>): Work<number> {
      try {
        return yield* settled(value);
      } finally {
        released++;
      }
    };
    expect([run(work(1)), released]).toEqual([1, 1]);
    const waiting = run(work(later(2)));
    expect(released).toBe(1);
    expect([await waiting, released]).toEqual([2, 2]);
    await expect(run(work(failing()))).rejects.toThrow("late");
    expect(released).toBe(3);
  });
});

describe("together", () => {
  it("returns all results in order, as values if nothing waits", async () => {
    expect(run(together(settled(1), settled("b")))).toEqual([1, "b"]);
    expect(await run(together(settled(later(1)), settled("b"), settled(later(3))))).toEqual([1, "b", 3]);
    expect(run(together())).toEqual([]);
  });

  it("begins everything before it waits", async () => {
    const begun: number[] = [];
    const work = function* (number: number): Work<number> {
      begun.push(number);
      return yield* settled(later(number));
    };
    const all = run(together(work(1), work(2), work(3)));
    expect(begun).toEqual([1, 2, 3]);
    expect(await all).toEqual([1, 2, 3]);
  });

  it("throws the first error, without leaving a rejection unhandled", async () => {
    const work = function* (): Work<number> {
      yield* fails();
      return yield* settled(1);
    };
    await expect(run(together(settled(failing()), work(), settled(failing())))).rejects.toThrow("at once");
    await later(0);
  });
});
