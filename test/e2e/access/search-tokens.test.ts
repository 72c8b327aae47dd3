// Search tokens over HTTP: what a token's holder sees of an index that also has other holders' documents.
import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeToken } from "../../../server/access/tenants/search-token.js";
import { effort } from "../../effort.js";
import { eventually, expectStatus, MAIN, type TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "shop", type: "int32", facet: true },
    { name: "price", type: "float" },
  ],
};
/** Text that appears in everything hidden from holders of the token below. */
const SECRET = "zugspitze";
const DOCUMENTS = [
  ...Array.from({ length: 8 }, (_, i) => ({
    id: `open${i}`,
    title: `red walking boots number ${i}`,
    brand: i % 2 === 0 ? "Alpina" : "Meindl",
    shop: 1,
    price: 50 + i,
  })),
  ...Array.from({ length: 12 }, (_, i) => ({
    id: `hidden${i}-${SECRET}`,
    title: `red walking boots ${SECRET} ${i}`,
    brand: `${SECRET}brand`,
    shop: 2,
    price: 5,
  })),
];
const WITHIN = "shop:=1";

const server = sharedServer(
  { shards: 3, config: { limits: { failedKeysPerSecondMax: 1_000_000 } } },
  async (server) => {
    await server.createIndex("boots", SCHEMA, DOCUMENTS);
    await server.createIndex("plain", { fields: [{ name: "title", type: "string" }] }, [
      { id: "1", title: "boots" },
    ]);
    await server.createIndex(`other_${SECRET}`, SCHEMA, DOCUMENTS);
  },
);

interface MadeKey {
  readonly id: number;
  readonly key: string;
  readonly prefix: string;
}

async function makeKey(body: object): Promise<MadeKey> {
  const reply = await server.post("/v1/keys", { name: "shop", ...body });
  expectStatus(reply, 201);
  return reply.json.data as unknown as MadeKey;
}

async function makeHolder(
  members: object,
  rights: object = { scopes: ["search", "events"] },
): Promise<string> {
  const { key, prefix } = await makeKey(rights);
  return makeToken(key, prefix, { ...members });
}

const query = (body: object, key: string, index = "boots"): Promise<Reply> =>
  server.post(`/v1/indexes/${index}/query`, body, { key });

const idsOf = (reply: Reply): string[] =>
  (reply.json.hits as unknown as { document: { id: string } }[]).map(({ document }) => document.id);

describe("a token's filter", () => {
  test("applies whatever else a query filters by", async () => {
    const token = await makeHolder({ filter_by: WITHIN });
    for (const wider of [
      {},
      { filter_by: "" },
      { filter_by: "shop:=2 || shop:=1" },
      { filter_by: "shop:!=1" },
      { filter_by: "price:<10 || price:>0" },
      { filters: { shop: [1, 2] } },
      { filters: {} },
      { filter_by: `id:hidden0-${SECRET}` },
    ]) {
      const reply = await query({ q: "*", per_page: 250, ...wider }, token);
      expectStatus(reply, 200);
      expect(idsOf(reply).every((id) => id.startsWith("open"))).toBe(true);
    }
    for (const broken of ["shop:=1) || (shop:=2", "shop:=1 ||", ") || shop:=2 || ("])
      expect((await query({ q: "*", filter_by: broken }, token)).json.code).toBe("SK-SE-400");
  });

  test("hides other documents in every part of an answer", async () => {
    const rule = {
      name: "pins",
      type: "pin",
      conditions: { query_contains: ["boots"] },
      effect: { documents: [`hidden0-${SECRET}`] },
    };
    expectStatus(await server.post("/v1/indexes/boots/ranking-rules", rule), 201);
    const token = await makeHolder({ filter_by: WITHIN });
    const asked = {
      facets: ["brand", "shop"],
      highlight_fields: "title,brand",
      explain: true,
      max_facet_values: 100,
    };
    for (const q of [
      "*",
      "boots",
      "red boots",
      SECRET,
      "zugspitz",
      "zugsptize boots",
      "zugspitzebrand boots",
      "boots without zugspitzebrand",
      "meindel boots",
      "boots under 20",
    ]) {
      const reply = await query({ q, ...asked }, token);
      expectStatus(reply, 200);
      const told = q.split(" ").reduce((text, word) => text.replaceAll(word, ""), reply.text);
      expect(told.includes(SECRET)).toBe(false);
      expect(reply.json.data.out_of).toBe(8);
    }
    const counts = await query({ q: "*", facets: ["shop"] }, token);
    expect(counts.json.facets).toMatchObject({ shop: { 1: 8 } });
  });

  test("is part of the key under which an answer is cached", async () => {
    const { key, prefix } = await makeKey({ scopes: ["search"] });
    const askers = [
      key,
      makeToken(key, prefix, { filter_by: WITHIN }),
      makeToken(key, prefix, { filter_by: "shop:=2" }),
    ];
    for (let times = 0; times < 3; times++) {
      const found = [];
      for (const asker of askers) found.push((await query({ q: "walking" }, asker)).json.found);
      expect(found).toEqual([20, 8, 12]);
    }
  });
});

describe("a token's filter outside queries", () => {
  test("applies in multi-search, suggestions and similar documents", async () => {
    const token = await makeHolder({ filter_by: WITHIN, indexes: ["boots"] });
    const searches = [
      { index: "boots", q: "boots", filter_by: "shop:>0" },
      { index: "boots", q: SECRET },
      { index: "plain", q: "boots" },
    ];
    const many = await server.post("/v1/multi-search", { searches }, { key: token });
    expectStatus(many, 200);
    expect(many.json.data.results).toMatchObject([{ found: 8 }, { hits: [] }, { code: "SK-SYS-403" }]);

    for (const body of [
      { q: "boots", suggest_by: "title,brand", per_page: 50 },
      { q: "zug", suggest_by: "title,brand" },
      { q: "zug", suggest_by: "title,_queries" },
      { q: "boots", suggest_by: "title", group_by_field: "brand", per_page: 50 },
      { q: "boots", suggest_by: "title", filter_by: "shop:=2" },
    ]) {
      const reply = await server.post("/v1/indexes/boots/suggest", body, { key: token });
      expectStatus(reply, 200);
      expect(reply.text).not.toContain(SECRET);
    }

    const similar = (id: string, body: object = {}) =>
      server.post(`/v1/indexes/boots/documents/${id}/similar`, body, { key: token });
    expect((await similar(`hidden0-${SECRET}`)).json.code).toBe("SK-DOC-404");
    const near = await similar("open0", { per_page: 100, filter_by: "shop:>0" });
    expectStatus(near, 200);
    expect(near.text).not.toContain(SECRET);
    expect((near.json.data.hits as unknown as unknown[]).length).toBe(7);
  });

  test("lets a corrected query be offered only if it finds something", async () => {
    const token = await makeHolder({ filter_by: WITHIN });
    const suggestions = async (q: string) => (await query({ q, ai: false }, token)).json.suggestions;
    expect(await suggestions("wakling")).toEqual([{ value: "walking" }]);
    expect(await suggestions("zugsptize")).toEqual([]);
    expect((await server.query("boots", { q: "zugsptize" })).json.suggestions).toEqual([{ value: SECRET }]);
  });

  test("denies access to an index that it does not fit", async () => {
    const token = await makeHolder({ filter_by: WITHIN });
    const reply = await query({ q: "boots" }, token, "plain");
    expect([reply.status, reply.json.code]).toEqual([400, "SK-SE-400"]);
    expect(reply.json.error).toMatch(/^the search token's filter_by: /);
  });

  test("answers like a query with the same filter", async () => {
    // This index logs nothing, so popularity does not change between two queries.
    await server.createIndex("quiet", SCHEMA, DOCUMENTS);
    const filters = fc.constantFrom(
      "shop:=1",
      "shop:=2",
      "price:<55",
      "brand:=Alpina || price:<10",
      "brand:!=Meindl",
      "price:[52..54]",
    );
    const words = fc.constantFrom(
      "red",
      "boots",
      "walking",
      "number",
      "zugspitze",
      "wakling",
      "3",
      "alpina",
      "zzz",
    );
    const body = fc.record({
      q: fc.array(words, { minLength: 1, maxLength: 3 }).map((list) => list.join(" ")),
      own: fc.option(filters),
      facets: fc.subarray(["brand", "shop"]),
      sort: fc.constantFrom("", "price:asc", "price:desc"),
      per_page: fc.integer({ min: 0, max: 30 }),
      page: fc.integer({ min: 1, max: 2 }),
    });
    const { key, prefix } = await makeKey({ scopes: ["search"] });
    await fc.assert(
      fc.asyncProperty(filters, body, async (within, { own, ...rest }) => {
        const asked = { ...rest, ai: false, analytics: false };
        const token = makeToken(key, prefix, { filter_by: within });
        const reply = await query(own === null ? asked : { ...asked, filter_by: own }, token, "quiet");
        const both = own === null ? within : `(${within}) && (${own})`;
        const plain = await query({ ...asked, filter_by: both }, key, "quiet");
        expectStatus(plain, 200);
        expect(comparable(reply)).toEqual(comparable(plain));
        expect(reply.json.data.out_of).toBe(
          (await query({ q: "*", filter_by: within, per_page: 0 }, key, "quiet")).json.found,
        );
      }),
      { numRuns: effort(40, 400) },
    );
  });
});

/** The members that must be equal in any two replies to the same query. */
function comparable({ json }: Reply): object {
  const { hits, related_hits, found, facets, page, total_pages } = json;
  return { hits, related_hits, found, facets, page, total_pages };
}

describe("a token", () => {
  test("stops working when its key is deleted, when it expires, and when it is altered", async () => {
    const { id, key, prefix } = await makeKey({ scopes: ["search"] });
    const members = { filter_by: WITHIN, expires_at: "2100-01-01T00:00:00Z" };
    const token = makeToken(key, prefix, members);
    expectStatus(await query({ q: "*" }, token), 200);
    const [head, , signature] = token.split(".");
    const swapped = Buffer.from(JSON.stringify({ filter_by: "shop:=2" })).toString("base64url");
    const other = await makeKey({ scopes: ["search"] });
    for (const wrong of [
      `${head}.${swapped}.${signature}`,
      `${head}.${token.split(".")[1]}.${"A".repeat(43)}`,
      `skt_${other.prefix}.${token.split(".")[1]}.${signature}`,
      `skt_${prefix}`,
      `skt_${prefix}..`,
      `${token}.`,
      token.slice(0, -1),
      `skt_${prefix}.${"e30".repeat(4000)}.${signature}`,
      makeToken(other.key, prefix, members),
      makeToken(key, prefix, { ...members, expires_at: "2020-01-01" }),
      makeToken(key, prefix, { ...members, filter: "shop:=1" }),
      makeToken(key, prefix, { filter_by: null }),
      makeToken(key, prefix, { filter_by: " " }),
      makeToken(key, prefix, { filter_by: 7 }),
      makeToken(key, prefix, { indexes: "boots" }),
    ]) {
      const reply = await query({ q: "*" }, wrong);
      expect([reply.status, reply.json.code]).toEqual([401, "SK-SYS-401"]);
    }
    expectStatus(await server.delete(`/v1/keys/${id}`), 200);
    expect((await query({ q: "*" }, token)).status).toBe(401);
  });

  test("works for searches and events, on its key's indexes only", async () => {
    const admin = await makeHolder({}, { scopes: ["admin"] });
    expectStatus(await query({ q: "*" }, admin), 200);
    for (const [method, path] of [
      ["GET", "/v1/indexes"],
      ["GET", "/v1/keys"],
      ["GET", "/v1/indexes/boots"],
      ["GET", "/v1/indexes/boots/documents/open0"],
      ["GET", "/v1/indexes/boots/analytics/queries"],
      ["DELETE", "/v1/indexes/boots"],
    ] as const) {
      const reply = await server.call(method, path, { key: admin });
      expect([reply.status, reply.json.code]).toEqual([403, "SK-SYS-403"]);
    }
    expect((await query({ q: "*" }, await makeHolder({}, { scopes: ["documents"] }))).status).toBe(403);
    const narrow = await makeHolder({ indexes: ["*"] }, { scopes: ["search"], indexes: ["plain"] });
    expect((await query({ q: "*" }, narrow)).status).toBe(403);
    expect((await query({ q: "*" }, narrow, "plain")).status).toBe(200);
  });

  test("has its own rate limit", async () => {
    const { key, prefix } = await makeKey({ scopes: ["search"] });
    const [slow, free] = [
      makeToken(key, prefix, { rate_limit: 1 }),
      makeToken(key, prefix, { user_id: "a" }),
    ];
    await eventually(async () => {
      const replies = await Promise.all(Array.from({ length: 5 }, () => query({ q: "*" }, slow)));
      return replies.some(({ json }) => json.code === "SK-SYS-429");
    }, "the token is throttled");
    for (const asker of [free, key]) expectStatus(await query({ q: "*" }, asker), 200);
  });

  test("determines the user of its searches and events", async () => {
    await server.createIndex("logged", SCHEMA, DOCUMENTS);
    const { key, prefix } = await makeKey({ scopes: ["search", "events", "analytics"] });
    const token = makeToken(key, prefix, { user_id: "ada" });
    expectStatus(await query({ q: "boots", user_id: "grace" }, token, "logged"), 200);
    expectStatus(await query({ q: "boots", user_id: "ada" }, key, "logged"), 200);
    const click = { type: "click", document_id: "open1", query: "boots", user_id: "grace" };
    expectStatus(
      await server.raw("POST", `/v1/indexes/logged/events?api_key=${token}`, { body: click, key: null }),
      202,
    );
    const users = async (): Promise<unknown[]> => {
      const log = await server.raw("GET", "/v1/indexes/logged/analytics/export", { key });
      const rows = log.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { user?: string; user_id?: string });
      return rows.map((row) => row.user ?? row.user_id);
    };
    await eventually(async () => (await users()).length === 3, "three lines are in the log");
    expect(new Set(await users()).size).toBe(1);
  });

  test("can be made on the command line", async () => {
    const { key } = await makeKey({ scopes: ["search"] });
    const token = runToken(
      server,
      key,
      "--filter",
      WITHIN,
      "--indexes",
      "boots",
      "--expires",
      "24h",
      "--user",
      "ada",
      "--rate-limit",
      "50",
    );
    expect((await query({ q: "*" }, token)).json.found).toBe(8);
    expect(() => runToken(server, key, "--expires", "tomorrow")).toThrow(
      /expires_at must be an ISO 8601 time/,
    );
  });
});

function runToken({ dataDir }: TestServer, key: string, ...args: string[]): string {
  return execFileSync(process.execPath, [MAIN, "token", ...args], {
    cwd: dataDir,
    env: { ...process.env, SKEIN_API_KEY: key },
    encoding: "utf8",
    stdio: "pipe",
  }).trim();
}
