// The search kernel equals its naive twin: matching, filters, text match to the bit, order, paging, facets, over
// several segments with deleted rows.
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import * as L from "../../../engine-wasm/assembly/layout.js";
import type { EngineModule } from "../../../engine-wasm/host/engine-module.js";
import {
  ALL_ROWS,
  encodeSearch,
  type FilterOp,
  type SearchAlternative,
  type SearchProgram,
  type SearchWord,
  type SortKey,
} from "../../../engine-wasm/host/search-program.js";
import { decodeSearchResult, type SearchResult } from "../../../engine-wasm/host/search-result.js";
import type { Workbench } from "../../../engine-wasm/host/workbench.js";
import { B, K1, PROXIMITY_WEIGHT } from "../../oracle/score.js";
import {
  type Catalogue,
  FIELDS,
  groupsOf,
  LARGE,
  makeCatalogue,
  type Pick,
  PRICES,
  picker,
  randomDocument,
  TEXT_SLOTS,
  WORDS,
} from "./catalogue.js";
import { loadEngine } from "./load-engine.js";
import { searchTwin } from "./search-twin.js";

let module: EngineModule;
let bench: Workbench;
const fold = (text: string): string => Buffer.from(bench.fold(text)).toString();

beforeAll(async () => {
  module = await loadEngine();
  bench = module.workbench();
});

function randomWord(pick: Pick): SearchWord {
  const kinds = [L.ALT_EXACT, L.ALT_PREFIX, L.ALT_TYPO, L.ALT_SYNONYM] as const;
  const alternatives = kinds.slice(0, pick([1, 1, 2, 3, 4])).map((kind) => ({
    kind,
    typos: kind === L.ALT_TYPO ? pick([1, 2]) : 0,
    useForProximity: pick([true, true, false]),
    boost: pick([0.25, 1, 2.75, 0.1]),
    terms: Array.from({ length: pick([1, 1, 2, 3]) }, () => {
      const prefix = kind === L.ALT_PREFIX && pick([true, false]);
      const term = fold(pick(WORDS));
      return { term: prefix ? [...term].slice(0, pick([1, 2])).join("") : term, prefix };
    }),
  }));
  return { weight: pick([0.5, 1.75, 3.1]), alternatives };
}

function randomLeaf(pick: Pick): FilterOp {
  const numbers = [-2147483649n, -1n, 0n, 1n, 7n, 2147483648n, ...LARGE];
  switch (pick(["all", "int", "int", "float", "equals", "equals", "tokens", "tokens", "ids"])) {
    case "int":
      return { op: "intRange", slot: pick([4, 5, 6, 7, 99]), low: pick(numbers), high: pick(numbers) };
    case "float": {
      const bounds = [...PRICES, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      const ends = { lowExclusive: pick([true, false]), highExclusive: pick([true, false]) };
      return { op: "floatRange", slot: pick([3, 8]), low: pick(bounds), high: pick(bounds), ...ends };
    }
    case "equals":
      return {
        op: "equals",
        slot: pick(TEXT_SLOTS),
        folded: bench.fold(pick(["acme", "Ärger", "red", "shoe red", "", "日本", "zeta", ...WORDS])),
      };
    case "tokens": {
      const terms = Array.from({ length: pick([1, 2, 2, 3]) }, () => fold(pick(WORDS)));
      return {
        op: "tokens",
        slot: pick(TEXT_SLOTS),
        terms: bench.analyse(terms.join(" ")).map(({ term }) => term),
      };
    }
    case "ids":
      return {
        op: "ids",
        hashes: Array.from({ length: pick([0, 1, 5]) }, () => bench.hash(`d${pick([1, 2, 3, 4, 5, 17])}`)),
      };
    default:
      return { op: "all" };
  }
}

function randomFilter(pick: Pick, depth: number): FilterOp[] {
  if (depth === 0) return [randomLeaf(pick)];
  const kind = pick(["leaf", "leaf", "not", "and", "or"]);
  if (kind === "leaf") return [randomLeaf(pick)];
  if (kind === "not") return [...randomFilter(pick, depth - 1), { op: "not" }];
  return [...randomFilter(pick, depth - 1), ...randomFilter(pick, depth - 1), { op: kind as "and" | "or" }];
}

function randomSort(pick: Pick): SortKey[] {
  return Array.from({ length: pick([0, 1, 1, 2, 3]) }, (): SortKey => {
    const descending = pick([true, false]);
    const by = pick(["relevance", "seq", "field", "field", "field"] as const);
    if (by !== "field") return { by, descending };
    const slot = pick([2, 3, 4, 5, 6]);
    return { by, descending, slot, type: FIELDS[slot]!.code };
  });
}

function randomProgram(pick: Pick): SearchProgram {
  const slots = TEXT_SLOTS.filter(() => pick([true, true, false]));
  return {
    mode: pick(["all", "all", "any"]),
    k: pick([0, 1, 3, 10, ALL_ROWS]),
    k1: K1,
    b: B,
    proximityWeight: PROXIMITY_WEIGHT,
    slots: slots.map((slot) => ({ slot, weight: pick([1, 2.5, 0.3]), averageLength: pick([0, 2.5, 4.75]) })),
    words: Array.from({ length: pick([0, 1, 1, 2, 3]) }, () => randomWord(pick)),
    phrases: pick([true, false, false, false])
      ? [bench.analyse(`${pick(WORDS)} ${pick(WORDS)}`).map(({ term }) => term)]
      : [],
    excludes: pick([true, false, false])
      ? [[fold(pick(WORDS))], bench.analyse(`${pick(WORDS)} ${pick(WORDS)}`).map(({ term }) => term)]
      : [],
    filter: pick([true, false]) ? randomFilter(pick, 3) : [],
    sort: randomSort(pick),
    facets: Array.from({ length: pick([0, 1, 2]) }, () => {
      const slot = pick([1, 2, 3, 4, 5, 6, 7, 8]);
      return { slot, type: FIELDS[slot]!.code, limit: pick([0, 0, 1, 3, 100]) };
    }),
  };
}

function run(catalogue: Catalogue, program: SearchProgram): SearchResult {
  return decodeSearchResult(catalogue.engine.search(catalogue.snapshot, encodeSearch(program)), program);
}

function check(catalogue: Catalogue, program: SearchProgram): void {
  expect(run(catalogue, program)).toEqual(searchTwin(catalogue.rows, program, (id) => bench.hash(id)));
}

test("random programs on random catalogues", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 70 }), { minLength: 0, maxLength: 3 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 150 }), sizes, fc.integer(), (count, cuts, seed) => {
      const pick = picker(seed);
      const documents = Array.from({ length: count }, (_, i) => randomDocument(i, pick));
      const deadShare = pick([0, 0, 3, 10]);
      const dead = new Set(
        documents.flatMap((_, i) => (deadShare > 0 && pick([...Array(deadShare).keys()]) === 0 ? [i] : [])),
      );
      const catalogue = makeCatalogue(module, bench, groupsOf(documents, cuts), (i) => dead.has(i));
      for (let i = 0; i < 12; i++) check(catalogue, randomProgram(pick));
    }),
    { numRuns: 60 },
  );
});

/** Thousands of rows: packed blocks, several windows, more lists than fit windows. */
function largeDocument(id: number, pick: Pick): ReturnType<typeof randomDocument> {
  const rare = Array.from({ length: pick([0, 0, 3]) }, () => `w${pick([...Array(700).keys()])}`);
  return { ...randomDocument(id, pick), title: [`${pick(WORDS)} ${pick(WORDS)}`, ...rare].join(" ") };
}

test("long lists and wide prefixes", () => {
  const pick = picker(42);
  const documents = Array.from({ length: 6000 }, (_, i) => largeDocument(i, pick));
  const isDead = (i: number): boolean => i % 97 === 5;
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [4500, 1]), isDead);
  const wide: SearchAlternative = {
    kind: L.ALT_PREFIX,
    typos: 0,
    useForProximity: true,
    boost: 1.5,
    terms: [{ term: "w", prefix: true }],
  };
  for (let i = 0; i < 10; i++) {
    const program = { ...randomProgram(pick), filter: i % 2 === 0 ? [] : randomFilter(pick, 2) };
    check(catalogue, { ...program, mode: "any", words: [randomWord(pick), randomWord(pick)] });
    check(catalogue, { ...program, words: [{ weight: 2, alternatives: [wide] }, randomWord(pick)] });
  }
});

test("pages of any size put together are the whole list", () => {
  const pick = picker(7);
  const documents = Array.from({ length: 300 }, (_, i) => randomDocument(i, pick));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [100, 150]), (i) => i % 9 === 0);
  for (const sort of [
    [],
    [{ by: "field", descending: false, slot: 2, type: L.TYPE_STRING }],
  ] as SortKey[][]) {
    const program = {
      ...randomProgram(pick),
      slots: [],
      words: [],
      phrases: [],
      excludes: [],
      filter: [],
      sort,
    };
    const all = run(catalogue, { ...program, k: ALL_ROWS }).rows;
    expect(all.length).toBe(catalogue.rows.length);
    for (const k of [1, 2, 50, 199, 266, 267, 1000])
      expect(run(catalogue, { ...program, k }).rows).toEqual(all.slice(0, k));
  }
});

test("an empty snapshot answers", () => {
  const engine = module.engine();
  const program = { ...randomProgram(picker(1)), k: 10 };
  const answer = engine.search(engine.setSnapshot([]), encodeSearch(program));
  expect(decodeSearchResult(answer, program)).toEqual({
    found: 0,
    rows: [],
    facets: program.facets.map(() => []),
  });
});
