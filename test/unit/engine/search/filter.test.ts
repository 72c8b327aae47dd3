// Every filter operation with values at both ends of its range, on columns whose lengths are close to a
// multiple of the 64 rows that a scan step covers.

import { expect, test } from "vitest";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { type FilterOp, filterOf } from "../../../oracle/filter-operations.js";
import { loadEngine } from "../load-engine.js";
import { LARGE, makeCatalogue, PRICES, picker, randomDocument } from "../segments/catalogue.js";
import { searchTwin } from "./search-twin.js";

const module = await loadEngine();
const bench = module.workbench();
const catalogues = effort([1, 64, 65, 140], [1, 63, 64, 65, 128, 200]).map((count) => {
  const documents = Array.from({ length: count }, (_, i) => randomDocument(i, picker(i + count)));
  return makeCatalogue(module, bench, [documents], () => false);
});

function browse(operations: FilterOp[]): SearchProgram {
  return { ...EVERY_DOCUMENT, filter: filterOf(...operations) };
}

function check(operations: FilterOp[]): void {
  const program = browse(operations);
  for (const { engine, snapshot, rows } of catalogues) {
    const answer = decodeSearchResult(engine.search(snapshot, encodeSearch(program)), program);
    expect(answer).toEqual(searchTwin(rows, program, (id) => bench.hash(id)));
  }
}

test("integer ranges", () => {
  const ends = [...LARGE, -2147483649n, -2147483648n, 2147483647n, 2147483648n, 36n];
  for (const slot of [4, 5, 6, 7])
    for (const low of ends) for (const high of ends) check([{ op: "intRange", slot, low, high }]);
});

test("float ranges, open and closed", () => {
  const ends = [...PRICES, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, Number.MAX_VALUE];
  for (const slot of [3, 8])
    for (const low of ends)
      for (const high of ends)
        for (const exclusive of [0, 1, 2, 3]) {
          const open = { lowExclusive: (exclusive & 1) !== 0, highExclusive: (exclusive & 2) !== 0 };
          check([{ op: "floatRange", slot, low, high, ...open }]);
        }
});

test("equality of folded values, by dictionary and by hash", () => {
  for (const slot of [0, 1, 2, 9])
    for (const value of ["acme", "ARGER", "", "nobody", "red", "shoe", "日本", "z"])
      check([{ op: "equals", slot, folded: bench.fold(value) }, { op: "not" }]);
});

test("words in order within one element", () => {
  for (const slot of [0, 1, 9])
    for (const terms of [
      ["red"],
      ["red", "red"],
      ["shoe", "x"],
      ["x", "42", "y"],
      ["nobody"],
      ["red", "nobody"],
      [],
    ])
      check([{ op: "tokens", slot, terms }]);
});

test("ids, including unknown ones", () => {
  const hashes = ["d0", "d63", "d64", "d199", "x"].map((id) => bench.hash(id));
  check([{ op: "ids", hashes: [...hashes, 0n, 2n ** 64n - 1n] }]);
  check([{ op: "ids", hashes: [] }]);
});

test("ten thousand clauses", () => {
  const leaf = (i: number): FilterOp => ({ op: "intRange", slot: 4, low: BigInt(i), high: BigInt(i) });
  const filter: FilterOp[] = [leaf(0)];
  for (let i = 1; i < 10000; i++) filter.push(leaf(i), { op: "or" });
  check(filter);
});

test("a filter on a field of another type, or whose stack is empty, too deep or not used up, is refused", () => {
  const { engine, snapshot } = catalogues[0]!;
  const all: FilterOp = { op: "all" };
  const int: FilterOp = { op: "intRange", slot: 3, low: 0n, high: 1n };
  const bad: FilterOp[][] = [
    [int],
    [{ op: "and" }],
    [all, { op: "or" }],
    [all, all],
    [{ op: "not" }],
    [...Array(300).fill(all), ...Array(299).fill({ op: "and" })],
  ];
  for (const filter of bad) {
    expect(() => engine.search(snapshot, encodeSearch(browse(filter)))).toThrow("malformed");
  }
});
