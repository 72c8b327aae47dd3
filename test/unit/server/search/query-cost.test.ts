// The estimated memory of queries: it grows with what a query asks for, ignores what is not a number, and
// learns how large an index's hits are.
import { expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { fitted } from "../../../../server/ground/memory-fit.js";
import {
  costOfMultiSearch,
  costOfQuery,
  HitSizes,
  PARSED_TIMES,
} from "../../../../server/search/query-cost.js";
import { makeRecord } from "../record.js";

const SCALE = { bodyBytes: 100, hitBytes: 1_000, documents: 1_000_000 };
const cost = (body: unknown, scale = SCALE): number => costOfQuery(body, scale, DEFAULT_LIMITS);
const PLAIN = cost({ q: "shoe" });

test("the estimate grows with hits, rows, facet values and the body", () => {
  expect(cost({ q: "shoe", per_page: 250 })).toBeGreaterThan(PLAIN + 240 * SCALE.hitBytes);
  expect(cost({ q: "shoe", per_page: 1_000_000 })).toBe(cost({ q: "shoe", per_page: 250 }));
  expect(cost({ page: 100_000 })).toBeGreaterThan(PLAIN + 60_000_000);
  expect(cost({ page: 100_000 }, { ...SCALE, documents: 10 })).toBe(PLAIN);
  const facets = { facet_by: "a,b", max_facet_values: 1_000 };
  expect(cost(facets)).toBeGreaterThan(PLAIN + 256 * 1_990);
  expect(cost({ ...facets, facet_by: undefined, facets: ["a", "b"] })).toBe(cost(facets));
  expect(cost({}, { ...SCALE, bodyBytes: 1_100 })).toBe(PLAIN + 1_000 * PARSED_TIMES);
});

test("the estimate takes anything for a body", () => {
  for (const body of [null, [], "text", { per_page: "many", page: -1, facets: 7, max_facet_values: null }])
    expect(cost(body)).toBe(PLAIN);
});

test("the estimate of a multi-search is that of a few of its largest searches, whatever their number", () => {
  const scaleOf = (one: unknown) => (one === null ? null : { ...SCALE, bodyBytes: 0 });
  const many = (count: number) =>
    costOfMultiSearch(new Array(count).fill({ per_page: 250 }), 0, scaleOf, DEFAULT_LIMITS);
  expect(many(2)).toBe(2 * many(1));
  expect(many(50)).toBe(4 * many(1));
  expect(costOfMultiSearch([null, { per_page: 250 }], 0, scaleOf, DEFAULT_LIMITS)).toBe(many(2));
});

test("the size of hits rises at once and falls slowly", () => {
  const sizes = new HitSizes();
  const record = makeRecord();
  const first = sizes.of(record);
  sizes.answered(record, 100, 0);
  expect(sizes.of(record)).toBe(first);
  sizes.answered(record, 200_000, 2);
  expect(sizes.of(record)).toBe(100_000);
  sizes.answered(record, 100, 1);
  expect(sizes.of(record)).toBeGreaterThan(80_000);
  for (let i = 0; i < 200; i++) sizes.answered(record, 100, 1);
  expect(sizes.of(record)).toBeLessThan(200);
});

test("the first replies of an index that one tenant can get at once fit into the memory for unsent replies", () => {
  const MIB = 1024 * 1024;
  const limits = fitted(DEFAULT_LIMITS, { bytes: 1024 * MIB, heapBytes: 512 * MIB });
  const scale = { bodyBytes: 0, hitBytes: new HitSizes().of(makeRecord()), documents: 250 };
  const tenantBytes = limits.workBytesMax / 4; // half of the half that is for searches
  const atOnce = Math.floor(tenantBytes / costOfQuery({ per_page: 250 }, scale, limits));
  expect(atOnce).toBeGreaterThan(0);
  expect(atOnce * limits.replyBytesMax).toBeLessThanOrEqual(limits.unsentBytesMax);
});
