// Vectors sent with documents: which vectors are refused, that they follow every change to a document, that
// none is ever returned, and that they find similar documents.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";
import { embedderOf, idsOf, makeShop, ready, SHOP, toward } from "./near.js";

const PUSHED = { embedder: { source: "pushed" } };
const REFUSED = "field 'embedding' must be an array of 512 finite numbers, not all 0";
/** An answer is cached the second time its query is sent, so the third reply comes from the cache. */
const TIMES_ASKED = 3;

const server = sharedServer({ shards: 2, quiet: true }, async (running) => {
  await makeShop(running, "shop", PUSHED);
  await makeShop(running, "plain", { embedder: { source: "none" } });
});

const batch = (index: string, body: string | object) =>
  server.raw("POST", `/v1/indexes/${index}/documents/batch`, { body });

describe("document vectors", () => {
  test("that are invalid are refused one by one", async () => {
    await makeShop(server, "refusals", PUSHED, []);
    const good = JSON.stringify(toward(1));
    const wrong = [
      JSON.stringify(toward(1).slice(1)),
      JSON.stringify([...toward(1), 1]),
      JSON.stringify(toward()),
      good.replace("1", "1e999"),
      good.replace("1", '"1"'),
      good.replace("1", "null"),
      '"0.5"',
      "{}",
      "[]",
    ];
    const documents = [good, ...wrong, "null"].map(
      (one, i) => `{"id":"${i}","title":"x","brand":"b","price":1,"embedding":${one}}`,
    );
    const reply = await batch("refusals", `{"documents":[${documents.join()}]}`);
    expectStatus(reply, 200);
    expect([reply.json.data.succeeded, reply.json.data.failed]).toEqual([2, wrong.length]);
    const told = reply.json.data.errors.map(({ index, code, error }) => [index, code, error]);
    expect(told).toEqual(wrong.map((_, i) => [i + 1, "SK-DOC-400", expect.stringContaining(REFUSED)]));
    await ready(server, "refusals", "pushed", 1);
  });

  test("are never returned", async () => {
    const fields = ["embedding", "title"];
    const paths = ["shop", "plain"].map((index) => `/v1/indexes/${index}`);
    for (const path of paths) {
      const replies = [
        await server.get(`${path}/documents/1`),
        await server.raw("GET", `${path}/documents/export`),
        await server.post(`${path}/query`, { q: "red", fields, explain: true }),
        await server.post(`${path}/query`, { q: "*", highlight_fields: "title" }),
        await server.post(`${path}/documents/1/similar`, { fields }),
        await server.patch(`${path}/documents/2`, { price: 20 }),
        await batch(path.split("/")[3]!, { documents: [SHOP[2]] }),
        await server.post(`${path}/suggest`, { q: "re", suggest_by: "title" }),
      ];
      for (const reply of replies) {
        expectStatus(reply, 200);
        expect(reply.text).not.toContain("embedding");
      }
    }
  });

  test("follow every change, and cached answers do not outlive them", async () => {
    await makeShop(server, "changing", PUSHED);
    const expectNearest = async (ids: string[]): Promise<void> => {
      for (let time = 1; time <= TIMES_ASKED; time++) {
        const reply = await server.query("changing", { q: "scarlet", vector: toward(1) });
        expect(idsOf(reply), `time ${time}`).toEqual(ids);
      }
    };
    const path = "/v1/indexes/changing/documents";
    await expectNearest(["1", "3", "2"]);
    expectStatus(await server.patch(`${path}/2`, { embedding: toward(1, 0.1) }), 200);
    await expectNearest(["1", "2", "3"]);
    expectStatus(await server.patch(`${path}/1`, { price: 11 }), 200);
    await expectNearest(["1", "2", "3"]);
    expectStatus(await server.patch(`${path}/1`, { embedding: null }), 200);
    await expectNearest(["2", "3"]);
    expectStatus(await server.delete(`${path}/3`), 200);
    await expectNearest(["2"]);
    expectStatus(await server.patch(`${path}/5`, { embedding: toward(2) }), 200);
    await expectNearest(["5", "2"]);
  });

  test("are reported in the statistics", async () => {
    const stats = await embedderOf(server, "shop");
    expect(stats).toMatchObject({
      source: "pushed",
      state: "ready",
      documents: 4,
      pending: 0,
      coverage: 0.8,
      model: null,
    });
    expect(stats.memory_bytes).toBeGreaterThan(0);
    expect(await embedderOf(server, "plain")).toEqual({
      source: "none",
      state: "none",
      documents: 0,
      pending: 0,
      coverage: 0,
      memory_bytes: 0,
      model: null,
    });
  });
});

describe("similar documents", () => {
  const similar = (id: string, body?: object, index = "shop") =>
    server.post(`/v1/indexes/${index}/documents/${id}/similar`, body);
  const hitsOf = async (id: string, body: object = {}, index = "shop") => {
    const reply = await similar(id, body, index);
    expectStatus(reply, 200);
    const hits = reply.json.data.hits as unknown as { document: { id: string }; similarity: number | null }[];
    return hits.map(({ document, similarity }) => [
      document.id,
      similarity === null ? null : Math.round(similarity * 100) + 0,
    ]);
  };

  test("are the nearest ones, without the document itself and unrelated ones", async () => {
    expect(await hitsOf("1")).toEqual([
      ["3", 90],
      ["2", 80],
    ]);
    expect(await hitsOf("1", { per_page: 1 })).toEqual([["3", 90]]);
    expect(await hitsOf("1", { per_page: 0 })).toEqual([]);
    expect(await hitsOf("1", { per_page: 250 })).toHaveLength(2);
    expect(await hitsOf("1", { filter_by: "price:<25" })).toEqual([["2", 80]]);
    expectStatus(await similar("1"), 200);
  });

  test("have the requested members", async () => {
    const reply = await similar("1", { fields: ["title"], per_page: 1 });
    expect(reply.json.data.hits.map(({ document }) => document)).toEqual([
      { id: "3", title: "crimson boot" },
    ]);
  });

  test("are those that share rare words if there is no vector", async () => {
    const hits = await hitsOf("5");
    expect(new Set(hits.map(([id]) => id))).toEqual(new Set(["1", "4"]));
    expect(hits.every(([, similarity]) => similarity === null)).toBe(true);
    expect((await hitsOf("2", {}, "plain")).map(([id]) => id)).toEqual(["1"]);
    expect(await hitsOf("2", { filter_by: "price:>15" }, "plain")).toEqual([]);
    expect(await hitsOf("5", { per_page: 1 })).toHaveLength(1);
  });

  test("are refused for a missing document or an invalid body", async () => {
    const missing = await similar("nobody", {});
    expect([missing.status, missing.json.code]).toEqual([404, "SK-DOC-404"]);
    for (const body of [
      { per_page: "x" },
      { filter_by: 1 },
      { fields: "title" },
      { filter_by: "nope:1" },
      [],
      { per_page: null },
    ]) {
      const reply = await server.raw("POST", "/v1/indexes/shop/documents/1/similar", { body });
      expect([reply.status, reply.json.code], JSON.stringify(body)).toEqual([
        400,
        expect.stringMatching(/^SK-/),
      ]);
    }
  });
});
