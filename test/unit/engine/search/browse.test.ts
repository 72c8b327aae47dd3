// Sorting and facet counting on segments with many 64-row words, where the kernels compare and count 64 rows
// at a time. The results equal the naive model's for every kind of column, both directions, ties, missing
// values and deleted rows.

import { expect, test } from "vitest";
import { type FilterProgram, NO_FILTER } from "../../../../engine-wasm/host/programs/filter-program.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import {
  type Catalogue,
  FIELDS,
  groupsOf,
  makeCatalogue,
  type Pick,
  picker,
  WORDS,
} from "../segments/catalogue.js";
import { searchTwin } from "./search-twin.js";

const BRAND = 2;
const PRICE = 3;
const STOCK = 4;
const BIG = 5;
const ON = 6;
const SORTED = [BRAND, PRICE, STOCK, BIG, ON];
const COUNTED = [1, ...SORTED, 7, 8];

const module = await loadEngine();
const bench = module.workbench();

function browse(changes: Partial<SearchProgram>): SearchProgram {
  return { ...EVERY_DOCUMENT, k: 10, ...changes };
}

function check(catalogue: Catalogue, program: SearchProgram): void {
  const answer = catalogue.engine.search(catalogue.snapshot, encodeSearch(program));
  expect(decodeSearchResult(answer, program)).toEqual(
    searchTwin(catalogue.rows, program, (id) => bench.hash(id)),
  );
}

/** Each column has `values` distinct values. In sparse columns, one in `sparse` documents has a value. */
function manyDocuments(count: number, values: number, sparse: number, pick: Pick): Document[] {
  const choices = [...Array(values).keys()];
  const chances = [...Array(sparse).keys()];
  return Array.from({ length: count }, (_, i): Document => {
    const value = pick(choices);
    const members: Omit<Document, "id"> = {
      tags: Array.from({ length: pick([0, 1, 2, 4]) }, () => `${pick(WORDS)} ${pick(choices)}`),
      brand: `${pick(["b", "B", "ä"])}${value}`,
      price: pick([value / 4, -value, -0, 0]),
      stock: value - 3,
      big: BigInt(value) * 2n ** 45n,
      on: pick([true, false]),
      sizes: [value, pick(choices), value],
      ratios: [value / 8, pick(choices)],
    };
    const kept = Object.entries(members).filter(() => pick(chances) === 0);
    return { id: `d${i}`, ...Object.fromEntries(kept) };
  });
}

function fieldKey(slot: number, descending: boolean): SortKey {
  return { by: "field", slot, type: FIELDS[slot]!.code, descending };
}

/** Filters that pass half of all rows, most, few or none, on columns with and without many ties. */
const FILTERS: FilterProgram[] = [
  NO_FILTER,
  filterOf({ op: "intRange", slot: STOCK, low: 2n, high: 1000n }),
  filterOf({ op: "intRange", slot: STOCK, low: 2n, high: 1000n }, { op: "not" }),
  filterOf({ op: "intRange", slot: ON, low: 1n, high: 1n }),
  filterOf({ op: "floatRange", slot: PRICE, low: 1, high: 1, lowExclusive: false, highExclusive: false }),
  filterOf({ op: "intRange", slot: BIG, low: -5n, high: -1n }),
];

for (const [name, values, sparse] of [
  ["many values", 900, 1],
  ["many ties", 4, 1],
  ["some values missing", 40, 2],
  ["most values missing", 40, 900],
] as const) {
  test(`rows by one and two keys: ${name}`, () => {
    const pick = picker(values + sparse);
    const documents = manyDocuments(effort(1500, 2400), values, sparse, pick);
    const catalogue = makeCatalogue(module, bench, groupsOf(documents, [1100, 200]), (i) => i % 31 === 3);
    for (const filter of FILTERS) {
      for (const first of SORTED) {
        const k = pick([1, 10, 70]);
        const second = fieldKey(pick(SORTED), pick([true, false]));
        const last: SortKey = {
          by: pick(["seq", "relevance", "class"] as const),
          descending: pick([true, false]),
        };
        for (const descending of [true, false]) {
          check(catalogue, browse({ k, filter, sort: [fieldKey(first, descending)] }));
          check(catalogue, browse({ k, filter, sort: [last, fieldKey(first, descending), second, last] }));
        }
      }
    }
  });

  test(`facets: ${name}`, () => {
    const pick = picker(values + sparse);
    const documents = manyDocuments(effort(2600, 5500), values, sparse, pick);
    const catalogue = makeCatalogue(
      module,
      bench,
      groupsOf(documents, [effort(2100, 5000), 300]),
      (i) => i % 31 === 3,
    );
    for (const filter of FILTERS) {
      for (const limit of filter === FILTERS[1] ? [0, 1] : [10]) {
        const facets = COUNTED.map((slot) => ({ slot, type: FIELDS[slot]!.code, limit }));
        check(catalogue, browse({ k: 0, filter, facets }));
      }
    }
  });
}

test("values that rise and fall with the rows", () => {
  const documents = Array.from({ length: 2500 }, (_, i): Document => ({ id: `d${i}`, stock: i, price: -i }));
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [2000]), (i) => i % 7 === 0);
  for (const slot of [STOCK, PRICE]) {
    for (const descending of [true, false]) {
      for (const k of [1, 100]) check(catalogue, browse({ k, sort: [fieldKey(slot, descending)] }));
    }
  }
});

test("a segment in which no document has the field", () => {
  const documents = Array.from(
    { length: 600 },
    (_, i): Document => ({
      id: `d${i}`,
      ...(i % 400 < 200 ? { stock: i % 5, brand: `x${i % 3}` } : { price: 1 }),
    }),
  );
  const catalogue = makeCatalogue(module, bench, groupsOf(documents, [200, 200]), () => false);
  for (const slot of [STOCK, BRAND]) {
    for (const k of [1, 250, 500]) {
      check(catalogue, browse({ k, sort: [fieldKey(slot, true), fieldKey(PRICE, false)] }));
      check(catalogue, browse({ k, sort: [fieldKey(slot, false)] }));
    }
  }
});
