// Merging facets from several shards: however the documents are distributed, and whatever values the shards
// omit, the first values and their counts are the same as for a single list.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { TYPE_INT32, TYPE_INT64, TYPE_STRING } from "../../../../../engine-wasm/assembly/layout.js";
import type { FacetCounts, FacetValue } from "../../../../../engine-wasm/host/programs/encoded-facet.js";
import {
  EVERY_DOCUMENT,
  type FacetRequest,
  type SearchProgram,
} from "../../../../../engine-wasm/host/programs/search-program.js";
import type { SearchResult } from "../../../../../engine-wasm/host/programs/search-result.js";
import { countFacets, mergeFacet, withShares } from "../../../../../server/search/matching/facets.js";
import type { FacetCount } from "../../../../oracle/decoded-result.js";
import { answerOf } from "../encoded-result.js";

/** What one shard sends for a facet. */
interface FacetShare {
  counts: FacetCount[];
  bound: number;
}

const whole = (counts: FacetCount[]): FacetShare => ({ counts, bound: 0 });
const plain = (counts: FacetCounts | null): FacetCount[] | null =>
  counts === null
    ? null
    : Array.from({ length: counts.length }, (_, i) => ({
        value: counts.valueAt(i),
        count: counts.countAt(i),
      }));
const list = (counts: FacetCount[] | null): string[] | null =>
  counts?.map(({ value, count }) => `${value}${count}`) ?? null;

function answer(shares: readonly FacetShare[], facets: readonly FacetRequest[]): SearchResult {
  const parts = { facets: shares.map(({ counts }) => counts), facetBounds: shares.map(({ bound }) => bound) };
  return answerOf(parts, { facets });
}

/** Merges the shards' answers for one facet. */
function merge(shares: FacetShare[], limit: number, type = TYPE_STRING): FacetCount[] | null {
  const request = { slot: 1, type, limit, share: true };
  return plain(
    mergeFacet(
      shares.map((share) => answer([share], [request])),
      0,
      request,
    ),
  );
}

/** Returns what a shard sends: its `kept` most frequent values, and the highest count among the others. */
function shareOf(counts: FacetCount[], kept: number): FacetShare {
  const sorted = [...counts].sort((a, b) => b.count - a.count);
  return { counts: sorted.slice(0, kept), bound: sorted[kept]?.count ?? 0 };
}

describe("mergeFacet", () => {
  const b2 = { value: "b", count: 2 };
  const a1 = { value: "a", count: 1 };

  it("sums counts and orders by count, then value", () => {
    const c2 = { value: "c", count: 2 };
    expect(list(merge([whole([b2, a1]), whole([c2, a1])], 10))).toEqual(["a2", "b2", "c2"]);
    expect(list(merge([whole([b2, a1]), whole([c2, a1])], 1))).toEqual(["a2"]);
    expect(list(merge([whole([]), whole([])], 3))).toEqual([]);
  });

  it("orders strings by their bytes and int64 exactly, and cuts at the limit", () => {
    const strings = ["\u{1F600}", "\uFFFD", "Z", "a", "__proto__", "1"].map((value) => ({ value, count: 1 }));
    expect(merge([whole(strings), whole([])], 9)?.map(({ value }) => value)).toEqual([
      "1",
      "Z",
      "__proto__",
      "a",
      "\uFFFD",
      "\u{1F600}",
    ]);
    const big = [2n ** 62n + 1n, 2n ** 62n, -1n].map((value) => ({ value, count: 1 }));
    expect(merge([whole(big), whole([])], 2, TYPE_INT64)?.map(({ value }) => value)).toEqual([
      -1n,
      2n ** 62n,
    ]);
    expect(merge([whole([{ value: 10, count: 1 }]), whole([{ value: 9, count: 1 }])], 2, TYPE_INT32)).toEqual(
      [
        { value: 9, count: 1 },
        { value: 10, count: 1 },
      ],
    );
  });

  it("remains undecided if a value kept back could be among the first, or tie with the last", () => {
    const of = (count: number): FacetCount => ({ value: "a", count });
    // Both shards list a. Any other value occurs at most 3 + 4 times.
    expect(
      list(
        merge(
          [
            { counts: [of(4)], bound: 3 },
            { counts: [of(4)], bound: 4 },
          ],
          1,
        ),
      ),
    ).toEqual(["a8"]);
    expect(
      merge(
        [
          { counts: [of(4)], bound: 3 },
          { counts: [of(4)], bound: 5 },
        ],
        1,
      ),
    ).toBeNull();
    // Only the first shard lists b, so b's count is 3 to 5; a's count is 5 or 6.
    const first = { counts: [of(4), { value: "b", count: 3 }], bound: 0 };
    expect(merge([first, { counts: [of(1)], bound: 2 }], 1)).toBeNull();
    expect(list(merge([first, { counts: [of(2)], bound: 2 }], 1))).toEqual(["a6"]);
    // Fewer values are known than requested.
    expect(merge([first, { counts: [of(2)], bound: 1 }], 2)).toBeNull();
  });
});

function programOf(...limits: number[]): SearchProgram {
  const facets = limits.map((limit, i) => ({ slot: i + 1, type: 0, limit }));
  return { ...EVERY_DOCUMENT, k: 10, facets };
}

test("shares are sent only by several shards, and not for facets whose every value is wanted", () => {
  const shares = (shards: number): boolean[] =>
    withShares(programOf(3, 0), shards).facets.map(({ share = false }) => share);
  expect(shares(1)).toEqual([false, false]);
  expect(shares(2)).toEqual([true, false]);
  const plain = programOf();
  expect(withShares(plain, 2)).toBe(plain);
});

describe("countFacets", () => {
  it("asks again only for the undecided facets", async () => {
    const shards = fc.integer({ min: 1, max: 8 });
    const values = fc.array(fc.tuple(fc.nat(30), fc.nat(7), fc.integer({ min: 1, max: 9 })), {
      maxLength: 120,
    });
    const kept = fc.array(fc.constantFrom(0, 1, 3, 5, 10, 40), { minLength: 8, maxLength: 8 });
    let repeated = 0;
    let decided = 0;
    await fc.assert(
      fc.asyncProperty(
        shards,
        values,
        values,
        kept,
        fc.integer({ min: 1, max: 12 }),
        async (n, a, b, cut, max) => {
          const facets = [a, b].map((entries) => split(entries, n));
          const asked = withShares(programOf(max, max), n);
          const results = Array.from({ length: n }, (_, s) =>
            answer(
              facets.map((byShard) =>
                n === 1 ? whole(inOrder(byShard[0]!, max)) : shareOf(byShard[s]!, cut[s]!),
              ),
              asked.facets,
            ),
          );
          const search = async (again: SearchProgram): Promise<SearchResult[]> => {
            expect(again.k).toBe(0);
            expect(again.facets.every(({ limit, share }) => limit === 0 && share === false)).toBe(true);
            repeated++;
            return Array.from({ length: n }, (_, s) =>
              answer(
                again.facets.map(({ slot }) => whole(facets[slot - 1]![s]!)),
                again.facets,
              ),
            );
          };
          const counts = await countFacets({ search }, asked, results);
          decided++;
          expect(counts.map(plain)).toEqual(facets.map((byShard) => naive(byShard, max)));
        },
      ),
      { numRuns: 400 },
    );
    expect(repeated).toBeGreaterThan(0);
    expect(repeated).toBeLessThan(decided);
  });

  /** Splits [value, shard, count] entries by shard. */
  function split(entries: [number, number, number][], shards: number): FacetCount[][] {
    return Array.from({ length: shards }, (_, s) => {
      const counts = new Map<FacetValue, number>();
      for (const [value, shard, count] of entries)
        if (shard % shards === s) counts.set(`v${value}`, (counts.get(`v${value}`) ?? 0) + count);
      return Array.from(counts, ([value, count]) => ({ value, count }));
    });
  }

  function naive(byShard: FacetCount[][], max: number): FacetCount[] {
    return inOrder(byShard.flat(), max);
  }

  function inOrder(all: FacetCount[], max: number): FacetCount[] {
    return [...new Set(all.map(({ value }) => value))]
      .map((value) => ({
        value,
        count: all.filter((one) => one.value === value).reduce((sum, { count }) => sum + count, 0),
      }))
      .sort((x, y) => y.count - x.count || (x.value < y.value ? -1 : 1))
      .slice(0, max);
  }
});
