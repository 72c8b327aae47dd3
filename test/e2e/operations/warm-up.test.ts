// The warm-up of the threads that answer searches: at a start and after an index's first import they answer
// queries of the server's own, and nobody's counts, logs or metrics show them.
import { afterEach, describe, expect, test } from "vitest";
import { eventually, expectStatus, type StartOptions, TestServer } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "price", type: "float" },
  ],
};
const COLOURS = ["brown", "black", "green", "white", "yellow", "purple", "orange"];
const THINGS = ["boots", "sandals", "gloves", "trousers", "jacket", "umbrella"];

function documents(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `d${n}`,
    title: `${COLOURS[n % COLOURS.length]} ${THINGS[n % THINGS.length]} number${n}`,
    brand: `brand${n % 9}`,
    price: n / 4,
  }));
}

let server: TestServer;

afterEach(() => server.close());

async function serverWith(sizes: Readonly<Record<string, number>>, options: StartOptions): Promise<void> {
  server = await TestServer.start({ shards: 1, ...options });
  for (const [name, count] of Object.entries(sizes)) await server.createIndex(name, SCHEMA, documents(count));
}

async function restart(): Promise<void> {
  expect(await server.stop()).toBe(0);
  server.log.length = 0;
  await server.launch();
}

function warmUps(): { index: string; queries: number }[] {
  return server.log.filter(({ msg }) => msg === "warmed up") as never;
}

async function warmedUp(count: number): Promise<void> {
  await eventually(async () => warmUps().length === count, `${count} indexes have warmed the threads up`);
}

/** Everything in which searches of clients are counted. */
async function expectNothingCounted(): Promise<void> {
  const usage = await server.get("/v1/usage");
  const [{ searches }] = usage.json.data.tenants as unknown as [{ searches: { used: number } }];
  expect(searches.used).toBe(0);
  const metrics = readPrometheusText((await server.get("/metrics")).text);
  expect(metrics.value("skein_query_duration_seconds_count")).toBe(0);
  expect(metrics.value("skein_slow_queries_total")).toBe(0);
  expect(metrics.value("skein_query_log_rows_total")).toBe(0);
  for (const result of ["hit", "miss"])
    expect(metrics.value("skein_cache_requests_total", { cache: "answer", result })).toBe(0);
  const route = { route: "/v1/indexes/{name}/query" };
  expect(
    metrics.value("skein_http_requests_total", { ...route, method: "POST", status: "200" }),
  ).toBeUndefined();
  const exported = await server.raw("GET", "/v1/indexes/large/analytics/export");
  expectStatus(exported, 200);
  expect(exported.text).toBe("");
}

describe.each([1, 2])("with %i front-ends", (frontEnds) => {
  test("a restart warms up with large indexes, and counts nothing", async () => {
    await serverWith({ large: 1_200, small: 300 }, { frontEnds, config: { slow_query_ms: 1 } });
    await warmedUp(1); // after the import
    await restart();
    await warmedUp(1);
    expect(warmUps()).toMatchObject([{ index: "large" }]);
    // Every thread answers at least 20 queries, however slow it is.
    expect(warmUps()[0]!.queries).toBeGreaterThanOrEqual(20 * frontEnds);
    await expectNothingCounted();
    expect(server.log.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
  });

  test("the first import of an index warms up, a later one does not", async () => {
    await serverWith({ large: 1_200 }, { frontEnds });
    await warmedUp(1);
    expect(warmUps()).toMatchObject([{ index: "large" }]);
    expect(warmUps()[0]!.queries).toBeGreaterThanOrEqual(20 * frontEnds);
    await expectNothingCounted();
    expectStatus(await server.post("/v1/indexes/large/documents/batch", { documents: documents(10) }), 200);
    await server.createIndex("second", SCHEMA, documents(1_000));
    await warmedUp(2); // with "large" again, there would be three
    expect(warmUps()).toMatchObject([{ index: "large" }, { index: "second" }]);
  });
});

test("answers are the same before and after, and the first one is not a repeated one", async () => {
  await serverWith({ large: 1_200 }, {});
  const ask = async (): Promise<unknown> => {
    const reply = await server.query("large", { q: "brown boots", facets: ["brand"] });
    expectStatus(reply, 200);
    const { query_id: _id, search_time_ms: _ms, ...rest } = reply.json;
    return rest;
  };
  const before = await ask();
  await warmedUp(1);
  expect(await ask()).toEqual(before);
  await restart();
  await warmedUp(1);
  expect(await ask()).toEqual(before);
});

test("a server without large indexes starts without a warm-up", async () => {
  await serverWith({ small: 300 }, {});
  await restart();
  expectStatus(await server.query("small", { q: "boots" }), 200);
  expect(warmUps()).toEqual([]);
});
