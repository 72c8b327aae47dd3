// Indexes over HTTP: create, list, change, delete; settings and statistics; persistence across a restart.
import { describe, expect, test } from "vitest";
import { eventually, expectStatus, HOME_DOCUMENTS_MAX } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const FIELDS = [
  { name: "title", type: "string" },
  { name: "brand", type: "string" },
  { name: "price", type: "float", facet: true },
  { name: "year", type: "int32" },
];
const DOCUMENTS = [
  { id: "a", title: "red shoe", brand: "Acme", price: 3, year: 2001, size: 9 },
  { id: "b", title: "blue shoe", brand: "Zeta", price: 1, year: 2003, size: 8 },
  { id: "c", title: "green shoe", brand: "Acme", price: 2, year: 2002, size: 9 },
];

const server = sharedServer({ shards: 2 });
const settled = (name: string) =>
  eventually(
    async () => (await server.get(`/v1/indexes/${name}`)).json.data.status === "active",
    `${name} is rebuilt`,
  );

describe("indexes", () => {
  test("a new one has the specified shape and is listed", async () => {
    const schema = {
      fields: [{ name: "price", type: "float", "x-unit": "EUR" }],
      default_sorting_field: "price",
    };
    const created = await server.post("/v1/indexes", { name: "shape", schema });
    expectStatus(created, 201);
    expect(created.json.data).toEqual({
      id: expect.any(Number),
      name: "shape",
      schema: {
        fields: [
          {
            name: "price",
            type: "float",
            facet: false,
            optional: true,
            index: true,
            sort: true,
            infix: false,
            "x-unit": "EUR",
          },
        ],
        default_sorting_field: "price",
      },
      records_count: 0,
      status: "active",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect((await server.get("/v1/indexes/shape")).json).toEqual(created.json);
    const list = (await server.get("/v1/indexes")).json.data as unknown as { name: string }[];
    expect(list.map((index) => index.name)).toContain("shape");
  });

  test("only one of several concurrent creations of a name succeeds", async () => {
    const body = { name: "once", schema: { fields: FIELDS } };
    const replies = await Promise.all(Array.from({ length: 20 }, () => server.post("/v1/indexes", body)));
    const statuses = replies.map((reply) => reply.status).sort();
    expect(statuses).toEqual([201, ...Array.from({ length: 19 }, () => 409)]);
    expect(replies.find((reply) => reply.status === 409)!.json.code).toBe("SK-IX-409");
  });

  test("a deleted one is gone with its documents; its name can be reused", async () => {
    await server.createIndex("gone", { fields: FIELDS }, DOCUMENTS);
    const { id } = (await server.get("/v1/indexes/gone")).json.data;
    const deleted = await server.delete("/v1/indexes/gone");
    expect(deleted.json.data).toMatchObject({ id, deleted: true });
    expect((await server.get("/v1/indexes/gone")).json.code).toBe("SK-IX-404");
    expect((await server.query("gone", { q: "shoe" })).json.code).toBe("SK-SE-404");
    await server.createIndex("gone", { fields: FIELDS });
    const again = (await server.get("/v1/indexes/gone")).json.data;
    expect(again.id).not.toBe(id);
    expect((await server.query("gone", { q: "*" })).json.found).toBe(0);
  });

  test("one can be deleted while queries and writes run", async () => {
    await server.createIndex("busy", { fields: FIELDS }, DOCUMENTS);
    const work = Array.from({ length: 60 }, (_, i) => {
      if (i === 20) return server.delete("/v1/indexes/busy");
      if (i % 2 === 0) return server.query("busy", { q: "shoe", facets: ["price"] });
      return server.post("/v1/indexes/busy/documents/batch", { documents: DOCUMENTS });
    });
    for (const reply of await Promise.all(work)) expect([200, 404, 503], reply.text).toContain(reply.status);
    expect((await server.get("/health/ready")).status).toBe(200);
  });
});

describe("changing an index", () => {
  test("fields can be added, changed and dropped; stored documents follow", async () => {
    await server.createIndex("change", { fields: FIELDS }, DOCUMENTS);
    expect((await server.query("change", { q: "*", facets: ["brand"] })).json.facets).toEqual({});
    const patched = await server.patch("/v1/indexes/change", {
      schema: {
        fields: [
          { name: "brand", facet: true },
          { name: "size", type: "int32", facet: true },
          { name: "year", drop: true },
        ],
      },
    });
    expectStatus(patched, 200);
    expect(patched.json.data.schema.fields.map((field) => field.name)).toEqual([
      "title",
      "brand",
      "price",
      "size",
    ]);
    expect((await server.query("change", { q: "shoe" })).json.found).toBe(3);
    await settled("change");
    const reply = await server.query("change", { q: "acme", facets: ["brand", "size"], filter_by: "size:9" });
    expect(reply.json.found).toBe(2);
    expect(reply.json.facets).toEqual({ brand: { Acme: 2 }, size: { 9: 2 } });
    expect((await server.query("change", { q: "*", filter_by: "year:>2000" })).status).toBe(400);
    expect((await server.get("/v1/indexes/change/documents/a")).json.data).toEqual(DOCUMENTS[0]);
  });

  test("the default sorting field orders equal documents", async () => {
    await server.createIndex("sorted", { fields: FIELDS }, DOCUMENTS);
    const ids = async () =>
      (await server.query("sorted", { q: "*" })).json.hits.map((hit) => hit.document.id);
    await server.patch("/v1/indexes/sorted", { schema: { default_sorting_field: "price" } });
    expect(await ids()).toEqual(["a", "c", "b"]);
    await server.patch("/v1/indexes/sorted", { schema: { default_sorting_field: "year" } });
    expect(await ids()).toEqual(["b", "c", "a"]);
  });

  test("settings are read, partly changed, and used by the next query", async () => {
    await server.createIndex("tuned", { fields: FIELDS }, DOCUMENTS);
    const before = (await server.get("/v1/indexes/tuned/settings")).json.data;
    expect(before).toMatchObject({ num_typos: 2, searchable_attributes: null, typo_policy: "auto" });
    expect((await server.query("tuned", { q: "acme" })).json.found).toBe(2);
    const patched = await server.patch("/v1/indexes/tuned/settings", {
      searchable_attributes: ["title"],
      weights: [5],
    });
    expect(patched.json.data).toEqual({ ...before, searchable_attributes: ["title"], weights: [5] });
    expect((await server.query("tuned", { q: "acme" })).json.found).toBe(0);
    const wrong = await server.patch("/v1/indexes/tuned/settings", { weights: [1, 2] });
    expect([wrong.status, wrong.json.code]).toEqual([400, "SK-IX-400"]);
    expect((await server.get("/v1/indexes/tuned/settings")).json).toEqual(patched.json);
  });

  test("new symbols to index cause stored documents to be analysed again", async () => {
    await server.createIndex("symbols", { fields: FIELDS }, [
      { id: "1", title: "C++ primer" },
      { id: "2", title: "C primer" },
    ]);
    await server.patch("/v1/indexes/symbols/settings", { symbols_to_index: ["+"] });
    await settled("symbols");
    const reply = await server.query("symbols", { q: "c++", num_typos: 0, prefix: false });
    expect(reply.json.hits.map((hit) => hit.document.id)).toEqual(["1"]);
  });
});

describe("an existing index", () => {
  test("has statistics", async () => {
    await server.createIndex("counted", { fields: FIELDS }, DOCUMENTS);
    const { data } = (await server.get("/v1/indexes/counted/stats")).json;
    expect(data).toMatchObject({ name: "counted", status: "active", records_count: 3 });
    expect(data.shards).toBe(DOCUMENTS.length > HOME_DOCUMENTS_MAX ? 2 : 1);
    expect(data.segment_bytes).toBeGreaterThan(0);
    expect((await server.get("/v1/indexes/counted")).json.data.records_count).toBe(3);
  });

  test("is the same after a restart", async () => {
    await server.createIndex("kept", { fields: FIELDS, note: "mine" }, DOCUMENTS);
    await server.patch("/v1/indexes/kept/settings", { stop_words: ["the"], brand_field: "brand" });
    const look = async () =>
      Promise.all(
        ["/v1/indexes", "/v1/indexes/kept", "/v1/indexes/kept/settings"].map((path) => server.get(path)),
      );
    const rebuilt = async () => (await server.get("/v1/indexes/kept")).json.data.status === "active";
    await eventually(rebuilt, "the new brand field is indexed");
    const before = (await look()).map((reply) => reply.json);
    await server.stop("SIGKILL");
    await server.launch();
    expect((await look()).map((reply) => reply.json)).toEqual(before);
    expect((await server.query("kept", { q: "shoe" })).json.found).toBe(3);
  });
});
