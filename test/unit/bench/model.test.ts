// The queueing model agrees with the formulas of queueing theory.
import { describe, expect, test } from "vitest";
import { capacity, simulate } from "../../../bench/model/simulate.js";
import { Random } from "../../../bench/random.js";

const MS = 1e-3;
const QUERIES = 200_000;

/** An exponential distribution's median and 99th percentile. */
const quantiles = (mean: number) => ({ p50: mean * Math.log(2), p99: mean * Math.log(100) });

describe("the queueing model", () => {
  test("with one thread is an M/M/1 queue: time in the system is exponential", () => {
    const machine = { cores: 4, frontEnds: 1, shards: 1 };
    for (const share of [0.2, 0.5, 0.8]) {
      const taken = simulate(
        machine,
        { frontEnd: MS, shard: 0, beside: 0 },
        share / MS,
        QUERIES,
        new Random(1),
      );
      const { p50, p99 } = quantiles(MS / (1 - share));
      expect(taken.p50 / p50).toBeCloseTo(1, 1);
      expect(taken.p99 / p99).toBeCloseTo(1, 1);
    }
  });

  test("with several front-ends is that many queues, each with its share of the queries", () => {
    const taken = simulate(
      { cores: 16, frontEnds: 8, shards: 1 },
      { frontEnd: MS, shard: 0, beside: 0 },
      (8 * 0.5) / MS,
      QUERIES,
      new Random(2),
    );
    expect(taken.p50 / quantiles(2 * MS).p50).toBeCloseTo(1, 1);
  });

  test("charges threads on one core with the core's load: background work delays foreground work", () => {
    const costs = { frontEnd: MS, shard: 0, beside: MS };
    const [few, many] = [1, 2].map((cores) =>
      simulate({ cores, frontEnds: 1, shards: 1 }, costs, 0.4 / MS, QUERIES, new Random(3)),
    );
    expect(few!.p50).toBeGreaterThan(1.5 * many!.p50);
  });

  test("without queueing charges a query for its front-end and the slowest shard, however many there are", () => {
    for (const shards of [1, 16]) {
      const machine = { cores: 32, frontEnds: 1, shards };
      const taken = simulate(machine, { frontEnd: MS, shard: MS, beside: 0 }, 1, 20_000, new Random(4));
      expect(taken.p50 / quantiles(2 * MS).p50).toBeCloseTo(1, 1);
    }
  });

  test("finds the bottleneck", () => {
    const costs = { frontEnd: MS, shard: 2 * MS, beside: MS };
    expect(capacity({ cores: 64, frontEnds: 1, shards: 1 }, costs)).toEqual({
      limit: "shards",
      perSecond: 500,
    });
    expect(capacity({ cores: 2, frontEnds: 1, shards: 1 }, costs)).toEqual({
      limit: "cores",
      perSecond: 500,
    });
    const local = { ...costs, shard: 0 };
    expect(capacity({ cores: 64, frontEnds: 4, shards: 1 }, local)).toEqual({
      limit: "front-ends",
      perSecond: 4000,
    });
  });
});
