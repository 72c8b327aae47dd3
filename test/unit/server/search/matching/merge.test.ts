// Merging results from several shards: however the documents are distributed, the result is the same as for a
// single list.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SortKey } from "../../../../../engine-wasm/host/programs/search-program.js";
import type {
  SearchResult,
  SearchRow,
  SortValue,
} from "../../../../../engine-wasm/host/programs/search-result.js";
import { compareRows, mergeResults } from "../../../../../server/search/matching/merge.js";

const KEYS: SortKey[] = [
  { by: "field", descending: true, slot: 1, type: 0 },
  { by: "field", descending: false, slot: 2, type: 2 },
  { by: "relevance", descending: true },
];

const row = (seq: number, ...keys: SortValue[]): SearchRow => ({
  seq,
  textMatch: seq,
  bonus: 0,
  matched: true,
  neighbour: false,
  hasWord: false,
  pinned: false,
  keys,
});
const answer = (rows: SearchRow[]): SearchResult => ({
  found: rows.length,
  pinnedOnly: 0,
  rows,
  facets: [],
  facetBounds: [],
  applied: [],
  pinsApplied: false,
});

describe("row order", () => {
  it("puts missing values last in both directions", () => {
    const name = (text: string): Uint8Array => Buffer.from(text);
    const rows = [
      row(1, null, 1n, 0),
      row(2, name("a"), null, 0),
      row(3, name("b"), 5n, 0),
      row(4, name("b"), 2n ** 60n, 0),
    ];
    rows.push(
      row(5, name("a"), 3n, 0),
      row(6, null, null, 0),
      row(7, name("b"), 5n, 0),
      row(8, name("ab"), 0n, 0),
    );
    expect(rows.sort((a, b) => compareRows(a, b, KEYS)).map(({ seq }) => seq)).toEqual([
      7, 3, 4, 8, 5, 2, 1, 6,
    ]);
  });

  it("does not depend on the number of shards or the page", () => {
    const value = fc.option(fc.integer({ min: 0, max: 3 }), { nil: null });
    const keys: SortKey[] = [
      { by: "field", descending: true, slot: 1, type: 1 },
      { by: "field", descending: false, slot: 2, type: 3 },
    ];
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, value, fc.nat(7)), { maxLength: 40 }),
        fc.nat(20),
        fc.nat(20),
        (entries, offset, count) => {
          const rows = entries.map(([a, b, shard], i) => ({ ...row(i + 1, a, b), shard }));
          const order = (a: SearchRow, b: SearchRow): number => compareRows(a, b, keys);
          const shards = Array.from({ length: 8 }, (_, s) =>
            answer(rows.filter((one) => one.shard === s).sort(order)),
          );
          const expected = [...rows].sort(order).slice(offset, offset + count);
          const merged = mergeResults(shards, keys, { offset, count });
          expect(merged.found).toBe(rows.length);
          expect(merged.winners).toEqual(expected.map(({ keys: _, ...winner }) => winner));
        },
      ),
      { numRuns: 200 },
    );
  });
});
