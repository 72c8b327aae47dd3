// The order of rows in small worked examples: missing values last in both directions, int64 compared exactly,
// strings compared by folded bytes across segments, the newest row first among ties.
import { expect, test } from "vitest";
import * as L from "../../../../engine-wasm/assembly/layout.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import { decodeSearchResult, type SearchRow } from "../../../oracle/decoded-result.js";
import type { Document } from "../../../oracle/segments/values.js";
import { loadEngine } from "../load-engine.js";
import { makeCatalogue } from "../segments/catalogue.js";

const module = await loadEngine();
const bench = module.workbench();

/** Sorts documents `{name: value}` in two segments. Returns the rows, numbered from 1 in input order. */
function sorted(
  name: string,
  values: Document[string][],
  sort: SortKey[],
  k = 100,
): [number, SearchRow["keys"]][] {
  const documents = values.map((value, i): Document => ({ id: `${i}`, [name]: value }));
  const groups = [documents.slice(0, 3), documents.slice(3)];
  const { engine, snapshot } = makeCatalogue(module, bench, groups, () => false);
  const program: SearchProgram = { ...EVERY_DOCUMENT, k, sort };
  const { rows } = decodeSearchResult(engine.search(snapshot, encodeSearch(program)), program);
  return rows.map(({ seq, keys }) => [(seq - 1000) / 7 + 1, keys]);
}

test("int64 values beyond doubles, in both directions", () => {
  const values = [9007199254740993n, null, -(2n ** 63n), 9007199254740992n, 2n ** 63n - 1n, 0n];
  const key = { by: "field", slot: 5, type: L.TYPE_INT64 } as const;
  expect(sorted("big", values, [{ ...key, descending: true }])).toEqual([
    [5, [2n ** 63n - 1n]],
    [1, [9007199254740993n]],
    [4, [9007199254740992n]],
    [6, [0n]],
    [3, [-(2n ** 63n)]],
    [2, [null]],
  ]);
  expect(sorted("big", values, [{ ...key, descending: false }]).map(([row]) => row)).toEqual([
    3, 6, 4, 1, 5, 2,
  ]);
});

test("floats: -0 equals 0", () => {
  const key = { by: "field", slot: 3, type: L.TYPE_FLOAT, descending: false } as const;
  const rows = sorted("price", [0, -1e300, 5e-324, -0, -5e-324, 1.5], [key]);
  expect(rows.map(([row]) => row)).toEqual([2, 5, 4, 1, 3, 6]);
});

test("strings compare by folded bytes, ties go to the newest", () => {
  const values = ["Zeta", "ärger", null, "ARGER", "arg", "arger z", "日本"];
  const key = { by: "field", slot: 2, type: L.TYPE_STRING } as const;
  const text = (keys: SearchRow["keys"]): string | undefined =>
    keys[0] === null ? undefined : Buffer.from(keys[0] as Uint8Array).toString();
  const ascending = sorted("brand", values, [{ ...key, descending: false }]);
  expect(ascending.map(([row, keys]) => [row, text(keys)])).toEqual([
    [5, "arg"],
    [4, "arger"],
    [2, "arger"],
    [6, "arger z"],
    [1, "zeta"],
    [7, "日本"],
    [3, undefined],
  ]);
  const descending = sorted("brand", values, [{ ...key, descending: true }], 3);
  expect(descending.map(([row]) => row)).toEqual([7, 1, 6]);
});

test("sequence numbers in both directions, also cut to k", () => {
  const values = [1, 2, 3, 4, 5];
  expect(sorted("stock", values, [], 2).map(([row]) => row)).toEqual([5, 4]);
  expect(sorted("stock", values, [{ by: "seq", descending: false }], 4)).toEqual(
    [1, 2, 3, 4].map((n) => [n, [993 + 7 * n]]),
  );
});

test("array fields have no sort value", () => {
  const rows = sorted(
    "sizes",
    [[1], [2], [], [0]],
    [{ by: "field", descending: false, slot: 7, type: L.TYPE_INT32S }],
  );
  expect(rows).toEqual([4, 3, 2, 1].map((row) => [row, [null]]));
});
