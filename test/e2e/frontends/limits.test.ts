// Limits and counts that all front-ends share.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";
import { type Client, oneForEach } from "./front-end-clients.js";

const FRONT_ENDS = 3;
const QUERY = "/v1/indexes/shop/query";
const SCHEMA = { fields: [{ name: "name", type: "string" }] };
/** Scrapes within this many milliseconds share one reply. */
const SCRAPE_SHARED_MS = 300;

describe("several front-ends", () => {
  let server: TestServer;
  let clients: Client[];

  beforeAll(async () => {
    server = await TestServer.start({
      shards: 2,
      frontEnds: FRONT_ENDS,
      config: { plans: [{ name: "small", searches_per_month: 50 }] },
    });
    clients = await oneForEach(server, FRONT_ENDS);
    await server.createIndex("shop", SCHEMA, [{ id: "1", name: "lamp" }]);
  });

  afterAll(async () => {
    for (const client of clients) client.close();
    await server.close();
  });

  /** Runs `searches` concurrent searches, spread over all front-ends, and returns their statuses. */
  async function statuses(searches: number, key?: string): Promise<number[]> {
    const sent = Array.from({ length: searches }, (_, i) =>
      clients[i % clients.length]!.post(QUERY, { q: "lamp" }, key),
    );
    return (await Promise.all(sent)).map(({ status }) => status);
  }

  test("share a plan's search limit, whichever front-end a search reaches", async () => {
    const tenant = await server.post("/v1/tenants", { name: "acme", plan: "small" });
    expectStatus(tenant, 201);
    const headers = { "x-skein-tenant": "acme" };
    const made = await server.post(
      "/v1/keys",
      { name: "all", scopes: ["admin"], indexes: ["*"] },
      { headers },
    );
    expectStatus(made, 201);
    const { key } = made.json.data;
    expectStatus(await server.post("/v1/indexes", { name: "shop", schema: SCHEMA }, { key }), 201);
    const answered = (await statuses(200, key)).filter((status) => status === 200);
    expect(answered.length).toBe(50);
    const usage = await server.get("/v1/usage", { key });
    expect(usage.json.data).toMatchObject({ tenants: [{ searches: { used: 50 } }] });
  });

  test("share one rate limit", async () => {
    const made = await server.post("/v1/keys", {
      name: "slow",
      scopes: ["search"],
      indexes: ["*"],
      rate_limit: 1,
    });
    expectStatus(made, 201);
    const begunMs = performance.now();
    const answered = (await statuses(60, made.json.data.key)).filter((status) => status === 200).length;
    const seconds = (performance.now() - begunMs) / 1000;
    expect(answered).toBeGreaterThanOrEqual(1);
    expect(answered).toBeLessThanOrEqual(1 + Math.ceil(seconds));
  });

  test("add up what each of them has counted in the metrics", async () => {
    const counted = async (): Promise<number> => {
      await new Promise((resolve) => setTimeout(resolve, SCRAPE_SHARED_MS));
      const scraped = readPrometheusText((await server.get("/metrics")).text);
      return scraped.value("skein_query_duration_seconds_count") ?? 0;
    };
    const before = await counted();
    expect(new Set(await statuses(30))).toEqual(new Set([200]));
    expect(await counted()).toBe(before + 30);
  });

  test("put all their searches into one report, and each click finds its search", async () => {
    await server.createIndex("clicked", SCHEMA, [{ id: "1", name: "lamp" }]);
    for (const [i, client] of clients.entries()) {
      const body = { q: "lamp", user_id: `user ${i}` };
      const { query_id } = (await client.post("/v1/indexes/clicked/query", body)).json;
      const click = { type: "click", document_id: "1", query_id };
      const other = clients[(i + 1) % clients.length]!;
      expect((await other.post("/v1/indexes/clicked/events", click)).status).toBeLessThan(300);
    }
    const report = await server.get("/v1/indexes/clicked/analytics/queries");
    expectStatus(report, 200);
    expect(report.json.data).toEqual([{ query: "lamp", count: FRONT_ENDS, avg_results: 1, ctr: 1 }]);
  });
});
