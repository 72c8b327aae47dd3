// Several searches in one request: each slot contains the result of the same query sent alone, or that
// query's error.
import { describe, expect, test } from "vitest";
import { BROKEN_BODIES, WRONG_PARAMETERS } from "../http/bad-input-cases.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";
import type { Reply, ReplyBody } from "../world/reply.js";
import { serverOverEachHttp } from "../world/shared-server.js";
import { PRODUCTS, SCHEMA } from "../world/shop.js";

const CONFIG = {
  plans: [{ name: "small", searches_per_month: 3 }],
  limits: { multiSearchReplyBytesMax: 200_000, replyBytesMax: 150_000 },
};
const SERVERS = serverOverEachHttp({ shards: 2, quiet: true, config: CONFIG }, async (server) => {
  await server.createIndex("shop", SCHEMA, PRODUCTS);
  await server.createIndex("letters", { fields: [{ name: "body", type: "string" }] }, [
    { id: "1", body: "mouse and mice" },
    { id: "2", body: `big ${"b".repeat(60_000)}` },
  ]);
});

const post = (server: TestServer, searches: unknown, key?: string): Promise<Reply> =>
  server.post("/v1/multi-search", { searches }, key === undefined ? {} : { key });

async function results(server: TestServer, searches: unknown, key?: string): Promise<ReplyBody[]> {
  const reply = await post(server, searches, key);
  expectStatus(reply, 200);
  return reply.json.data.results as ReplyBody[];
}

async function makeKey(server: TestServer, body: object): Promise<string> {
  const reply = await server.post("/v1/keys", { name: "test", ...body });
  expectStatus(reply, 201);
  return reply.json.data.key;
}

describe.each(SERVERS)("slots over %s", (_http, server) => {
  test("each slot has the complete answer to its query, in order", async () => {
    const searches = [
      { index: "shop", q: "mouse", facets: ["brand"], highlight_fields: "name" },
      { index: "letters", q: "mouse" },
      { index: "shop", q: "*", per_page: 2, page: 2, sort_by: "price:asc" },
      { index: "shop", q: "nothing of the kind", num_typos: 0 },
      { index: "shop", q: "mouse", facets: ["brand"], highlight_fields: "name" },
    ];
    const list = await results(server, searches);
    expect(list).toHaveLength(5);
    for (const [i, { index, ...query }] of searches.entries()) {
      const alone = (await server.query(index, query)).json;
      const own = { query_id: expect.any(String), search_time_ms: expect.any(Number) };
      expect(list[i]).toEqual({ ...alone, ...own });
    }
    expect(new Set(list.map((answer) => answer.query_id)).size).toBe(5);
  });

  test("a failing slot does not affect the others", async () => {
    const list = await results(server, [
      { index: "shop", q: "mouse" },
      { index: "none", q: "mouse" },
      { index: "shop", q: "mouse", filter_by: "price:>" },
      { index: "shop" },
      { q: "mouse" },
      { index: 7, q: "mouse" },
      { index: "__proto__", q: "mouse" },
      { index: "x".repeat(10_000), q: "mouse" },
      null,
      "mouse",
      [],
      { index: "letters", q: "mouse" },
    ]);
    expect(list.map((answer) => answer.code ?? answer.found)).toEqual([
      2,
      "SK-SE-404",
      ...new Array(4).fill("SK-SE-400"),
      "SK-SE-404",
      "SK-SE-404",
      ...new Array(3).fill("SK-SE-400"),
      1,
    ]);
    for (const failed of list.slice(1, -1))
      expect(failed).toMatchObject({ error: expect.stringMatching(/.+/) });
    expect(list[2]!.details).toMatchObject({ position: expect.any(Number) });
    expect(list[4]!.error).toContain("searches[4].index");
  });

  test.each(WRONG_PARAMETERS)("%s = %j fails in its slot", async (name, value) => {
    const [good, bad] = await results(server, [
      { index: "shop", q: "mouse" },
      { index: "shop", q: "mouse", [name]: value },
    ]);
    expect(good!.found).toBe(2);
    // Some of the WRONG_PARAMETERS are valid for this index's fields, so the search may succeed.
    if (bad!.code !== undefined) expect(bad!.code).toBe("SK-SE-400");
  });
});

describe.each(SERVERS)("limits of multi-search over %s", (_http, server) => {
  test("an empty list is fine, more than fifty searches are refused", async () => {
    expect(await results(server, [])).toEqual([]);
    expect(await results(server, new Array(50).fill({ index: "shop", q: "mouse" }))).toHaveLength(50);
    for (const wrong of [new Array(51).fill({ index: "shop", q: "x" }), undefined, null, {}, "x", 5]) {
      const reply = await post(server, wrong);
      expect([reply.status, reply.json.code]).toEqual([400, "SK-SE-400"]);
      expect(reply.json.error).toContain("searches");
    }
  });

  test.each(BROKEN_BODIES)("a body that is %s is refused", async (_name, body) => {
    const reply = await server.raw("POST", "/v1/multi-search", { body });
    expect([reply.status, reply.json.code]).toEqual([400, "SK-SE-400"]);
  });

  test("a body beyond the limit is refused", async () => {
    const body = JSON.stringify({ searches: [{ index: "shop", q: "x".repeat(1024 * 1024) }] });
    expect((await server.raw("POST", "/v1/multi-search", { body })).json.code).toBe("SK-SYS-413");
    expect((await server.raw("GET", "/v1/multi-search")).status).toBe(405);
  });

  test("answers that exceed the reply limit fail in their slots", async () => {
    const list = await results(server, [
      { index: "letters", q: "big" },
      { index: "letters", q: "big" },
      { index: "letters", q: "mouse" },
    ]);
    expect(list.map((answer) => answer.code ?? answer.found)).toEqual([1, "SK-SE-413", "SK-SE-413"]);
  });

  test("a query whose reply is too large works with fewer documents or fields, and a single document always fits", async () => {
    const long = "l".repeat(30_000);
    const documents = Array.from({ length: 80 }, (_, i) => ({
      id: `${i}`,
      body: `long word${i} ${long}`,
      n: i,
    }));
    documents.push({ id: "huge", body: `unique ${"h".repeat(300_000)}`, n: 80 });
    await server.createIndex("long", { fields: [{ name: "body", type: "string" }] }, documents);
    for (const per_page of [3, 30, 80]) {
      const reply = await server.query("long", { q: "long", per_page });
      expect([reply.status, reply.json.code]).toEqual([413, "SK-SE-413"]);
      expect(reply.json.error).toContain("fewer documents");
      const lean = await server.query("long", { q: "long", per_page, fields: ["n"] });
      expect(lean.json.hits).toHaveLength(per_page);
    }
    expect((await server.query("long", { q: "long", per_page: 2 })).json.hits).toHaveLength(2);
    // A single hit is returned even if it exceeds the reply limit.
    const huge = await server.query("long", { q: "unique" });
    expect(huge.json.hits.map(({ document }: { document: { id: string } }) => document.id)).toEqual(["huge"]);
    expect(huge.text.length).toBeGreaterThan(600_000);
    const list = await results(server, [
      { index: "long", q: "long", per_page: 2 },
      { index: "long", q: "long", per_page: 3 },
      { index: "shop", q: "mouse" },
    ]);
    expect(list.map((answer) => answer.code ?? answer.hits.length)).toEqual([2, "SK-SE-413", "SK-SE-413"]);
  });
});

describe.each(SERVERS)("keys and tenants in multi-search over %s", (_http, server) => {
  test("a key's indexes are checked per slot, its scope for the whole request", async () => {
    const both = [
      { index: "shop", q: "mouse" },
      { index: "letters", q: "mouse" },
      { index: "none", q: "mouse" },
    ];
    const narrow = await results(
      server,
      both,
      await makeKey(server, { scopes: ["search"], indexes: ["shop*"] }),
    );
    expect(narrow.map((answer) => answer.code ?? answer.found)).toEqual([2, "SK-SYS-403", "SK-SYS-403"]);
    expect((await post(server, both, await makeKey(server, { scopes: ["documents"] }))).json.code).toBe(
      "SK-SYS-403",
    );
    expect((await server.post("/v1/multi-search", { searches: both }, { key: null })).status).toBe(401);
  });

  test("each slot counts as one of the month's searches; another tenant's index does not exist", async () => {
    const made = await server.post("/v1/tenants", { name: "tiny", plan: "small" });
    const { key } = made.json.data.admin_key as { key: string };
    expectStatus(await server.post("/v1/indexes", { name: "mine", schema: SCHEMA }, { key }), 201);
    const mine = { index: "mine", q: "*" };
    const list = await results(server, [mine, { index: "shop", q: "*" }, mine, mine, mine, mine], key);
    expect(list.map((answer) => answer.code ?? answer.found)).toEqual([
      0,
      "SK-SE-404",
      0,
      0,
      "SK-SYS-429",
      "SK-SYS-429",
    ]);
    expect((await server.post("/v1/indexes/mine/query", { q: "*" }, { key })).status).toBe(429);
    const typed = await server.post("/v1/indexes/mine/suggest", { q: "a", suggest_by: "name" }, { key });
    expectStatus(typed, 200);
  });
});

describe.each(SERVERS)("rate limits and clients that leave, over %s", (_http, server) => {
  test("every slot counts towards a key's rate limit, unless the key counts requests", async () => {
    const key = await makeKey(server, { scopes: ["search"], rate_limit: 2 });
    const searches = new Array(40).fill({ index: "shop", q: "mouse" });
    expect(await results(server, searches, key)).toHaveLength(40);
    const next = await post(server, searches, key);
    expect([next.status, next.json.code]).toEqual([429, "SK-SYS-429"]);
    expect(Number(next.headers["retry-after"])).toBeGreaterThan(10);
    const once = await makeKey(server, { scopes: ["search"], rate_limit: 2, rate_limit_counts: "requests" });
    expect(await results(server, searches, once)).toHaveLength(40);
    expect(await results(server, searches, once)).toHaveLength(40);
  });

  test("searches whose client has left are not run", async () => {
    const searchesDone = async (): Promise<number> => {
      const usage = await server.get("/v1/usage");
      const [tenant] = usage.json.data.tenants as [{ searches: { used: number } }];
      return tenant.searches.used;
    };
    const before = await searchesDone();
    const body = JSON.stringify({ searches: new Array(50).fill({ index: "shop", q: "mouse", ai: false }) });
    for (let i = 0; i < 40; i++) {
      const socket = await server.socket();
      socket.on("error", () => undefined);
      socket.write(requestHead("POST", "/v1/multi-search", body.length) + body);
      socket.destroySoon();
      socket.destroy();
    }
    await eventually(async () => {
      const text = (await server.raw("GET", "/metrics")).text;
      return /^skein_http_requests_in_flight(?:{[^}]*})? 1$/m.test(text);
    }, "nothing but the request for the metrics is in flight");
    expect((await searchesDone()) - before).toBeLessThan(40 * 50);
    expect(await results(server, [{ index: "shop", q: "mouse" }])).toHaveLength(1);
  });
});
