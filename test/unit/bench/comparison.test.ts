// Comparison of two rankings: the paired randomisation test, means over sets, query halves, earlier results.
import { describe, expect, test } from "vitest";
import { Random } from "../../../bench/random.js";
import { pairedSets } from "../../../bench/relevance/against.js";
import { compare, compareHalved, randomisationTest } from "../../../bench/relevance/comparison.js";
import type { JudgedResult } from "../../../bench/relevance/judged-run.js";

const p = (differences: readonly number[], seed = 1): number =>
  randomisationTest(differences, new Random(seed));

describe("the paired randomisation test", () => {
  test("gives identical rankings p = 1", () => {
    expect(p([0, 0, 0, 0])).toBe(1);
    expect(p([])).toBe(1);
  });

  test("rejects chance for a constant difference over many queries, in either direction", () => {
    expect(p(new Array(100).fill(0.01))).toBeLessThan(0.001);
    expect(p(new Array(100).fill(-0.01))).toBeLessThan(0.001);
    expect(p(new Array(100).fill(0.01))).toBeGreaterThan(0);
  });

  test("approximates the share over all sign assignments", () => {
    // Of the 8 sign assignments of 1, 1, 1, two reach a sum of 3 or -3.
    expect(p([0.1, 0.1, 0.1])).toBeCloseTo(2 / 8, 1);
    // Of the 16 sign assignments of 1, 2, 3, 4, two reach 10 or -10.
    expect(p([0.1, 0.2, 0.3, 0.4])).toBeCloseTo(2 / 16, 1);
    // The possible sums of 3, 1 and 2 are 6, 4, 2 and 0, each reached by two opposite sign assignments; the
    // observed sum is 4.
    expect(p([0.3, -0.1, 0.2])).toBeCloseTo(4 / 8, 1);
    // If the differences cancel out, every sign assignment reaches their sum.
    expect(p([0.3, -0.1, -0.2])).toBe(1);
  });

  test("ignores queries without a difference", () => {
    expect(p([0.3, 0, -0.1, 0, 0, 0.2])).toBe(p([0.3, -0.1, 0.2]));
  });

  test("depends on the seed", () => {
    const differences = Array.from({ length: 50 }, (_, i) => Math.sin(i) + 0.2);
    expect(p(differences, 1)).toBe(p(differences, 1));
    expect(p(differences, 1)).not.toBe(p(differences, 2));
    expect(p(differences, 1)).toBeCloseTo(p(differences, 2), 1);
  });
});

describe("comparing two rankings of several query sets", () => {
  const sets = [
    { set: "small", before: [0.5, 0.5], after: [0.7, 0.3] },
    { set: "large", before: [0, 0, 0, 0], after: [0.4, 0.2, 0.4, 0.2] },
  ];

  test("gives the means per set and over all queries", () => {
    const { sets: compared, meanOfSets, allQueries, worst } = compare(sets, 1);
    expect(compared.map(({ set, queries }) => [set, queries])).toEqual([
      ["small", 2],
      ["large", 4],
    ]);
    expect(compared[1]!.difference).toBeCloseTo(0.3, 12);
    expect(compared[0]!.p).toBe(1);
    expect(meanOfSets.before).toBeCloseTo(0.25, 12);
    expect(meanOfSets.difference).toBeCloseTo(0.15, 12);
    expect(allQueries.queries).toBe(6);
    expect(allQueries.difference).toBeCloseTo(0.2, 12);
    expect(worst.set).toBe("small");
    expect(worst.difference).toBeCloseTo(0, 12);
  });

  test("puts every second query of every set into each half", () => {
    const { whole, odd, even } = compareHalved(sets, 1);
    expect(whole).toEqual(compare(sets, 1));
    expect(odd.sets.map(({ queries }) => queries)).toEqual([1, 2]);
    expect(odd.sets.map(({ difference }) => difference)).toEqual([expect.closeTo(0.2), expect.closeTo(0.4)]);
    expect(even.sets.map(({ difference }) => difference)).toEqual([
      expect.closeTo(-0.2),
      expect.closeTo(0.2),
    ]);
    expect([odd.worst.set, even.worst.set]).toEqual(["small", "small"]);
  });
});

describe("pairing a run with an earlier one", () => {
  const result = (set: string, perQuery: Record<string, Record<string, number>>): JudgedResult =>
    ({
      set,
      ndcg10: Object.values(perQuery)[0],
      perQuery: Object.entries(perQuery).map(([id, ndcg10]) => ({ id, text: "", ndcg10 })),
    }) as unknown as JudgedResult;

  test("uses the sets and query forms present in both, query by query", () => {
    const before = [
      result("a", { q1: { clean: 0.1 }, q2: { clean: 0.2 } }),
      result("b", { q1: { clean: 0 } }),
    ];
    const after = [
      result("c", { q1: { clean: 1, short: 1 } }),
      result("a", { q1: { clean: 0.3, short: 1 }, q2: { clean: 0.4, short: 1 } }),
    ];
    expect(pairedSets(before, after, "clean")).toEqual([{ set: "a", before: [0.1, 0.2], after: [0.3, 0.4] }]);
    expect(pairedSets(before, after, "short")).toEqual([]);
  });

  test("refuses runs with different queries", () => {
    const [before, after] = [result("a", { q1: { clean: 0.1 } }), result("a", { q2: { clean: 0.1 } })];
    expect(() => pairedSets([before!], [after!], "clean")).toThrow(
      "a: the earlier run had different queries",
    );
  });
});
