// Segment summaries: filters that use codes and facets that use sets of values agree with the naive model,
// wherever their ranges begin and end. A summary can be built in steps, and works even if the last steps are
// missing.

import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import {
  ALL_ROWS,
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SearchWord,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { B, K1, PROXIMITY_WEIGHT } from "../../../oracle/score.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import { searchTwin } from "../search/search-twin.js";
import { type Catalogue, FIELDS, groupsOf, makeCatalogue, type Pick, picker } from "./catalogue.js";

const TAGS = 1;
const BRAND = 2;
const PRICE = 3;
const STOCK = 4;
const BIG = 5;
const SIZES = 7;

const module = await loadEngine();
const bench = module.workbench();

function check({ engine, snapshot, rows }: Catalogue, changes: Partial<SearchProgram>): void {
  const scoring = { k1: K1, b: B, proximityWeight: PROXIMITY_WEIGHT };
  const asked: SearchProgram = { ...EVERY_DOCUMENT, k: 0, ...scoring, ...changes };
  const answer = decodeSearchResult(engine.search(snapshot, encodeSearch(asked)), asked);
  expect(answer).toEqual(searchTwin(rows, asked, (id) => bench.hash(id)));
}

/**
 * Returns one of at most 48 numbers, which lie close together near 0 and ever farther apart away from it.
 * `spread` is the ratio between consecutive magnitudes.
 */
function uneven(pick: Pick, spread: number): number {
  const magnitude = pick([0, 1, 2, 3, 4, 5]);
  return pick([1, -1]) * Math.floor(pick([0.1, 0.3, 0.7, 0.9]) * spread ** magnitude);
}

function documentsOf(count: number, spread: number, pick: Pick): Document[] {
  return Array.from({ length: count }, (_, i): Document => {
    const value = uneven(pick, spread) + (i % spread);
    const members: Omit<Document, "id"> = {
      title: i % 90 < 2 ? "lamp rare" : i % 3 === 0 ? "lamp" : "oak",
      price: pick([value / 8, -0, 0, value]),
      stock: value,
      big: BigInt(value) * 2n ** 33n,
      brand: `b${pick([value, i % 7])}`,
      tags: pick([[], ["x"], ["x", "y"], ["y", "x"], ["x", "x"], [`${i % 3}`, "z", `${i % 3}`]]),
      sizes: [i % 5, i % 2],
    };
    return {
      id: `d${i}`,
      ...Object.fromEntries(Object.entries(members).filter(() => pick([1, 1, 1, 0]) === 1)),
    };
  });
}

function wordOf(term: string): SearchWord {
  const kind = { kind: L.ALT_EXACT, typos: 0, exact: true, sequence: false, useForProximity: true } as const;
  return { weight: 1, alternatives: [{ ...kind, boost: 1, terms: [{ term, prefix: false }] }] };
}

for (const spread of [2, 9, 60]) {
  test(`ranges that start and end anywhere, spread ${spread}`, () => {
    const pick = picker(spread);
    const documents = documentsOf(2400, spread, pick);
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, [1300, 600]), (i) => i % 13 === 4);
    const ends = (): [number, number] => {
      const [a, b] = [pick(documents).stock ?? 0, pick(documents).stock ?? 1] as [number, number];
      return pick([true, true, true, false]) ? [Math.min(a, b), Math.max(a, b)] : [a, a];
    };
    for (let round = 0; round < effort(5, 60); round++) {
      const [low, high] = ends();
      const open = { lowExclusive: pick([true, false]), highExclusive: pick([true, false]) };
      const unit = pick([1n, 2n ** 33n]);
      const filters = [
        filterOf({ op: "intRange", slot: STOCK, low: BigInt(low), high: BigInt(high) }),
        filterOf({ op: "intRange", slot: BIG, low: BigInt(low) * unit, high: BigInt(high) * unit }),
        filterOf({ op: "floatRange", slot: PRICE, low: low / pick([1, 8, 7]), high, ...open }),
        filterOf({ op: "equals", slot: BRAND, folded: bench.fold(`b${low}`) }),
      ];
      const k = pick([ALL_ROWS, 10]);
      const sort = [
        { by: "field" as const, slot: STOCK, type: FIELDS[STOCK]!.code, descending: pick([true, false]) },
      ];
      const facets = [TAGS, SIZES, BRAND].map((slot) => ({ slot, type: FIELDS[slot]!.code, limit: 0 }));
      const words = pick([["rare"], ["rare", "lamp"], ["lamp"], ["rare", "oak"]]).map(wordOf);
      const slots = [{ slot: 0, weight: 1, averageLength: 2 }];
      for (const filter of filters) {
        check(catalogue, { k, filter, sort, facets });
        check(catalogue, { k, filter, sort, facets, mode: pick(["all", "any"]), slots, words });
      }
    }
  });
}

test("summaries are made in steps, and are usable even if not all of them run", () => {
  const documents = documentsOf(1300, 9, picker(1));
  const { engine, entries, rows } = makeCatalogue(module, bench, [documents], () => false);
  const filter = filterOf({ op: "intRange", slot: STOCK, low: 2n, high: 5n });
  const copy = engine.attach(new Uint8Array(engine.segmentView(entries[0]!.segment)));
  const steps = engine.summarise(copy);
  steps.next();
  steps.return(undefined);
  const again = [{ segment: copy, live: 0 }];
  check({ engine, snapshot: engine.setSnapshot(again), entries: again, rows }, { filter });
});

test("values missing from the sample, so that every value must be read, and words in few rows", () => {
  const rows = 8192;
  const documents = Array.from({ length: rows }, (_, i): Document => {
    const title = [70, 71, 3000, 6500, rows - 1].includes(i) ? "lamp oak" : "oak";
    return { id: `d${i}`, title, stock: i % 4 === 0 ? 0 : 1 + (i % 1000) };
  });
  const catalogue = makeCatalogue(module, bench, [documents], () => false);
  const slots = [{ slot: 0, weight: 1, averageLength: 2 }];
  const sort = [{ by: "relevance" as const, descending: true }];
  for (const [low, high] of [
    [100n, 600n],
    [0n, 999n],
    [600n, 2000n],
  ] as const) {
    const filter = filterOf({ op: "intRange", slot: STOCK, low, high });
    check(catalogue, { filter });
    for (const words of [["lamp"], ["lamp", "oak"]])
      for (const mode of ["all", "any"] as const)
        check(catalogue, {
          k: 3,
          filter: low === 0n ? NO_FILTER : filter,
          sort,
          slots,
          mode,
          words: words.map(wordOf),
        });
  }
});
