// With the merge policy, the number of segments grows only logarithmically, and a document is copied about
// once per tier.
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseMerge, type MergeCandidate } from "../../../../shards/segments/merge-policy.js";

const BUSY = { runMin: 4, othersMin: 1, shareMax: 0.25 };
const IDLE = { runMin: 2, othersMin: 0.5, shareMax: 0.5 };
const MIB = 1024 * 1024;
const of = (mib: number, more: Partial<MergeCandidate> = {}): MergeCandidate => {
  return { bytes: mib * MIB, rows: 1000, deleted: 0, stale: false, ...more };
};

test("waits for enough small neighbours and leaves larger ones alone", () => {
  expect(chooseMerge([], BUSY)).toBeNull();
  expect(chooseMerge([of(20), of(0.1), of(0.1), of(0.1)], BUSY)).toBeNull();
  expect(chooseMerge([of(20), of(0.1), of(0.1), of(0.1), of(0.1)], BUSY)).toEqual({ first: 1, count: 4 });
  expect(chooseMerge([of(20), of(0.1), of(0.1)], IDLE)).toEqual({ first: 1, count: 2 });
  expect(chooseMerge([of(20), of(0.1)], IDLE)).toBeNull();
});

test("merges a small segment between larger ones with them", () => {
  expect(chooseMerge([of(2), of(2), of(0.1), of(2), of(2)], BUSY)).toEqual({ first: 0, count: 5 });
});

test("never merges across stale segments", () => {
  const stale = of(0.1, { stale: true });
  expect(chooseMerge([of(0.1), of(0.1), stale, of(0.1), of(0.1)], { ...BUSY, runMin: 3 })).toBeNull();
  expect(chooseMerge([stale, of(0.1), of(0.1), of(0.1)], { ...BUSY, runMin: 3 })).toEqual({
    first: 1,
    count: 3,
  });
});

test("rewrites a segment with many deleted rows alone", () => {
  expect(chooseMerge([of(20), of(80, { deleted: 500 })], BUSY)).toEqual({ first: 1, count: 1 });
  expect(chooseMerge([of(80, { deleted: 100 })], BUSY)).toBeNull();
});

test("never creates a segment beyond the limit", () => {
  expect(chooseMerge([of(400), of(400), of(400), of(400)], IDLE)).toBeNull();
  expect(chooseMerge([of(400), of(300), of(200), of(400), of(400), of(400)], IDLE)).toEqual({
    first: 1,
    count: 2,
  });
});

test("creates no segment above its share of the index, unless it is small", () => {
  expect(chooseMerge([of(20), of(11)], IDLE)).toEqual({ first: 0, count: 2 });
  expect(chooseMerge([of(20), of(13)], IDLE)).toBeNull();
  expect(chooseMerge([of(20), of(20), of(39)], IDLE)).toBeNull();
  expect(chooseMerge([of(20), of(20), of(41)], IDLE)).toEqual({ first: 0, count: 2 });
  expect(chooseMerge([of(10), of(10), of(10), of(10), of(100)], BUSY)).toBeNull();
  expect(chooseMerge([of(10), of(10), of(10), of(10), of(130)], BUSY)).toEqual({ first: 0, count: 4 });
});

test("any stream of writes ends with few segments at a bounded cost", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 4 * MIB }), { minLength: 50, maxLength: 400 }),
      (sizes) => {
        let segments: MergeCandidate[] = [];
        let copied = 0;
        for (const bytes of sizes) {
          segments = [...segments, { bytes, rows: 100, deleted: 0, stale: false }];
          for (
            let choice = chooseMerge(segments, BUSY);
            choice !== null;
            choice = chooseMerge(segments, BUSY)
          ) {
            const run = segments.splice(choice.first, choice.count);
            const sum = run.reduce((total, segment) => total + segment.bytes, 0);
            segments.splice(choice.first, 0, { bytes: sum, rows: 100, deleted: 0, stale: false });
            copied += sum;
          }
        }
        const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
        const tiers = Math.ceil(Math.log(Math.max(total / MIB, 1)) / Math.log(4)) + 1;
        expect(segments.length).toBeLessThanOrEqual(3 * (tiers + 1));
        expect(copied).toBeLessThanOrEqual(total * (tiers + 1));
      },
    ),
    { numRuns: 100 },
  );
});
