// Vector queries on small indexes, which the HTTP thread answers from the shards' memory: the shards are not
// involved and the replies are byte for byte the same, even while documents and models change.
import { describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { BlockedShards } from "../world/blocked-shards.js";
import { eventually, expectStatus, meanwhile, TestServer } from "../world/harness.js";
import { embedderOf, makeShop, ready, toward } from "./near.js";

const THEMES = [
  ["red", "shoe", "leather", "sole", "laces", "heel"],
  ["hot", "coffee", "bean", "grinder", "cup", "milk"],
  ["loud", "guitar", "string", "amp", "chord", "strap"],
];
const DOCUMENTS = 300;

function documentOf(i: number): object {
  const theme = THEMES[i % 3]!;
  const words = [0, 1, 3].map((step) => theme[(Math.floor(i / 3) + step) % theme.length]);
  const embedding = i % 11 === 5 ? {} : { embedding: toward(...[0, 0, 0].with(i % 3, 1), (i % 17) / 20) };
  return { id: `${i}`, title: `${words.join(" ")} n${i}`, brand: `b${i % 4}`, price: i, ...embedding };
}

const all = Array.from({ length: DOCUMENTS }, (_, i) => documentOf(i));
/** No cached answers, and enough time for local reads even on a busy machine. */
const LIMITS = { rememberedAnswersBytesMax: 1, localReadMsMax: 10_000 };

const QUERIES = [
  { q: "coffee n7", search_mode: "semantic" },
  { q: "coffee chord", search_mode: "hybrid", facets: ["brand"] },
  { q: "n14 leather milk", filter_by: "price:<200", per_page: 30 },
  { q: "unheard heel", search_mode: "semantic", filter_by: "brand:b1" },
  { q: "n3 n4", per_page: 5, page: 2, search_mode: "hybrid" },
  { q: "strap amp n200", explain: true },
];

/** Fixed values for the members that differ between any two answers. */
const OWN = { query_id: "", search_time_ms: 0 };

async function answersOf(server: TestServer, vector: readonly number[] | null): Promise<string[]> {
  const answers: string[] = [];
  for (const query of QUERIES) {
    // No analytics, because frequent queries would become suggestions, sooner on the server that receives
    // more queries.
    const body = { ...query, analytics: false };
    const reply = await server.query("shop", vector === null ? body : { ...body, vector });
    expectStatus(reply, 200);
    answers.push(JSON.stringify({ ...reply.json, ...OWN }));
  }
  const similar = await server.post("/v1/indexes/shop/documents/8/similar", { per_page: 7 });
  expectStatus(similar, 200);
  answers.push(JSON.stringify(similar.json.data.hits));
  return answers;
}

/**
 * Repeats the queries until the HTTP thread answers them itself. Then blocks a shard, sends them once more
 * and returns the answers.
 */
async function locally(
  server: TestServer,
  vector: readonly number[] | null,
  blocked: BlockedShards,
): Promise<string[]> {
  for (let times = 0; times < 5; times++) await answersOf(server, vector);
  return blocked.while(0, () => answersOf(server, vector));
}

describe.each([1, 3])("with %i shards", (shards) => {
  test("vector queries do not wait for unresponsive shards, and get the answers the shards would give", async () => {
    const blocked = new BlockedShards();
    const local = await TestServer.start({ shards, env: blocked.env, config: { limits: LIMITS } });
    const remote = await TestServer.start({
      shards,
      config: { limits: { ...LIMITS, localDocumentsMax: 1 } },
    });
    const both = [local, remote];
    const everywhere = (work: (server: TestServer) => Promise<unknown>): Promise<unknown> =>
      Promise.all(both.map(work));
    const expectEqual = async (vector: readonly number[] | null, modes: readonly string[]): Promise<void> => {
      const answers = await locally(local, vector, blocked);
      const expected = await answersOf(remote, vector);
      for (const [i, answer] of answers.entries()) expect(answer).toBe(expected[i]);
      for (const mode of modes) expect(answers.join()).toContain(`"search_mode":"${mode}"`);
    };
    try {
      await everywhere((server) => makeShop(server, "shop", { embedder: { source: "documents" } }, all));
      await everywhere((server) => ready(server, "shop", "documents", DOCUMENTS));
      await expectEqual(null, ["semantic", "hybrid"]);
      // Changed documents, then fewer, then more; the old documents' vectors are already cached.
      const changed = [3, 8, 50, 101].map((i) => ({ ...documentOf(i + 1), id: `${i}` }));
      await everywhere((server) => server.post("/v1/indexes/shop/documents/batch", { documents: changed }));
      await everywhere((server) => server.delete("/v1/indexes/shop/documents/11"));
      await everywhere((server) => ready(server, "shop", "documents", DOCUMENTS - 1));
      await expectEqual(null, ["semantic", "hybrid"]);
      // Gives the same documents different vectors, or none.
      const source = (embedder: object) => (server: TestServer) =>
        server.patch("/v1/indexes/shop/settings", { embedder });
      await everywhere(source({ source: "pushed" }));
      const pushed = DOCUMENTS - 1 - all.filter((one) => !("embedding" in one)).length;
      await everywhere(async (server) =>
        eventually(async () => {
          const { source: now, state, pending } = await embedderOf(server, "shop");
          return now === "pushed" && state === "ready" && pending === 0;
        }, `${pushed} vectors are stored`),
      );
      await expectEqual(toward(0.2, 1, 0.1), ["semantic", "hybrid"]);
      await everywhere(source({ source: "none" }));
      await everywhere((server) =>
        eventually(async () => (await embedderOf(server, "shop")).state === "none", "vectors are gone"),
      );
      await expectEqual(null, ["keyword"]);
      await everywhere(source({ source: "documents" }));
      await everywhere((server) => ready(server, "shop", "documents", DOCUMENTS - 1));
      await expectEqual(null, ["semantic", "hybrid"]);
    } finally {
      await Promise.all(both.map((server) => server.close()));
      blocked.close();
    }
  });
});

test("queries go on while documents, models and sources change, and find the right documents afterwards", async () => {
  const server = await TestServer.start({ shards: 2, config: { limits: LIMITS } });
  try {
    await makeShop(server, "shop", { embedder: { source: "documents" } }, all);
    await ready(server, "shop", "documents", DOCUMENTS);
    const searcher = (query: object) => async () => {
      const reply = await server.query("shop", query);
      expectStatus(reply, 200);
      expect(reply.json.found).toBeGreaterThan(0);
    };
    const similar = async () =>
      expectStatus(await server.post("/v1/indexes/shop/documents/8/similar", {}), 200);
    await meanwhile([...QUERIES.slice(0, 3).map(searcher), similar], async () => {
      for (let round = 0; round < effort(4, 40); round++) {
        const documents = Array.from({ length: 20 }, (_, i) => documentOf((round * 20 + i) % DOCUMENTS));
        expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents }), 200);
        const source = round % 3 === 2 ? "pushed" : "documents";
        expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source } }), 200);
        if (round % 2 === 0)
          await eventually(
            async () => (await embedderOf(server, "shop")).pending === 0,
            "all documents have their vectors",
          );
      }
      expectStatus(
        await server.patch("/v1/indexes/shop/settings", { embedder: { source: "documents" } }),
        200,
      );
      await ready(server, "shop", "documents", DOCUMENTS);
    });
    for (let times = 0; times < 3; times++) await answersOf(server, null);
    const reply = await server.query("shop", { q: "grinder n10", search_mode: "semantic", per_page: 50 });
    const themes = reply.json.hits.slice(0, 40).map(({ document }) => Number(document.id) % 3);
    expect(themes.filter((theme) => theme === 1).length).toBeGreaterThan(30);
  } finally {
    await server.close();
  }
});
