// Queries that name filters, sort orders and exclusions, over HTTP: the resulting search, its description in
// the answer, and which queries are searched as typed.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const FIELDS = [
  { name: "title", type: "string" },
  { name: "brand", type: "string", facet: true },
  { name: "color", type: "string", facet: true },
  { name: "price", type: "float" },
  { name: "rating", type: "float", optional: true },
  { name: "screen_inch", type: "float", optional: true },
];
const SHOES = [
  { id: "a", title: "running shoes", brand: "Acme", color: "Red", price: 40, rating: 4.5 },
  { id: "b", title: "running shoes with laces", brand: "Zeta", color: "Red", price: 90, rating: 3 },
  { id: "c", title: "walking shoes", brand: "Zeta", color: "Black", price: 20, rating: 4.8 },
  { id: "d", title: "office television", brand: "Acme", color: "Black", price: 300, screen_inch: 55 },
  { id: "e", title: "travel television", brand: "Acme", color: "Black", price: 100, screen_inch: 24 },
];

const ids = (reply: Reply): string[] => reply.json.hits.map(({ document }) => String(document.id));
const context = (reply: Reply) => reply.json.ai_context as Record<string, unknown> | null;
const filters = (reply: Reply) => context(reply)?.applied_filters as Record<string, unknown> | undefined;

describe("understanding by rules", () => {
  const server = sharedServer({ shards: 2, quiet: true }, (it) =>
    it.createIndex("shop", { fields: FIELDS }, SHOES),
  );

  test.each([
    ["red shoes under 50", ["a"], "price:<50 && color:`Red`", null, "shoes"],
    ["shoes under 50", ["a", "c"], "price:<50", null, "shoes"],
    ["cheapest shoes", ["c", "a", "b"], null, "price:asc", "shoes"],
    ["best rated shoes", ["c", "a", "b"], null, "rating:desc", "shoes"],
    ["shoes zwischen 30 und 100 euro", ["a", "b"], "price:[30..100]", null, "shoes"],
    ["55 inch television", ["d"], "screen_inch:=55", null, "television"],
    ["brand zeta", ["b", "c"], "brand:=`Zeta`", null, "*"],
    ["running shoes without leather", ["a", "b"], null, null, "running shoes"],
  ])("%s", async (q, found, filter_by, sort_by, text) => {
    const reply = await server.query("shop", { q });
    expectStatus(reply, 200);
    expect(reply.json.ai_enhanced).toBe(true);
    expect(filters(reply)).toMatchObject({ filter_by, sort_by });
    expect(context(reply)).toMatchObject({ original_query: q, rewritten_query: text });
    const hits = sort_by === null ? ids(reply).sort() : ids(reply);
    expect(hits).toEqual(found);
    expect(reply.json.found).toBe(found.length);
  });

  test.each([
    ["running shoes"],
    ["shoes with laces"],
    ["red"],
    ["television"],
    ["shoes under 1"],
    ["*"],
    [""],
    ['"shoes under 50"'],
    ["shoes -laces"],
  ])("%j is searched as typed", async (q) => {
    const [given, plain] = [await server.query("shop", { q }), await server.query("shop", { q, ai: false })];
    expect([given.json.ai_enhanced, given.json.ai_context]).toEqual([false, null]);
    expect(ids(given)).toEqual(ids(plain));
  });

  test("ai: false searches for the text as typed", async () => {
    const reply = await server.query("shop", { q: "shoes under 50", ai: false });
    expect([reply.json.ai_enhanced, reply.json.ai_context]).toEqual([false, null]);
  });

  test("the request's own filter and sort stay in force", async () => {
    const body = {
      q: "cheapest shoes under 100",
      filter_by: "color:=Red",
      sort: "price:desc",
      facets: ["brand"],
    };
    const reply = await server.query("shop", body);
    expect(ids(reply)).toEqual(["b", "a"]);
    expect(filters(reply)).toEqual({ filter_by: "price:<100", sort_by: null, avoided: [] });
    expect(reply.json.facets).toEqual({ brand: { Acme: 1, Zeta: 1 } });
  });

  test("pages, highlights and explanations refer to the remaining words", async () => {
    const body = { q: "shoes under 50", per_page: 1, page: 2, explain: true, highlight_fields: "title" };
    const reply = await server.query("shop", body);
    expect([reply.json.found, reply.json.total_pages, reply.json.hits.length]).toEqual([2, 2, 1]);
    const [hit] = reply.json.hits;
    expect(JSON.stringify(hit?.highlight)).toContain("<mark>shoes</mark>");
    expect(
      (hit as unknown as { explanation: { words: { word: string }[] } }).explanation.words,
    ).toMatchObject([{ word: "shoes" }]);
  });

  test("rules are matched against the typed words", async () => {
    await server.createIndex("curated", { fields: FIELDS }, SHOES);
    const rule = {
      name: "pin",
      type: "pin",
      conditions: { query_contains: ["red"] },
      effect: { documents: ["a"] },
    };
    expectStatus(await server.post("/v1/indexes/curated/ranking-rules", rule), 201);
    const reply = await server.query("curated", { q: "red shoes under 50" });
    expect(filters(reply)).toMatchObject({ filter_by: "price:<50 && color:`Red`" });
    expect(reply.json.curated_applied).toBe(true);
  });

  test("a multi-search understands each of its queries", async () => {
    const searches = [
      { index: "shop", q: "shoes under 50" },
      { index: "shop", q: "shoes under 50", ai: false },
      { index: "shop", q: "cheapest shoes" },
    ];
    const reply = await server.post("/v1/multi-search", { searches });
    const results = (reply.json.data as unknown as { results: { ai_enhanced: boolean }[] }).results;
    expect(results.map((result) => result.ai_enhanced)).toEqual([true, false, true]);
  });

  test("a new value is understood at once, even if the answer was cached", async () => {
    await server.createIndex("growing", { fields: FIELDS }, SHOES);
    const ask = async () => (await server.query("growing", { q: "brand omega under 50" })).json.ai_enhanced;
    expect([await ask(), await ask(), await ask()]).toEqual([false, false, false]);
    const omega = { id: "o", title: "watch", brand: "Omega", color: "Red", price: 20 };
    expectStatus(await server.post("/v1/indexes/growing/documents/batch", { documents: [omega] }), 200);
    expect([await ask(), await ask(), await ask()]).toEqual([true, true, true]);
  });

  test("the query log records the typed text", async () => {
    await server.createIndex("logged", { fields: FIELDS }, SHOES);
    for (let i = 0; i < 3; i++) expectStatus(await server.query("logged", { q: "shoes under 50" }), 200);
    const report = await server.raw("GET", "/v1/indexes/logged/analytics/queries");
    expect(report.text).toContain("shoes under 50");
  });

  test("any text gets an answer", async () => {
    const odd = [
      "under ".repeat(600),
      "5 ".repeat(2000),
      "ohne sans sin without no not",
      "between and",
      "under $",
      "shoes under 50 \u{1f45f}",
      "shoes\u0000under\u200f50",
      "ｓｈｏｅｓ ｕｎｄｅｒ ５０",
      "shoes under ٥٠",
      "$$$$$ <<<< >>>>",
      "``` under 5 `",
      "shoes under 1e309",
    ];
    for (const q of odd) expectStatus(await server.query("shop", { q }), 200);
  });
});

describe("with any number of shards", () => {
  const servers = [1, 3].map((shards) =>
    sharedServer({ shards }, (it) => it.createIndex("shop", { fields: FIELDS }, SHOES)),
  );

  test.each([
    ["red shoes under 50"],
    ["cheapest running shoes"],
    ["shoes without laces"],
    ["i am looking for zeta walking shoes"],
    ["accme television under 500"],
  ])("%s means the same", async (q) => {
    const [one, three] = await Promise.all(servers.map((server) => server.query("shop", { q })));
    expect(one?.json.ai_context).toEqual(three?.json.ai_context);
    expect(one?.json.found).toBe(three?.json.found);
    expect(ids(one as Reply)).toEqual(ids(three as Reply));
  });
});

describe("a plan without query understanding", () => {
  const server = sharedServer(
    { shards: 1, config: { plans: [{ name: "default", ai_query_understanding: false }] } },
    (it) => it.createIndex("shop", { fields: FIELDS }, SHOES),
  );

  test("searches for the text as typed, whatever the request says", async () => {
    for (const body of [{ q: "shoes under 50" }, { q: "shoes under 50", ai: true }]) {
      const reply = await server.query("shop", body);
      expect([reply.json.ai_enhanced, reply.json.ai_context]).toEqual([false, null]);
    }
  });
});

describe("understanding by a model", () => {
  const API_KEY = "reader-key-1234";
  const asked: { key: string | undefined; query: string }[] = [];
  let answer: (response: ServerResponse) => void = () => undefined;
  const model = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = JSON.parse(String(Buffer.concat(pieces))) as { messages: { content: string }[] };
      const { query } = JSON.parse(body.messages[1]!.content) as { query: string };
      asked.push({ key: request.headers.authorization, query });
      answer(response);
    });
  });
  const says = (claim: unknown) => (response: ServerResponse) =>
    response.end(JSON.stringify({ choices: [{ message: { content: JSON.stringify(claim) } }] }));
  const CHEAP = {
    text: "shoes",
    filters: [{ field: "price", operator: "<", value: "50" }],
    sort: null,
    avoided: [],
  };
  let server: TestServer;
  let made = 0;
  const url = (): string => `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`;

  /**
   * Each test needs its own index, because the server does not call an index's endpoint for a while after a
   * failure.
   */
  const index = async (more: object = {}): Promise<string> => {
    const name = `shop-${++made}`;
    await server.createIndex(name, { fields: FIELDS }, SHOES);
    const ai = {
      provider: "endpoint",
      url: url(),
      model: "small",
      api_key: API_KEY,
      timeout_ms: 5_000, // far longer than an answer takes, even on a busy machine
      ...more,
    };
    expectStatus(await server.patch(`/v1/indexes/${name}/settings`, { ai }), 200);
    asked.length = 0;
    return name;
  };

  beforeAll(async () => {
    await new Promise<void>((resolve) => model.listen(0, "127.0.0.1", resolve));
    server = await TestServer.start({
      shards: 2,
      frontEnds: 1,
      config: { ai: { allow_hosts: ["127.0.0.1"] } },
    });
  });
  afterAll(async () => {
    await server.close();
    model.closeAllConnections();
    model.close();
  });

  test("a query is read by the model once, and the result is cached", async () => {
    const name = await index();
    answer = says(CHEAP);
    for (let i = 0; i < 3; i++) {
      const reply = await server.query(name, { q: "inexpensive shoes below 50" });
      expect(ids(reply).sort()).toEqual(["a", "c"]);
      expect(context(reply)).toMatchObject({ rewritten_query: "shoes", confidence: "low", intent: "filter" });
      expect(filters(reply)).toEqual({ filter_by: "price:<50", sort_by: null, avoided: [] });
    }
    expect(asked).toEqual([{ key: `Bearer ${API_KEY}`, query: "inexpensive shoes below 50" }]);
  });

  test.each([
    ["an unknown field", { ...CHEAP, filters: [{ field: "weight", operator: "<", value: "50" }] }],
    ["an unknown value", { ...CHEAP, filters: [{ field: "brand", operator: "=", value: "Omega" }] }],
    ["a number that was not typed", { ...CHEAP, filters: [{ field: "price", operator: "<", value: "60" }] }],
    ["words that were not typed", { ...CHEAP, text: "boots" }],
    [
      "a filter that finds nothing",
      { ...CHEAP, filters: [{ field: "price", operator: ">", value: "5000" }] },
    ],
    ["a sort by an unsortable field", { ...CHEAP, sort: { field: "title", direction: "asc" } }],
    ["something else", { hello: "world" }],
    ["too many filters", { ...CHEAP, filters: Array.from({ length: 11 }, () => CHEAP.filters[0]) }],
    ["an empty reading", { text: "shoes", filters: [], sort: null, avoided: [] }],
  ])("%s is not trusted", async (_, claim) => {
    const name = await index();
    answer = says(claim);
    const reply = await server.query(name, { q: "shoes below 50 or 5000" });
    expectStatus(reply, 200);
    expect([reply.json.ai_enhanced, reply.json.ai_context, asked.length]).toEqual([false, null, 1]);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ["nothing", () => undefined],
    ["half an answer", (response) => response.write('{"choices": [')],
    ["an error", (response) => response.writeHead(500).end()],
    ["HTML", (response) => response.end("<html>")],
    ["a broken connection", (response) => response.destroy()],
  ])(
    "a model that answers with %s leaves the query unchanged and is not called for a while",
    async (_, reply) => {
      const name = await index({ timeout_ms: 3_000 });
      answer = reply;
      for (let i = 0; i < 3; i++) {
        const given = await server.query(name, { q: "walking shoes below 50" });
        expectStatus(given, 200);
        expect([given.json.ai_enhanced, given.json.found]).toEqual([false, expect.any(Number)]);
      }
      expect(asked).toHaveLength(1);
    },
  );

  test("a recovered model is called again", async () => {
    const name = await index();
    answer = (response) => response.destroy();
    expect((await server.query(name, { q: "shoes below 50" })).json.ai_enhanced).toBe(false);
    answer = says(CHEAP);
    expectStatus(await server.patch(`/v1/indexes/${name}/settings`, { ai: { timeout_ms: 4_000 } }), 200);
    expect((await server.query(name, { q: "shoes below 50" })).json.ai_enhanced).toBe(true);
  });

  test("the model is not called for one or two words, with ai: false, or for quotes", async () => {
    const name = await index();
    answer = says(CHEAP);
    for (const body of [{ q: "shoes" }, { q: "shoes below 50", ai: false }, { q: "*" }])
      expect((await server.query(name, body)).json.ai_enhanced).toBe(false);
    expect(asked).toEqual([]);
  });

  test("the model's key is never shown, survives a restart and other changes, and is sent to no other host", async () => {
    const name = await index();
    const settings = (await server.get(`/v1/indexes/${name}/settings`)).json.data;
    expect(settings).toMatchObject({ ai: { provider: "endpoint", api_key: null, model: "small" } });
    await server.stop();
    await server.launch();
    answer = says(CHEAP);
    expect((await server.query(name, { q: "shoes below 50" })).json.ai_enhanced).toBe(true);
    expect(asked[0]?.key).toBe(`Bearer ${API_KEY}`);
    const moved = url().replace("127.0.0.1", "127.0.0.1.nip.test");
    const move = (ai: object) => server.patch(`/v1/indexes/${name}/settings`, { ai });
    const refused = await move({ url: moved });
    expectStatus(refused, 400);
    expect(refused.json.error).toContain("ai.api_key must be sent again");
    expectStatus(await move({ url: url(), api_key: "" }), 200);
    expect((await server.query(name, { q: "shoes below 50" })).json.ai_enhanced).toBe(true);
    expect(asked.at(-1)?.key).toBeUndefined();
  });
});

describe("the setting ai", () => {
  const server = sharedServer({ shards: 1 }, (it) => it.createIndex("refusing", { fields: FIELDS }));

  test.each([
    [{ provider: "endpoint" }, "url and model"],
    [{ provider: "endpoint", model: "m", url: "http://10.0.0.1/v1" }, "public address"],
    [{ provider: "endpoint", model: "m", url: "http://localhost/v1" }, "public address"],
    [{ provider: "endpoint", model: "m", url: "ftp://example.org" }, "http"],
    [{ url: "https://models.example/v1" }, "unless ai.provider is endpoint"],
    [{ api_key: "secret key" }, "visible ASCII"],
    [{ timeout_ms: 1 }, "timeout_ms"],
    [{ temperature: 1 }, "unknown"],
  ])("a setting like %j is refused", async (ai, why) => {
    const reply = await server.raw("PATCH", "/v1/indexes/refusing/settings", { body: { ai } });
    expect([reply.status, reply.json.code]).toEqual([400, "SK-IX-400"]);
    expect(reply.json.error).toContain(why);
  });
});
