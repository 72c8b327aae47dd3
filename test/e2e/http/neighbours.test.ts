// Isolation between tenants: heavy work by one tenant changes no reply to another tenant, even if a shard
// interrupts one tenant's read to answer the other's. Also tests the number of concurrent requests that a
// plan allows a tenant.
import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "price", type: "float" },
  ],
};
const DOCUMENTS = 3_000;
const CLAUSES = 4_000;
const ROUNDS = 12;

const server = sharedServer({
  shards: 2,
  config: { plans: [{ name: "narrow", indexes: 2, concurrent_imports: 1 }] },
});

async function makeTenant(name: string, plan = "default"): Promise<string> {
  const reply = await server.post("/v1/tenants", { name, plan });
  expectStatus(reply, 201);
  return (reply.json.data.admin_key as { key: string }).key;
}

async function fill(key: string, word: string): Promise<void> {
  expectStatus(await server.post("/v1/indexes", { name: "goods", schema: SCHEMA }, { key }), 201);
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => ({
    id: `${word}${i}`,
    title: `${word} number${i % 97} kind${i % 13}`,
    price: i / 7,
  }));
  expectStatus(await server.post("/v1/indexes/goods/documents/batch", { documents }, { key }), 200);
}

describe("two tenants", () => {
  test("that run heavy queries at the same time get the answers they get alone", async () => {
    const keys = [await makeTenant("north"), await makeTenant("south")];
    await Promise.all([fill(keys[0]!, "red"), fill(keys[1]!, "blue")]);
    const clauses = Array.from({ length: CLAUSES }, (_, i) =>
      i % 2 === 0 ? `title:number${i % 97}` : `price:<${i / 10}`,
    );
    const bodies = [
      { q: "*", filter_by: clauses.join(" || "), per_page: 5 },
      { q: "*", sort: "price:desc", per_page: 250, page: 11 },
      { q: "number3 kind1", per_page: 250, highlight_fields: "title" },
      { q: "numbr5", per_page: 10 },
    ];
    const ask = async (key: string, body: object, round: number): Promise<unknown> => {
      // Uses a new limit each time, so that no cached answer is reused.
      const reply = await server.post(
        "/v1/indexes/goods/query",
        { ...body, max_facet_values: round },
        { key },
      );
      expectStatus(reply, 200);
      const { query_id: _, search_time_ms: __, ...answer } = reply.json;
      return answer;
    };
    for (const body of bodies) {
      const alone: unknown[] = [];
      for (const key of keys) alone.push(await ask(key, body, 900));
      const together = Array.from({ length: ROUNDS }, (_, round) =>
        keys.map(async (key, i) => expect(await ask(key, body, round)).toEqual(alone[i])),
      );
      await Promise.all(together.flat());
    }
    const mixed = Array.from({ length: ROUNDS }, (_, round) =>
      keys.map((key, i) => ask(key, bodies[(round + i) % bodies.length]!, 100 + round)),
    );
    expect(await Promise.all(mixed.flat())).toHaveLength(ROUNDS * 2);
  });
});

describe("a plan", () => {
  test("limits the number of indexes", async () => {
    const key = await makeTenant("small", "narrow");
    const create = (name: string) => server.post("/v1/indexes", { name, schema: SCHEMA }, { key });
    for (const name of ["one", "two"]) expectStatus(await create(name), 201);
    const third = await create("three");
    expect([third.status, third.json.code]).toEqual([400, "SK-IX-400"]);
    expectStatus(await server.delete("/v1/indexes/one", { key }), 200);
    expectStatus(await create("three"), 201);
  });

  test("limits the number of concurrent imports", async () => {
    const key = await makeTenant("careful", "narrow");
    expectStatus(await server.post("/v1/indexes", { name: "goods", schema: SCHEMA }, { key }), 201);
    const path = "/v1/indexes/goods/documents/import";
    const headers = { "content-type": "application/x-ndjson" };
    const small = () => server.raw("POST", path, { body: '{"id":"2","title":"two"}\n', key, headers });
    const line = '{"id":"1","title":"one"}\n';
    const long = request(`${server.url}${path}`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${key}`, "content-length": line.length },
    });
    const answered = once(long, "response");
    long.write(line.slice(0, -1));
    await server.holds(1);
    const refused = await small();
    expect(refused.status).toBe(429);
    expect([refused.json.code, refused.headers["retry-after"]]).toEqual(["SK-SYS-429", "1"]);
    long.end(line.slice(-1));
    const [reply] = (await answered) as [import("node:http").IncomingMessage];
    expect(reply.statusCode).toBe(200);
    reply.resume();
    await once(reply, "end");
    let again = await small();
    while (again.status === 429) again = await small();
    expectStatus(again, 200);
  });
});
