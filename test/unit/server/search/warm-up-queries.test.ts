// The queries of a warm-up: an index of any schema accepts them, and none of them leaves the machine.
import { describe, expect, it } from "vitest";
import type { FieldDefinition } from "../../../../server/catalog/definition/schema.js";
import { DEFAULT_SETTINGS } from "../../../../server/catalog/definition/settings.js";
import type { FieldUse } from "../../../../server/catalog/records/index-record.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { readQueryRequest } from "../../../../server/question/request/query-request.js";
import { sampleQueries, warmUpQueries } from "../../../../server/search/warm-up-queries.js";
import { FIELDS, field, makeRecord, queried } from "../record.js";

const DOCUMENT = {
  title: "Leather boots, brown",
  brand: "Northwind",
  tags: ["winter", "sale"],
  price: 80,
  notes: "not searchable",
};

describe("the queries of a warm-up", () => {
  it("are of all kinds, with the words of the document", () => {
    const queries = [...warmUpQueries(makeRecord(), [DOCUMENT])];
    const filter = { filter_by: "brand:=`Northwind`" };
    expect(queries.map(({ per_page: _, analytics: __, ...rest }) => rest)).toEqual([
      { q: "leather boots" },
      { q: "sale", facets: ["brand", "tags"], ...filter },
      { q: "winter sa" },
      { q: "northwind winter sale" },
      { q: "brown nrothwind" },
      { q: "*", facets: ["brand", "tags"], ...filter },
      { q: "leather" },
      { q: "sale", sort: "price:asc" },
    ]);
    expect(queries.every(({ analytics }) => analytics === false)).toBe(true);
  });

  it("change kind and document with each query", () => {
    const queries = [...warmUpQueries(makeRecord(), [DOCUMENT, { title: "glove" }, {}, { title: "scarf" }])];
    expect(queries.slice(0, 3)).toMatchObject([
      { q: "leather boots" },
      { q: "glove", facets: ["brand", "tags"] },
      { q: "sc" },
    ]);
    expect(queries).toHaveLength(24);
  });

  it.each<[string, readonly FieldDefinition[], Readonly<Record<string, readonly FieldUse[]>>?]>([
    ["all types of fields", FIELDS],
    ["one text field", [field("title", "string", 0)]],
    ["a facet that is still re-indexed", FIELDS, { brand: ["facet"] }],
    ["a sort field that is still re-indexed", FIELDS, { price: ["sort"] }],
  ])("are accepted by an index with %s", (_, fields, unready = {}) => {
    const record = { ...makeRecord({}, fields), unready };
    const queries = [
      ...sampleQueries(9),
      ...warmUpQueries(record, [DOCUMENT, { ...DOCUMENT, brand: "a`b" }]),
    ];
    const read = queries.map((query) => readQueryRequest(query, queried(record), DEFAULT_LIMITS).q);
    expect(read).toHaveLength(17);
  });

  it("cut long words between characters", () => {
    const bold = "\u{1D5EF}"; // two UTF-16 units
    const [query] = warmUpQueries(makeRecord(), [{ title: `x${bold.repeat(30)}` }]);
    expect(query).toMatchObject({ q: `x${bold.repeat(19)}` });
  });

  it("do not exist for documents without words", () => {
    expect([...warmUpQueries(makeRecord(), [{ price: 1 }, { title: "" }, { title: 7, tags: [{}] }])]).toEqual(
      [],
    );
  });

  it("ask no model on another server", () => {
    const { embedder, ai } = DEFAULT_SETTINGS;
    const bodies = (settings: object) => [...warmUpQueries(makeRecord(settings), [DOCUMENT])];
    const local = bodies({});
    expect(local.some((body) => "search_mode" in body || "ai" in body)).toBe(false);
    for (const body of bodies({ embedder: { ...embedder, source: "endpoint" } }))
      expect(body).toMatchObject({ search_mode: "keyword" });
    for (const body of bodies({ ai: { ...ai, provider: "endpoint" } }))
      expect(body).toMatchObject({ ai: false });
    expect(sampleQueries(5)).toMatchObject([{ search_mode: "keyword", ai: false, analytics: false }]);
  });

  it("come from documents of the whole index, unless it is very large", () => {
    const pages = (documents: number) => sampleQueries(documents).map(({ page }) => page);
    expect(pages(0)).toEqual([]);
    expect(pages(25)).toEqual([1, 2, 3]);
    expect(pages(1_600)).toEqual([1, 21, 41, 61, 81, 101, 121, 141]);
    expect(pages(10_000_000)).toEqual(pages(10_000));
  });
});
