// Repeats queries before and after every operation that changes their answers: the cache must be used and
// must never be stale. See server/fleet/reads/answer-cache.ts.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, expectStatus, sleep, TestServer } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";
import { documents, LEFT, makeSide, QUERY, RIGHT, sideOf } from "../world/sides.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "price", type: "int32" },
    { name: "size", type: "int32" },
  ],
};
const SHOES = [
  { id: "1", title: "red shoe", brand: "acme", price: 10, size: 7 },
  { id: "2", title: "blue shoe", brand: "acme", price: 20, size: 8 },
  { id: "3", title: "green shoe", brand: "best", price: 30, size: 9 },
  { id: "4", title: "green boot", brand: "best", price: 40, size: 10 },
];
/**
 * More documents than any query requests. A query program never requests more rows than exist, so with fewer
 * documents, the program would change with each added document.
 */
const HATS = Array.from({ length: 1200 }, (_, i) => ({
  id: `hat-${i}`,
  title: "hat",
  price: 1000 + i,
  size: 1,
}));
/** An answer is cached the second time its query is sent, so the third reply comes from the cache. */
const TIMES_ASKED = 3;
/** Scrapes in quick succession share one reply. */
const SCRAPE_SHARED_MS = 300;

describe.each([1, 3])("with %i shards", (shards) => {
  const killDir = mkdtempSync(join(tmpdir(), "skein-kill-"));
  let server: TestServer;

  beforeAll(async () => {
    const killer = join(import.meta.dirname, "../faults/shard-killer.mjs");
    const env = { NODE_OPTIONS: `--import=${killer}`, SKEIN_TEST_KILL_DIR: killDir };
    server = await TestServer.start({ shards, frontEnds: 1, env });
    await server.createIndex("shop", SCHEMA, SHOES);
    // No vectors, because training in the background would change answers.
    expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source: "none" } }), 200);
    for (let i = 0; i < HATS.length; i += 200)
      await change("documents/batch", { documents: HATS.slice(i, i + 200) });
  });

  afterAll(async () => {
    await server.close();
    rmSync(killDir, { recursive: true, force: true });
  });

  async function hits(): Promise<number> {
    await sleep(SCRAPE_SHARED_MS);
    const scraped = readPrometheusText((await server.get("/metrics")).text);
    return scraped.value("skein_cache_requests_total", { cache: "answer", result: "hit" }) ?? 0;
  }

  /**
   * Sends two queries repeatedly: one with words, whose document frequencies change after many writes, and
   * one without. Expects these ids and brand counts every time.
   */
  async function expectAnswer(ids: string, brands: Record<string, number>): Promise<void> {
    for (const what of [{ q: "shoe" }, { q: "*", filter_by: "price:<1000 && title:shoe" }]) {
      const query = { ...what, sort: "price:asc", facets: ["brand"], highlight_fields: "title" };
      for (let time = 1; time <= TIMES_ASKED; time++) {
        const reply = await server.query("shop", query);
        expectStatus(reply, 200);
        const shown = reply.json.hits.map(({ document }) => document.id).join(" ");
        const seen = [shown, reply.json.facets.brand, reply.json.found];
        expect(seen, `${what.q}, time ${time}`).toEqual([ids, brands, ids.split(" ").length]);
      }
    }
  }

  const change = async (path: string, body: object): Promise<string> => {
    const reply = await server.post(`/v1/indexes/shop/${path}`, body);
    expect([200, 201]).toContain(reply.status);
    return String(reply.json.data.id);
  };

  test("answers come from the cache", async () => {
    const before = await hits();
    await expectAnswer("1 2 3", { acme: 2, best: 1 });
    for (let i = 0; i < 10; i++) await server.query("shop", { q: "boot" });
    expect((await hits()) - before).toBe(1 + 1 + 8);
  });

  test("cached answers follow writes and deletions", async () => {
    await expectAnswer("1 2 3", { acme: 2, best: 1 });
    await change("documents/batch", { documents: [{ ...SHOES[3], title: "green shoe boot" }] });
    await expectAnswer("1 2 3 4", { acme: 2, best: 2 });
    expectStatus(await server.patch("/v1/indexes/shop/documents/1", { price: 25 }), 200);
    await expectAnswer("2 1 3 4", { acme: 2, best: 2 });
    expectStatus(await server.delete("/v1/indexes/shop/documents/2"), 200);
    await expectAnswer("1 3 4", { acme: 1, best: 2 });
    expectStatus(await server.delete("/v1/indexes/shop/documents?filter_by=price:40"), 200);
    await expectAnswer("1 3", { acme: 1, best: 1 });
    await change("documents/batch", { documents: SHOES });
    await expectAnswer("1 2 3", { acme: 2, best: 1 });
  });

  test("cached answers follow rules, synonyms and settings", async () => {
    await expectAnswer("1 2 3", { acme: 2, best: 1 });
    const hide = await change("ranking-rules", { type: "hide", effect: { filter_by: "price:10" } });
    await expectAnswer("2 3", { acme: 1, best: 1 });
    const pin = await change("ranking-rules", { type: "pin", effect: { documents: ["3"] } });
    await expectAnswer("3 2", { acme: 1, best: 1 });
    for (const rule of [hide, pin])
      expectStatus(await server.delete(`/v1/indexes/shop/ranking-rules/${rule}`), 200);
    await expectAnswer("1 2 3", { acme: 2, best: 1 });
    const boots = async () => {
      const replies = [];
      for (let time = 1; time <= TIMES_ASKED; time++)
        replies.push((await server.query("shop", { q: "boot" })).json.found);
      return replies;
    };
    expect(await boots()).toEqual([1, 1, 1]);
    const group = await change("synonyms", { synonyms: ["shoe", "boot"] });
    expect(await boots()).toEqual([4, 4, 4]);
    expectStatus(await server.delete(`/v1/indexes/shop/synonyms/${group}`), 200);
    expect(await boots()).toEqual([1, 1, 1]);
    const settings = { highlight: { start_tag: "<b>", end_tag: "</b>" } };
    expectStatus(await server.patch("/v1/indexes/shop/settings", settings), 200);
    const { hits: shown } = (await server.query("shop", { q: "shoe", highlight_fields: "title" })).json;
    expect(shown.map(({ highlight }) => /<b>shoe<\/b>/.test(highlight.title!.snippet))).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("cached answers follow the schema while documents are re-indexed", async () => {
    const small = async (): Promise<number> => {
      const reply = await server.query("shop", { q: "*", filter_by: "size:1", per_page: 1 });
      return reply.status === 200 ? reply.json.found : 0;
    };
    const active = async (): Promise<boolean> => {
      await small();
      return (await server.get("/v1/indexes/shop")).json.data.status === "active";
    };
    for (const type of ["float", "int32"]) {
      for (let time = 1; time <= TIMES_ASKED; time++) expect(await small()).toBe(HATS.length);
      for (const fields of [[{ name: "size", drop: true }], [{ name: "size", type }]])
        expectStatus(await server.patch("/v1/indexes/shop", { schema: { fields } }), 200);
      await eventually(active, "documents are re-indexed");
    }
    for (let time = 1; time <= TIMES_ASKED; time++) expect(await small()).toBe(HATS.length);
  });

  test("cached answers survive a dying shard", async () => {
    for (let shard = 0; shard < shards; shard++) {
      await expectAnswer("1 2 3", { acme: 2, best: 1 });
      writeFileSync(join(killDir, String(shard)), "");
      const back = async () =>
        server.log.some((line) => line.shard === shard && line.msg === "shard thread is back");
      await eventually(back, `shard ${shard} is back`);
      expect((await server.query("shop", { q: "*" })).json.found).toBe(SHOES.length + HATS.length);
      await expectAnswer("1 2 3", { acme: 2, best: 1 });
    }
  });

  test("cached answers follow swaps and deleted indexes", async () => {
    await makeSide(server, "a", LEFT);
    await makeSide(server, "b", RIGHT);
    const expectSides = async (...sides: string[]): Promise<void> => {
      for (let time = 0; time < TIMES_ASKED; time++)
        expect([sideOf(await server.query("a", QUERY)), sideOf(await server.query("b", QUERY))]).toEqual(
          sides,
        );
    };
    await expectSides("left", "right");
    expectStatus(await server.post("/v1/indexes/a/swap-with", { target_index: "b" }), 200);
    await expectSides("right", "left");
    expectStatus(await server.delete("/v1/indexes/a"), 200);
    await makeSide(server, "a", LEFT);
    await expectSides("left", "left");
    expectStatus(await server.post("/v1/indexes/a/documents/batch", { documents: documents(LEFT) }), 200);
    await expectSides("left", "left");
  });
});
