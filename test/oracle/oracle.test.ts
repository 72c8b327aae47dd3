// Checks the oracle itself: a few answers worked out by hand, and that a deliberate error is detected.
import { describe, expect, test } from "vitest";
import { Oracle } from "./engine.js";
import { parseFilter } from "./filter.js";
import type { Query } from "./query.js";
import { textMatch } from "./score.js";
import { makeRow } from "./segments/rows.js";
import { type Document, type Field, parseJson, printJson } from "./segments/values.js";
import { typosOf } from "./words/expand.js";

const FIELDS: Field[] = [
  { name: "t", type: "string", facet: true, sort: true },
  { name: "n", type: "int64", facet: true },
  { name: "f", type: "float" },
  { name: "tags", type: "string[]", facet: true },
];
const PLAIN = { symbols: "", separators: "" };

function oracleOf(...documents: Document[]): Oracle {
  const oracle = new Oracle({ fields: FIELDS });
  oracle.write("upsert", documents);
  return oracle;
}

const ids = (oracle: Oracle, query: Query): string[] => oracle.search(query).hits.map((hit) => hit.id);

describe("oracle", () => {
  test("scores one word in one field by the formula", () => {
    const row = makeRow({ id: "a", t: "red red shirt" }, 1, FIELDS, PLAIN);
    const terms = [{ term: "red", prefix: false }];
    const word = {
      weight: 2,
      alternatives: [{ typos: 0, exact: true, sequence: false, useForProximity: true, boost: 2, terms }],
    };
    const program = {
      mode: "all" as const,
      fields: [{ name: "t", weight: 2, averageLength: 2 }],
      averageLength: 12,
      words: [word],
      phrases: [],
      excludes: [],
    };
    const occurrences = (2 * 2) / (0.6 + 0.4 * 1.5);
    const relevance = (2 * occurrences) / (occurrences + 1.2 * (0.6 + 0.4 * 0.5));
    expect(textMatch(row, program)).toBe(2 ** 51 + 15 * 2 ** 47 + 2 ** 46 + Math.floor(relevance * 2 ** 24));
  });

  test("prefers exact words to prefixes and prefixes to typos, and full matches to partial ones", () => {
    const oracle = oracleOf(
      { id: "longer", t: "shirts" },
      { id: "exact", t: "shirt" },
      { id: "partial", t: "red" },
    );
    expect(ids(oracle, { q: "shirt" })).toEqual(["exact", "longer"]);
    expect(ids(oracle, { q: "shrit", prefix: false })).toEqual(["exact"]);
    expect(ids(oracle, { q: "red shirt" })).toHaveLength(3);
  });

  test.each([
    ["n:9007199254740993", ["big"]],
    ["n:!=9007199254740993", ["none", "small"]],
    ["n:[0..5, 9007199254740993]", ["big", "small"]],
    ["n:<10 && f:>=0.5 || t:=`Café Noir`", ["big", "small"]],
    ["(n:<10 || n:>10) && tags:=[x, y]", ["small"]],
    ["t:noir", ["big"]],
    ["t:`noir cafe`", []],
    ["id:=[none, big]", ["big", "none"]],
  ])("filters %s", (filter, expected) => {
    const predicate = parseFilter(filter, FIELDS, PLAIN);
    const documents: Document[] = [
      { id: "small", n: 3, f: 0.5, tags: ["y", "z"] },
      { id: "big", n: 2n ** 53n + 1n, t: "café  NOIR" },
      { id: "none", t: null },
    ];
    expect(
      documents
        .filter(predicate)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(expected);
  });

  test("counts a transposition as one typo and considers prefixes only on request", () => {
    const dictionary = new Map(["shirt", "shrit", "shirts", "skirt", "shorts"].map((term) => [term, [1]]));
    const near = (prefixes: boolean) =>
      typosOf(dictionary, "shirt", 1, prefixes).map(({ term, isPrefix }) => [term, isPrefix]);
    expect(near(false)).toEqual([
      ["shirts", false],
      ["shrit", false],
      ["skirt", false],
    ]);
    expect(near(true)).toEqual([
      ["shorts", true],
      ["shrit", false],
      ["skirt", false],
    ]);
  });

  test("puts missing values last and newer documents first", () => {
    const oracle = oracleOf({ id: "a", n: 1 }, { id: "b" }, { id: "c", n: 2 }, { id: "d", n: 1 });
    expect(ids(oracle, { q: "*", sort_by: "n:asc" })).toEqual(["d", "a", "c", "b"]);
    expect(ids(oracle, { q: "*", sort_by: "n:desc" })).toEqual(["c", "d", "a", "b"]);
    expect(oracle.search({ q: "*", facet_by: "n", per_page: 1 }).facets).toEqual([
      [
        "n",
        [
          ["1", 2],
          ["2", 1],
        ],
      ],
    ]);
  });

  test("round-trips integers that a double cannot hold", () => {
    const text = '{"a":9223372036854775807,"b":"-9223372036854775808","c":[-9007199254740993,1.5,1e300]}';
    expect(printJson(parseJson(text))).toBe(text.replace("1e300", "1e+300"));
  });

  test("canary: a changed answer is noticed", () => {
    const oracle = oracleOf({ id: "a", t: "red" }, { id: "b", t: "red shirt" });
    const answer = oracle.search({ q: "red" });
    oracle.write("upsert", [{ id: "a", t: "red red" }]);
    expect(oracle.search({ q: "red" })).not.toEqual(answer);
  });
});
