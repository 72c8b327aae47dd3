// Neighbours in a search (rows with similar vectors). In small worked examples: which rows they add, how they
// are marked, where they rank, and invalid lists. On many rows, with every sort, page and facet, the kernel
// agrees with the naive model.

import { describe, expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import type { Neighbours } from "../../../../engine-wasm/host/programs/neighbours.js";
import {
  ALL_ROWS,
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SearchWord,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import {
  type DecodedSearchResult,
  decodeSearchResult,
  type SearchRow,
} from "../../../oracle/decoded-result.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { B, K1, PROXIMITY_WEIGHT } from "../../../oracle/score.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import {
  type Catalogue,
  FIELDS,
  groupsOf,
  makeCatalogue,
  picker,
  randomDocument,
} from "../segments/catalogue.js";
import { randomFilter, randomNeighbours, randomProgram, randomWord } from "./random-program.js";
import { searchTwin } from "./search-twin.js";

const LINE = 2 ** 52;
const POINT = 2 ** 24;
const RELEVANCE = { by: "relevance", descending: true } as const;

const module = await loadEngine();
const bench = module.workbench();

const TITLES = ["oak lamp", "oak", "lamp", "chair", "stool", "red oak lamp", "oak chair"];
const SHOP = makeCatalogue(
  module,
  bench,
  groupsOf(
    TITLES.map((title, i): Document => ({ id: `d${i}`, title, stock: i })),
    [3],
  ),
  (i) => i === 6,
);

function word(term: string): SearchWord {
  const [kind, boost, terms] = [L.ALT_EXACT, 1, [{ term, prefix: false }]] as const;
  return {
    weight: 1,
    alternatives: [{ kind, typos: 0, exact: true, sequence: false, useForProximity: true, boost, terms }],
  };
}

const PROGRAM: SearchProgram = {
  ...EVERY_DOCUMENT,
  k: ALL_ROWS,
  k1: K1,
  b: B,
  proximityWeight: PROXIMITY_WEIGHT,
  slots: [{ slot: 0, weight: 1, averageLength: 2 }],
  words: [word("oak"), word("lamp")],
  sort: [{ by: "class", descending: true }, RELEVANCE],
};

/**
 * Returns a neighbour list from points by document number. Negative points mark documents that match only by
 * their words.
 */
function near(place: "added" | "first", points: Record<number, number>): Neighbours {
  return {
    place,
    rows: Object.entries(points).map(([number, value]) => ({
      seq: 1000 + 7 * Number(number),
      points: Math.abs(value),
      matches: value >= 0,
    })),
  };
}

function search({ engine, snapshot }: Catalogue, program: SearchProgram): DecodedSearchResult {
  return decodeSearchResult(engine.search(snapshot, encodeSearch(program)), program);
}

function check(catalogue: Catalogue, program: SearchProgram): DecodedSearchResult {
  const result = search(catalogue, program);
  expect(result).toEqual(searchTwin(catalogue.rows, program, (id) => bench.hash(id)));
  return result;
}

function matchType({ matched, neighbour, hasWord }: SearchRow): string {
  if (!neighbour) return matched ? "keyword" : "pinned";
  return hasWord ? "hybrid" : "semantic";
}

/** Returns each found document's number and match type, best first. */
function found(changes: Partial<SearchProgram>): string[] {
  const { rows } = check(SHOP, { ...PROGRAM, ...changes });
  return rows.map((row) => `${(row.seq - 1000) / 7} ${matchType(row)}`);
}

describe("rows match", () => {
  test("with all words, or by nearness", () => {
    expect(found({ neighbours: near("added", { 5: 1, 1: 3, 3: 2 }) })).toEqual([
      "5 hybrid",
      "0 keyword",
      "1 hybrid",
      "3 semantic",
    ]);
  });

  test("with one of the words, or by nearness", () => {
    const neighbours = near("added", { 3: 0.1, 1: 0.5 });
    expect(found({ mode: "any", neighbours })).toEqual([
      "0 keyword",
      "5 keyword",
      "1 hybrid",
      "2 keyword",
      "3 semantic",
    ]);
  });

  test("by words alone if a neighbour lacks the flag, but keep its points", () => {
    expect(found({ neighbours: near("added", { 5: -1, 1: -3, 3: -2 }) })).toEqual(["5 keyword", "0 keyword"]);
    expect(found({ neighbours: null })).toEqual(["0 keyword", "5 keyword"]);
  });

  test("by nearness alone without words, and not at all without neighbours", () => {
    expect(found({ words: [], neighbours: near("added", { 4: 1, 3: 2, 0: -5 }) })).toEqual([
      "3 semantic",
      "4 semantic",
    ]);
    expect(found({ words: [], neighbours: near("first", {}) })).toEqual([]);
    expect(found({ words: [], neighbours: null }).length).toBe(6);
  });

  test("only if they are live and pass the filter, phrases, excludes and rules", () => {
    const neighbours = near("added", { 0: 1, 1: 1, 3: 1, 4: 1, 6: 1 });
    const filter = filterOf({ op: "intRange", slot: 4, low: 0n, high: 3n });
    expect(found({ neighbours, filter })).toEqual(["0 hybrid", "1 hybrid", "3 semantic"]);
    expect(found({ neighbours, phrases: [["oak", "lamp"]] })).toEqual(["0 hybrid", "5 keyword"]);
    expect(found({ neighbours, excludes: [["chair"]], words: [] })).toEqual([
      "4 semantic",
      "1 semantic",
      "0 semantic",
    ]);
    const rules = [{ effect: "hide", weight: 0, filter }] as const;
    expect(found({ neighbours, rules })).toEqual(["5 keyword", "4 semantic"]);
  });

  test("as a pin, no longer as a neighbour, if the neighbour is excluded but pinned", () => {
    const changes = {
      neighbours: near("first", { 3: 9, 4: 1 }),
      excludes: [["chair"]],
      pins: [bench.hash("d3"), bench.hash("d4")],
    };
    expect(found(changes)).toEqual(["3 pinned", "4 semantic", "0 keyword", "5 keyword"]);
    const { pinnedOnly, rows } = search(SHOP, { ...PROGRAM, ...changes });
    expect([pinnedOnly, rows[0]!.textMatch, rows[0]!.pinned, rows[1]!.pinned]).toEqual([1, 0, true, true]);
  });
});

describe("row order", () => {
  test("points never lift a row above one with all words", () => {
    const rules = [
      { effect: "boost", weight: 1e12, filter: filterOf({ op: "intRange", slot: 4, low: 3n, high: 3n }) },
    ] as const;
    expect(found({ neighbours: near("added", { 3: 1e30, 1: 1e29 }), rules })).toEqual([
      "0 keyword",
      "5 keyword",
      "3 semantic",
      "1 hybrid",
    ]);
  });

  test("maximum points plus a bonus never lift a row above one with better words", () => {
    const [exact] = word("oak").alternatives as [SearchWord["alternatives"][0]];
    const synonym = { ...exact, exact: false, terms: [{ term: "stool", prefix: false }] };
    const bonus = { group: 0, slot: 0, term: { term: "stool", prefix: false }, bonus: 2 ** 40 };
    const changes = {
      words: [{ weight: 1, alternatives: [exact, synonym] }],
      neighbours: near("added", { 4: 1e30 }),
      bonuses: { ...PROGRAM.bonuses, terms: [bonus] },
    };
    expect(found({ ...changes, k: 1 })).toEqual(["1 keyword"]);
    expect(found(changes).at(-1)).toBe("4 hybrid");
  });

  test("neighbours that come first are ordered by points alone, and nothing passes them", () => {
    const neighbours = near("first", { 3: 0.25, 5: 0.125, 1: 0, 0: -9 });
    const terms = [{ group: 0, slot: 0, term: { term: "lamp", prefix: false }, bonus: LINE }];
    const filter = filterOf({ op: "intRange", slot: 4, low: 0n, high: 2n });
    const rules = [{ effect: "boost", weight: 1e12, filter }] as const;
    const order = ["3 semantic", "5 hybrid", "1 hybrid", "0 keyword"];
    for (const mode of ["all", "any"] as const) {
      const behind = mode === "any" ? ["2 keyword"] : [];
      for (const bonuses of [PROGRAM.bonuses, { whole: POINT, starts: POINT, terms }]) {
        expect(found({ mode, neighbours, bonuses })).toEqual([...order, ...behind]);
        expect(found({ mode, neighbours, bonuses, rules })).toEqual([...order, ...behind]);
      }
    }
    const { rows } = search(SHOP, { ...PROGRAM, neighbours, bonuses: { whole: POINT, starts: 1, terms } });
    expect(rows.map(({ textMatch, bonus }) => [textMatch, bonus]).slice(0, 3)).toEqual([
      [LINE + POINT / 4, 0],
      [LINE + POINT / 8, 0],
      [LINE, 0],
    ]);
  });

  test("boosts, burials and pins move neighbours that come first", () => {
    const neighbours = near("first", { 1: 1, 3: 0.75, 4: 0.5 });
    const stock = (low: bigint, high: bigint) => filterOf({ op: "intRange", slot: 4, low, high });
    const boost = { effect: "boost", weight: 5, filter: stock(3n, 3n) } as const;
    const bury = { effect: "bury", weight: 0, filter: stock(1n, 1n) } as const;
    expect(found({ neighbours, rules: [boost] }).slice(0, 2)).toEqual(["3 semantic", "1 hybrid"]);
    expect(found({ neighbours, rules: [bury], pins: [bench.hash("d5")] })).toEqual([
      "5 keyword",
      "3 semantic",
      "4 semantic",
      "0 keyword",
      "1 hybrid",
    ]);
  });
});

test("many rows in every sort order, with facets, page by page", () => {
  const pick = picker(9);
  const documents = Array.from({ length: effort(1500, 4000) }, (_, i) => randomDocument(i, pick));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [1100, 200]), (i) => i % 31 === 3);
  const facets = [1, 2, 4, 6].map((slot) => ({ slot, type: FIELDS[slot]!.code, limit: pick([0, 3]) }));
  for (let i = 0; i < effort(12, 60); i++) {
    const slot = pick([2, 3, 4, 5, 6]);
    const byField = { by: "field", descending: pick([true, false]), slot, type: FIELDS[slot]!.code } as const;
    const program: SearchProgram = {
      ...randomProgram(bench, pick),
      mode: pick(["all", "any"]),
      words: Array.from({ length: i % 3 }, () => randomWord(bench, pick)),
      filter: pick([NO_FILTER, randomFilter(bench, pick, 1)]),
      neighbours: randomNeighbours(pick),
      facets,
      sort: pick([[RELEVANCE], [byField], [byField, RELEVANCE], [{ ...RELEVANCE, descending: false }]]),
      k: ALL_ROWS,
    };
    const all = check(catalogue, program);
    for (const k of [1, 10, 100])
      expect(check(catalogue, { ...program, k }).rows).toEqual(all.rows.slice(0, k));
  }
});

test("malformed lists are refused", () => {
  const program = { ...PROGRAM, neighbours: near("added", { 1: 1, 2: 0.5, 3: 1 }) };
  const bytes = encodeSearch(program);
  const list = bytes.length - 3 * 17 - 5;
  const ask = (bent: Uint8Array) => () => SHOP.engine.search(SHOP.snapshot, bent);
  const bent = (at: number, change: (view: DataView, at: number) => void): Uint8Array => {
    const copy = Uint8Array.from(bytes);
    change(new DataView(copy.buffer), list + at);
    return copy;
  };
  expect(ask(bytes)).not.toThrow();
  for (let end = list; end < bytes.length; end++) expect(ask(bytes.subarray(0, end))).toThrow(/program/i);
  for (const place of [L.NEAR_NONE, L.NEAR_FIRST + 1])
    expect(ask(bent(0, (view, at) => view.setUint8(at, place)))).toThrow(/program/i);
  for (const count of [0, 2, 4, 0xffffffff])
    expect(ask(bent(1, (view, at) => view.setUint32(at, count, true)))).toThrow(/program/i);
  for (const seq of [Number.NaN, -1, 1007, 1006, 1013.5, 1021, 2 ** 53])
    expect(ask(bent(5 + 17, (view, at) => view.setFloat64(at, seq, true)))).toThrow(/program/i);
  for (const points of [Number.NaN, -1, 1e31, Number.POSITIVE_INFINITY])
    expect(ask(bent(5 + 8, (view, at) => view.setFloat64(at, points, true)))).toThrow(/program/i);
  expect(ask(bent(5 + 16, (view, at) => view.setUint8(at, 2)))).toThrow(/program/i);
  const twice = { ...near("added", {}), rows: [1, 1].map((seq) => ({ seq, points: 1, matches: true })) };
  expect(ask(encodeSearch({ ...PROGRAM, neighbours: twice }))).toThrow(/program/i);
});
