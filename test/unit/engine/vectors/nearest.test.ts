// The `nearest` kernel compared with plain loops: random segments, filters, phrases, rules, deleted rows,
// rows without vectors, many ties.

import fc from "fast-check";
import { expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { VECTOR_SIZE } from "../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import type { Engine } from "../../../../engine-wasm/host/instance/engine.js";
import { operationsIn } from "../../../../engine-wasm/host/programs/filter-program.js";
import { encodeNearest } from "../../../../engine-wasm/host/programs/nearest-program.js";
import { decodeNearestResult } from "../../../../engine-wasm/host/programs/nearest-result.js";
import {
  ALL_ROWS,
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import {
  type PlainNearest,
  type PlainVector,
  plainNearest,
  plainRecords,
} from "../../../oracle/vectors/codes.js";
import { loadEngine } from "../load-engine.js";
import { randomFilter, randomProgram } from "../search/random-program.js";
import { searchTwin } from "../search/search-twin.js";
import {
  type Catalogue,
  groupsOf,
  makeCatalogue,
  type Pick,
  picker,
  randomDocument,
} from "../segments/catalogue.js";
import { randomQuery, randomVector } from "./random-vectors.js";

const module = await loadEngine();
const bench = module.workbench();
const PLAIN: SearchProgram = { ...EVERY_DOCUMENT, k: 0 };
const ROUNDING = 1e-5;

/**
 * Creates a codes region for each segment from the vectors that `vectorOf` returns for its sequence numbers.
 */
function codesOf(engine: Engine, { entries }: Catalogue, vectorOf: (seq: number) => PlainVector): number[] {
  let number = 0;
  return entries.map(({ segment }) => {
    const rows = engine.rows(segment);
    const codes = engine.newCodes(rows);
    const seqs = Array.from({ length: rows }, (_, row) => 1000 + 7 * (number + row));
    engine.fillCodes(codes, 0, plainRecords(seqs.map(vectorOf)));
    number += rows;
    return codes;
  });
}

/** Runs `nearest`. `codes` are the codes regions, one per segment. */
function nearest(
  { engine, entries }: Catalogue,
  codes: readonly number[],
  query: Float32Array,
  wanted: number,
  program: Uint8Array,
  deadline?: number,
): Uint8Array {
  const snapshot = engine.setSnapshot(entries.map((entry, i) => ({ ...entry, codes: codes[i]! })));
  return engine.nearest(snapshot, encodeNearest(query, wanted, program), deadline);
}

function expectSame(answer: Uint8Array, expected: readonly PlainNearest[], wanted: number): void {
  const { compared, seqs, distances, estimates } = decodeNearestResult(answer);
  const first = expected.slice(0, wanted);
  expect(compared).toBe(expected.length);
  expect([...seqs]).toEqual(first.map(({ seq }) => seq));
  expect([...distances]).toEqual(first.map(({ distance }) => distance));
  expect([...estimates]).toEqual(first.map(({ singleEstimate }) => singleEstimate));
  for (const { estimate, singleEstimate } of first)
    expect(Math.abs(singleEstimate - estimate)).toBeLessThan(ROUNDING);
}

/** Like `randomProgram`, but fewer programs have words, and many have an additional rule that hides rows. */
function program(pick: Pick): SearchProgram {
  const made = randomProgram(bench, pick);
  const hide = { effect: "hide", weight: 0, filter: randomFilter(bench, pick, 1) } as const;
  return {
    ...made,
    words: pick([true, false, false]) ? made.words : [],
    rules: pick([true, false]) ? [...made.rules, hide] : made.rules,
  };
}

test("equals plain loops", () => {
  const seen = { rows: 0, filtered: 0, hidden: 0, pinned: 0, phrases: 0, cut: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 260 }), fc.integer(), (count, seed) => {
      const pick = picker(seed);
      const random = new Random(seed);
      const documents = Array.from({ length: count }, (_, i) => randomDocument(i, pick));
      const catalogue = makeCatalogue(module, bench, groupsOf(documents, [100, 64, 1]), (i) => i % 11 === 4);
      const { engine, rows } = catalogue;
      const few = Array.from({ length: pick([1, 2, 5]) }, () => randomVector(random));
      const vectors = new Map<number, PlainVector>();
      for (let i = 0; i < count; i++)
        vectors.set(1000 + 7 * i, pick([null, pick(few), pick(few), randomVector(random)]));
      const regions = codesOf(engine, catalogue, (seq) => vectors.get(seq)!);
      const codes = regions.map((region) => pick([region, region, region, 0]));
      let number = 0;
      for (const [i, { segment }] of catalogue.entries.entries()) {
        for (const end = number + engine.rows(segment); number < end; number++)
          if (codes[i] === 0) vectors.set(1000 + 7 * number, null);
      }
      for (let i = 0; i < 8; i++) {
        const asked = program(pick);
        const wanted = pick([0, 1, 3, 10, 100, ALL_ROWS]);
        const query = pick([randomQuery(random), Float32Array.from(few[0]!, (x) => x / 127 / 30)]);
        const matching = searchTwin(rows, { ...asked, k: ALL_ROWS, facets: [], sort: [], pins: [] }, (id) =>
          bench.hash(id),
        ).rows;
        const compared = matching.map(({ seq }) => ({ seq, vector: vectors.get(seq)! }));
        const expected = plainNearest(compared, query);
        expectSame(nearest(catalogue, codes, query, wanted, encodeSearch(asked)), expected, wanted);
        seen.rows += Math.min(wanted, expected.length);
        seen.filtered += operationsIn(asked.filter) > 0 && expected.length > 0 ? 1 : 0;
        seen.hidden += asked.rules.some(({ effect }) => effect === "hide") && expected.length > 0 ? 1 : 0;
        seen.pinned += asked.pins.length > 0 && asked.phrases.length > 0 ? 1 : 0;
        seen.phrases += asked.phrases.length + asked.excludes.length > 0 && expected.length > 0 ? 1 : 0;
        seen.cut += wanted > 0 && expected[wanted - 1]?.distance === expected[wanted]?.distance ? 1 : 0;
      }
    }),
    { numRuns: effort(24, 400) },
  );
  for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(3);
});

test("the newest of equal rows wins, across segments", () => {
  const documents = Array.from({ length: 5000 }, (_, i) => ({ id: `d${i}` }));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [3000, 1]), (i) => i % 100 === 99);
  const vector = randomVector(new Random(1));
  const codes = codesOf(catalogue.engine, catalogue, () => vector);
  const query = randomQuery(new Random(2));
  const expected = plainNearest(
    catalogue.rows.map(({ seq }) => ({ seq, vector })),
    query,
  );
  for (const wanted of [1, 63, 1000, 1999, 2000, 4949, 4950, ALL_ROWS]) {
    const answer = nearest(catalogue, codes, query, wanted, encodeSearch(PLAIN));
    expectSame(answer, expected, wanted);
  }
});

test("blocks with many, few and no matching rows", () => {
  const random = new Random(6);
  const few = Array.from({ length: 50 }, () => randomVector(random));
  const documents = Array.from({ length: 9001 }, (_, i) => ({ id: `d${i}`, stock: random.below(100) }));
  const catalogue = makeCatalogue(module, bench, [documents], (i) => i % 7 === 3);
  const vectors = documents.map((_, i) => (i % 13 === 0 ? null : random.pick(few)));
  const vectorOf = (seq: number): PlainVector => vectors[(seq - 1000) / 7]!;
  const codes = codesOf(catalogue.engine, catalogue, vectorOf);
  const query = randomQuery(random);
  for (const share of [0, 1, 5, 12, 23, 24, 25, 50, 99]) {
    const asked: SearchProgram = {
      ...PLAIN,
      filter: filterOf({ op: "intRange", slot: 4, low: 0n, high: BigInt(share) }),
    };
    const passing = catalogue.rows.filter(({ document }) => (document.stock as number) <= share);
    const expected = plainNearest(
      passing.map(({ seq }) => ({ seq, vector: vectorOf(seq) })),
      query,
    );
    for (const wanted of [1, 100, ALL_ROWS])
      expectSame(nearest(catalogue, codes, query, wanted, encodeSearch(asked)), expected, wanted);
  }
});

test("every distance from 0 to 512", () => {
  const random = new Random(3);
  const query = randomQuery(random);
  const documents = Array.from({ length: VECTOR_SIZE + 1 }, (_, i) => ({ id: `d${i}` }));
  const catalogue = makeCatalogue(module, bench, [documents], () => false);
  const vectorOf = (seq: number): number[] =>
    Array.from(query, (x, i) => (x >= 0 === i >= (seq - 1000) / 7 ? 1 : -1));
  const codes = codesOf(catalogue.engine, catalogue, vectorOf);
  const expected = plainNearest(
    catalogue.rows.map(({ seq }) => ({ seq, vector: vectorOf(seq) })),
    query,
  );
  expect(expected[0]!.distance).toBe(0);
  expect(expected.at(-1)!.distance).toBe(VECTOR_SIZE);
  for (const wanted of [1, 512, 513]) {
    const answer = nearest(catalogue, codes, query, wanted, encodeSearch(PLAIN));
    expectSame(answer, expected, wanted);
  }
});

test("the estimate is unbiased on average", () => {
  const random = new Random(4);
  const query = randomQuery(random);
  const count = 400;
  const documents = Array.from({ length: count }, (_, i) => ({ id: `d${i}` }));
  const catalogue = makeCatalogue(module, bench, [documents], () => false);
  const share = 0.6;
  const vectors = documents.map(() => {
    const noise = randomQuery(random);
    return Array.from(query, (x, i) => Math.round((share * x + Math.sqrt(1 - share ** 2) * noise[i]!) * 700));
  });
  const codes = codesOf(catalogue.engine, catalogue, (seq) => vectors[(seq - 1000) / 7]!);
  const answer = nearest(catalogue, codes, query, count, encodeSearch(PLAIN));
  const { estimates } = decodeNearestResult(answer);
  expect(estimates.reduce((sum, one) => sum + one, 0) / count).toBeCloseTo(share, 1);
});

test("malformed programs are refused", () => {
  const catalogue = makeCatalogue(module, bench, [[{ id: "a" }, { id: "b" }]], () => false);
  const { engine } = catalogue;
  const codes = codesOf(engine, catalogue, () => null);
  const query = randomQuery(new Random(5));
  const search = encodeSearch(PLAIN);
  const ask = (regions: number[], numbers = query, program = search): (() => unknown) => {
    return () => nearest(catalogue, regions, numbers, 1, program);
  };
  const bad = new EngineError("program", "The query program is malformed");
  expect(ask(codes)).not.toThrow();
  expect(ask([engine.newCodes(3)])).toThrow(bad);
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY, 3])
    expect(ask(codes, query.with(7, number))).toThrow(bad);
  expect(ask(codes, query, search.subarray(1))).toThrow(bad);
  expect(ask(codes, query, Buffer.concat([search, search]))).toThrow(bad);
  expect(ask(codes, query.subarray(1))).toThrow("a query vector has 512 numbers, not 511");
  expect(() => nearest(catalogue, codes, query, 1, search, 0)).toThrow("The time for this is up");
});
