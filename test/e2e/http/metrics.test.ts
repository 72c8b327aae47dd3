// GET /metrics and the slow-query log of a real server: the text can be parsed, counters follow requests,
// many indexes produce few series, and a blocked shard does not block a scrape.
import { isDeepStrictEqual } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { BlockedShards } from "../world/blocked-shards.js";
import { eventually, expectStatus, sleep, type TestServer } from "../world/harness.js";
import { readPrometheusText, type Scraped } from "../world/prometheus-text.js";
import { requestHead } from "../world/raw-http.js";
import { serverOverEachHttp, sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const METRICS_KEY = "metrics-key-0123456789";
/** Maximum age of a scrape: scrapes in quick succession share one reply. */
const SHARED_MS = 300;
const SLOW_MS = 400;
/**
 * Generous limits, so that a thread waiting for the processor is not mistaken for a blocked thread, and a
 * thread blocked by a test is not mistaken for a hanging one.
 */
const LIMITS = {
  metricsIndexesMax: 20,
  metricsMsMax: 5_000,
  shardHangMsMax: 3_600_000,
  homeDocumentsMax: 1, // spreads the index, so that queries wait for the blocked shard
};

async function scrape(server: TestServer, key: string | null = null): Promise<Scraped> {
  await sleep(SHARED_MS);
  const reply = await server.get("/metrics", { key });
  expectStatus(reply, 200);
  expect(reply.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  return readPrometheusText(reply.text);
}

/** A server with an index, and a helper that blocks its shards. */
function shopServer(): { blocked: BlockedShards; server: TestServer } {
  const blocked = new BlockedShards();
  const config = { slow_query_ms: SLOW_MS, limits: LIMITS };
  const server = sharedServer({ shards: 2, config, env: blocked.env }, (server) =>
    server.createIndex("shop", SCHEMA, [
      { id: "1", title: "red shoe" },
      { id: "2", title: "blue shoe" },
    ]),
  );
  afterAll(() => blocked.close());
  return { blocked, server };
}

// This describe block and the next run concurrently, because a scrape of a server with a blocked shard takes
// seconds.
describe.concurrent("metrics", () => {
  const { blocked, server } = shopServer();

  test.sequential("a request whose client has left is counted as 499, and not as a failure", async () => {
    const socket = await server.socket();
    socket.write(requestHead("POST", "/v1/indexes/shop/query", 100));
    await server.holds(1);
    socket.destroy();
    await server.holds(0);
    const counts = await scrape(server);
    const query = { method: "POST", route: "/v1/indexes/{name}/query" };
    expect(counts.value("skein_http_requests_total", { ...query, status: 499 })).toBe(1);
    expect(counts.value("skein_http_requests_total", { ...query, status: 500 })).toBeUndefined();
  });

  test.sequential("need no key and follow requests, queries and documents", async () => {
    const before = await scrape(server);
    await server.query("shop", { q: "shoe" });
    await server.query("shop", { q: "shoe" });
    await server.query("shop", { q: 3 });
    await server.raw("POST", "/v1/indexes/shop/documents/import", {
      body: '{"id":"3","title":"old hat"}\n{"id":"4","title":5}\n',
      headers: { "content-type": "application/x-ndjson" },
    });
    await server.patch("/v1/indexes/shop/documents/3", { title: "new hat" });
    await server.raw("GET", "/v1/nowhere/at-all");
    const after = await scrape(server);
    const moved = (name: string, labels: Record<string, string | number> = {}): number =>
      (after.value(name, labels) ?? Number.NaN) - (before.value(name, labels) ?? 0);
    const query = { method: "POST", route: "/v1/indexes/{name}/query" };
    expect(moved("skein_http_requests_total", { ...query, status: 200 })).toBe(2);
    expect(moved("skein_http_requests_total", { ...query, status: 400 })).toBe(1);
    expect(moved("skein_http_request_duration_seconds_count", query)).toBe(3);
    expect(moved("skein_http_requests_total", { method: "GET", route: "unmatched", status: 404 })).toBe(1);
    expect(moved("skein_query_duration_seconds_count")).toBe(2);
    for (const phase of ["plan", "expand", "search", "fetch", "respond"]) {
      expect(moved("skein_query_phase_duration_seconds_count", { phase })).toBe(2);
      expect(moved("skein_query_phase_duration_seconds_sum", { phase })).toBeGreaterThan(0);
    }
    expect(moved("skein_cache_requests_total", { cache: "expansion", result: "hit" })).toBeGreaterThan(0);
    expect(moved("skein_cache_requests_total", { cache: "expansion", result: "miss" })).toBeGreaterThan(0);
    expect(moved("skein_documents_total", { source: "import", result: "accepted" })).toBe(1);
    expect(moved("skein_documents_total", { source: "import", result: "rejected" })).toBe(1);
    expect(moved("skein_document_bytes_total", { source: "import" })).toBeGreaterThan(40);
    expect(moved("skein_documents_total", { source: "single", result: "accepted" })).toBe(1);
    expect(moved("skein_index_generation", { index: "shop", tenant: 1 })).toBe(2);
    expect(moved("skein_index_documents", { index: "shop", tenant: 1 })).toBe(1);
    expect(after.value("skein_http_requests_in_flight")).toBe(1);
  });

  test.sequential("show the same sizes as the index's statistics", async () => {
    const stats = async () => (await server.get("/v1/indexes/shop/stats")).json.data;
    let data = await stats();
    let scraped = await scrape(server);
    for (let before: unknown; !isDeepStrictEqual(before, data); ) {
      before = data; // repeat until the sizes before and after a scrape agree: background work changes them
      scraped = await scrape(server);
      data = await stats();
    }
    const shop = { index: "shop", tenant: 1 };
    expect(scraped.value("skein_index_documents", shop)).toBe(data.records_count);
    expect(scraped.value("skein_index_segment_bytes", shop)).toBe(data.segment_bytes);
    expect(scraped.value("skein_index_memory_bytes", shop)).toBe(data.memory_bytes);
    expect(scraped.value("skein_index_segments", shop)).toBe(data.segments);
    expect(scraped.value("skein_shard_up", { shard: 0 })).toBe(1);
    expect(scraped.value("skein_shard_up", { shard: 1 })).toBe(1);
    expect(scraped.value("skein_shard_up", { shard: 2 })).toBeUndefined();
    expect(scraped.value("skein_disk_free_bytes")).toBeGreaterThan(0);
  });

  test.sequential("do not wait for an unresponsive shard, and report it", async () => {
    await scrape(server);
    const scraped = await blocked.while(1, () => scrape(server));
    expect(scraped.value("skein_shard_up", { shard: 0 })).toBe(1);
    expect(scraped.value("skein_shard_up", { shard: 1 })).toBe(0);
    expect(scraped.value("skein_index_documents", { index: "shop", tenant: 1 })).toBe(3);
    expect(scraped.value("skein_index_segments", { index: "shop", tenant: 1 })).toBeUndefined();
    await eventually(
      async () => (await scrape(server)).value("skein_shard_up", { shard: 1 }) === 1,
      "the shard is up again",
    );
  });
});

describe.concurrent("metrics of slow queries and many indexes", () => {
  const { blocked, server } = shopServer();

  test.sequential("a slow query is logged with its phases and counted", async () => {
    const before = (await scrape(server)).value("skein_slow_queries_total") ?? 0;
    const lines = () => server.log.filter((entry) => entry.msg === "slow query" && entry.q === "red shoe");
    const answered = await blocked.while(0, async () => {
      const query = server.query("shop", { q: "red shoe", highlight_fields: "title" });
      await server.holds(1);
      await sleep(2 * SLOW_MS); // makes the query slow
      return { query };
    });
    const reply = await answered.query;
    expectStatus(reply, 200);
    await eventually(async () => lines().length > 0, "the log line");
    expect(lines()).toEqual([
      expect.objectContaining({
        level: "warn",
        id: reply.headers["x-request-id"],
        index: "shop",
        tenant: 1,
        q: "red shoe",
        filter: null,
        found: expect.any(Number),
        shards: 2,
      }),
    ]);
    const line = lines()[0] as { took_ms: number; phases_ms: Record<string, number> };
    expect(line.took_ms).toBeGreaterThan(SLOW_MS);
    const sum = Object.values(line.phases_ms).reduce((total, ms) => total + ms, 0);
    expect(Math.abs(sum - line.took_ms)).toBeLessThan(1);
    expect(line.phases_ms.search! + line.phases_ms.expand!).toBeGreaterThan(SLOW_MS);
    expect((await scrape(server)).value("skein_slow_queries_total")).toBeGreaterThan(before);
  });

  test.sequential("200 indexes create no more labels than configured", async () => {
    for (let i = 0; i < 200; i += 20) {
      await Promise.all(
        Array.from({ length: 20 }, (_, j) => server.createIndex(`many-${i + j}`, SCHEMA, documents(i + j))),
      );
    }
    const scraped = await scrape(server);
    expect(scraped.value("skein_indexes", { status: "active" })).toBe(201);
    const names = scraped.labelValues("skein_index_documents", "index");
    expect(names.size).toBe(21);
    expect(scraped.labelValues("skein_index_segments", "index").size).toBe(20);
    // Document counts cycle from 0 to 9, so the twenty indexes with nine documents are the largest.
    for (let i = 9; i < 200; i += 10) expect(names).toContain(`many-${i}`);
    const others = scraped.value("skein_index_documents", { index: "(others)", tenant: "(others)" });
    expect(others).toBe(20 * (0 + 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8) + 2);
    expect(scraped.series.size).toBeLessThan(1_000);
    expectStatus(await server.delete("/v1/indexes/many-9"), 200);
    expect((await scrape(server)).labelValues("skein_index_segments", "index")).not.toContain("many-9");
  });
});

function documents(index: number) {
  return Array.from({ length: index % 10 }, (_, i) => ({ id: String(i), title: `thing ${i}` }));
}

const KEYED = serverOverEachHttp({
  shards: 1,
  config: { limits: LIMITS },
  env: { SKEIN_METRICS_KEY: METRICS_KEY },
});

describe.each(KEYED)("metrics over %s with a key", (_http, server) => {
  test("are hidden from everyone else, even from the admin key", async () => {
    for (const key of [null, "wrong-key-0123456789", undefined]) {
      const reply = await server.get("/metrics", key === undefined ? {} : { key });
      expect([reply.status, reply.json.code]).toEqual([401, "SK-SYS-401"]);
      expect(reply.text).not.toContain("skein_");
    }
    expect((await scrape(server, METRICS_KEY)).value("skein_shard_up", { shard: 0 })).toBe(1);
    expect((await server.raw("HEAD", "/metrics", { key: METRICS_KEY })).status).toBe(200);
    expectStatus(await server.get("/v1/indexes", { key: METRICS_KEY }), 401);
  });
});
