// Analytics over HTTP: reports count searches and clicks exactly, even after a kill, and only authorised
// callers can read them.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually, expectStatus, sleep, TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const DOCUMENTS = ["red shoe", "blue shoe", "green hat"].map((title, i) => ({ id: `p${i}`, title }));
/** Rows are stored within this many milliseconds. */
const STORED_MS = 1_000;

const server = new TestServer({ shards: 2 });
let index = "";
let made = 0;

beforeAll(() => server.launch());
afterAll(() => server.close());
beforeEach(async () => {
  index = `shop${++made}`;
  await server.createIndex(index, SCHEMA, DOCUMENTS);
});

async function search(q: string, options: object = {}): Promise<string> {
  const reply = await server.query(index, { q, ...options });
  expectStatus(reply, 200);
  return reply.json.query_id as string;
}

const report = async (path: string) => {
  const reply = await server.get(`/v1/indexes/${index}/analytics/${path}`);
  expectStatus(reply, 200);
  return reply.json.data;
};

const sendEvents = (body: unknown, options = {}): Promise<Reply> =>
  server.post(`/v1/indexes/${index}/events`, body, options);

const exported = async (): Promise<Record<string, unknown>[]> =>
  (await server.raw("GET", `/v1/indexes/${index}/analytics/export`)).text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("searches", () => {
  test("count by their normalised text; browsing, refused searches and suggestions do not count", async () => {
    await search("  Red   SHOE ");
    await search("red shoe");
    await search("zzyzx");
    await search("*");
    await search("");
    await server.raw("POST", `/v1/indexes/${index}/query`, { body: { q: "red", page: "x" } });
    await server.post(`/v1/indexes/${index}/suggest`, { q: "red", suggest_by: "title" });
    expect(await report("queries")).toEqual([
      { query: "red shoe", count: 2, avg_results: 1, ctr: 0 },
      { query: "zzyzx", count: 1, avg_results: 0, ctr: 0 },
    ]);
    expect(await report("no-results")).toEqual([{ query: "zzyzx", count: 1 }]);
    expect(await report("queries?limit=1")).toHaveLength(1);
  });

  test("in a multi-search or answered from the cache count, too; those that opt out do not", async () => {
    for (let i = 0; i < 4; i++) await search("blue shoe");
    await search("blue shoe", { analytics: false });
    const searches = [
      { index, q: "blue shoe" },
      { index, q: "green hat", analytics: false },
      { index, q: "*" },
    ];
    expectStatus(await server.post("/v1/multi-search", { searches }), 200);
    expect(await report("queries")).toEqual([{ query: "blue shoe", count: 5, avg_results: 1, ctr: 0 }]);
  });

  test("typed letter by letter count as the last one", async () => {
    for (const q of ["g", "gr", "gre", "green", "green hat"]) await search(q, { user_id: "ann" });
    await search("gre", { user_id: "bob" });
    expect(await report("queries")).toMatchObject([{ query: "gre" }, { query: "green hat" }]);
    expect((await report("summary")).users).toBe(2);
  });

  test("are exported with all their data, but without anybody's name", async () => {
    const id = await search(" Red", { user_id: "ann@example.org", session_id: "s1", filter_by: "id:!=x" });
    await sendEvents({
      type: "click",
      document_id: "p0",
      query_id: id,
      position: 1,
      user_id: "ann@example.org",
    });
    const lines = await exported();
    expect(lines).toHaveLength(2);
    const [one, click] = lines as [Record<string, unknown>, Record<string, unknown>];
    expect(one).toMatchObject({ query_id: id, query: "red", typed: " Red", found: 1, page: 1 });
    expect(click).toMatchObject({ document_id: "p0", query_id: id, position: 1, user: one.user });
    expect(JSON.stringify(lines)).not.toContain("example.org");
  });
});

describe("a forgotten person", () => {
  const forget = (query: string): Promise<Reply> =>
    server.raw("DELETE", `/v1/indexes/${index}/analytics/people?${query}`) as Promise<Reply>;
  const names = async () => (await exported()).map(({ user, session }) => [user, session]);

  test("disappears from all searches and events, which remain, also after a restart", async () => {
    const id = await search("red shoe", { user_id: "ann", session_id: "s1" });
    await search("blue shoe", { user_id: "bob" });
    await search("green hat", { session_id: "s2" });
    await sendEvents({ type: "click", document_id: "p0", query_id: id, user_id: "ann", session_id: "s1" });
    expect((await report("summary")).users).toBe(3);
    const before = await report("queries");
    const reply = await forget("user_id=ann");
    expect([reply.status, reply.json]).toEqual([200, { data: { forgotten: 2 } }]);
    expect((await report("summary")).users).toBe(2);
    expect((await forget("session_id=s2")).json).toEqual({ data: { forgotten: 1 } });
    expect((await forget("user_id=ann")).json).toEqual({ data: { forgotten: 0 } });
    expect(await report("queries")).toEqual(before);
    const after = await names();
    expect(after.filter(([user, session]) => user === null && session === null)).toHaveLength(3);
    await search("red shoe", { user_id: "ann" });
    await server.stop();
    await server.launch();
    expect((await names()).filter(([user]) => user !== null)).toHaveLength(2);
    expect(await report("queries")).toMatchObject([{ query: "red shoe", count: 2, ctr: 0.5 }, {}, {}]);
  });

  test("must be named once: no name and two names are refused", async () => {
    for (const query of ["", "user_id=", "user_id=a&session_id=b", `user_id=${"a".repeat(2000)}`]) {
      const { status, json } = await forget(query);
      expect([status, json.code]).toEqual([400, "SK-AN-400"]);
    }
  });
});

describe("events", () => {
  test("count for their search by its id or by its text; several for one search count once", async () => {
    const id = await search("red shoe");
    await search("red shoe");
    await search("blue shoe", { session_id: "s" });
    const reply = await sendEvents([
      { type: "click", document_id: "p0", query_id: id },
      { type: "click", document_id: "p1", query_id: id },
      { type: "click", document_id: "p1", query: "Blue  shoe", session_id: "s" },
      { type: "conversion", document_id: "p1", query: "blue shoe", session_id: "s", value: 12.5 },
    ]);
    expect(reply.json.data).toEqual({ accepted: 4, rejected: [] });
    expect(await report("queries")).toEqual([
      { query: "red shoe", count: 2, avg_results: 1, ctr: 0.5 },
      { query: "blue shoe", count: 1, avg_results: 1, ctr: 1 },
    ]);
    expect(await report("documents")).toEqual([
      { document_id: "p1", clicks: 2, conversions: 1, conversion_value: 12.5 },
      { document_id: "p0", clicks: 1, conversions: 0, conversion_value: 0 },
    ]);
    expect(await report("summary")).toMatchObject({ searches: 3, clicks: 3, conversions: 1 });
  });

  test("with the same id count once, and late ones count at the time they happened", async () => {
    const event = { type: "click", document_id: "p0", event_id: "e1" };
    await sendEvents([event, event]);
    await sendEvents(event);
    const twoDaysAgo = Date.now() - 2 * 86_400_000;
    await sendEvents({ type: "click", document_id: "p2", timestamp: twoDaysAgo });
    await sendEvents({ type: "click", document_id: "p2", timestamp: new Date(twoDaysAgo).toISOString() });
    expect(await report("documents?days=7")).toMatchObject([
      { document_id: "p2", clicks: 2 },
      { document_id: "p0", clicks: 1 },
    ]);
    expect(await report("documents?days=1")).toMatchObject([{ document_id: "p0", clicks: 1 }]);
  });

  test("are accepted or rejected one by one, each with its reason", async () => {
    const right = { type: "click", document_id: "p0" };
    const wrong = [
      { type: "look", document_id: "p0" },
      { type: "click" },
      { ...right, document_id: "" },
      { ...right, query_id: "no id" },
      { ...right, position: 0 },
      { ...right, timestamp: Date.now() - 4 * 86_400_000 },
      { ...right, timestamp: "yesterday" },
      { ...right, value: -1 },
      "click",
      null,
    ];
    const reply = await sendEvents(JSON.stringify([right, ...wrong, right]));
    expectStatus(reply, 202);
    expect(reply.json.data).toEqual({
      accepted: 2,
      rejected: wrong.map((_, i) => ({ index: i + 1, error: expect.any(String) as unknown })),
    });
  });

  test("may arrive as text/plain with a key in the URL, as from a page being left", async () => {
    const key = async (scopes: string[]): Promise<string> =>
      (await server.post("/v1/keys", { name: "k", scopes })).json.data.key as string;
    const beacon = async (scopes: string[]): Promise<Reply> =>
      server.raw("POST", `/v1/indexes/${index}/events?api_key=${await key(scopes)}`, {
        key: null,
        headers: { "content-type": "text/plain;charset=UTF-8" },
        body: JSON.stringify({ type: "click", document_id: "p0" }),
      });
    expectStatus(await beacon(["events"]), 202);
    expectStatus(await beacon(["search", "events"]), 202);
    expectStatus(await beacon(["search"]), 403);
    expectStatus(await beacon(["events", "documents"]), 403);
    expect((await report("summary")).clicks).toBe(2);
  });

  test("are refused as a whole unless they are a list of at most 1,000", async () => {
    const many = Array.from({ length: 1_001 }, () => ({ type: "click", document_id: "p0" }));
    for (const body of [JSON.stringify("click"), "7", "[", JSON.stringify(many)]) {
      const reply = await server.raw("POST", `/v1/indexes/${index}/events`, { body });
      expectStatus(reply, 400);
      expect(reply.json.code).toBe("SK-AN-400");
    }
    expect((await report("summary")).clicks).toBe(0);
  });
});

describe("reports", () => {
  test("name the wrong parameter", async () => {
    const wrong = [
      "days=0",
      "days=91",
      "days=x",
      "limit=0",
      "limit=1001",
      "from=x",
      "from=2026-01-02T00:00:00Z",
    ];
    for (const parameter of wrong) {
      const to = parameter.startsWith("from=2") ? "&to=2026-01-01T00:00:00Z" : "";
      const reply = await server.raw("GET", `/v1/indexes/${index}/analytics/queries?${parameter}${to}`);
      expectStatus(reply, 400);
      expect(reply.json).toMatchObject({ code: "SK-AN-400" });
      expect(reply.json.error).toContain(parameter.split("=")[0]);
    }
    const interval = await server.raw("GET", `/v1/indexes/${index}/analytics/summary?interval=week`);
    expect(interval.json.code).toBe("SK-AN-400");
  });

  test("follow the name when indexes are swapped, and end with the index", async () => {
    const other = `${index}-new`;
    await server.createIndex(other, SCHEMA, DOCUMENTS);
    await search("red shoe");
    expectStatus(await server.post(`/v1/indexes/${index}/swap-with`, { target_index: other }), 200);
    expect(await report("queries")).toMatchObject([{ query: "red shoe", count: 1 }]);
    await search("red shoe");
    expect(await report("queries")).toMatchObject([{ query: "red shoe", count: 2 }]);
    expectStatus(await server.delete(`/v1/indexes/${index}`), 200);
    await server.createIndex(index, SCHEMA, DOCUMENTS);
    expect(await report("queries")).toEqual([]);
  });

  test("survive a kill", async () => {
    const id = await search("green hat");
    await sendEvents({ type: "click", document_id: "p2", query_id: id });
    await sleep(STORED_MS); // a fixed wait, because the promised maximum is being tested
    await server.stop("SIGKILL");
    await server.launch();
    expect(await report("queries")).toEqual([{ query: "green hat", count: 1, avg_results: 1, ctr: 1 }]);
  });
});

describe("a popular query", () => {
  test("is suggested while typing, and after a search that finds little", async () => {
    for (let i = 0; i < 6; i++) await search("red shoe");
    for (let i = 0; i < 5; i++) await search("Green HAT");
    for (let i = 0; i < 9; i++) await search("zzyzx");
    await search("red hat");
    const suggestions = async (body: object) =>
      (await server.post(`/v1/indexes/${index}/suggest`, { suggest_by: "_queries", ...body })).json.data
        .suggestions as unknown[];
    const redShoe = { value: "red shoe", field: "_queries", count: 6 };
    const isKnown = async (): Promise<boolean> => (await suggestions({ q: "re" })).length > 0;
    await eventually(isKnown, "popular queries are known");
    expect(await suggestions({ q: "re" })).toEqual([redShoe]);
    expect(await suggestions({ q: "shoe" })).toEqual([redShoe]);
    expect(await suggestions({ q: "grean h" })).toEqual([
      { value: "green hat", field: "_queries", count: 5 },
    ]);
    expect(await suggestions({ q: "purple" })).toEqual([]);
    expect(await suggestions({ q: "re", suggest_by: "title,_queries", per_page: 2 })).toEqual([redShoe]);
    expect(await suggestions({ q: "sh", suggest_by: "_queries,title" })).toEqual([
      redShoe,
      { value: "blue shoe", field: "title", document_id: "p1" },
    ]);

    const { json } = await server.query(index, { q: "red boot", analytics: false });
    expect(json.suggestions).toContainEqual({ value: "red shoe", count: 6 });
    const group = { q: "re", suggest_by: "_queries", group_by_field: "title" };
    expectStatus(await server.raw("POST", `/v1/indexes/${index}/suggest`, { body: group }), 400);
  });
});
