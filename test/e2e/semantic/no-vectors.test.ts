// Indexes whose documents get no vectors: the state is done, the coverage is zero, and queries are answered
// in keyword mode.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import { embedderOf, idsOf, makeShop, ready, toward } from "./near.js";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ shards: 2 });
});
afterAll(() => server.close());

const titled = (titles: string[]) =>
  titles.map((title, i) => ({ id: `${i}`, title, brand: "acme", price: i }));

const LEARNED = { embedder: { source: "documents", fields: ["title"] } };

/** For each index, documents whose words a model cannot use. */
const BARREN = {
  equal: titled(new Array(40).fill("red shoe")),
  empty: titled(new Array(10).fill("")),
  unlike: titled(Array.from({ length: 10 }, (_, i) => `a${i} b${i}`)),
  single: titled(["red shoe"]),
  paired: titled(["red shoe", "red hat"]),
};

describe("an index whose model gives its documents no vector", () => {
  test("is ready, also after a restart", async () => {
    const all = Object.entries(BARREN);
    await Promise.all(all.map(([name, documents]) => makeShop(server, name, LEARNED, documents)));
    for (const [name, documents] of all) {
      await ready(server, name, "documents", 0);
      const now = await embedderOf(server, name);
      expect(now).toMatchObject({ coverage: 0, model: { number: 1, documents: documents.length } });
      const asked = await server.query(name, { q: "red", search_mode: "semantic" });
      expect(asked.json.search_mode).toBe("keyword");
    }
    await server.stop("SIGKILL");
    await server.launch();
    for (const [name] of all) {
      expectStatus(await server.query(name, { q: "red" }), 200);
      await ready(server, name, "documents", 0);
      expect((await embedderOf(server, name)).model).toMatchObject({ number: 1 });
    }
  });
});

describe("an index with pushed vectors", () => {
  const embedder = { source: "pushed" };

  test("is ready if its documents came without vectors, and waits if it has no documents", async () => {
    const [document] = titled(["red shoe"]);
    await makeShop(server, "bare", { embedder }, [document!]);
    await ready(server, "bare", "pushed", 0);
    const put = { documents: [{ ...document, embedding: toward(1) }] };
    expectStatus(await server.post("/v1/indexes/bare/documents/batch", put), 200);
    await ready(server, "bare", "pushed", 1);
    const reply = await server.query("bare", { q: "*", search_mode: "semantic", vector: toward(1) });
    expect(idsOf(reply)).toEqual(["0"]);
    expectStatus(await server.delete("/v1/indexes/bare/documents/0"), 200);
    await eventually(async () => (await embedderOf(server, "bare")).state === "waiting", "it waits");
  });
});
