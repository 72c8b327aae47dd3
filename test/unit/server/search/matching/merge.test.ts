// Merging results from several shards: however the documents are distributed, the result is the same as for a
// single list.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SortKey } from "../../../../../engine-wasm/host/programs/search-program.js";
import type { SearchResult } from "../../../../../engine-wasm/host/programs/search-result.js";
import { mergeResults, type RankedRows } from "../../../../../server/search/matching/merge.js";
import type { SearchRow, SortValue } from "../../../../oracle/decoded-result.js";
import { answerOf, flagsOf, PLAIN_ROW } from "../encoded-result.js";

const KEYS: SortKey[] = [
  { by: "field", descending: true, slot: 1, type: 0 },
  { by: "field", descending: false, slot: 2, type: 2 },
  { by: "field", descending: true, slot: 3, type: 3 },
  { by: "relevance", descending: true },
];

const row = (seq: number, ...keys: SortValue[]): SearchRow => ({ ...PLAIN_ROW, seq, textMatch: seq, keys });
const answer = (rows: SearchRow[], sort: SortKey[]): SearchResult =>
  answerOf({ found: rows.length, rows }, { sort });

/** Compares by each key in turn, with missing values last, then by descending sequence number. */
function naiveOrder(a: SearchRow, b: SearchRow, keys: readonly SortKey[]): number {
  for (const [i, { descending }] of keys.entries()) {
    const [left, right] = [a.keys[i] ?? null, b.keys[i] ?? null];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
      continue;
    }
    const isText = left instanceof Uint8Array && right instanceof Uint8Array;
    const order = isText ? Buffer.compare(left, right) : left < right ? -1 : left > right ? 1 : 0;
    if (order !== 0) return descending ? -order : order;
  }
  return b.seq - a.seq;
}

function listed({ shards, seqs, textMatches, bonuses, flags }: RankedRows): object[] {
  return seqs.map((seq, i) => ({
    shard: shards[i],
    seq,
    textMatch: textMatches[i],
    bonus: bonuses[i],
    flags: flags[i],
  }));
}

describe("row order", () => {
  it("puts missing values last in both directions", () => {
    const name = (text: string): Uint8Array => Buffer.from(text);
    const rows = [
      row(1, null, 1n, 0, 0n),
      row(2, name("a"), null, 0, 0n),
      row(3, name("b"), 5n, 0, 0n),
      row(4, name("b"), 2n ** 60n, 0, 0n),
      row(5, name("a"), 3n, 0, 0n),
      row(6, null, null, 0, 0n),
      row(7, name("b"), 5n, 0, 0n),
      row(8, name("ab"), 0n, 0, 0n),
      row(9, name("b"), -1n, 0, 0n),
      row(10, name("b"), 5n, 0.5, 0n),
      row(11, name("b"), 5n, -1, 2n ** 63n),
      row(12, name("b"), 5n, -1, 2n ** 33n),
    ];
    const shards = rows.map((one) => answer([one], KEYS));
    const merged = mergeResults(shards, { offset: 0, count: 20 });
    expect(merged.rows.seqs).toEqual([9, 10, 7, 3, 11, 12, 4, 8, 5, 2, 1, 6]);
  });

  it("does not depend on the number of shards or the page", () => {
    const text = fc.option(
      fc.string({ unit: "binary", maxLength: 2 }).map((one) => new Uint8Array(Buffer.from(one))),
      { nil: null },
    );
    const long = fc.option(fc.oneof(fc.bigInt(-2n, 2n), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)), {
      nil: null,
    });
    const double = fc.option(fc.oneof(fc.integer({ min: -2, max: 2 }), fc.double({ noNaN: true })), {
      nil: null,
    });
    const relevance = fc.oneof(fc.bigInt(0n, 2n), fc.bigInt(0n, 2n ** 64n - 1n));
    const bits = fc.record({ pinned: fc.boolean(), hasWord: fc.boolean() });
    const entry = fc.tuple(fc.tuple(text, long, double, relevance), bits, fc.nat(7));
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 24 }),
        fc.integer({ min: 1, max: 4 }),
        fc.nat(20),
        fc.nat(20),
        (entries, keyCount, offset, count) => {
          const sort = KEYS.slice(0, keyCount);
          const rows = entries.map(([keys, flags, shard], i) => ({
            ...row(i + 1, ...keys.slice(0, keyCount)),
            ...flags,
            bonus: i * 2 ** 40,
            shard,
          }));
          const order = (a: SearchRow, b: SearchRow): number => naiveOrder(a, b, sort);
          const shards = Array.from({ length: 8 }, (_, s) =>
            answer(rows.filter((one) => one.shard === s).sort(order), sort),
          );
          const expected = [...rows]
            .sort(order)
            .slice(offset, offset + count)
            .map((one) => ({
              shard: one.shard,
              seq: one.seq,
              textMatch: one.textMatch,
              bonus: one.bonus,
              flags: flagsOf(one),
            }));
          const merged = mergeResults(shards, { offset, count });
          expect(merged.found).toBe(rows.length);
          expect(listed(merged.rows)).toEqual(expected);
          const alone = mergeResults([answer([...rows].sort(order), sort)], { offset, count });
          expect(listed(alone.rows)).toEqual(expected.map((one) => ({ ...one, shard: 0 })));
        },
      ),
      { numRuns: 100 },
    );
  });
});
