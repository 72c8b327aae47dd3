// The fair queue, compared with a naive model, and its guarantees: order within a flow, equal shares, no
// starvation.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FairQueue } from "../../../../shards/protocol/fair-queue.js";

interface Waiting {
  readonly flow: number;
  readonly item: number;
}

/**
 * The naive model, a plain list: of the waiting flows, picks the one that has used least; among equals, the
 * one that was served longest ago.
 */
class NaiveQueue {
  readonly #waiting: Waiting[] = [];
  readonly #used = new Map<number, number>();
  /** Flows, ordered by when they arrived or were last served. */
  #order: number[] = [];
  #now = 0;

  add(flow: number, item: number): void {
    if (!this.#waiting.some((waiting) => waiting.flow === flow))
      this.#used.set(flow, Math.max(this.#used.get(flow) ?? 0, this.#now));
    if (!this.#order.includes(flow)) this.#order.push(flow);
    this.#waiting.push({ flow, item });
  }

  take(allowed: (flow: number) => boolean): Waiting | undefined {
    const flows = this.#order.filter(
      (flow) => allowed(flow) && this.#waiting.some((waiting) => waiting.flow === flow),
    );
    const least = Math.min(...flows.map((flow) => this.#used.get(flow)!));
    const flow = flows.find((candidate) => this.#used.get(candidate) === least);
    if (flow === undefined) return undefined;
    this.#now = Math.max(this.#now, least);
    return this.#waiting.splice(
      this.#waiting.findIndex((waiting) => waiting.flow === flow),
      1,
    )[0];
  }

  spent(flow: number, cost: number): void {
    this.#used.set(flow, this.#used.get(flow)! + cost);
    this.#order = this.#order.filter((other) => other !== flow);
    const waits = this.#waiting.some((waiting) => waiting.flow === flow);
    if (waits || this.#used.get(flow)! > this.#now) this.#order.push(flow);
  }
}

const flows = fc.integer({ min: 0, max: 4 });
const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), flow: flows }),
  fc.record({
    kind: fc.constant("serve" as const),
    cost: fc.integer({ min: 0, max: 9 }),
    without: fc.option(flows),
  }),
);

describe("FairQueue", () => {
  it("behaves like its naive twin", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const queue = new FairQueue<number>();
        const twin = new NaiveQueue();
        let items = 0;
        for (const one of steps) {
          if (one.kind === "add") {
            queue.add(one.flow, items);
            twin.add(one.flow, items++);
            continue;
          }
          const taken = queue.take((_, flow) => flow !== one.without);
          expect(taken).toEqual(twin.take((flow) => flow !== one.without));
          if (taken === undefined) continue;
          queue.spent(taken.flow, one.cost);
          twin.spent(taken.flow, one.cost);
        }
      }),
    );
  });

  it("keeps the order within a flow and returns everything once", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(flows, fc.integer({ min: 0, max: 9 }))), (added) => {
        const queue = new FairQueue<{ number: number; cost: number }>();
        added.forEach(([flow, cost], number) => {
          queue.add(flow, { number, cost });
        });
        const seen = new Map<number, number[]>();
        for (let next = queue.take(); next !== undefined; next = queue.take()) {
          queue.spent(next.flow, next.item.cost);
          seen.set(next.flow, [...(seen.get(next.flow) ?? []), next.item.number]);
        }
        expect(queue.size).toBe(0);
        for (let flow = 0; flow <= 4; flow++) {
          const own = added.flatMap(([of], number) => (of === flow ? [number] : []));
          expect(seen.get(flow) ?? []).toEqual(own);
        }
      }),
    );
  });

  it("serves constantly waiting flows equally, to within one item", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 5 }),
        fc.integer({ min: 10, max: 300 }),
        (costs, served) => {
          const queue = new FairQueue<null>();
          const used = costs.map(() => 0);
          for (const flow of costs.keys()) queue.add(flow, null);
          for (let i = 0; i < served; i++) {
            const { flow } = queue.take()!;
            queue.add(flow, null);
            queue.spent(flow, costs[flow]!);
            used[flow] = used[flow]! + costs[flow]!;
          }
          expect(Math.max(...used) - Math.min(...used)).toBeLessThanOrEqual(Math.max(...costs));
        },
      ),
    );
  });

  it("starts a late flow level with the others", () => {
    const queue = new FairQueue<string>();
    for (let i = 0; i < 20; i++) queue.add(1, "old");
    for (let i = 0; i < 10; i++) queue.spent(queue.take()!.flow, 5);
    for (let i = 0; i < 10; i++) queue.add(2, "new");
    const flowsServed = Array.from({ length: 8 }, () => {
      const { flow } = queue.take()!;
      queue.spent(flow, 5);
      return flow;
    });
    expect(flowsServed.filter((flow) => flow === 2)).toHaveLength(4);
  });

  it("forgets flows once they are all served", () => {
    const queue = new FairQueue<null>();
    queue.add(1, null);
    queue.spent(queue.take()!.flow, 100);
    expect(queue.usedBy(1)).toBe(100);
    queue.reset();
    expect(queue.usedBy(1)).toBe(0);
  });
});
