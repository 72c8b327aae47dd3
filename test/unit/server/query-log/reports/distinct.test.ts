// Counting distinct numbers gives the same result as a set, even if the numbers are not distributed like
// hashes.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Random } from "../../../../../bench/random.js";
import { countDistinct } from "../../../../../server/query-log/reports/distinct.js";

const sorted = (numbers: Iterable<number>): Float64Array => Float64Array.from(new Set(numbers)).sort();
const counted = (lists: readonly Float64Array[]): number => new Set(lists.flatMap((list) => [...list])).size;

test("any lists are counted", () => {
  const number = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2 ** 48 - 1 }));
  const lists = fc.array(fc.array(number).map(sorted));
  fc.assert(fc.property(lists, (some) => countDistinct(some) === counted(some)));
});

test.each([
  ["hashes", (random: Random) => random.below(2 ** 24) * 2 ** 24 + random.below(2 ** 24) + 1],
  ["small numbers", (random: Random) => random.from(1, 50_000)],
  ["numbers with the same low bits", (random: Random) => random.from(1, 65_535) * 2 ** 32],
  ["large numbers", (random: Random) => 2 ** 48 - random.from(1, 50_000)],
])("many %s are counted", (_, draw) => {
  const random = new Random(7);
  const some = Array.from({ length: 9 }, () => sorted(Array.from({ length: 5_000 }, () => draw(random))));
  expect(countDistinct(some)).toBe(counted(some));
});
