// A search's time counts from its first byte: whatever it waits for, it is answered when its time is over,
// and what it waited for continues for others.
import { afterAll, beforeAll, expect, test } from "vitest";
import { BlockedShards } from "../world/blocked-shards.js";
import { expectStatus, TestServer } from "../world/harness.js";
import { requestHead } from "../world/raw-http.js";

const QUERY = "/v1/indexes/goods/query";
const LATE = { code: "SK-SE-503", error: expect.stringContaining("time limit") };
const blocked = new BlockedShards();
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({
    shards: 1,
    frontEnds: 1,
    env: blocked.env,
    config: { limits: { searchMsMax: 500, localDocumentsMax: 1, bodyIdleMsMax: 600_000 } },
  });
  const documents = [1, 2, 3].map((i) => ({ id: `${i}`, title: `thing number${i}` }));
  await server.createIndex("goods", { fields: [{ name: "title", type: "string" }] }, documents);
}, 120_000);

afterAll(async () => {
  await server.close();
  blocked.close();
});

test("a query, suggestions and similar documents that wait for a shard", async () => {
  await blocked.while(0, async () => {
    const replies = await Promise.all([
      server.query("goods", { q: "thing" }),
      server.post("/v1/indexes/goods/suggest", { q: "thin", suggest_by: "title" }),
      server.post("/v1/indexes/goods/documents/1/similar", {}),
    ]);
    for (const { status, json, headers } of replies) {
      expect([status, headers["retry-after"]]).toEqual([503, "1"]);
      expect(json).toMatchObject(LATE);
    }
  });
  expect((await server.query("goods", { q: "thing" })).json.found).toBe(3);
});

test("each search of a multi-search that waits for a shard, in a reply of its own", async () => {
  const searches = ["number1", "number2", "number3"].map((q) => ({ index: "goods", q }));
  const reply = await blocked.while(0, () => server.post("/v1/multi-search", { searches }));
  expectStatus(reply, 200);
  for (const answer of reply.json.data.results as unknown[]) expect(answer).toMatchObject(LATE);
});

test("a query whose body never arrives as a whole", async () => {
  const socket = await server.socket();
  socket.on("error", () => undefined);
  const received = new Promise<string>((resolve) => socket.once("data", (data) => resolve(String(data))));
  socket.write(`${requestHead("POST", QUERY, 100)}{"q":`);
  expect(await received).toMatch(/^HTTP\/1\.1 503 /);
  socket.destroy();
});
