// Vectors from an endpoint: documents wait for their vectors as long as necessary, even across restarts,
// while keyword search works; queries wait only briefly.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddingServer, hashedVector, startEmbeddingServer } from "../world/embedding-server.js";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import { embedderOf, found, idsOf, makeShop, ready } from "./near.js";

const MEANINGS = [["shoe", "sneaker", "trainers"]];
/**
 * No document contains "sneaker", so the query's vector is not drawn towards word matches, and cosines are
 * exactly those of the endpoint's vectors.
 */
const SNEAKERS = { q: "sneaker", search_mode: "hybrid" };
const SHOP = [
  { id: "1", title: "red shoe", brand: "acme", price: 10 },
  { id: "2", title: "blue shoe", brand: "acme", price: 20 },
  { id: "3", title: "green hat", brand: "best", price: 30 },
];

let endpoint: EmbeddingServer;
let server: TestServer;

beforeAll(async () => {
  endpoint = await startEmbeddingServer({ meanings: MEANINGS });
  server = await TestServer.start({ shards: 2, config: { ai: { allow_hosts: ["127.0.0.1"] } } });
});

afterAll(async () => {
  await server.close();
  await endpoint.close();
});

const settings = (model: string) => ({ embedder: { source: "endpoint", url: endpoint.url(), model } });
const add = async (index: string, ...documents: object[]) =>
  expectStatus(await server.post(`/v1/indexes/${index}/documents/batch`, { documents }), 200);

/**
 * Waits until the index answers in `mode`: after a fault, the server may not call the endpoint again for some
 * seconds.
 */
const untilMode = (index: string, mode: string) =>
  eventually(
    async () => (await server.query(index, SNEAKERS)).json.search_mode === mode,
    `${index} is searched in mode ${mode}`,
  );

describe("an endpoint", () => {
  test("computes the vectors of documents and queries", async () => {
    await makeShop(server, "shop", settings("small"), SHOP);
    await ready(server, "shop", "endpoint", 3);
    expect(new Set(idsOf(await server.query("shop", SNEAKERS)))).toEqual(new Set(["1", "2"]));
    expect(found(await server.query("shop", { q: "red sneaker" }))).toMatch(/^1:hybrid/);
    const vector = Array.from(hashedVector("green hat"));
    expect(found(await server.query("shop", { q: "*", search_mode: "semantic", vector }))).toBe("3:semantic");
    const asked = endpoint.requests.at(0)!;
    expect(asked.body).toMatchObject({ model: "small", dimensions: 512 });
    expect((await embedderOf(server, "shop")).model).toBeNull();
  });

  test("is called again only for changed documents", async () => {
    const before = endpoint.texts().length;
    await add("shop", { id: "3", title: "green trainers", brand: "best", price: 30 });
    await eventually(async () => idsOf(await server.query("shop", SNEAKERS)).includes("3"), "3 is found");
    expectStatus(await server.delete("/v1/indexes/shop/documents/1"), 200);
    expect(new Set(idsOf(await server.query("shop", SNEAKERS)))).toEqual(new Set(["2", "3"]));
    const texts = endpoint.texts().slice(before);
    expect(texts.filter((text) => text.includes("blue"))).toEqual([]);
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "may be slow: documents wait, even through %s",
    async (signal) => {
      const name = `slow-${signal.toLowerCase()}`;
      endpoint.always({ silent: "before" });
      await makeShop(server, name, settings(name), SHOP);
      await eventually(async () => (await embedderOf(server, name)).pending === 3, "documents wait");
      const reply = await server.query(name, { q: "red shoe", search_mode: "hybrid" });
      expect([reply.status, reply.json.search_mode, idsOf(reply)]).toEqual([200, "keyword", ["1"]]);
      await server.stop(signal);
      await server.launch();
      expect(idsOf(await server.query(name, { q: "red shoe" }))).toEqual(["1"]);
      await eventually(async () => (await embedderOf(server, name)).pending === 3, "documents wait again");
      await server.stop(signal);
      endpoint.always(null);
      await server.launch();
      expectStatus(await server.query(name, { q: "*" }), 200);
      await ready(server, name, "endpoint", 3);
      expect(new Set(idsOf(await server.query(name, SNEAKERS)))).toEqual(new Set(["1", "2"]));
    },
  );

  test("may be down: words still find documents, and everything is made up for later", async () => {
    await makeShop(server, "down", settings("down"), SHOP);
    await ready(server, "down", "endpoint", 3);
    endpoint.always({ status: 401, body: "{}" });
    await add("down", { id: "4", title: "grey trainers", brand: "best", price: 40 });
    await eventually(async () => (await embedderOf(server, "down")).state === "failed", "it has given up");
    expect(await embedderOf(server, "down")).toMatchObject({ documents: 3, pending: 1 });
    const reply = await server.query("down", { q: "grey pumps", search_mode: "semantic" });
    expect([reply.status, reply.json.search_mode]).toEqual([200, "keyword"]);
    const log = server.log.filter(({ level }) => level === "error" || level === "fatal");
    expect(log).toEqual([]);
    endpoint.always(null);
    await add("down", { id: "5", title: "black trainers", brand: "best", price: 50 });
    await ready(server, "down", "endpoint", 5);
    await untilMode("down", "hybrid");
    expect(new Set(idsOf(await server.query("down", SNEAKERS)))).toEqual(new Set(["1", "2", "4", "5"]));
  });

  test("may return nonsense: no such vector is stored", async () => {
    await makeShop(server, "nonsense", settings("nonsense"), SHOP);
    await ready(server, "nonsense", "endpoint", 3);
    const nonsense = [
      { body: "<html>" },
      { items: () => [] },
      { items: () => [{ object: "embedding", index: 0, embedding: [1, 2, 3] }] },
    ];
    for (const [i, answer] of nonsense.entries()) {
      endpoint.always(answer);
      const reply = await server.query("nonsense", {
        q: `sneaker ${"x".repeat(i + 3)}`,
        search_mode: "hybrid",
      });
      expect([reply.status, reply.json.search_mode]).toEqual([200, "keyword"]);
    }
    endpoint.always(null);
    await untilMode("nonsense", "hybrid");
  });
});
