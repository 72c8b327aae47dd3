// Data source runs over HTTP: what they write, count and delete, how they fail or end early, and in which
// order they run.
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import {
  documentsOf,
  ended,
  FROM_LOOPBACK,
  makeSource,
  runOf,
  runsOf,
  sync,
  syncNow,
} from "../world/feeds.js";
import { eventually, expectStatus, HOME_DOCUMENTS_MAX } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "price", type: "float" },
  ],
};

let feeds: FeedServer;

beforeAll(async () => {
  feeds = await startFeedServer();
});

afterAll(() => feeds.close());

/** Fills up the server's read buffer, so that it processes the preceding items without waiting for more. */
const PADDING = " ".repeat(200_000);

interface Item {
  id: string;
  title: string;
  price?: number | string;
}

const items = (count: number, word = "chair"): Item[] =>
  Array.from({ length: count }, (_, i) => ({ id: `p${i}`, title: `${word} ${i}`, price: i + 0.5 }));
const json = (list: readonly object[]): string => JSON.stringify(list);
const LINES = items(8)
  .map((item) => `${JSON.stringify(item)}\n`)
  .join("");
const chunk = (data: string): string => `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;

describe("a run", () => {
  const server = sharedServer({ shards: 2, config: FROM_LOOPBACK });

  async function shop(name: string, body: object = {}) {
    await server.createIndex(name, SCHEMA);
    return makeSource(server, name, { url: feeds.url(`/${name}`), format: "json", ...body });
  }

  test("imports everything, then writes only what has changed", async () => {
    const source = await shop("changed");
    feeds.route("/changed", { body: json(items(2_500)) });
    const first = await sync(server, source);
    expect(first).toMatchObject({
      status: "completed",
      trigger: "manual",
      documents_imported: 2_500,
      documents_unchanged: 0,
      documents_failed: 0,
      documents_deleted: 0,
      not_modified: false,
      bytes: json(items(2_500)).length,
      error: null,
      error_code: null,
      errors: [],
    });
    expect(Date.parse(first.finished_at!)).toBeGreaterThanOrEqual(Date.parse(first.started_at!));
    const generation = async () =>
      (await server.get("/metrics")).text.match(/skein_index_segments\{index="changed".*/)![0];
    const places = 2_500 > HOME_DOCUMENTS_MAX ? 2 : 1;
    await eventually(
      async () => (await server.get("/v1/indexes/changed/stats")).json.data.shards === places,
      "the index is in the expected shards",
    );
    const before = await generation();
    expect(await sync(server, source)).toMatchObject({ documents_imported: 0, documents_unchanged: 2_500 });
    expect(await generation()).toBe(before);
    const [one, ...others] = items(2_500);
    feeds.route("/changed", {
      body: json([...others, { ...one, title: "table" }, { id: "new", title: "lamp" }]),
    });
    expect(await sync(server, source)).toMatchObject({ documents_imported: 2, documents_unchanged: 2_499 });
    const hits = (await server.query("changed", { q: "table" })).json.hits;
    expect(hits.map(({ document }) => document)).toEqual([{ ...one, title: "table" }]);
    expect((await runsOf(server, source)).map(({ status }) => status)).toEqual(Array(3).fill("completed"));
    const shown = (await server.get(source.path)).json.data;
    expect(shown.last_run).toMatchObject({ documents_imported: 2 });
  });

  test("reports which items failed and why, and continues with the others", async () => {
    const source = await shop("failing");
    const list = [
      { id: "a", title: "chair", price: "call us" },
      { title: "no id" },
      { id: "b", title: "table", price: "1.299,00 EUR" },
    ];
    feeds.route("/failing", { body: json(list) });
    const run = await sync(server, source);
    expect(run).toMatchObject({ status: "completed", documents_imported: 1, documents_failed: 2 });
    expect(run.errors.map(({ item, id }) => [item, id])).toEqual([
      [1, "a"],
      [2, null],
    ]);
    expect(run.errors[0]!.error).toContain("price");
    expect(await documentsOf(server, "failing")).toEqual({
      b: { id: "b", title: "table", price: 1299, price_currency: "EUR" },
    });
  });

  test("keeps at most 100 errors", async () => {
    const source = await shop("errors");
    feeds.route("/errors", {
      body: json(Array.from({ length: 250 }, (_, i) => ({ id: `${i}`, price: "x" }))),
    });
    const run = await sync(server, source);
    expect([run.documents_failed, run.errors.length, run.errors[99]!.item]).toEqual([250, 100, 100]);
  });

  test("asks whether the feed has changed, and trusts the answer only if nobody else has written", async () => {
    const source = await shop("etag");
    feeds.route("/etag", { body: json(items(3)), headers: { etag: '"one"' } });
    expect(await sync(server, source)).toMatchObject({ documents_imported: 3, not_modified: false });
    expect(await sync(server, source)).toMatchObject({ status: "completed", not_modified: true, bytes: 0 });
    await server.delete("/v1/indexes/etag/documents/p1");
    expect(await sync(server, source)).toMatchObject({
      not_modified: false,
      documents_imported: 1,
      documents_unchanged: 2,
    });
    expect(await sync(server, source)).toMatchObject({ not_modified: true });
    expectStatus(await server.patch(source.path, { field_map: { title: "name" } }), 200);
    expect(await sync(server, source)).toMatchObject({ not_modified: false, documents_imported: 3 });
    expect(Object.values(await documentsOf(server, "etag"))[0]).toHaveProperty("name");
  });

  test("shows its progress, is returned by another sync-now, and can be cancelled", async () => {
    const source = await shop("slow");
    let goOn = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    feeds.route("/slow", {
      body: async function* () {
        yield Buffer.from(
          items(5_000)
            .map((item) => JSON.stringify(item))
            .join("\n"),
        );
        await waiting;
        yield Buffer.from(`\n${JSON.stringify({ id: "late", title: "late" })}`);
      },
    });
    const id = await syncNow(server, source);
    await eventually(
      async () => (await runOf(server, source, id)).documents_imported >= 1_000,
      "it has begun",
    );
    expect(await runOf(server, source, id)).toMatchObject({ status: "running", finished_at: null });
    const again = await server.post(`${source.path}/sync-now`);
    expect([again.status, again.json.data.run_id]).toEqual([200, id]);
    const cancelled = await server.post(`${source.path}/runs/${id}/cancel`);
    expect(cancelled.json.data).toMatchObject({ id, status: "cancelled", error: null, error_code: null });
    goOn();
    expect(Object.keys(await documentsOf(server, "slow")).length).toBeGreaterThanOrEqual(1_000);
    const over = await server.raw("POST", `${source.path}/runs/${id}/cancel`);
    expect([over.status, over.json.code]).toEqual([409, "SK-DS-409"]);
    expect((await server.raw("GET", `${source.path}/runs/999`)).json.code).toBe("SK-DS-404");
  });

  test("ends when its source or its index is deleted", async () => {
    for (const what of ["source", "index"]) {
      const source = await shop(`gone-${what}`);
      feeds.route(`/gone-${what}`, { body: json(items(3)), stallAfter: 20 });
      const id = await syncNow(server, source);
      await eventually(async () => (await runOf(server, source, id)).status === "running", "it runs");
      expectStatus(await server.delete(what === "source" ? source.path : `/v1/indexes/gone-${what}`), 200);
    }
    await feeds.quiet();
  });
});

describe("sync mode replace", () => {
  const server = sharedServer({ shards: 2, config: FROM_LOOPBACK });

  async function shop(name: string, body: object = {}) {
    await server.createIndex(name, SCHEMA);
    feeds.route(`/${name}`, { body: json(items(10)) });
    const source = await makeSource(server, name, {
      url: feeds.url(`/${name}`),
      format: "json",
      sync_mode: "replace",
      ...body,
    });
    expect(await sync(server, source)).toMatchObject({ status: "completed", documents_imported: 10 });
    return source;
  }

  const idsOf = async (index: string): Promise<string[]> =>
    Object.keys(await documentsOf(server, index)).sort();

  test("deletes documents missing from the feed, and keeps failed ones", async () => {
    const source = await shop("less");
    const list = [
      ...items(6),
      { id: "p6", title: "broken", price: "?" },
      { id: "p7", title: "wrong", price: "no" },
    ];
    feeds.route("/less", { body: json(list) });
    const run = await sync(server, source);
    expect(run).toMatchObject({
      status: "completed",
      documents_unchanged: 6,
      documents_failed: 2,
      documents_deleted: 2,
    });
    expect(await idsOf("less")).toEqual(["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"]);
    expect((await documentsOf(server, "less")).p6).toMatchObject({ title: "chair 6" });
  });

  test.each([
    ["an empty feed", { body: "[]" }, "SK-DS-409"],
    ["a feed with few items", { body: json(items(4)) }, "SK-DS-409"],
    ["a truncated feed", { body: json(items(10)).slice(0, 200) }, "SK-DS-520"],
    ["a feed in another format", { body: "<html>closed</html>" }, "SK-DS-422"],
    ["a missing feed", { status: 404 }, "SK-DS-502"],
  ])("deletes nothing for %s", async (name, answer, code) => {
    const index = name.replaceAll(" ", "-");
    const source = await shop(index);
    feeds.route(`/${index}`, answer);
    const run = await sync(server, source);
    expect(run).toMatchObject({ status: "failed", error_code: code, documents_deleted: 0 });
    expect(run.error).not.toBe("");
    expect((await idsOf(index)).length).toBe(10);
  });

  test("deletes nothing for a feed that nobody can tell from one that was cut between two lines", async () => {
    const head = "HTTP/1.1 200 OK\r\nconnection: close\r\netag: 1\r\n";
    const source = await shop("lines");
    feeds.route("/lines", { raw: `${head}\r\n${LINES}` });
    for (let times = 0; times < 2; times++) {
      expect(await sync(server, source)).toMatchObject({
        status: "failed",
        error_code: "SK-DS-520",
        error:
          "the feed may be incomplete, because its server states neither its length nor its end, so nothing was deleted",
        documents_unchanged: 8,
        documents_deleted: 0,
      });
    }
    expect((await idsOf("lines")).length).toBe(10);
    await server.patch(source.path, { sync_mode: "upsert" });
    for (let times = 0; times < 2; times++)
      expect(await sync(server, source)).toMatchObject({ status: "completed", not_modified: false });
    await server.patch(source.path, { sync_mode: "replace" });
    const all = items(10).map((item) => `${JSON.stringify(item)}\n`);
    feeds.route("/lines", { raw: `${head}\r\n${all.join("")}` });
    expect(await sync(server, source)).toMatchObject({ status: "completed", documents_unchanged: 10 });
  });

  test.each<[string, string, Uint8Array | string]>([
    ["lines in chunks", "transfer-encoding: chunked", chunk(LINES) + chunk("")],
    ["lines in gzip", "content-encoding: gzip", gzipSync(LINES)],
    ["an array", "x: y", json(items(8))],
  ])(
    "deletes what is missing from %s without a length, because they end visibly",
    async (name, header, body) => {
      const index = name.replaceAll(" ", "-");
      const source = await shop(index);
      const head = `HTTP/1.1 200 OK\r\nconnection: close\r\n${header}\r\n\r\n`;
      feeds.route(`/${index}`, { raw: Buffer.concat([Buffer.from(head), Buffer.from(body)]) });
      expect(await sync(server, source)).toMatchObject({ status: "completed", documents_deleted: 2 });
    },
  );

  test.each([
    ["has no id", items(10).map((item, i) => (i === 3 ? { title: item.title } : item))],
    ["has an id that is too long", [{ id: "x".repeat(513), title: "chair" }, ...items(9)]],
    ["is not a product at all", [{ message: "quota exceeded" }]],
  ])("deletes nothing when an item %s", async (name, list) => {
    const index = name.replaceAll(" ", "-");
    const source = await shop(index, { max_delete_ratio: 1 });
    feeds.route(`/${index}`, { body: json(list) });
    const run = await sync(server, source);
    expect(run).toMatchObject({ status: "failed", error_code: "SK-DS-422", documents_deleted: 0 });
    expect(run.error).toBe("the feed has 1 item whose id cannot be read, so nothing was deleted");
    expect((await idsOf(index)).length).toBe(10);
  });

  test("deletes up to the allowed ratio, and everything if allowed", async () => {
    const source = await shop("half");
    feeds.route("/half", { body: json(items(5)) });
    expect(await sync(server, source)).toMatchObject({ status: "completed", documents_deleted: 5 });
    await server.patch(source.path, { max_delete_ratio: 1 });
    feeds.route("/half", { body: json([{ id: "other", title: "other" }]) });
    expect(await sync(server, source)).toMatchObject({
      status: "completed",
      documents_deleted: 5,
      documents_imported: 1,
    });
    expect(await idsOf("half")).toEqual(["other"]);
  });

  test("keeps what other clients write during the run", async () => {
    const source = await shop("pushed", { max_delete_ratio: 1 });
    let goOn = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    feeds.route("/pushed", {
      body: async function* () {
        yield Buffer.from(json(items(1)).replace("]", ",") + PADDING);
        await waiting;
        yield Buffer.from(json(items(2).slice(1)).replace("[", ""));
      },
    });
    const id = await syncNow(server, source);
    await eventually(async () => (await runOf(server, source, id)).documents_unchanged === 1, "it has begun");
    const documents = [
      { id: "p5", title: "pushed again" },
      { id: "mine", title: "pushed" },
    ];
    expectStatus(await server.post("/v1/indexes/pushed/documents/batch", { documents }), 200);
    goOn();
    expect(await ended(server, source, id)).toMatchObject({ status: "completed", documents_deleted: 7 });
    expect(await idsOf("pushed")).toEqual(["mine", "p0", "p1", "p5"]);
  });
});

describe("refused credentials", () => {
  const server = sharedServer({ shards: 1, config: FROM_LOOPBACK });

  test("suspend the schedule and raise an incident, until a run with other credentials completes", async () => {
    await server.createIndex("shop", SCHEMA);
    feeds.route("/auth", { body: json(items(2)), basicAuth: { username: "shop", password: "right" } });
    const basic_auth = { username: "shop", password: "wrong" };
    const source = await makeSource(server, "shop", {
      url: feeds.url("/auth"),
      format: "json",
      schedule: "daily",
      basic_auth,
    });
    const asked = feeds.requests.length;
    const run = await sync(server, source);
    expect(run).toMatchObject({ status: "auth_failed", error_code: "SK-DS-401", documents_imported: 0 });
    expect(feeds.requests.length - asked).toBe(1);
    expect((await server.get(source.path)).json.data).toMatchObject({ suspended: true, next_run_at: null });
    const incident = {
      code: "SK-DS-401",
      index: "shop",
      data_source_id: source.id,
      run_id: run.id,
      status: "open",
      resolved_at: null,
    };
    const incidents = async (query = "") =>
      (await server.get(`/v1/incidents${query}`)).json.data as unknown as object[];
    expect(await incidents()).toEqual([expect.objectContaining(incident)]);
    expect(await incidents("?status=resolved")).toEqual([]);
    expect(await incidents("?index=other")).toEqual([]);
    expect((await server.raw("GET", "/v1/incidents?status=new")).json.code).toBe("SK-DS-400");
    await server.patch(source.path, { basic_auth: { username: "shop", password: "right" } });
    const resumed = (await server.get(source.path)).json.data;
    expect(resumed.suspended).toBe(false);
    expect(resumed.next_run_at).not.toBeNull();
    expect(await incidents("?status=open")).toHaveLength(1);
    expect(await sync(server, source)).toMatchObject({ status: "completed", documents_imported: 2 });
    expect(await incidents("?status=open&index=shop")).toEqual([]);
    expect(await incidents("?status=resolved")).toEqual([
      expect.objectContaining({ ...incident, status: "resolved", resolved_at: expect.any(String) }),
    ]);
    expect(JSON.stringify(server.log)).not.toMatch(/right|wrong/);
  });
});

describe("the address guard", () => {
  const server = sharedServer({ shards: 1, config: { feeds: { allow_hosts: ["localhost"] } } });

  test("refuses a redirect to a forbidden address, which is never contacted", async () => {
    await server.createIndex("shop", SCHEMA);
    const trap = await startFeedServer();
    feeds.route("/away", { status: 302, headers: { location: trap.url("/secret") } });
    const source = await makeSource(server, "shop", { url: feeds.url("/away", "localhost"), format: "json" });
    expect(await sync(server, source)).toMatchObject({ status: "failed", error_code: "SK-DS-403" });
    expect(trap.requests).toEqual([]);
    await trap.close();
  });
});
