// Writes are published in order, regardless of the order in which they complete.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Generations } from "../../../../../server/fleet/owner/generations.js";
import { IndexStanding } from "../../../../../server/fleet/reads/index-standing.js";

function generationsAfter(published: number): Generations {
  return new Generations(IndexStanding.make(1, published));
}

describe("generations", () => {
  it("publishes a write once all writes before it are finished", async () => {
    const generations = generationsAfter(7);
    const [a, b] = [generations.begin(), generations.begin()];
    expect([a, b]).toEqual([8, 9]);
    let visible = false;
    const waiting = generations.visible(b).then(() => {
      visible = true;
    });
    generations.finish(b);
    await Promise.resolve();
    expect([generations.published, visible]).toEqual([7, false]);
    generations.finish(a);
    await waiting;
    expect(generations.published).toBe(9);
    await generations.visible(3);
  });

  it("keeps what reads hold", () => {
    const generations = generationsAfter(1);
    const first = generations.hold();
    expect(generations.hold()).toBe(first);
    generations.finish(generations.begin());
    const second = generations.hold();
    expect([first, second, generations.oldest]).toEqual([1, 2, 1]);
    generations.release(first);
    expect(generations.oldest).toBe(1);
    generations.release(first);
    expect(generations.oldest).toBe(2);
    generations.release(second);
    generations.finish(generations.begin());
    expect(generations.oldest).toBe(3);
  });

  it("publishes up to the last unbroken generation, in whatever order they finish", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 6 }), (order) => {
        const generations = generationsAfter(0);
        for (const _ of order) generations.begin();
        const done = new Set<number>();
        for (const generation of order) {
          generations.finish(generation);
          done.add(generation);
          let expected = 0;
          while (done.has(expected + 1)) expected++;
          expect(generations.published).toBe(expected);
        }
      }),
      { numRuns: 100 },
    );
  });
});
