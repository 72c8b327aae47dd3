// Ranking rules as a shop owner sees them: what each kind does, when it fires, and how kinds interact with
// each other and with filters, sorting and paging. rules.test.ts tests the routes.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";
import type { ReplyBody } from "../world/reply.js";

const INDEX = "shop";
const PATH = `/v1/indexes/${INDEX}/ranking-rules`;
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ shards: 3 });
  const fields = [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "price", type: "float" },
  ];
  const documents = Array.from({ length: 12 }, (_, i) => ({
    id: `p${i}`,
    title: i % 2 === 0 ? "blue shirt" : "blue shirt with pocket",
    brand: i % 3 === 0 ? "acme" : "zeta",
    price: i,
  }));
  await server.createIndex(INDEX, { fields, default_sorting_field: "price" }, [
    ...documents,
    { id: "hat", title: "hat", brand: "acme", price: 99 },
  ]);
});

afterAll(() => server.close());

beforeEach(async () => {
  const rules = (await server.get(PATH)).json.data as unknown as { id: number }[];
  for (const { id } of rules) expectStatus(await server.delete(`${PATH}/${id}`), 200);
});

async function rule(body: Record<string, unknown>): Promise<number> {
  const reply = await server.post(PATH, body);
  expectStatus(reply, 201);
  return reply.json.data.id as number;
}

async function search(body: Record<string, unknown>): Promise<ReplyBody> {
  const reply = await server.query(INDEX, body);
  expectStatus(reply, 200);
  return reply.json;
}

const ids = (body: ReplyBody): string[] => body.hits.map((hit) => hit.document.id);

test("a boost lifts its documents among equally good ones, and says so", async () => {
  const before = await search({ q: "shirt" });
  expect(before.curated_applied).toBe(false);
  expect(before.hits[0]!.document.brand).toBe("zeta");
  await rule({ type: "boost", effect: { filter_by: "brand:=acme", weight: 10 } });
  const after = await search({ q: "shirt" });
  expect(after.curated_applied).toBe(true);
  expect(after.found).toBe(before.found);
  expect(after.hits.slice(0, 4).map((hit) => hit.document.brand)).toEqual(["acme", "acme", "acme", "acme"]);
  expect((await search({ q: "hat" })).curated_applied).toBe(true);
  expect((await search({ q: "zeta" })).curated_applied).toBe(false);
});

test("boosts order a browse, but only break ties under a sort", async () => {
  await rule({ type: "boost", effect: { filter_by: "brand:=acme", weight: 3 } });
  expect(ids(await search({ q: "*" })).slice(0, 5)).toEqual(["hat", "p9", "p6", "p3", "p0"]);
  expect(ids(await search({ q: "shirt", sort: "price:asc" })).slice(0, 3)).toEqual(["p0", "p1", "p2"]);
});

test("a rule fires only when the query contains its words, and a phrase only as a whole", async () => {
  await rule({
    type: "pin",
    conditions: { query_contains: ["Blue Shirt"] },
    effect: { documents: ["p5"] },
  });
  expect(ids(await search({ q: "BLUE shirt" }))[0]).toBe("p5");
  expect((await search({ q: "shirt blue" })).curated_applied).toBe(false);
  expect((await search({ q: "blue shirts" })).curated_applied).toBe(false);
  expect((await search({ q: "*" })).curated_applied).toBe(false);
});

test("pins come first in their order on any page, count once, and need not match", async () => {
  await rule({ type: "pin", effect: { documents: ["hat", "gone", "p3"] } });
  const first = await search({ q: "shirt", per_page: 2 });
  expect(ids(first)).toEqual(["hat", "p3"]);
  expect(first.found).toBe(13);
  expect(first.hits.map((hit) => hit.match_type)).toEqual(["pinned", "keyword"]);
  expect(first.curated_applied).toBe(true);
  const pages = await Promise.all(
    [1, 2, 3, 4, 5, 6, 7].map((page) => search({ q: "shirt", per_page: 2, page })),
  );
  const all = pages.flatMap(ids);
  expect(all).toHaveLength(13);
  expect(new Set(all).size).toBe(13);
  expect(ids(await search({ q: "shirt", sort: "price:desc" })).slice(0, 3)).toEqual(["hat", "p3", "p11"]);
  expect(ids(await search({ q: "shirt", filter_by: "price:<5" }))[0]).toBe("p3");
});

test("a query whose only match is a pin is still relaxed", async () => {
  await rule({ type: "pin", effect: { documents: ["hat"] } });
  const relaxed = await search({ q: "shirt unheardof" });
  expect(ids(relaxed)[0]).toBe("hat");
  expect(relaxed.found).toBe(13);
});

test("suggestions leave out what a search hides, but their order ignores pins and burials", async () => {
  const acme = async (...rules: [type: string, priority: number][]): Promise<number[]> => {
    const made: number[] = [];
    for (const [type, priority] of rules)
      made.push(await rule({ type, priority, effect: { documents: ["p3"] } }));
    const { facets } = await search({ q: "blue shirt", facets: ["brand"] });
    const body = { q: "blue sh", suggest_by: "title", group_by_field: "brand" };
    const { suggestions } = (await server.post(`/v1/indexes/${INDEX}/suggest`, body)).json.data;
    for (const id of made) expectStatus(await server.delete(`${PATH}/${id}`), 200);
    const group = (suggestions as { value: string; count: number }[]).find(({ value }) => value === "acme");
    return [facets.brand!.acme!, group!.count];
  };
  expect(await acme(["hide", 1])).toEqual([3, 3]);
  expect(await acme(["pin", 1], ["hide", 2])).toEqual([3, 3]);
  expect(await acme(["hide", 1], ["pin", 2])).toEqual([4, 4]);
  expect(await acme(["hide", 1], ["bury", 2])).toEqual([4, 4]);
  await rule({ type: "bury", effect: { documents: ["p11"] } });
  await rule({ type: "hide", priority: -1, effect: { documents: ["p11", "p10"] } });
  await rule({ type: "pin", effect: { documents: ["hat"] } });
  const body = { q: "blue sh", suggest_by: "title", per_page: 2 };
  const { suggestions } = (await server.post(`/v1/indexes/${INDEX}/suggest`, body)).json.data;
  expect((suggestions as { document_id: string }[]).map(({ document_id: id }) => id)).toEqual(["p11", "p8"]);
});

test("hide removes documents from results, counts and facets, and wins over a pin", async () => {
  await rule({ type: "hide", effect: { filter_by: "brand:=acme", documents: ["p1"] } });
  await rule({ type: "pin", effect: { documents: ["p0", "p2"] } });
  const body = await search({ q: "shirt", facets: ["brand"] });
  expect(ids(body)[0]).toBe("p2");
  expect(body.found).toBe(7);
  expect(body.facets).toEqual({ brand: { zeta: 7 } });
});

test("when rules disagree about a document, the one with the higher priority wins", async () => {
  const all = ids(await search({ q: "shirt", per_page: 250 }));
  const fate = async (...rules: [type: string, priority: number][]): Promise<string> => {
    const made: number[] = [];
    for (const [type, priority] of rules)
      made.push(await rule({ type, priority, effect: { documents: ["p3"] } }));
    const page = await search({ q: "shirt", per_page: 250 });
    for (const id of made) expectStatus(await server.delete(`${PATH}/${id}`), 200);
    expect(page.curated_applied).toBe(true);
    const place = ids(page).indexOf("p3");
    return place < 0 ? "hidden" : place === 0 ? "pinned" : place === all.length - 1 ? "buried" : "plain";
  };
  expect(await fate(["hide", 1], ["pin", 2])).toBe("pinned");
  expect(await fate(["pin", 1], ["hide", 2])).toBe("hidden");
  expect(await fate(["pin", 1], ["bury", 2])).toBe("buried");
  expect(await fate(["bury", 1], ["pin", 2])).toBe("pinned");
  expect(await fate(["hide", 1], ["bury", 2])).toBe("buried");
  expect(await fate(["pin", 1], ["hide", 2], ["bury", 3])).toBe("buried");
  expect(await fate(["bury", 1], ["hide", 2], ["pin", 3])).toBe("pinned");
  expect(await fate(["bury", 0], ["pin", 0])).toBe("pinned");
  expect(await fate(["bury", 0], ["pin", 0], ["hide", 0])).toBe("hidden");
  await rule({ type: "bury", priority: 1, effect: { filter_by: "brand:=acme" } });
  await rule({ type: "pin", effect: { documents: ["hat", "p3", "p1"] } });
  const page = await search({ q: "shirt", per_page: 250 });
  expect(ids(page)[0]).toBe("p1");
  expect(ids(page)).not.toContain("hat");
  expect(page.found).toBe(all.length);
});

test("bury puts documents last, also under a sort, but not a pinned one", async () => {
  await rule({ type: "bury", effect: { filter_by: "brand:=zeta" } });
  await rule({ type: "pin", effect: { documents: ["p1"] } });
  const body = await search({ q: "shirt", sort: "price:desc", per_page: 20 });
  expect(ids(body)).toEqual(["p1", "p9", "p6", "p3", "p0", "p11", "p10", "p8", "p7", "p5", "p4", "p2"]);
});

test("rules pin in order of priority, then of lower id", async () => {
  await rule({ type: "pin", effect: { documents: ["p1"] } });
  await rule({ type: "pin", effect: { documents: ["p2"] }, priority: 5 });
  await rule({ type: "pin", effect: { documents: ["p4", "p2"] } });
  expect(ids(await search({ q: "shirt" })).slice(0, 3)).toEqual(["p2", "p1", "p4"]);
});

test("a boost never lifts a partial match above a full one", async () => {
  await server.createIndex("lines", { fields: [{ name: "t", type: "string" }] }, [
    { id: "full", t: "red lamp" },
    { id: "part", t: "red red red" },
  ]);
  expectStatus(await server.patch("/v1/indexes/lines/settings", { drop_tokens_threshold: 5 }), 200);
  const body = { type: "boost", effect: { documents: ["part"], weight: 1000 } };
  expectStatus(await server.post("/v1/indexes/lines/ranking-rules", body), 201);
  const reply = await server.query("lines", { q: "red lamp" });
  expect(ids(reply.json)).toEqual(["full", "part"]);
});

test("a rule whose filter no longer fits the schema is skipped and reported, not deleted", async () => {
  const id = await rule({ type: "hide", effect: { filter_by: "price:<5" } });
  expect((await search({ q: "shirt" })).found).toBe(7);
  const schema = { fields: [{ name: "price", drop: true }], default_sorting_field: null };
  const changed = await server.patch(`/v1/indexes/${INDEX}`, { schema });
  expectStatus(changed, 200);
  expect((await search({ q: "shirt" })).found).toBe(12);
  const reply = await server.get(`${PATH}/${id}`);
  expect(reply.json.data.problem).toContain("price");
});

test("a disabled rule does nothing", async () => {
  const id = await rule({ type: "pin", effect: { documents: ["hat"] } });
  expectStatus(await server.patch(`${PATH}/${id}`, { enabled: false }), 200);
  expect(ids(await search({ q: "shirt" }))).not.toContain("hat");
});
