// Ranking rules over HTTP: lifecycle, refusals and their error messages, permissions, persistence.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";
import { PRODUCTS, SCHEMA } from "../world/shop.js";

const RULES = "/v1/indexes/shop/ranking-rules";
const PIN = { type: "pin", effect: { documents: ["p2", "p1"] } };
const BOOST = { type: "boost", effect: { weight: 5, filter_by: "brand:=Logitech" } };

const REFUSED: [name: string, body: unknown, sentence: RegExp][] = [
  ["no type", { effect: { documents: ["a"] } }, /^type is missing; expected one of boost, pin, hide, bury/],
  [
    "an unknown type",
    { ...PIN, type: "promote" },
    /^type must be one of boost, pin, hide, bury, not "promote"/,
  ],
  ["an unknown member", { ...PIN, weight: 3 }, /^weight is unknown; expected one of name, type/],
  ["an unknown effect", { type: "pin", effect: { docs: ["a"] } }, /^effect\.docs is unknown/],
  ["an unknown condition", { ...PIN, conditions: { query: ["a"] } }, /^conditions\.query is unknown/],
  [
    "conditions of a wrong type",
    { ...PIN, conditions: ["a"] },
    /^conditions must be an object, not an array/,
  ],
  ["a boost without a weight", { type: "boost", effect: { documents: ["a"] } }, /^effect\.weight is missing/],
  [
    "a boost of nothing",
    { type: "boost", effect: { weight: 2 } },
    /^effect must have filter_by, documents or/,
  ],
  [
    "a weight of 0",
    { ...BOOST, effect: { ...BOOST.effect, weight: 0 } },
    /^effect\.weight must be an integer/,
  ],
  [
    "half a weight",
    { ...BOOST, effect: { ...BOOST.effect, weight: 1.5 } },
    /^effect\.weight must be an integer/,
  ],
  [
    "a pin without documents",
    { type: "pin", effect: {} },
    /^effect\.documents must name the documents to pin/,
  ],
  [
    "a pin by filter",
    { type: "pin", effect: { documents: ["a"], filter_by: "year:>1" } },
    /^effect\.filter_by must be absent/,
  ],
  [
    "a hide of nothing",
    { type: "hide", effect: { filter_by: " ", documents: [] } },
    /^effect must have filter_by/,
  ],
  ["a bury without effect", { type: "bury" }, /^effect must have filter_by, documents or both/],
  ["a number as id", { type: "pin", effect: { documents: [1] } }, /^effect\.documents\[0\] must be a string/],
  ["an empty id", { type: "pin", effect: { documents: [""] } }, /^effect\.documents\[0\] must be the id/],
  [
    "101 pins",
    { type: "pin", effect: { documents: Array.from({ length: 101 }, String) } },
    /101 entries; at most 100/,
  ],
  [
    "a wordless condition",
    { ...PIN, conditions: { query_contains: ["ok", "?!"] } },
    /^conditions\.query_contains\[1\] must contain a word/,
  ],
  [
    "an unknown field",
    { type: "hide", effect: { filter_by: "colour:=red" } },
    /^effect\.filter_by: unknown field 'colour' at position 0/,
  ],
  [
    "half a filter",
    { type: "hide", effect: { filter_by: "year:>2000 &&" } },
    /^effect\.filter_by: .* at position 13/,
  ],
  [
    "a word as number",
    { type: "hide", effect: { filter_by: "year:>new" } },
    /^effect\.filter_by: 'new' is not a value/,
  ],
  [
    "a priority in words",
    { ...PIN, priority: "high" },
    /^priority must be an integer from -1000000 to 1000000/,
  ],
  ["enabled as text", { ...PIN, enabled: "yes" }, /^enabled must be true or false/],
  ["a name that is too long", { ...PIN, name: "x".repeat(201) }, /^name is longer than 200 bytes/],
  ["an array", [PIN], /^the body must be an object/],
];

const server = sharedServer({ shards: 2 }, async (server) => {
  await server.createIndex("shop", SCHEMA, PRODUCTS);
  await server.createIndex("other", SCHEMA);
});

async function make(body: object, index = "shop"): Promise<Record<string, unknown> & { id: number }> {
  const reply = await server.post(`/v1/indexes/${index}/ranking-rules`, body);
  expectStatus(reply, 201);
  return reply.json.data as Record<string, unknown> & { id: number };
}

const list = async (index = "shop") =>
  (await server.get(`/v1/indexes/${index}/ranking-rules`)).json.data as unknown as { id: number }[];

describe("ranking rules", () => {
  test("can be created with defaults, listed, read, changed and deleted", async () => {
    const made = await make(PIN);
    expect(made).toEqual({
      id: made.id,
      name: "",
      type: "pin",
      conditions: { query_contains: [] },
      effect: { documents: ["p2", "p1"] },
      priority: 0,
      enabled: true,
      created_at: made.created_at,
      updated_at: made.created_at,
      problem: null,
    });
    const boost = await make({
      ...BOOST,
      name: "spring",
      conditions: { query_contains: ["mouse", "wireless mouse"] },
      priority: -3,
      enabled: false,
    });
    expect(boost).toMatchObject({ ...BOOST, name: "spring", priority: -3, enabled: false });
    expect(await list()).toEqual([made, boost]);
    expect(await list("other")).toEqual([]);
    expect((await server.get(`${RULES}/${boost.id}`)).json.data).toEqual(boost);
    const changed = await server.patch(`${RULES}/${boost.id}`, { enabled: true, name: null });
    expect(changed.json.data).toMatchObject({
      ...boost,
      enabled: true,
      name: "",
      updated_at: expect.anything(),
    });
    expect((await server.delete(`${RULES}/${made.id}`)).json.data).toEqual({ id: made.id, deleted: true });
    expect((await list()).map(({ id }) => id)).toEqual([boost.id]);
    const next = await make(PIN);
    expect(next.id).toBeGreaterThan(boost.id);
  });

  test("merge a PATCH into effect and conditions, and check the result as a whole", async () => {
    const { id } = await make({ ...BOOST, conditions: { query_contains: ["mouse"] } });
    const patch = (body: object): Promise<Reply> => server.patch(`${RULES}/${id}`, body);
    expect((await patch({ effect: { weight: 7 } })).json.data).toMatchObject({
      effect: { weight: 7, filter_by: "brand:=Logitech" },
      conditions: { query_contains: ["mouse"] },
    });
    expect((await patch({ type: "pin" })).json.error).toMatch(/^effect\.documents must name/);
    expect((await patch({ effect: { filter_by: null } })).json.error).toMatch(/^effect must have filter_by/);
    expect((await patch({ type: null })).json.error).toMatch(/^type is missing/);
    expect((await patch({ colour: 1 })).json.code).toBe("SK-RR-400");
    const pinned = await patch({
      type: "pin",
      effect: { filter_by: null, documents: ["p3"] },
      conditions: null,
    });
    expect(pinned.json.data).toMatchObject({
      type: "pin",
      effect: { weight: 7, documents: ["p3"] },
      conditions: { query_contains: [] },
    });
    expect((await server.get(`${RULES}/${id}`)).json.data).toEqual(pinned.json.data);
  });
});

describe("refusals of ranking rules", () => {
  test.each(REFUSED)("%s is refused", async (_name, body, sentence) => {
    const before = await list();
    const reply = await server.post(RULES, body);
    expect([reply.status, reply.json.code]).toEqual([400, "SK-RR-400"]);
    expect(reply.json.error).toMatch(sentence);
    expect(await list()).toEqual(before);
  });

  test("a filter error reports its position", async () => {
    const reply = await server.post(RULES, { type: "bury", effect: { filter_by: "year:>1 && nope:=1" } });
    expect(reply.json.details?.position).toBe(11);
  });

  test("a rule whose field was dropped stays; it can be switched off but not created again", async () => {
    await server.createIndex("dropping", SCHEMA, PRODUCTS);
    const body = { type: "hide", effect: { filter_by: "year:>2021" } };
    const { id } = await make(body, "dropping");
    const drop = { schema: { fields: [{ name: "year", drop: true }] } };
    expectStatus(await server.patch("/v1/indexes/dropping", drop), 200);
    const path = `/v1/indexes/dropping/ranking-rules/${id}`;
    const off = await server.patch(path, { enabled: false });
    expect(off.json.data).toMatchObject({ ...body, enabled: false });
    expect((await server.patch(path, { effect: { filter_by: "year:>2022" } })).status).toBe(400);
    expect((await server.post("/v1/indexes/dropping/ranking-rules", body)).status).toBe(400);
    expectStatus(await server.query("dropping", { q: "mouse" }), 200);
    expectStatus(await server.delete("/v1/indexes/dropping"), 200);
  });

  test("an unknown rule is 404", async () => {
    const { id } = await make(PIN);
    for (const path of [
      `/v1/indexes/other/ranking-rules/${id}`,
      `${RULES}/999`,
      `${RULES}/x`,
      `${RULES}/01`,
    ]) {
      expect((await server.get(path)).json.code).toBe("SK-RR-404");
      expect((await server.patch(path, { enabled: false })).json.code).toBe("SK-RR-404");
      expect((await server.delete(path)).json.code).toBe("SK-RR-404");
    }
    expect((await server.get("/v1/indexes/none/ranking-rules")).json.code).toBe("SK-IX-404");
    expect((await server.post("/v1/indexes/none/ranking-rules", PIN)).json.code).toBe("SK-IX-404");
  });
});

describe("stored ranking rules", () => {
  test("need the scope rules and an index that the key covers, and belong to one tenant", async () => {
    const key = async (scopes: string[], indexes = ["*"]) =>
      (await server.post("/v1/keys", { name: "test", scopes, indexes })).json.data.key;
    const rules = await key(["rules"], ["shop"]);
    expect((await server.get(RULES, { key: rules })).status).toBe(200);
    expect((await server.post(RULES, PIN, { key: rules })).status).toBe(201);
    expect((await server.get("/v1/indexes/other/ranking-rules", { key: rules })).status).toBe(403);
    expect((await server.get(RULES, { key: await key(["search", "indexes"]) })).status).toBe(403);
    expect((await server.get(RULES, { key: null })).status).toBe(401);
    const { admin_key } = (await server.post("/v1/tenants", { name: "acme" })).json.data;
    const foreign = (admin_key as { key: string }).key;
    expect((await server.get(RULES, { key: foreign })).json.code).toBe("SK-IX-404");
    expect((await server.post(RULES, PIN, { key: foreign })).json.code).toBe("SK-IX-404");
  });

  test("survive a kill and end with their index", async () => {
    await server.createIndex("brief", SCHEMA);
    await make(PIN, "brief");
    const kept = await list();
    expect(kept.length).toBeGreaterThan(0);
    await server.stop("SIGKILL");
    await server.launch();
    expect(await list()).toEqual(kept);
    expect(await list("brief")).toHaveLength(1);
    expectStatus(await server.delete("/v1/indexes/brief"), 200);
    await server.createIndex("brief", SCHEMA);
    expect(await list("brief")).toEqual([]);
    const newest = await make(PIN);
    expect(newest.id).toBeGreaterThan(Math.max(...kept.map(({ id }) => id)));
  });
});
