// Synonym groups over HTTP: lifecycle, roots, errors, permissions, limits, persistence.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const SYNONYMS = "/v1/indexes/shop/synonyms";

const REFUSED: [name: string, body: unknown, sentence: RegExp][] = [
  ["no entries", { type: "multi_way" }, /^synonyms is missing; expected an array of words and phrases/],
  ["one entry", { synonyms: ["tv"] }, /^synonyms must have at least 2 different entries/],
  ["the same entry twice", { synonyms: ["tv", " tv"] }, /^synonyms must have at least 2 different entries/],
  ["a root alone", { type: "one_way", root: "tv", synonyms: ["tv"] }, /^synonyms must have at least 2/],
  ["101 entries", { synonyms: Array.from({ length: 101 }, (_, i) => `w${i}`) }, /101 entries; at most 100/],
  [
    "100 and a root",
    { type: "one_way", root: "x", synonyms: Array.from({ length: 100 }, (_, i) => `w${i}`) },
    /^synonyms has more than 100/,
  ],
  ["a long entry", { synonyms: ["tv", "x".repeat(201)] }, /^synonyms\[1\] is longer than 200 bytes/],
  ["an empty entry", { synonyms: ["tv", " "] }, /^synonyms\[1\] must contain a word/],
  ["a wordless root", { type: "one_way", root: "!", synonyms: ["tv", "set"] }, /^root must contain a word/],
  ["a number", { synonyms: ["tv", 3] }, /^synonyms\[1\] must be a string/],
  ["a text", { synonyms: "tv, set" }, /^synonyms must be an array of words and phrases/],
  ["an unknown type", { type: "both", synonyms: ["a", "b"] }, /^type must be one of multi_way, one_way/],
  ["a root of a multi_way", { type: "multi_way", root: "a", synonyms: ["a", "b"] }, /^root must be absent/],
  [
    "an unknown member",
    { synonyms: ["a", "b"], name: "x" },
    /^name is unknown; expected one of type, synonyms/,
  ],
  ["enabled as number", { synonyms: ["a", "b"], enabled: 1 }, /^enabled must be true or false/],
];

const BYTES = { synonymsBytesMax: 20_000, rulesBytesMax: 4_000 };

describe("synonyms", () => {
  const limits = { synonymGroupsPerIndexMax: 40, rulesPerIndexMax: 1, ...BYTES };
  const server = sharedServer({ shards: 2, config: { limits } }, async (server) => {
    await server.createIndex("shop", SCHEMA, [{ id: "1", title: "television" }]);
    await server.createIndex("other", SCHEMA);
  });

  async function make(body: object): Promise<Record<string, unknown> & { id: number }> {
    const reply = await server.post(SYNONYMS, body);
    expectStatus(reply, 201);
    return reply.json.data as Record<string, unknown> & { id: number };
  }

  const list = async (index = "shop") =>
    (await server.get(`/v1/indexes/${index}/synonyms`)).json.data as unknown as { id: number }[];

  test("can be created with defaults, listed, read, changed and deleted", async () => {
    const made = await make({ synonyms: ["tv", "television set", " telly ", "tv"] });
    expect(made).toEqual({
      id: made.id,
      type: "multi_way",
      synonyms: ["tv", "television set", "telly"],
      root: null,
      enabled: true,
      created_at: made.created_at,
      updated_at: made.created_at,
    });
    const off = await make({ type: "multi_way", synonyms: ["sofa", "couch"], enabled: false });
    expect(await list()).toEqual([made, off]);
    expect(await list("other")).toEqual([]);
    expect((await server.get(`${SYNONYMS}/${off.id}`)).json.data).toEqual(off);
    const on = (await server.patch(`${SYNONYMS}/${off.id}`, { enabled: true })).json.data;
    expect(on).toMatchObject({ synonyms: ["sofa", "couch"], enabled: true });
    expect((await server.delete(`${SYNONYMS}/${made.id}`)).json.data).toEqual({ id: made.id, deleted: true });
    expect(await list()).toEqual([on]);
  });

  test("in a one_way group always include its root as an entry", async () => {
    expect(await make({ type: "one_way", synonyms: ["tv", "oled"] })).toMatchObject({ root: "tv" });
    expect(await make({ type: "one_way", synonyms: ["tv", "oled"], root: "oled" })).toMatchObject({
      root: "oled",
      synonyms: ["tv", "oled"],
    });
    const { id, ...added } = await make({ type: "one_way", synonyms: ["oled"], root: "tv" });
    expect(added).toMatchObject({ root: "tv", synonyms: ["tv", "oled"] });
    const patch = async (body: object) => (await server.patch(`${SYNONYMS}/${id}`, body)).json.data;
    expect(await patch({ synonyms: ["lcd", "tv"] })).toMatchObject({ root: "tv", synonyms: ["lcd", "tv"] });
    expect(await patch({ synonyms: ["lcd", "led"] })).toMatchObject({ root: "lcd" });
    expect(await patch({ root: "led" })).toMatchObject({ root: "led", synonyms: ["lcd", "led"] });
    expect(await patch({ root: null })).toMatchObject({ root: "lcd" });
    expect(await patch({ type: "multi_way" })).toMatchObject({ root: null, synonyms: ["lcd", "led"] });
    expect(await patch({ type: "one_way", root: "tv" })).toMatchObject({ synonyms: ["tv", "lcd", "led"] });
    expect((await server.patch(`${SYNONYMS}/${id}`, { synonyms: ["one"] })).json.code).toBe("SK-SY-400");
    expect((await server.patch(`${SYNONYMS}/${id}`, { synonyms: null })).json.code).toBe("SK-SY-400");
  });

  test.each(REFUSED)("%s is refused", async (_name, body, sentence) => {
    const before = await list();
    const reply = await server.post(SYNONYMS, body);
    expect([reply.status, reply.json.code]).toEqual([400, "SK-SY-400"]);
    expect(reply.json.error).toMatch(sentence);
    expect(await list()).toEqual(before);
  });

  test("that do not exist are 404, and so are another tenant's", async () => {
    const { id } = await make({ synonyms: ["a", "b"] });
    for (const path of [`/v1/indexes/other/synonyms/${id}`, `${SYNONYMS}/999`, `${SYNONYMS}/x`]) {
      expect((await server.get(path)).json.code).toBe("SK-SY-404");
      expect((await server.patch(path, { enabled: false })).json.code).toBe("SK-SY-404");
      expect((await server.delete(path)).json.code).toBe("SK-SY-404");
    }
    const { admin_key } = (await server.post("/v1/tenants", { name: "acme" })).json.data;
    const { key } = admin_key as { key: string };
    expect((await server.get(SYNONYMS, { key })).json.code).toBe("SK-IX-404");
    const search = (await server.post("/v1/keys", { name: "s", scopes: ["search"] })).json.data.key;
    expect((await server.get(SYNONYMS, { key: search })).json.code).toBe("SK-SYS-403");
  });

  test("survive a kill during writes: every acknowledged group is there", async () => {
    const answered: number[] = [];
    const before = (await list()).map(({ id }) => id);
    let stopped: Promise<unknown> | undefined;
    for (let i = 0; i < 12; i++) {
      const body = { synonyms: [`left${i}`, `right${i}`] };
      const reply = await server.raw("POST", SYNONYMS, { body }).catch(() => undefined);
      if (reply?.status !== 201) break;
      answered.push(Number(reply.json.data.id));
      if (answered.length === 6) stopped = server.stop("SIGKILL");
    }
    await stopped;
    await server.launch();
    const kept = (await list()).map(({ id }) => id);
    expect(answered.length).toBeGreaterThanOrEqual(6);
    expect(kept.slice(0, before.length + answered.length)).toEqual([...before, ...answered]);
    const next = await make({ synonyms: ["new", "fresh"] });
    expect(next.id).toBeGreaterThan(Math.max(...kept));
  });

  test("and rules have a limit in bytes per index; changes that shrink them are allowed", async () => {
    expectStatus(await server.post("/v1/indexes", { name: "bytes", schema: SCHEMA }), 201);
    const long = (n: number): string[] => Array.from({ length: n }, (_, i) => `${"x".repeat(180)}${i}`);
    const groups = "/v1/indexes/bytes/synonyms";
    const first = await server.post(groups, { synonyms: long(90) });
    expectStatus(first, 201);
    const refused = await server.post(groups, { synonyms: long(20) });
    expect([refused.status, refused.json.code]).toEqual([400, "SK-SY-400"]);
    expect(refused.json.error).toContain("20000 bytes in total (synonymsBytesMax)");
    const one = `${groups}/${first.json.data.id}`;
    expect((await server.patch(one, { synonyms: long(100) })).status).toBe(200);
    expect((await server.patch(one, { synonyms: long(50) })).status).toBe(200);
    expectStatus(await server.post(groups, { synonyms: long(20) }), 201);
    const ids = (n: number) => ({ type: "hide", effect: { documents: long(n) } });
    const rule = await server.post("/v1/indexes/bytes/ranking-rules", ids(30));
    expect([rule.status, rule.json.code]).toEqual([400, "SK-RR-400"]);
    expect(rule.json.error).toContain("rulesBytesMax");
    const small = await server.post("/v1/indexes/bytes/ranking-rules", ids(10));
    const path = `/v1/indexes/bytes/ranking-rules/${small.json.data.id}`;
    expect((await server.patch(path, ids(30))).json.code).toBe("SK-RR-400");
    expect((await server.patch(path, { enabled: false })).status).toBe(200);
  });

  test("and rules have a maximum number per index, even under concurrent creation", async () => {
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => server.post(SYNONYMS, { synonyms: [`x${i}`, `y${i}`] })),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([201, 400]));
    expect(await list()).toHaveLength(40);
    const refused = replies.find(({ status }) => status === 400)!;
    expect(refused.json.error).toBe("the index has 40 synonym groups, which is the maximum");
    const rule = { type: "pin", effect: { documents: ["1"] } };
    expectStatus(await server.post("/v1/indexes/shop/ranking-rules", rule), 201);
    expect((await server.post("/v1/indexes/shop/ranking-rules", rule)).json.code).toBe("SK-RR-400");
  });
});
