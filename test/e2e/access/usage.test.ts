// Plans' monthly limits over HTTP: counts stay exact with many concurrent clients, at the end of a month, and
// after a kill.
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ServerClock } from "../sources/server-clock.js";
import { expectStatus } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const CLIENTS = 64;
const PLANS = [
  { name: "fifty", searches_per_month: 50, coach_per_month: 1, indexes: 7 },
  { name: "wide", searches_per_month: 100_000 },
];
const SCHEMA = { fields: [{ name: "title", type: "string" }] };

const clock = new ServerClock();
afterAll(() => clock.remove());
clock.set("2031-03-15T12:00:00Z");
const server = sharedServer({ shards: 1, config: { plans: PLANS }, env: clock.env });
beforeEach(() => clock.set("2031-03-15T12:00:00Z"));

interface Tenant {
  readonly id: number;
  readonly name: string;
  readonly key: string;
}

let tenants = 0;
async function makeTenant(plan: string): Promise<Tenant> {
  const name = `tenant-${tenants++}`;
  const made = await server.post("/v1/tenants", { name, plan });
  expectStatus(made, 201);
  const { key } = made.json.data.admin_key as { key: string };
  expectStatus(await server.post("/v1/indexes", { name: "mine", schema: SCHEMA }, { key }), 201);
  return { id: Number(made.json.data.id), name, key };
}

const search = ({ key }: Tenant, body: object = { q: "*" }): Promise<Reply> =>
  server.post("/v1/indexes/mine/query", body, { key });

interface Used {
  readonly used: number;
  readonly limit: number | null;
}
interface TenantUsage {
  readonly id: number;
  readonly searches: Used;
  readonly documents: Used;
  readonly indexes: Used;
}

async function usageOf({ key, id }: Tenant): Promise<TenantUsage> {
  const reply = await server.get("/v1/usage", { key });
  expectStatus(reply, 200);
  const listed = reply.json.data.tenants as unknown as TenantUsage[];
  expect(listed.map((one) => one.id)).toEqual([id]);
  return listed[0]!;
}

describe("a tenant's searches", () => {
  test("are counted exactly while many clients search at once", async () => {
    const tenant = await makeTenant("fifty");
    const replies = await Promise.all(Array.from({ length: 4 * CLIENTS }, () => search(tenant)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(50);
    for (const { status, json, headers } of replies.filter(({ status }) => status !== 200)) {
      expect([status, json.code]).toEqual([429, "SK-SYS-429"]);
      expect(Math.abs(Number(headers["retry-after"]) - 16.5 * 86_400)).toBeLessThan(3600);
    }
    expect((await usageOf(tenant)).searches).toEqual({ used: 50, limit: 50 });
  });

  test("count per slot of a multi-search, and only when answered", async () => {
    const tenant = await makeTenant("fifty");
    const { key } = tenant;
    const slots = [
      { index: "mine", q: "a" },
      { index: "mine", q: "b" },
      { index: "none", q: "c" },
      { index: "mine" },
    ];
    expectStatus(await server.raw("POST", "/v1/multi-search", { body: { searches: slots }, key }), 200);
    expect((await search(tenant, { q: "x", filter_by: "none:=1" })).status).toBe(400);
    expectStatus(
      await server.post("/v1/indexes/mine/suggest", { q: "x", suggest_by: "title" }, { key }),
      200,
    );
    expect((await usageOf(tenant)).searches.used).toBe(2);
    const many = Array.from({ length: 50 }, () => ({ index: "mine", q: "*" }));
    const reply = await server.post("/v1/multi-search", { searches: many }, { key });
    const results = reply.json.data.results as unknown as { code?: string }[];
    expect(results.filter(({ code }) => code === "SK-SYS-429")).toHaveLength(2);
    expect((await usageOf(tenant)).searches.used).toBe(50);
  });

  test("start from zero on the 1st at 00:00 UTC", async () => {
    const tenant = await makeTenant("fifty");
    clock.set("2031-12-31T23:59:00Z");
    await Promise.all(Array.from({ length: 50 }, () => search(tenant)));
    const refused = await search(tenant);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(60);
    clock.set("2032-01-01T00:00:00Z");
    expectStatus(await search(tenant), 200);
    const reply = await server.get("/v1/usage", { key: tenant.key });
    expect(reply.json.data).toMatchObject({ month: "2032-01", resets_at: "2032-02-01T00:00:00.000Z" });
    expect((await usageOf(tenant)).searches.used).toBe(1);
    await server.stop();
    clock.set("2032-02-29T23:59:59Z");
    await server.launch();
    expect((await usageOf(tenant)).searches.used).toBe(0);
  });

  test("are never gained and never exceed the plan, however often the server is killed", async () => {
    const [small, wide] = [await makeTenant("fifty"), await makeTenant("wide")];
    let answered = 0;
    let before = 0;
    for (let round = 0; round < 3; round++) {
      const asked = Array.from({ length: CLIENTS }, async () => {
        for (let i = 0; i < 20; i++) {
          const reply = await search(wide).catch(() => null);
          if (reply === null) return;
          expectStatus(reply, 200);
          answered++;
        }
      });
      if (round === 1) await Promise.all(asked);
      await server.stop("SIGKILL");
      await Promise.all(asked);
      await server.launch();
      const { used } = (await usageOf(wide)).searches;
      // When the server is killed, each client may lose the reply to one search that was already counted.
      expect(used).toBeLessThanOrEqual(answered + CLIENTS * (round + 1));
      expect(used).toBeGreaterThanOrEqual(before);
      before = used;
    }
    await Promise.all(Array.from({ length: CLIENTS }, () => search(small)));
    await server.stop();
    await server.launch();
    expect((await usageOf(small)).searches.used).toBe(50);
    expect((await search(small)).status).toBe(429);
  });
});

describe("a tenant's usage", () => {
  test("is visible to that tenant, and the bootstrap key sees every tenant's", async () => {
    const tenant = await makeTenant("fifty");
    expectStatus(
      await server.post(
        "/v1/indexes/mine/documents/batch",
        { documents: [{ id: "1" }] },
        { key: tenant.key },
      ),
      200,
    );
    const usage = await usageOf(tenant);
    expect(usage.documents).toEqual({ used: 1, limit: null });
    expect(usage.indexes).toEqual({ used: 1, limit: 7 });
    const all = (await server.get("/v1/usage")).json.data.tenants as unknown as TenantUsage[];
    expect(all.find(({ id }) => id === tenant.id)).toEqual(usage);
    expect(all.length).toBeGreaterThan(1);
    const named = await server.get("/v1/usage", { headers: { "x-skein-tenant": tenant.name } });
    expect(named.json.data.tenants).toEqual([usage]);
    const made = await server.post("/v1/keys", { name: "web", scopes: ["search"] }, { key: tenant.key });
    expect((await server.get("/v1/usage", { key: made.json.data.key as string })).json.code).toBe(
      "SK-SYS-403",
    );
  });
});
