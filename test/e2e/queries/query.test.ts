// The query route as clients see it: every documented parameter, both input forms, the complete response,
// sensible ranking on a small catalogue. Runs on both HTTP transports.
import { describe, expect, test } from "vitest";
import { expectStatus, type TestServer } from "../world/harness.js";
import type { ReplyBody } from "../world/reply.js";
import { serverOverEachHttp } from "../world/shared-server.js";
import { PRODUCTS, SCHEMA } from "../world/shop.js";

const ids = (body: ReplyBody): string[] => body.hits.map((hit) => hit.document.id);

const SERVERS = serverOverEachHttp({ shards: 2 }, (server) => server.createIndex("shop", SCHEMA, PRODUCTS));

async function search(server: TestServer, body: Record<string, unknown>): Promise<ReplyBody> {
  const reply = await server.query("shop", body);
  expectStatus(reply, 200);
  return reply.json;
}

async function found(server: TestServer, body: Record<string, unknown>): Promise<string[]> {
  return ids(await search(server, body)).sort();
}

describe.each(SERVERS)("words over %s", (_http, server) => {
  test("the response has its complete shape", async () => {
    const body = await search(server, { q: "mouse", facets: ["brand"], highlight_fields: "name" });
    expect(body).toMatchObject({
      found: 2,
      page: 1,
      per_page: 10,
      total_pages: 1,
      search_mode: "keyword",
      ai_enhanced: false,
      ai_context: null,
      suggestions: [],
      related_hits: [],
      curated_applied: false,
      facets: { brand: { Logitech: 1, Razer: 1 } },
    });
    expect(Number.isInteger(body.search_time_ms)).toBe(true);
    const [hit] = body.hits;
    expect(hit).toMatchObject({
      match_type: "keyword",
      relevance_bonus: expect.any(Number),
      text_match: expect.any(Number),
    });
    expect(Number.isSafeInteger(hit!.text_match)).toBe(true);
    expect(hit!.document).not.toHaveProperty("_cost");
    expect(body.data).toMatchObject({
      _comment: expect.any(String),
      hits: body.hits,
      found: 2,
      out_of: 8,
      facets: body.facets,
    });
    expect(body.data.facet_counts).toMatchObject([
      {
        field_name: "brand",
        counts: [
          { value: "Logitech", count: 1 },
          { value: "Razer", count: 1 },
        ],
      },
    ]);
  });

  test("every word must match; the last one as a prefix unless disabled", async () => {
    expect(await found(server, { q: "wireless mouse" })).toEqual(["p1"]);
    expect(await found(server, { q: "wireless mou" })).toEqual(["p1"]);
    expect(await found(server, { q: "mou", prefix: false, num_typos: 0 })).toEqual([]);
    expect(ids(await search(server, { q: "mouse" }))[0]).toBe("p1");
  });

  test("misspelt words find their neighbours, common words are taken literally", async () => {
    expect(await found(server, { q: "keybaord" })).toEqual(["p2"]);
    expect(await found(server, { q: "logitehc mouse" })).toEqual(["p1"]);
    expect(await found(server, { q: "keybaord", num_typos: 0 })).toEqual([]);
    expect(await found(server, { q: "shirts" })).toEqual(["p6"]);
    expect(await found(server, { q: "skirts" })).toEqual(["p7"]);
  });

  test("case, accents and scripts are folded", async () => {
    expect(await found(server, { q: "CAFE creme" })).toEqual(["p4"]);
    expect(await found(server, { q: "delonghi" })).toEqual(["p4"]);
    expect(await found(server, { q: "tokyo" })).toEqual(["p8"]);
    expect(await found(server, { q: "東京" })).toEqual(["p8"]);
    expect(await found(server, { q: "МОДЕЛЬ" })).toEqual(["p8"]);
  });

  test("a relaxed query puts full matches before partial ones", async () => {
    const body = await search(server, { q: "espresso grinder zzzzzz" });
    expect(ids(body).slice(0, 2).sort()).toEqual(["p4", "p5"]);
    expect(ids(body)[0]).toBe("p5");
  });

  test("a phrase's words must be adjacent, excluded words must not occur", async () => {
    expect(await found(server, { q: '"mouse pad"' })).toEqual(["p3"]);
    expect(await found(server, { q: '"pad mouse"' })).toEqual([]);
    expect(await found(server, { q: "mouse -pad" })).toEqual(["p1"]);
    expect(await found(server, { q: "coffee -grinder" })).toEqual([]);
  });

  test("query_by chooses fields, query_by_weights orders them", async () => {
    expect(await found(server, { q: "espresso", query_by: "name" })).toEqual(["p4"]);
    expect(await found(server, { q: "espresso", query_by: "description" })).toEqual(["p5"]);
    const byName = await search(server, {
      q: "espresso",
      query_by: "name,description",
      query_by_weights: "10,1",
    });
    const byText = await search(server, {
      q: "espresso",
      query_by: "name,description",
      query_by_weights: "1,10",
    });
    expect(ids(byName)).toEqual(["p4", "p5"]);
    expect(ids(byText)).toEqual(["p5", "p4"]);
  });
});

describe.each(SERVERS)("filters over %s", (_http, server) => {
  test.each([
    ["brand:=Logitech", ["p1", "p2"]],
    ["brand:=logitech", ["p1", "p2"]],
    ["brand:acme", ["p6", "p7"]],
    ["brand:sons", ["p6", "p7"]],
    ["brand:=`Acme & Sons`", ["p6", "p7"]],
    ["brand:=acme", []],
    ["brand:!=Logitech", ["p3", "p4", "p5", "p6", "p7", "p8"]],
    ["brand:[Logitech, Razer]", ["p1", "p2", "p3"]],
    ["brand:!=[Logitech, `Acme & Sons`]", ["p3", "p4", "p5", "p8"]],
    ["brand:=tokyo", ["p8"]],
    ["categories:=Kitchen", ["p4", "p5"]],
    ["categories:=[Mice, Toys]", ["p1", "p8"]],
    ["categories:!=Computers", ["p4", "p5", "p6", "p7", "p8"]],
    ["price:>30", ["p2", "p4", "p5"]],
    ["price:>=30", ["p2", "p4", "p5", "p7"]],
    ["price:<10", ["p3"]],
    ["price:<=9", ["p3"]],
    ["price:=39.5", ["p2"]],
    ["price:[9..25]", ["p1", "p3", "p6", "p8"]],
    ["price:[9..10, 59, >200]", ["p3", "p4", "p5"]],
    ["year:!=2022", ["p1", "p3", "p4", "p5", "p8"]],
    ["year:[2019,2023]", ["p4", "p5"]],
    ["in_stock:true", ["p1", "p2", "p4", "p5", "p7", "p8"]],
    ["in_stock:=false", ["p3", "p6"]],
    ["in_stock:!=false && year:2022", ["p2", "p7"]],
    ["year:2022 || year:2023 && price:>100", ["p2", "p4", "p6", "p7"]],
    ["(year:2022 || year:2023) && price:>100", ["p4"]],
    ["((brand:razer))", ["p3"]],
    ["id:=[p1, p8, none]", ["p1", "p8"]],
    ["description:`café crème`", ["p4"]],
    ["description:=`makes cafe creme`", ["p4"]],
    ["description:=`Breathable shirts (2 pack)`", ["p6"]],
  ])("the filter %s finds what it says", async (filter_by, expected) => {
    expect(await found(server, { q: "*", filter_by })).toEqual(expected);
  });

  test("native filters are equality and any-of, and the legacy shape wins", async () => {
    expect(await found(server, { q: "*", filters: { brand: "Logitech", in_stock: true } })).toEqual([
      "p1",
      "p2",
    ]);
    expect(
      await found(server, { q: "*", filters: { brand: ["Razer", "Acme & Sons"], in_stock: false } }),
    ).toEqual(["p3", "p6"]);
    expect(await found(server, { q: "*", filters: { year: [2019, 2020], price: 9 } })).toEqual(["p3"]);
    expect(await found(server, { q: "*", filters: { brand: "Razer" }, filter_by: "brand:=Bosch" })).toEqual([
      "p5",
    ]);
    const odd = "a` && brand:=Bosch || `";
    expect(await found(server, { q: "*", filters: { brand: odd } })).toEqual([]);
  });
});

describe.each(SERVERS)("facets, order and pages over %s", (_http, server) => {
  test("facets count all matches in both request forms, and omit fields without values", async () => {
    const body = await search(server, {
      q: "*",
      facets: ["categories", "in_stock", "year", "price", "name", "nothing"],
      per_page: 1,
    });
    expect(body.facets).toEqual({
      categories: {
        Computers: 3,
        Clothing: 2,
        Kitchen: 2,
        Accessories: 1,
        Keyboards: 1,
        Mice: 1,
        Sport: 1,
        Toys: 1,
      },
      in_stock: { true: 6, false: 2 },
      year: { 2022: 3, 2019: 1, 2020: 1, 2021: 1, 2023: 1 },
      price: { 9: 1, 12.25: 1, 19.99: 1, 25: 1, 30: 1, 39.5: 1, 59: 1, 249: 1 },
    });
    const ordered = body.data.facet_counts.find((facet) => facet.field_name === "categories")!;
    expect(ordered.counts.map((count) => count.value)).toEqual([
      "Computers",
      "Clothing",
      "Kitchen",
      "Accessories",
      "Keyboards",
      "Mice",
      "Sport",
      "Toys",
    ]);
    const legacy = await search(server, {
      q: "mouse",
      facets: ["year"],
      facet_by: "categories, brand",
      max_facet_values: 1,
    });
    expect(legacy.facets).toEqual({ categories: { Computers: 2 }, brand: { Logitech: 1 } });
    expect((await search(server, { q: "*", facets: ["brand"], max_facet_values: 0 })).facets).toEqual({
      brand: {},
    });
  });

  test("sorting accepts native and legacy keys, several at once, and puts missing values last in both directions", async () => {
    expect(ids(await search(server, { q: "*" }))).toEqual(["p8", "p7", "p6", "p5", "p4", "p3", "p2", "p1"]);
    expect(ids(await search(server, { q: "*", sort: "price:asc" }))[0]).toBe("p3");
    expect(ids(await search(server, { q: "*", sort: "price:desc" }))[0]).toBe("p4");
    expect(ids(await search(server, { q: "*", sort: "price:asc", sort_by: "price:desc" }))[0]).toBe("p4");
    expect(ids(await search(server, { q: "*", sort_by: "year:desc,price:asc" }))).toEqual([
      "p4",
      "p6",
      "p7",
      "p2",
      "p1",
      "p3",
      "p5",
      "p8",
    ]);
    expect(ids(await search(server, { q: "*", sort_by: "year:asc" })).at(-1)).toBe("p8");
    expect(ids(await search(server, { q: "*", sort: "brand:asc" }))[0]).toBe("p7");
    expect(ids(await search(server, { q: "*", sort_by: "_text_match:desc,price:asc" }))[0]).toBe("p3");
  });

  test("pages never overlap and cover every hit", async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 4; page++) {
      const body = await search(server, { q: "*", per_page: 3, page });
      expect(body).toMatchObject({ found: 8, page, per_page: 3, total_pages: 3 });
      seen.push(...ids(body));
    }
    expect(seen.sort()).toEqual(PRODUCTS.map((product) => product.id));
    expect((await search(server, { q: "*", page: 1_000_000 })).hits).toEqual([]);
    expect(await search(server, { q: "*", per_page: 0, facets: ["in_stock"] })).toMatchObject({
      hits: [],
      found: 8,
      facets: { in_stock: { true: 6 } },
    });
  });
});

describe.each(SERVERS)("what is shown over %s", (_http, server) => {
  test("fields and exclude_fields narrow documents and never reveal internal fields", async () => {
    const only = (await search(server, { q: "skirts", fields: ["name", "color"], exclude_fields: ["name"] }))
      .hits[0]!.document;
    expect(only).toEqual({ id: "p7", name: "Summer Skirts", color: "red" });
    expect((await search(server, { q: "skirts", fields: ["embedding"] })).hits[0]!.document).toEqual({
      id: "p7",
    });
    expect((await search(server, { q: "skirts", fields: ["_cost"] })).hits[0]!.document).toEqual({
      id: "p7",
    });
    const without = (await search(server, { q: "skirts", exclude_fields: ["description", "id", "sku"] }))
      .hits[0]!.document;
    expect(Object.keys(without).sort()).toEqual([
      "added",
      "brand",
      "categories",
      "color",
      "id",
      "in_stock",
      "name",
      "price",
      "year",
    ]);
  });

  test("highlighting marks the matches", async () => {
    const [hit] = (await search(server, { q: "gaming mou", highlight_fields: "name,description,categories" }))
      .hits;
    expect(hit!.highlight.name).toEqual({
      snippet: "<mark>Gaming</mark> <mark>Mou</mark>se Pad",
      matched_tokens: ["Gaming", "Mouse"],
    });
    expect(hit!.highlight.description!.snippet).toContain("<mark>mou</mark>se");
    const [cafe] = (await search(server, { q: "cafe", highlight_fields: "description" })).hits;
    expect(cafe!.highlight.description!.snippet).toBe("Makes <mark>café</mark> crème");
    const [typo] = (await search(server, { q: "keybaord", highlight_fields: "name" })).hits;
    expect(typo!.highlight.name!.snippet).toBe("Wireless <mark>Keyboard</mark>");
  });

  test("search modes that need vectors fall back to words and say so", async () => {
    for (const search_mode of ["auto", "keyword", "semantic", "hybrid"]) {
      expect((await search(server, { q: "mouse", search_mode })).search_mode).toBe("keyword");
    }
  });

  test("unknown parameters are ignored, and a query without words is answered", async () => {
    expect((await search(server, { q: "mouse", made_up: 1 })).found).toBe(2);
    expectStatus(await server.query("shop", { q: "" }), 200);
    expectStatus(await server.query("shop", { q: "!!! ---" }), 200);
    expectStatus(await server.query("shop", { q: "-mouse" }), 200);
  });

  test("changed settings apply to the next search", async () => {
    await server.createIndex("tuned", SCHEMA, PRODUCTS);
    expectStatus(
      await server.patch("/v1/indexes/tuned/settings", { searchable_attributes: ["brand"], num_typos: 0 }),
      200,
    );
    expect((await server.query("tuned", { q: "mouse" })).json.found).toBe(0);
    expect((await server.query("tuned", { q: "logitech" })).json.found).toBe(2);
    expect((await server.query("tuned", { q: "logitehc" })).json.found).toBe(0);
    expectStatus(await server.patch("/v1/indexes/tuned/settings", { no_such_setting: 1 }), 400);
    expectStatus(await server.patch("/v1/indexes/tuned/settings", { num_typos: "two" }), 400);
  });
});
