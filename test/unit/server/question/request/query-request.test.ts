// Query parameters: types, clamping, precedence, error messages.

import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { NO_FILTER } from "../../../../../engine-wasm/host/programs/filter-program.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import {
  QUERY,
  type QueryRequest,
  readQueryRequest,
} from "../../../../../server/question/request/query-request.js";
import { operationsOf } from "../../../../oracle/filter-operations.js";
import { field, makeRecord, queried } from "../../record.js";

function read(body: unknown, record = makeRecord()): QueryRequest {
  return readQueryRequest(body, queried(record), DEFAULT_LIMITS);
}
const weights = (request: QueryRequest): [string, number][] =>
  request.shape.fields.map(({ field: { name }, weight }) => [name, weight]);

describe("query request", () => {
  it("fills in the defaults", () => {
    expect(read({ q: "x" })).toMatchObject({
      perPage: 10,
      page: 1,
      prefix: true,
      numTypos: 2,
      filter: NO_FILTER,
      shape: {
        maxFacetValues: 10,
        sort: null,
        facets: [],
        highlight: [],
        keepFields: null,
        dropFields: null,
      },
    });
    expect(weights(read({ q: "x" }))).toEqual([
      ["title", 3],
      ["brand", 2],
      ["tags", 1],
    ]);
  });

  it("clamps out-of-range numbers", () => {
    const low = read({ q: "", per_page: -5, page: 0, num_typos: -1, max_facet_values: -1 });
    expect(low).toMatchObject({ perPage: 0, page: 1, numTypos: 0, shape: { maxFacetValues: 0 } });
    const high = read({ q: "", per_page: 9_999, page: 1e300, num_typos: 9, max_facet_values: 1e9 });
    expect(high).toMatchObject({
      perPage: 250,
      page: Number.MAX_SAFE_INTEGER,
      numTypos: 4,
      shape: { maxFacetValues: 1000 },
    });
  });

  it.each([
    [[], "the body must be an object, not an array"],
    [null, "not null"],
    [{}, "q is missing; expected a string"],
    [{ q: 5 }, "q must be a string, not 5"],
    [{ q: null }, "q must be a string, not null"],
    [{ q: "x\ud800" }, "unpaired surrogate"],
    [{ q: "x".repeat(5_000) }, "q is longer than 4096 bytes"],
    [{ q: "x", per_page: "10" }, "per_page must be an integer"],
    [{ q: "x", page: 1.5 }, "page must be an integer, not 1.5"],
    [{ q: "x", prefix: "true" }, 'prefix must be true or false, not "true"'],
    [{ q: "x", num_typos: null }, "num_typos must be an integer, not null"],
    [{ q: "x", facets: "brand" }, "facets must be an array of strings"],
    [{ q: "x", facets: [1] }, "facets[0] must be a string, not 1"],
    [{ q: "x", filters: [] }, "filters must be an object"],
    [{ q: "x", filter_by: {} }, "filter_by must be a string"],
    [{ q: "x", fields: "id" }, "fields must be an array"],
    [{ q: "x", search_mode: "magic" }, "search_mode must be one of"],
    [{ q: "x", query_by: "nope" }, "unknown field 'nope'"],
    [{ q: "x", query_by: "price" }, "'price' cannot be searched"],
    [{ q: "x", query_by: "notes" }, "'notes' cannot be searched"],
    [{ q: "x", query_by: "title,title" }, "twice"],
    [{ q: "x", query_by: "title", query_by_weights: "1,2" }, "one weight for each of the 1"],
    [{ q: "x", query_by: "title", query_by_weights: "0" }, "positive number"],
    [{ q: "x", query_by: "title", query_by_weights: "-1" }, "positive number"],
    [{ q: "x", sort: "price" }, "expected <field>:asc or <field>:desc"],
    [{ q: "x", sort: "nope:asc" }, "sort: unknown field 'nope'"],
    [{ q: "x", sort_by: "title:asc" }, "sort_by: field 'title' cannot be sorted by"],
    [{ q: "x", sort_by: "sizes:asc" }, "is an array"],
    [{ q: "x", sort_by: "price:asc,price:desc" }, "twice"],
  ])("refuses %j", (body, sentence) => {
    expect(() => read(body)).toThrow(sentence);
    expect(() => read(body)).toThrow(expect.objectContaining({ code: "SK-SE-400" }));
  });

  it("lets the legacy parameter win", () => {
    const request = read({
      q: "x",
      filters: { brand: "a" },
      filter_by: "stock:1",
      facets: ["brand"],
      facet_by: "tags,,title,nope",
      sort: "price:asc",
      sort_by: "stock:desc , _text_match:desc",
    });
    const stock = { op: "intRange", slot: 4, low: 1n, high: 1n };
    expect(operationsOf(request.filter)).toEqual([stock]);
    expect(request.shape.facets.map(({ name }) => name)).toEqual(["tags"]);
    expect(request.shape.sort?.map((key) => [key.field?.name ?? "_text_match", key.descending])).toEqual([
      ["stock", true],
      ["_text_match", true],
    ]);
    expect(read({ q: "x", filters: { brand: "a" }, filter_by: " " }).filter).toEqual(NO_FILTER);
  });

  it("takes weights from the settings or from the request", () => {
    const record = makeRecord({ searchable_attributes: ["tags", "title"], weights: [5, 7] });
    expect(weights(read({ q: "x" }, record))).toEqual([
      ["tags", 5],
      ["title", 7],
    ]);
    expect(weights(read({ q: "x", query_by: "title, brand" }, record))).toEqual([
      ["title", 7],
      ["brand", 1],
    ]);
    expect(weights(read({ q: "x", query_by: "title", query_by_weights: "0.5" }, record))).toEqual([
      ["title", 0.5],
    ]);
  });

  it("needs a field to search, but not to browse", () => {
    const record = makeRecord({}, [field("price", "float", 0)]);
    expect(() => read({ q: "x" }, record)).toThrow("query_by is missing");
    expect(read({ q: "*" }, record).shape.fields).toEqual([]);
  });

  it("ignores exclude_fields next to fields, and unknown parameters", () => {
    const request = read({
      q: "x",
      fields: ["a"],
      exclude_fields: ["b"],
      highlight_fields: "title, price,nope",
      wow: 1,
    });
    expect(request).toMatchObject({ shape: { keepFields: ["a"], dropFields: null } });
    expect(request.shape.highlight.map(({ name }) => name)).toEqual(["title"]);
  });
});

test("docs/api.md has a row for every parameter of a query", () => {
  const text = readFileSync(new URL("../../../../../docs/api.md", import.meta.url), "utf8");
  const [, chapter = ""] = text.split("\n### POST /v1/indexes/{name}/query\n");
  const [, table = ""] = chapter.split("\n| parameter | default | meaning |\n");
  const [rows = ""] = table.split("\n\n");
  const first = [...rows.matchAll(/^\| (`[^|]+`) \|/gm)].map(([, cell]) => cell).join();
  const named = [...first.matchAll(/`(\w+)`/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(Object.keys(QUERY.schema.properties as object).sort());
});
