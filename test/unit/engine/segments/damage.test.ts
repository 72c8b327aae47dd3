// If a bit in a program or segment flips, a kernel returns a result or a clear error. It never traps or
// writes outside its own memory.

import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { EngineError } from "../../../../engine-wasm/host/engine-error.js";
import type { Engine } from "../../../../engine-wasm/host/instance/engine.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import { encodeCompany } from "../../../../engine-wasm/host/programs/company-program.js";
import { encodeExpand } from "../../../../engine-wasm/host/programs/expand-program.js";
import {
  ALL_ROWS,
  encodeSearch,
  type SearchProgram,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { loadEngine } from "../load-engine.js";
import { FIELDS, makeCatalogue, picker, randomDocument, TEXT_SLOTS } from "./catalogue.js";
import { toRaw } from "./documents.js";

const module = await loadEngine();
const bench = module.workbench();

const WORD = {
  weight: 1,
  alternatives: [
    {
      kind: L.ALT_EXACT,
      typos: 0,
      exact: true,
      sequence: false,
      useForProximity: true,
      boost: 2,
      terms: [{ term: "shoe", prefix: false }],
    },
    {
      kind: L.ALT_PREFIX,
      typos: 0,
      exact: true,
      sequence: false,
      useForProximity: true,
      boost: 1,
      terms: [{ term: "s", prefix: true }],
    },
  ],
} as const;

/** A program that uses every kind of list, column and dictionary. */
const SEARCH: SearchProgram = {
  mode: "any",
  averageLength: 4,
  k: ALL_ROWS,
  k1: 1.2,
  b: 0.75,
  proximityWeight: 0.5,
  slots: TEXT_SLOTS.map((slot) => ({ slot, weight: 1, averageLength: 4 })),
  words: [
    WORD,
    { ...WORD, alternatives: [{ ...WORD.alternatives[1], terms: [{ term: "r", prefix: true }] }] },
    {
      ...WORD,
      alternatives: [
        {
          ...WORD.alternatives[0],
          sequence: true,
          terms: [
            { term: "red", prefix: false },
            { term: "shoe", prefix: false },
          ],
        },
      ],
    },
  ],
  phrases: [],
  neighbours: null,
  excludes: [["42", "red"]],
  filter: filterOf(
    { op: "intRange", slot: 4, low: -5n, high: 5n },
    { op: "intRange", slot: 7, low: 0n, high: 50n },
    { op: "or" },
    { op: "floatRange", slot: 8, low: 0, high: 3, lowExclusive: true, highExclusive: false },
    { op: "or" },
    { op: "equals", slot: 2, folded: Buffer.from("acme") },
    { op: "not" },
    { op: "or" },
    { op: "equals", slot: 9, folded: Buffer.from("red") },
    { op: "or" },
    { op: "tokens", slot: 1, terms: ["shoe", "red"] },
    { op: "or" },
    { op: "ids", hashes: [1n, 2n ** 63n] },
    { op: "or" },
  ),
  sort: [
    { by: "field", descending: true, slot: 2, type: L.TYPE_STRING },
    { by: "relevance", descending: true },
    { by: "field", descending: false, slot: 3, type: L.TYPE_FLOAT },
  ],
  facets: [1, 2, 3, 6, 7].map((slot) => ({ slot, type: FIELDS[slot]!.code, limit: slot === 2 ? 2 : 0 })),
  bonuses: {
    whole: 9,
    starts: 4,
    terms: [
      { group: 0, slot: 1, term: { term: "s", prefix: true }, bonus: 3 },
      { group: 1, slot: 9, term: { term: "red", prefix: false }, bonus: 2 },
    ],
  },
  rules: [
    { effect: "hide", weight: 0, filter: filterOf({ op: "intRange", slot: 4, low: 7n, high: 7n }) },
    { effect: "bury", weight: 0, filter: filterOf({ op: "tokens", slot: 0, terms: ["red"] }) },
    { effect: "boost", weight: 2, filter: filterOf({ op: "all" }) },
  ],
  pins: [1n, 2n],
};

const EXPAND = {
  slots: TEXT_SLOTS,
  words: [
    { term: "sheo", exact: true, prefix: true, typoPrefix: true, maxTypos: 2 },
    { term: "r", exact: true, prefix: true, typoPrefix: false, maxTypos: 1 },
  ],
};

const COMPANY = {
  slots: TEXT_SLOTS,
  words: [["red"], ["shoe", "shop", "x"]],
  candidates: [["42"], ["blue", "read"]],
};

/**
 * Runs a query and returns "answered" or the refusal's code. Any other error, or an unusable engine, fails
 * the test.
 */
function survives(engine: Engine, query: () => unknown): string {
  try {
    query();
    return "answered";
  } catch (error) {
    if (!(error instanceof EngineError) || !engine.usable) throw error;
    return error.code;
  }
}

function documents(count: number, seed: number): ReturnType<typeof randomDocument>[] {
  const pick = picker(seed);
  return Array.from({ length: count }, (_, i) => randomDocument(i, pick));
}

function flip(bytes: Uint8Array, pick: ReturnType<typeof picker>, from: number, to: number): Uint8Array {
  const damaged = new Uint8Array(bytes);
  for (let n = pick([1, 1, 2, 5]); n > 0; n--) {
    const at = from + (pick([...Array(to - from).keys()]) as number);
    damaged[at] = pick([damaged[at]! ^ (1 << pick([0, 1, 2, 3, 4, 5, 6, 7])), 0, 255, 128]);
  }
  return damaged;
}

test("damaged programs", () => {
  const pick = picker(11);
  const { engine, snapshot } = makeCatalogue(
    module,
    bench,
    [documents(200, 1), documents(90, 2)],
    (i) => i === 3,
  );
  const search = encodeSearch(SEARCH);
  const before = Buffer.from(engine.search(snapshot, search));
  const asked = [
    [encodeExpand(EXPAND), (p: Uint8Array) => engine.expand(snapshot, p)],
    [encodeCompany(COMPANY), (p: Uint8Array) => engine.company(snapshot, p)],
    ...Array.from({ length: 4 }, () => [search, (p: Uint8Array) => engine.search(snapshot, p)] as const),
  ] as const;
  const outcomes = new Map<string, number>();
  for (let i = 0; i < effort(1200, 4800); i++) {
    const [good, run] = asked[i % asked.length]!;
    const whole = flip(good, pick, 0, good.length);
    const program = pick([whole, whole, whole.subarray(0, pick([...whole.keys()]))]);
    const outcome = survives(engine, () => run(program));
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].sort()).toEqual(["answered", "program"]);
  expect(before.equals(engine.search(snapshot, search))).toBe(true);
});

test("every program that ends early is refused", () => {
  const { engine, snapshot } = makeCatalogue(module, bench, [documents(5, 1)], () => false);
  for (const [program, run] of [
    [encodeSearch(SEARCH), (p: Uint8Array) => engine.search(snapshot, p)],
    [encodeExpand(EXPAND), (p: Uint8Array) => engine.expand(snapshot, p)],
    [encodeCompany(COMPANY), (p: Uint8Array) => engine.company(snapshot, p)],
  ] as const) {
    for (let length = 0; length < program.length; length++) {
      expect(() => run(program.subarray(0, length))).toThrow("malformed");
    }
    expect(() => run(Buffer.concat([program, Buffer.alloc(1)]))).toThrow("malformed");
  }
});

test("damaged segments", () => {
  const pick = picker(5);
  const raw = documents(700, 9);
  const schema = {
    fields: FIELDS.map(({ name, code, flags }, slot) => ({ slot, name, type: code, flags, language: 0 })),
    analysis: PLAIN_ANALYSIS,
  };
  const seqs = raw.map((_, i) => i + 1);
  const segment = bench.build(schema, toRaw(raw, seqs)).segment!;
  const engine = module.engine();
  const good = engine.attach(segment);
  const goodSnapshot = engine.setSnapshot([{ segment: good, live: 0 }]);
  const [search, expand, company] = [encodeSearch(SEARCH), encodeExpand(EXPAND), encodeCompany(COMPANY)];
  const healthy = Buffer.from(engine.search(goodSnapshot, search));
  const lists = Buffer.from(segment.buffer).readUInt32LE(L.SEG_LISTS);
  const outcomes = new Map<string, number>();
  for (let i = 0; i < effort(150, 2000); i++) {
    const [from, to] = pick([
      [0, L.SEG_HEADER_BYTES],
      [lists, lists + 20000],
      [lists, lists + 20000],
      [0, segment.length],
    ] as const);
    const damaged = flip(segment, pick, from, Math.min(to, segment.length));
    const outcome = survives(engine, () => {
      const handle = engine.attach(damaged);
      const live = engine.liveAll(engine.rows(handle));
      const snapshot = engine.setSnapshot([{ segment: handle, live }]);
      const answers = [
        survives(engine, () => engine.search(snapshot, search)),
        survives(engine, () => engine.expand(snapshot, expand)),
        survives(engine, () => engine.company(snapshot, company)),
      ];
      engine.releaseSnapshot(snapshot);
      engine.liveRelease(live);
      engine.detach(handle);
      if (answers.includes("damaged")) throw new EngineError("damaged", "noticed by a query");
    });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect([...outcomes.keys()].sort()).toEqual(["answered", "damaged"]);
  expect(healthy.equals(engine.search(goodSnapshot, search))).toBe(true);
});

test("a segment that is cut short or empty is damaged", () => {
  const engine = module.engine();
  const segment = bench.build({ fields: [], analysis: PLAIN_ANALYSIS }, toRaw(documents(3, 1), [1, 2, 3]))
    .segment!;
  const before = engine.usedBytes();
  const first = engine.attach(segment);
  engine.detach(first);
  for (const length of [0, 10, L.SEG_HEADER_BYTES, segment.length - 8]) {
    expect(() => engine.attach(segment.subarray(0, length))).toThrow(EngineError);
  }
  expect(engine.usedBytes()).toBe(before);
  expect(engine.attach(segment)).toBe(first);
});
