// The vector source changes while people search, and the server is killed while vectors are computed.
// Searches continue, and in the end every document has a vector from the current source.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeToken } from "../../../server/access/tenants/search-token.js";
import { type EmbeddingServer, startEmbeddingServer } from "../world/embedding-server.js";
import { eventually, expectStatus, meanwhile, TestServer } from "../world/harness.js";
import { embedderOf, idsOf, makeShop, ready, toward } from "./near.js";

const THEMES = [
  ["red", "shoe", "leather", "sole", "laces", "heel"],
  ["hot", "coffee", "bean", "grinder", "cup", "milk"],
  ["loud", "guitar", "string", "amp", "chord", "strap"],
];

/**
 * Documents on three themes. The vectors of a theme's documents are similar, those of different themes are
 * not.
 */
const documents = Array.from({ length: 240 }, (_, i) => {
  const theme = THEMES[i % 3]!;
  const words = [0, 1, 3].map((step) => theme[(Math.floor(i / 3) + step) % theme.length]);
  const embedding = toward(...[0, 0, 0].with(i % 3, 1), (i % 7) / 20);
  return { id: `${i}`, title: words.join(" "), brand: `b${i % 4}`, price: i, embedding };
});

let endpoint: EmbeddingServer;
let server: TestServer;

beforeAll(async () => {
  endpoint = await startEmbeddingServer();
  server = await TestServer.start({ shards: 2, config: { ai: { allow_hosts: ["127.0.0.1"] } } });
});

afterAll(async () => {
  await server.close();
  await endpoint.close();
});

const patch = async (index: string, embedder: object) =>
  expectStatus(await server.patch(`/v1/indexes/${index}/settings`, { embedder }), 200);

describe("the vector source", () => {
  test("may change while clients search", async () => {
    await makeShop(server, "shop", { embedder: { source: "none" } }, documents);
    let modes = new Set<string>();
    const searcher = (body: object) => async () => {
      const reply = await server.query("shop", { facets: ["brand"], ...body });
      expectStatus(reply, 200);
      modes.add(reply.json.search_mode);
      expect(reply.json.found).toBeGreaterThan(0);
    };
    const searchers = ["semantic", "hybrid", "auto"].map((search_mode) =>
      searcher({ q: "coffee", search_mode }),
    );
    const similar = async () =>
      expectStatus(await server.post("/v1/indexes/shop/documents/1/similar", {}), 200);
    const sources = [
      { source: "pushed" },
      { source: "documents" },
      { source: "endpoint", url: endpoint.url(), model: "small" },
      { source: "none" },
      { source: "auto" },
      { source: "pushed" },
    ];
    await meanwhile([...searchers, similar], async () => {
      for (const embedder of sources) {
        await patch("shop", embedder);
        const source = embedder.source === "auto" ? "documents" : embedder.source;
        if (source === "none")
          await eventually(async () => (await embedderOf(server, "shop")).memory_bytes === 0, "no vectors");
        else await ready(server, "shop", source, documents.length);
        modes = new Set();
        await eventually(async () => modes.has("keyword") || modes.has("hybrid"), "searches go on");
        const expected = source === "none" || source === "pushed" ? ["keyword"] : ["semantic"];
        const asked = await server.query("shop", { q: "coffee", search_mode: "semantic" });
        expect([asked.json.search_mode], source).toEqual(expected);
      }
    });
    const nearest = await server.query("shop", {
      q: "*",
      search_mode: "semantic",
      vector: toward(0, 1),
      per_page: 80,
    });
    expect(idsOf(nearest).every((id) => Number(id) % 3 === 1)).toBe(true);
    expect(nearest.json.found).toBe(80);
  });

  test("changes with the reply: nothing is compared with the previous source's vectors", async () => {
    const settings = { embedder: { source: "documents" }, semantic: { min_similarity: 0.05 } };
    await makeShop(server, "changed", settings, documents);
    const near = { q: "*", search_mode: "semantic", vector: toward(0, 1), per_page: 250 };
    for (let time = 0; time < 3; time++) {
      const begun = async () => (await embedderOf(server, "changed")).documents > 0;
      await eventually(begun, "the model makes vectors");
      await patch("changed", { source: "pushed" });
      const reply = await server.query("changed", near);
      expect(reply.json.search_mode).toBe("semantic");
      // If the previous model's vectors were compared, some of the other documents would be found. The result
      // may be empty, because the pushed vectors may not have been stored yet.
      expect(idsOf(reply).filter((id) => Number(id) % 3 !== 1)).toEqual([]);
      await patch("changed", { source: "documents" });
    }
  });

  test("may be the documents: the model finds hits without the query words, and old cached answers are dropped", async () => {
    const words = { q: "grinder", search_mode: "hybrid", per_page: 100 };
    await makeShop(server, "own", { embedder: { source: "none" } }, documents);
    for (let time = 1; time <= 3; time++)
      expect((await server.query("own", words)).json.search_mode).toBe("keyword");
    const byWords = (await server.query("own", words)).json.found;
    await patch("own", { source: "documents" });
    await ready(server, "own", "documents", documents.length);
    const reply = await server.query("own", words);
    expect(reply.json.search_mode).toBe("hybrid");
    expect(reply.json.found).toBeGreaterThan(byWords);
    expect(idsOf(reply).every((id) => Number(id) % 3 === 1)).toBe(true);
    const similar = await server.post("/v1/indexes/own/documents/2/similar", { per_page: 20 });
    expect(similar.json.data.hits.every(({ document }) => Number(document.id) % 3 === 2)).toBe(true);
    const { model } = await embedderOf(server, "own");
    expect(model).toMatchObject({ number: 1, documents: documents.length });
  });
});

test("a model trained on all documents finds nothing for a token with a filter", async () => {
  await makeShop(server, "learned", { embedder: { source: "documents" } }, documents);
  await ready(server, "learned", "documents", documents.length);
  const made = await server.post("/v1/keys", { name: "web", scopes: ["search"] });
  const { key, prefix } = made.json.data as unknown as { key: string; prefix: string };
  const modeOf = async (asker: string): Promise<unknown> => {
    const body = { q: "grinder", search_mode: "semantic" };
    return (await server.post("/v1/indexes/learned/query", body, { key: asker })).json.search_mode;
  };
  for (const [members, mode] of [
    [{}, "semantic"],
    [{ filter_by: "brand:!=b0" }, "keyword"],
  ] as const)
    expect(await modeOf(makeToken(key, prefix, members))).toBe(mode);
});

describe("after kill -9", () => {
  test.each(["training", "embedding"])("in the middle of %s every vector is completed", async (state) => {
    const name = `killed-${state}`;
    await makeShop(server, name, { embedder: { source: "none" } }, documents);
    await patch(name, { source: "documents" });
    const seen = await firstState(name, state);
    await server.stop("SIGKILL");
    await server.launch();
    expect((await server.query(name, { q: "*" })).json.found).toBe(documents.length);
    await ready(server, name, "documents", documents.length);
    const reply = await server.query(name, { q: "grinder", search_mode: "semantic" });
    expect([reply.json.search_mode, idsOf(reply).length], seen).toEqual(["semantic", 10]);
  });

  test("pushed vectors are still there", async () => {
    await makeShop(server, "pushed", { embedder: { source: "pushed" } }, documents.slice(0, 30));
    await server.stop("SIGKILL");
    await server.launch();
    await ready(server, "pushed", "pushed", 30);
    const reply = await server.query("pushed", {
      q: "*",
      search_mode: "semantic",
      vector: toward(0, 0, 1),
      per_page: 30,
    });
    expect(idsOf(reply).map((id) => Number(id) % 3)).toEqual(new Array(10).fill(2));
  });

  /**
   * Waits until `state` or a later state is reached, because training may finish between two polls. Returns
   * the state seen.
   */
  async function firstState(name: string, state: string): Promise<string> {
    const order = ["none", "waiting", "training", "embedding", "ready"];
    let seen = "";
    await eventually(async () => {
      seen = (await embedderOf(server, name)).state;
      return order.indexOf(seen) >= order.indexOf(state);
    }, `${name} is ${state}`);
    return seen;
  }
});
