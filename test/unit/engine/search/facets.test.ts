// Facet counts in small worked examples: counts from several segments are added by raw value, each document
// counts once per value, and both orders work.
import { expect, test } from "vitest";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { decodeSearchResult, type FacetCount } from "../../../oracle/decoded-result.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import { FIELDS, makeCatalogue } from "../segments/catalogue.js";

const module = await loadEngine();
const bench = module.workbench();

function facet(
  groups: Document[][],
  name: string,
  limit: number,
  dead: number[] = [],
): [FacetCount["value"], number][] {
  return share(groups, name, limit, dead, false).counts;
}

/**
 * Counts the field's values. With `shared`, requests what one of several shards sends: all values that could
 * be among the first `limit` overall.
 */
function share(
  groups: Document[][],
  name: string,
  limit: number,
  dead: number[] = [],
  shared = true,
): { counts: [FacetCount["value"], number][]; bound: number } {
  const { engine, snapshot } = makeCatalogue(module, bench, groups, (i) => dead.includes(i));
  const slot = FIELDS.findIndex((field) => field.name === name);
  const facets = [{ slot, type: FIELDS[slot]!.code, limit, share: shared }];
  const program: SearchProgram = { ...EVERY_DOCUMENT, k: 0, facets };
  const { facets: answers, facetBounds } = decodeSearchResult(
    engine.search(snapshot, encodeSearch(program)),
    program,
  );
  return { counts: answers[0]!.map(({ value, count }) => [value, count]), bound: facetBounds[0]! };
}

const brands = (...names: (string | null)[]): Document[] => names.map((brand, i) => ({ id: `${i}`, brand }));

test("strings: in dictionary order without a limit, by count and raw bytes with one", () => {
  const groups = [brands("b", "B", "a", "Ä", null), brands("a", "ä", "c", "B")];
  expect(facet(groups, "brand", 0)).toEqual([
    ["a", 2],
    ["Ä", 1],
    ["ä", 1],
    ["B", 2],
    ["b", 1],
    ["c", 1],
  ]);
  expect(facet(groups, "brand", 100)).toEqual([
    ["B", 2],
    ["a", 2],
    ["b", 1],
    ["c", 1],
    ["Ä", 1],
    ["ä", 1],
  ]);
  expect(facet(groups, "brand", 3)).toEqual([
    ["B", 2],
    ["a", 2],
    ["b", 1],
  ]);
});

test("deleted documents do not count, and values without a document do not appear", () => {
  expect(facet([brands("x", "y", "x")], "brand", 0, [1])).toEqual([["x", 2]]);
  expect(facet([brands("x")], "brand", 5, [0])).toEqual([]);
  expect(facet([brands(null)], "brand", 5)).toEqual([]);
});

test("an array counts once per distinct value", () => {
  const groups = [
    [
      { id: "1", tags: ["a", "b", "a"] },
      { id: "2", tags: ["A", "a"] },
    ],
    [
      { id: "3", tags: [] },
      { id: "4", tags: ["b"] },
    ],
  ];
  expect(facet(groups, "tags", 0)).toEqual([
    ["A", 1],
    ["a", 2],
    ["b", 2],
  ]);
  expect(
    facet(
      [
        [
          { id: "1", sizes: [3, -1, 3] },
          { id: "2", sizes: [3] },
        ],
      ],
      "sizes",
      0,
    ),
  ).toEqual([
    [-1, 1],
    [3, 2],
  ]);
});

test("numbers keep their type", () => {
  const documents = [2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n].map((big, i) => ({
    id: `${i}`,
    big,
    on: i > 0,
    price: i - 0.5,
  }));
  expect(facet([documents], "big", 2)).toEqual([
    [-(2n ** 63n), 1],
    [9007199254740993n, 1],
  ]);
  expect(facet([documents], "on", 0)).toEqual([
    [0, 1],
    [1, 2],
  ]);
  expect(facet([documents], "price", 0)).toEqual([
    [-0.5, 1],
    [0.5, 1],
    [1.5, 1],
  ]);
});

test("a share has every value if there are few, otherwise those that could still rank first overall", () => {
  const few = brands(..."abcabca");
  expect(share([few], "brand", 1)).toEqual({ counts: facet([few], "brand", 0), bound: 0 });
  // 100 values over three segments: b0 occurs 100 times, b1 99 times, and so on.
  const names = Array.from({ length: 100 }, (_, i) => Array<string>(100 - i).fill(`b${i}`)).flat();
  const documents = brands(...names);
  const groups = [0, 1, 2].map((rest) => documents.filter((_, i) => i % 3 === rest));
  for (const [limit, last] of [
    [1, 100],
    [10, 91],
    [64, 37],
  ] as const) {
    const { counts, bound } = share(groups, "brand", limit);
    const least = last / 2 - 2 * Math.sqrt(last);
    const all = facet(groups, "brand", 0);
    expect(counts).toEqual(all.filter(([, count]) => count >= least));
    expect(bound).toBe(Math.ceil(least) - 1);
  }
  expect(share(groups, "brand", 85)).toEqual({ counts: facet(groups, "brand", 0), bound: 0 });
  expect(share(groups, "brand", 1000)).toEqual({ counts: facet(groups, "brand", 0), bound: 0 });
});
