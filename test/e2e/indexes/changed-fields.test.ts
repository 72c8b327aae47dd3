// Fields that may be used for more after a schema change. Until all documents are re-indexed, they answer as
// they did before the change, also for documents that are written in the meantime; then they do what the
// schema says. Re-indexing fails and is tried again for as long as a test wants.
import { afterAll, expect, test } from "vitest";
import { World } from "../faults/fault-world.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";

const FIELDS = [
  { name: "title", type: "string" },
  { name: "color", type: "string" },
  { name: "tags", type: "string[]" },
  { name: "size", type: "int32" },
  { name: "price", type: "float", index: false, sort: false },
];
/** The same fields, used for everything. */
const CHANGED = [
  { name: "title", facet: true, sort: true },
  { name: "color", facet: true, sort: true },
  { name: "tags", facet: true },
  { name: "size", facet: true },
  { name: "price", index: true, facet: true, sort: true },
];
const document = (i: number) => ({
  id: `${i}`,
  title: `chair ${i % 5}`,
  color: i % 3 === 0 ? "red" : "blue",
  tags: [i % 2 === 0 ? "even" : "odd", `t${i % 4}`],
  size: i % 7,
  price: i / 2,
});
const DOCUMENTS = Array.from({ length: 60 }, (_, i) => document(i));

const world = new World({ limits: { homeDocumentsMax: 1 } });
afterAll(() => world.close());

const FACETS = ["color", "tags", "size", "price"];
const QUERIES = [
  { q: "chair" },
  { q: "chair 3", facets: FACETS },
  { q: "*", filter_by: "color:=red" },
  { q: "*", filter_by: "color:!=red && tags:odd" },
  { q: "*", filter_by: "tags:=[even, t1]", facets: FACETS },
  { q: "*", filter_by: "size:>3 && title:chair", sort_by: "size:asc" },
  { q: "*", sort_by: "color:asc" },
  { q: "*", sort_by: "price:asc" },
  { q: "*", filter_by: "price:<10" },
  { q: "red", query_by: "color,title" },
];

/** What the queries answer: how many hits, which, and the facets; or the status of a refusal. */
async function answers(server: TestServer): Promise<unknown[]> {
  const answer = async (body: object): Promise<unknown> => {
    const path = "/v1/indexes/shop/query";
    const { status, json }: Reply = await server.raw("POST", path, { body: { per_page: 250, ...body } });
    if (status !== 200) return status;
    const hits = json.hits.map(({ document, text_match }) => [document.id, text_match]);
    return { found: json.found, hits, facets: json.facets };
  };
  return Promise.all(QUERIES.map(answer));
}

async function ready(server: TestServer): Promise<void> {
  const isActive = async () => (await server.get("/v1/indexes/shop")).json.data.status === "active";
  await eventually(isActive, "the index has been re-indexed");
}

test("a field answers from the old data until all documents are re-indexed, also after a restart", async () => {
  const server = await world.start();
  await server.createIndex("shop", { fields: FIELDS }, DOCUMENTS);
  const before = await answers(server);
  expect(before[2]).toMatchObject({ found: 20, facets: {} });
  expect(before.slice(6, 9)).toEqual([400, 400, 400]);

  world.arm("reindex.before-build", ...new Array<"throw">(1_000).fill("throw"));
  expectStatus(await server.patch("/v1/indexes/shop", { schema: { fields: CHANGED } }), 200);
  expect((await server.get("/v1/indexes/shop")).json.data.status).toBe("rebuilding");
  expect(await answers(server)).toEqual(before);
  const group = { q: "ch", suggest_by: "title", group_by_field: "color" };
  const refused = await server.post("/v1/indexes/shop/suggest", group);
  expect([refused.status, refused.json.error]).toEqual([
    400,
    "group_by_field: field 'color' is being re-indexed, so documents cannot be counted by it yet",
  ]);
  await server.stop();
  await server.launch();
  expect(await answers(server)).toEqual(before);
  const added = { documents: [document(60)] };
  expectStatus(await server.post("/v1/indexes/shop/documents/batch", added), 200);
  const reds = { q: "*", filter_by: "color:=red", facets: FACETS };
  expect((await server.query("shop", reds)).json).toMatchObject({ found: 21, facets: {} });

  world.disarm("reindex.before-build");
  await ready(server);
  expect((await server.query("shop", reds)).json).toMatchObject({
    found: 21,
    facets: { color: { red: 21 } },
  });
  const after = await answers(server);
  expect(after).not.toContain(400);
  const fields = FIELDS.map((field, i) => ({ ...field, ...CHANGED[i] }));
  await server.createIndex("new", { fields }, [...DOCUMENTS, document(60)]);
  const swapped = await server.post("/v1/indexes/shop/swap-with", { target_index: "new" });
  expectStatus(swapped, 200);
  expect(after).toEqual(await answers(server));
});

test("a use that is taken away ends at once, and what remains answers as before", async () => {
  const server = world.server!;
  world.arm("reindex.before-build", ...new Array<"throw">(1_000).fill("throw"));
  const less = [
    { name: "color", facet: false, sort: false },
    { name: "size", facet: false },
  ];
  const reds = { q: "*", filter_by: "color:=red && size:<4", sort_by: "size:desc", facets: FACETS };
  const before = await server.query("shop", reds);
  expectStatus(await server.patch("/v1/indexes/shop", { schema: { fields: less } }), 200);
  const { color: _, size: __, ...facets } = before.json.facets;
  const after = await server.query("shop", reds);
  expect(after.json.facets).toEqual(facets);
  expect([after.json.found, after.json.hits]).toEqual([before.json.found, before.json.hits]);
});
