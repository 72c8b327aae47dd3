// Keys, tenants and plans over HTTP: what each key may see and do, and what happens above the limits.
import { describe, expect, test } from "vitest";
import { eventually, expectStatus, sleep } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const DOCUMENTS = [{ id: "1", title: "thing" }];

const PLANS = [
  { name: "small", searches_per_month: 3, documents: 2 },
  { name: "slow", requests_per_second_per_ip: 2 },
];

const server = sharedServer({ shards: 1, config: { plans: PLANS } }, async (server) => {
  for (const name of ["shop_de", "shop_en", "stock"]) await server.createIndex(name, SCHEMA, DOCUMENTS);
});

async function makeKey(body: object): Promise<{ id: number; key: string }> {
  const reply = await server.post("/v1/keys", { name: "test", ...body });
  expectStatus(reply, 201);
  return { id: Number(reply.json.data.id), key: reply.json.data.key };
}

const search = (index: string, key: string) =>
  server.post(`/v1/indexes/${index}/query`, { q: "thing" }, { key });

/**
 * Sends concurrent requests until some are refused. Expects no more successes than the rate allows, and
 * returns the refusals.
 */
async function throttled(perSecond: number, ask: () => Promise<Reply>): Promise<Reply[]> {
  const refused: Reply[] = [];
  const started = performance.now();
  let passed = 0;
  while (refused.length === 0) {
    for (const reply of await Promise.all(Array.from({ length: 10 }, ask))) {
      if (reply.status === 429) refused.push(reply);
      else passed++;
    }
    expect(passed).toBeGreaterThanOrEqual(1);
    const seconds = (performance.now() - started) / 1000;
    expect(passed).toBeLessThanOrEqual(perSecond + Math.ceil(seconds * perSecond));
  }
  return refused;
}

describe("a key", () => {
  test("shows its value once and never again", async () => {
    const { id, key } = await makeKey({ scopes: ["search"] });
    const one = await server.get(`/v1/keys/${id}`);
    const list = await server.get("/v1/keys");
    expect(one.text + list.text).not.toContain(key);
    expect(key.startsWith(one.json.data.prefix as string)).toBe(true);
  });

  test("allows what its scopes and index patterns allow", async () => {
    const { key } = await makeKey({ scopes: ["search"], indexes: ["shop_*"] });
    expect((await search("shop_de", key)).status).toBe(200);
    expect((await search("stock", key)).json.code).toBe("SK-SYS-403");
    expect((await search("no_such", key)).status).toBe(403);
    expect((await search("shop_fr", key)).json.code).toBe("SK-SE-404");
    expect(
      (await server.post("/v1/indexes/shop_de/documents/batch", { documents: [] }, { key })).status,
    ).toBe(403);
    expect((await server.get("/v1/indexes", { key })).status).toBe(403);
    expect((await server.get("/v1/keys", { key })).status).toBe(403);
  });

  test("sees and creates only the indexes it covers", async () => {
    const { key } = await makeKey({ scopes: ["indexes"], indexes: ["shop_*"] });
    const list = (await server.get("/v1/indexes", { key })).json.data as unknown as { name: string }[];
    expect(list.map((index) => index.name)).toEqual(["shop_de", "shop_en"]);
    expect((await server.post("/v1/indexes", { name: "other", schema: SCHEMA }, { key })).status).toBe(403);
    expect((await server.post("/v1/indexes", { name: "shop_it", schema: SCHEMA }, { key })).status).toBe(201);
    expectStatus(await server.delete("/v1/indexes/shop_it", { key }), 200);
  });

  test("can be changed and deleted with immediate effect", async () => {
    const { id, key } = await makeKey({ scopes: ["search"] });
    expect((await search("stock", key)).status).toBe(200);
    expectStatus(await server.patch(`/v1/keys/${id}`, { indexes: ["shop_*"], name: "renamed" }), 200);
    expect((await search("stock", key)).status).toBe(403);
    expect((await server.delete(`/v1/keys/${id}`)).json.data).toEqual({ id, deleted: true });
    expect((await search("shop_de", key)).status).toBe(401);
    expect((await server.get(`/v1/keys/${id}`)).json.code).toBe("SK-SYS-404");
    expect((await server.get("/v1/keys/none")).json.code).toBe("SK-SYS-404");
  });

  test("stops working once it has expired", async () => {
    const { id, key } = await makeKey({ scopes: ["search"], expires_at: "2100-01-01T00:00:00Z" });
    expect((await search("stock", key)).status).toBe(200);
    let expires = 0;
    await eventually(async () => {
      expires = Date.now() + 1_000; // refused, and then retried, if past on arrival
      const change = { expires_at: new Date(expires).toISOString() };
      return (await server.patch(`/v1/keys/${id}`, change)).status === 200;
    }, "the key is about to expire");
    await sleep(expires + 10 - Date.now()); // waits until the key has expired
    expect((await search("stock", key)).json).toMatchObject({
      code: "SK-SYS-401",
      error: expect.stringContaining("expired"),
    });
  });
});

describe("a key that manages keys", () => {
  test("grants only what it has", async () => {
    const { id: own, key } = await makeKey({ scopes: ["keys", "search"], indexes: ["shop_*"] });
    const post = (body: object) => server.post("/v1/keys", { name: "child", ...body }, { key });
    expect((await post({ scopes: ["search"], indexes: ["shop_de"] })).status).toBe(201);
    expect((await post({ scopes: ["documents"], indexes: ["shop_de"] })).status).toBe(403);
    expect((await post({ scopes: ["search"] })).status).toBe(403);
    expect((await server.patch(`/v1/keys/${own}`, { scopes: ["admin"] }, { key })).status).toBe(403);
    const { id: stronger } = await makeKey({ scopes: ["admin"] });
    expect((await server.delete(`/v1/keys/${stronger}`, { key })).status).toBe(403);
  });

  test("widens neither its own bounds nor its children's", async () => {
    const bounds = { expires_at: "2127-01-01T00:00:00.000Z", rate_limit: 500 };
    const { id, key } = await makeKey({ scopes: ["keys", "search"], ...bounds });
    const child = { name: "child", scopes: ["search"], ...bounds };
    for (const wider of [
      { expires_at: null },
      { expires_at: "2127-01-02" },
      { rate_limit: null },
      { rate_limit: 501 },
    ]) {
      for (const refused of [
        await server.patch(`/v1/keys/${id}`, wider, { key }),
        await server.post("/v1/keys", { ...child, ...wider }, { key }),
      ]) {
        expect([refused.status, refused.json.code]).toEqual([403, "SK-SYS-403"]);
        expect(refused.json.error).toMatch(/^your key (expires at 2127-01-01|is limited to 500)/);
      }
    }
    expect((await server.post("/v1/keys", { name: "child", scopes: ["search"] }, { key })).status).toBe(403);
    const made = await server.post("/v1/keys", child, { key });
    expectStatus(made, 201);
    expectStatus(await server.patch(`/v1/keys/${made.json.data.id}`, { rate_limit: 5 }, { key }), 200);
    expectStatus(await server.patch(`/v1/keys/${id}`, { rate_limit: 400 }, { key }), 200);
    expect((await server.patch(`/v1/keys/${id}`, { rate_limit: 500 }, { key })).status).toBe(403);
    const loosened = await server.patch(`/v1/keys/${id}`, { expires_at: null, rate_limit: null });
    expect(loosened.json.data).toMatchObject({ expires_at: null, rate_limit: null });
  });
});

describe("rates and tenants", () => {
  test("a rate limit answers 429 and says when to retry", async () => {
    const { key } = await makeKey({ scopes: ["search"], rate_limit: 3 });
    const [refused] = await throttled(3, () => search("stock", key));
    expect(refused!.json.code).toBe("SK-SYS-429");
    expect(Number(refused!.headers["retry-after"])).toBeGreaterThanOrEqual(1);
  });

  test("tenants cannot see each other", async () => {
    const made = await server.post("/v1/tenants", { name: "acme" });
    expectStatus(made, 201);
    const { key } = made.json.data.admin_key as { key: string };
    expect((await search("shop_de", key)).json.code).toBe("SK-SE-404");
    expect((await server.get("/v1/indexes", { key })).json.data).toEqual([]);
    expect((await server.get("/v1/keys", { key })).json.data).toHaveLength(1);
    expectStatus(await server.post("/v1/indexes", { name: "shop_de", schema: SCHEMA }, { key }), 201);
    expect((await search("shop_de", key)).json.found).toBe(0);
    expect((await server.query("shop_de", { q: "thing" })).json.found).toBe(1);
    const { id: foreign } = await makeKey({ scopes: ["search"] });
    expect((await server.get(`/v1/keys/${foreign}`, { key })).status).toBe(404);
    expect((await server.get("/v1/tenants", { key })).json.code).toBe("SK-SYS-403");
    const { id } = made.json.data;
    expect((await server.delete(`/v1/tenants/${id}`)).json.code).toBe("SK-SYS-409");
    const asTenant = { headers: { "x-skein-tenant": "acme" } };
    expectStatus(await server.delete("/v1/indexes/shop_de", asTenant), 200);
    expectStatus(await server.delete(`/v1/tenants/${id}`), 200);
    expect((await server.get("/v1/indexes", { key })).status).toBe(401);
    expect((await server.get("/v1/indexes", asTenant)).status).toBe(404);
  });

  test("tenant names and plans are validated", async () => {
    expect((await server.post("/v1/tenants", { name: "default" })).json.code).toBe("SK-SYS-409");
    expect((await server.post("/v1/tenants", { name: "New" })).json.code).toBe("SK-SYS-400");
    expect((await server.post("/v1/tenants", { name: "new", plan: "huge" })).json.error).toMatch(
      /^plan must be one of default, small/,
    );
    expect((await server.patch("/v1/tenants/1", { name: "other" })).json.code).toBe("SK-SYS-409");
    expect((await server.delete("/v1/tenants/1")).json.code).toBe("SK-SYS-409");
  });
});

describe("plans", () => {
  test("set quotas, also after a restart", async () => {
    const made = await server.post("/v1/tenants", { name: "tiny", plan: "small" });
    const { key } = made.json.data.admin_key as { key: string };
    expectStatus(await server.post("/v1/indexes", { name: "mine", schema: SCHEMA }, { key }), 201);
    const write = (ids: string[], action = "upsert") =>
      server.post(
        "/v1/indexes/mine/documents/batch",
        { action, documents: ids.map((id) => ({ id })) },
        { key },
      );
    expectStatus(await write(["1", "2"]), 200);
    expect((await write(["3"])).json.data.errors).toEqual([
      { index: 0, id: "3", code: "SK-SYS-429", error: "the plan's limit on documents is reached" },
    ]);
    expectStatus(await write(["1"], "update"), 200);
    expectStatus(await write(["1"], "delete"), 200);
    expectStatus(await write(["3"]), 200);
    for (let i = 0; i < 3; i++) expectStatus(await search("mine", key), 200);
    const refused = await search("mine", key);
    expect([refused.status, refused.json.code]).toEqual([429, "SK-SYS-429"]);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(31 * 86_400);
    await server.stop();
    await server.launch();
    expect((await search("mine", key)).status).toBe(429);
    expectStatus(await server.patch(`/v1/tenants/${made.json.data.id}`, { plan: null }), 200);
    expect((await search("mine", key)).status).toBe(429);
    expectStatus(await server.patch(`/v1/tenants/${made.json.data.id}`, { plan: "default" }), 200);
    expect((await search("mine", key)).status).toBe(200);
  });

  test("limit the rate of each address", async () => {
    const made = await server.post("/v1/tenants", { name: "slow", plan: "slow" });
    const { key } = made.json.data.admin_key as { key: string };
    await throttled(2, () => server.get("/v1/indexes", { key }));
    expect((await server.get("/health/live")).status).toBe(200);
  });
});
