// Stored segments stay readable: the naive reader finds the documents' values in each fixture, and the engine
// attaches it and answers queries on it. A segment with another version and a damaged segment give different
// errors.

import { describe, expect, test } from "vitest";
import * as L from "../../engine-wasm/assembly/layout.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SearchWord,
} from "../../engine-wasm/host/programs/search-program.js";
import { DeletedRows } from "../../shards/segments/deleted-rows.js";
import { summarize } from "../../shards/segments/segment-pieces.js";
import { DamagedBytesError, OtherVersionError } from "../../shards/storage/envelope.js";
import { type DecodedSearchResult, decodeSearchResult } from "../oracle/decoded-result.js";
import { type FilterOp, filterOf } from "../oracle/filter-operations.js";
import { readSegment } from "../oracle/segments/segment-reader.js";
import { makeSegment } from "../oracle/segments/segment-twin.js";
import { loadEngine } from "../unit/engine/load-engine.js";
import { BLOCKS, type SegmentStory, SHOP } from "./documents.js";
import { readFixture } from "./fixture-files.js";

const SEGMENTS: readonly (readonly [string, SegmentStory])[] = [
  ["segment-v1.hex", SHOP],
  ["segment-blocks-v1.hex", BLOCKS],
];

const module = await loadEngine("release");
const bench = module.workbench();

describe.each(SEGMENTS)("%s", (file, { fields, documents, seqs }) => {
  test("contains its documents", () => {
    const hash = (bytes: Uint8Array) => bench.hash(String(bytes));
    expect(readSegment(readFixture(file))).toEqual(
      makeSegment(fields, documents, seqs, hash, { symbols: "", separators: "" }),
    );
  });

  test("is refused if it has another version or is cut short", () => {
    const bytes = readFixture(file);
    expect(summarize(bytes, "x")).toMatchObject({
      rows: documents.length,
      firstSeq: seqs[0],
      lastSeq: seqs.at(-1),
    });
    const newer = Buffer.from(bytes);
    newer.writeUInt32LE(L.SEGMENT_VERSION + 1, L.SEG_VERSION);
    expect(() => summarize(newer, "x")).toThrow(OtherVersionError);
    expect(() => summarize(bytes.subarray(0, -8), "x")).toThrow(DamagedBytesError);
    expect(() => module.engine().attach(bytes.subarray(0, -8))).toThrow("damaged");
  });
});

/** Returns the engine's results on a fixture, excluding the deleted rows. */
function ask(
  file: string,
  deleted: DeletedRows | null,
  changes: Partial<SearchProgram>,
): DecodedSearchResult {
  const engine = module.engine();
  const segment = engine.attach(readFixture(file));
  const live = deleted === null ? 0 : engine.liveAll(engine.rows(segment));
  for (const row of deleted?.rows() ?? []) engine.kill(live, row);
  const scoring = { k1: 1.2, b: 0.75, proximityWeight: 0.5 };
  const slots = [0, 1, 6, 300].map((slot) => ({ slot, weight: 1, averageLength: 2 }));
  const program: SearchProgram = { ...EVERY_DOCUMENT, k: 10, ...scoring, slots, ...changes };
  return decodeSearchResult(
    engine.search(engine.setSnapshot([{ segment, live }]), encodeSearch(program)),
    program,
  );
}

function idsOf({ rows }: DecodedSearchResult): string[] {
  return rows.map((row) => SHOP.documents[SHOP.seqs.indexOf(row.seq)]!.id).sort();
}

describe("the engine on segment-v1.hex", () => {
  const word = (term: string): SearchWord => ({
    weight: 1,
    alternatives: [
      {
        kind: L.ALT_EXACT,
        typos: 0,
        exact: true,
        sequence: false,
        useForProximity: true,
        boost: 1,
        terms: [{ term, prefix: false }],
      },
    ],
  });
  const search = (changes: Partial<SearchProgram>) => ask("segment-v1.hex", null, changes);

  test.each([
    ["shoe", ["b", "e", "ключ"]],
    ["wifi", ["a"]],
    ["日本", []],
    ["summer", ["a", "d"]],
    ["arger", ["a"]],
  ] as const)("finds the word %s", (term, ids) => {
    expect(idsOf(search({ words: [word(term)] }))).toEqual(ids);
  });

  test("finds phrases and part numbers", () => {
    expect(idsOf(search({ phrases: [["running", "shoes"]] }))).toEqual(["a"]);
    expect(idsOf(search({ words: [word(`${String.fromCharCode(L.TERM_SKU)}ab123`)] }))).toEqual(["a", "e"]);
  });

  const float = (slot: number, low: number, high: number): FilterOp => {
    return { op: "floatRange", slot, low, high, lowExclusive: false, highExclusive: false };
  };
  test.each<[string, FilterOp, string[]]>([
    ["a string", { op: "equals", slot: 1, folded: Buffer.from("acme") }, ["b", "ключ"]],
    ["an int32", { op: "intRange", slot: 2, low: 7n, high: 2n ** 31n }, ["a", "d"]],
    ["an int64", { op: "intRange", slot: 3, low: 2n ** 53n + 1n, high: 2n ** 60n }, ["a"]],
    ["a float", float(4, 0, 3), ["b", "e"]],
    ["a bool", { op: "intRange", slot: 5, low: 0n, high: 0n }, ["ключ"]],
    ["a string[]", { op: "tokens", slot: 6, terms: ["summer", "sale"] }, ["a"]],
    ["an int32[]", { op: "intRange", slot: 7, low: 36n, high: 36n }, ["a", "e"]],
    ["a float[]", float(9, -3, 0.5), ["a", "ключ"]],
    ["an id", { op: "ids", hashes: [] }, []],
  ])("filters by %s", (_, filter, ids) => {
    expect(idsOf(search({ filter: filterOf(filter) }))).toEqual(ids);
  });

  test("counts facets without deleted rows, and sorts by a column", () => {
    const facets = [
      { slot: 6, type: L.TYPE_STRINGS, limit: 0 },
      { slot: 7, type: L.TYPE_INT32S, limit: 0 },
    ];
    const deleted = DeletedRows.none(SHOP.documents.length).with([0]);
    expect(ask("segment-v1.hex", deleted, { facets }).facets).toEqual([
      [{ value: "summer", count: 1 }],
      [{ value: 36, count: 1 }],
    ]);
    const sort = [{ by: "field" as const, slot: 4, type: L.TYPE_FLOAT, descending: true }];
    expect(ask("segment-v1.hex", deleted, { sort }).rows.map((row) => row.seq)).toEqual([
      2 ** 53 - 2,
      6,
      2 ** 40,
      9,
    ]);
  });
});

test("the engine reads packed blocks in segment-blocks-v1.hex", () => {
  const terms = (...all: string[]) =>
    ask("segment-blocks-v1.hex", null, { phrases: all.map((term) => [term]) });
  expect(terms("x").found).toBe(131);
  expect(terms("x", "y").found).toBe(27);
  expect(ask("segment-blocks-v1.hex", null, { phrases: [["y", "x"]] }).found).toBe(27);
});
