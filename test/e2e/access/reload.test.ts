// SIGHUP: a running server applies the changed configuration file from the next request on. An invalid file
// changes nothing.
import { describe, expect, onTestFinished, test } from "vitest";
import { ADMIN_KEY, eventually, TestServer } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "price", type: "int32" },
  ],
};
const ORIGIN = "https://shop.example";
const TAKEN = "the configuration was read again";
const REFUSED = "the configuration is wrong; the settings in force stay";

const server = sharedServer({ shards: 1, config: {} }, (server) =>
  server.createIndex("shoes", SCHEMA, [
    { id: "1", title: "red shoes", price: 40 },
    { id: "2", title: "red shoes", price: 90 },
  ]),
);

async function allowedOrigin(): Promise<string | undefined> {
  const reply = await server.get("/v1/indexes", { headers: { origin: ORIGIN } });
  return reply.headers["access-control-allow-origin"] as string | undefined;
}

describe("reloading the configuration file", () => {
  test("switches query understanding at once, also for cached answers", async () => {
    const ask = async () => (await server.query("shoes", { q: "red shoes under 50" })).json.found;
    expect(await ask()).toBe(1);
    expect(await ask()).toBe(1); // this answer is cached
    const without = { plans: [{ name: "default", ai_query_understanding: false }] };
    expect(await server.reload(without)).toEqual([TAKEN]);
    const literal = await ask();
    expect(literal).not.toBe(1);
    expect(await ask()).toBe(literal);
    await server.reload({});
    expect(await ask()).toBe(1);
  });

  test("changes, adds and removes plans", async () => {
    const plan = { plan: "small" };
    expect((await server.post("/v1/tenants", { name: "acme", ...plan })).status).toBe(400);
    await server.reload({ plans: [{ name: "small", documents: 1 }] });
    const acme = await server.post("/v1/tenants", { name: "acme", ...plan });
    expect(acme.status).toBe(201);
    const { key } = (acme.json.data as unknown as { admin_key: { key: string } }).admin_key;
    expect((await server.post("/v1/indexes", { name: "things", schema: SCHEMA }, { key })).status).toBe(201);
    const write = async (id: string): Promise<number> => {
      const documents = [{ id, title: "x", price: 1 }];
      const reply = await server.post("/v1/indexes/things/documents/batch", { documents }, { key });
      return reply.json.data.failed;
    };
    expect([await write("1"), await write("2")]).toEqual([0, 1]);
    await server.reload({ plans: [{ name: "small", documents: 2 }] });
    expect([await write("2"), await write("3")]).toEqual([0, 1]);
    await server.reload({}); // a tenant whose plan was removed gets the default plan
    expect(await write("3")).toBe(0);
  });

  test("changes the allowed origins, the trusted proxies and the closed routes", async () => {
    expect(await allowedOrigin()).toBeUndefined();
    await server.reload({
      cors: ORIGIN,
      metrics_key: "metrics-0123456789",
      closed_routes: ["/openapi.json"],
    });
    expect(await allowedOrigin()).toBe(ORIGIN);
    const open = { key: null };
    expect((await server.raw("GET", "/metrics", open)).status).toBe(401);
    expect((await server.raw("GET", "/metrics", { key: "metrics-0123456789" })).status).toBe(200);
    expect((await server.raw("GET", "/openapi.json", open)).status).toBe(404);
    await server.reload({});
    expect(await allowedOrigin()).toBeUndefined();
    expect((await server.raw("GET", "/metrics", open)).status).toBe(200);
    expect((await server.raw("GET", "/openapi.json", open)).status).toBe(200);
  });

  test.each<[unknown, RegExp]>([
    ["{", /is not valid JSON/],
    [{ cors: "*", plans: [{}] }, /skein.config.json: plans\[0\].name is missing/],
    [{ cors: "*", nothing: 1 }, /"nothing" in .*skein.config.json is unknown/],
    [{ cors: "*", trust_proxy: ["somewhere"] }, /trust_proxy must name addresses/],
    [{ cors: "*", limits: { documentBytesMax: 0 } }, /limits.documentBytesMax must be/],
  ])("%j is refused as a whole with one log line", async (config, reason) => {
    await server.reload({ cors: ORIGIN });
    const before = server.log.length;
    expect(await server.reload(config)).toEqual([REFUSED]);
    const lines = server.log.slice(before).filter(({ level }) => level !== "info");
    expect(lines).toMatchObject([{ level: "error", reason: expect.stringMatching(reason) }]);
    expect(await allowedOrigin()).toBe(ORIGIN);
  });

  test("names the members that take effect only after a restart", async () => {
    const before = server.log.length;
    await server.reload({ cors: "*", host: "127.0.0.2", limits: { batchDocumentsMax: 1 } });
    const told = () => server.log.slice(before).find(({ level }) => level === "warn");
    await eventually(async () => told() !== undefined, "the warning");
    expect(told()).toMatchObject({
      msg: "changed settings wait for a restart",
      members: ["host", "limits"],
    });
    expect(await allowedOrigin()).toBe("*");
  });
});

test("the environment wins over the file on a reload, too", async () => {
  const env = { SKEIN_METRICS_KEY: "from-the-environment" };
  const own = await TestServer.start({ shards: 1, config: {}, env });
  onTestFinished(() => own.close());
  expect(await own.reload({ metrics_key: "from-the-file" })).toEqual([TAKEN]);
  expect((await own.raw("GET", "/metrics", { key: "from-the-file" })).status).toBe(401);
  expect((await own.raw("GET", "/metrics", { key: "from-the-environment" })).status).toBe(200);
  expect((await own.get("/v1/indexes", { key: ADMIN_KEY })).status).toBe(200);
});
