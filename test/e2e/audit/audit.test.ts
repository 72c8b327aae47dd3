// The audit log: every change by every key is logged, and only the bootstrap admin key can read the log.
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AuditEntry } from "../../../server/access/audit/entry.js";
import { AUDIT_ACTIONS } from "../../../server/access/audit/operations.js";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { FROM_LOOPBACK } from "../world/feeds.js";
import { ADMIN_KEY, type CallOptions, eventually, expectStatus, type TestServer } from "../world/harness.js";
import { runProgram } from "../world/program.js";
import type { Reply } from "../world/reply.js";
import { serverOverEachHttp, sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const SHOP = "/v1/indexes/shop";
const SOURCES = `${SHOP}/data-sources`;

interface Page {
  readonly entries: readonly AuditEntry[];
  readonly next?: number;
}

async function page(server: TestServer, parameters = ""): Promise<Page> {
  const reply = await server.get(`/v1/audit${parameters}`);
  expectStatus(reply, 200);
  return reply.json.data as unknown as Page;
}

const newest = async (server: TestServer) => (await page(server, "?limit=1")).entries[0]!;

let feeds: FeedServer;
beforeAll(async () => {
  feeds = await startFeedServer();
  feeds.route("/slow.json", { body: '[{"id":"1","title":"x"}]', stallAfter: 5 });
});
afterAll(() => feeds.close());

/**
 * Runs searches that find nothing, so that the coach makes recommendations. Returns the recommendations' ids.
 */
async function searchForNothing(server: TestServer): Promise<number[]> {
  for (const q of ["zorvex", "quilm"])
    for (let i = 0; i < 12; i++) expectStatus(await server.query("shop", { q, user_id: `u${i}` }), 200);
  let ids: number[] = [];
  await eventually(async () => {
    const { data } = (await server.post(`${SHOP}/coach/analyze`, {})).json;
    ids = (data.recommendations as { id: number }[]).map(({ id }) => id);
    return ids.length >= 2;
  }, "the coach has found something");
  return ids;
}

async function send(server: TestServer, method: string, path: string, options: CallOptions): Promise<Reply> {
  const reply = await server.call(method, path, options);
  expect(reply.status, reply.text).toBeLessThan(300);
  return reply;
}

const servers = serverOverEachHttp({ shards: 1, config: FROM_LOOPBACK, quiet: true });

describe.each(servers)("each change over %s", (_http, server) => {
  test("every action leaves one line that says who, where, what and how it ended", async () => {
    const seen: string[] = [];
    let made: Record<string, unknown> = {};
    const change = async (
      action: string,
      [index, target]: [index: string | null, target: string | (() => unknown)],
      [method, path, body]: [method: string, path: string, body?: unknown],
    ): Promise<void> => {
      const reply = await send(server, method, path, { body });
      made = reply.json.data;
      seen.push(action);
      expect(await newest(server)).toEqual({
        seq: expect.any(Number),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        request_id: reply.headers["x-request-id"],
        tenant: "default",
        tenant_id: 1,
        key_id: null,
        address: "127.0.0.1",
        action,
        index,
        target: typeof target === "string" ? target : String(target()),
        status: reply.status,
      });
    };
    const id = () => made.id;

    await change("index.create", ["shop", "shop"], ["POST", "/v1/indexes", { name: "shop", schema: SCHEMA }]);
    await change("index.create", ["next", "next"], ["POST", "/v1/indexes", { name: "next", schema: SCHEMA }]);
    await change("index.update", ["shop", "shop"], ["PATCH", SHOP, { schema: SCHEMA }]);
    await change("settings.update", ["shop", "shop"], ["PATCH", `${SHOP}/settings`, { num_typos: 1 }]);
    await change(
      "settings.copy",
      ["next", "shop"],
      ["POST", "/v1/indexes/next/copy-settings-from", { source_index: "shop" }],
    );
    await change("index.swap", ["shop", "next"], ["POST", `${SHOP}/swap-with`, { target_index: "next" }]);
    await change("documents.delete", ["shop", "shop"], ["DELETE", `${SHOP}/documents?filter_by=title:x`]);

    const rule = { name: "up", type: "bury", effect: { documents: ["a"] } };
    await change("rule.create", ["shop", id], ["POST", `${SHOP}/ranking-rules`, rule]);
    const ofRule = `${SHOP}/ranking-rules/${made.id}`;
    await change("rule.update", ["shop", id], ["PATCH", ofRule, { priority: 2 }]);
    await change("rule.delete", ["shop", id], ["DELETE", ofRule]);

    const group = { type: "multi_way", synonyms: ["tv", "television"] };
    await change("synonyms.create", ["shop", id], ["POST", `${SHOP}/synonyms`, group]);
    const ofGroup = `${SHOP}/synonyms/${made.id}`;
    await change("synonyms.update", ["shop", id], ["PATCH", ofGroup, { enabled: false }]);
    await change("synonyms.delete", ["shop", id], ["DELETE", ofGroup]);

    const source = { url: feeds.url("/slow.json"), format: "json", schedule: "manual" };
    await change("source.create", ["shop", id], ["POST", SOURCES, source]);
    const ofSource = `${SOURCES}/${made.id}`;
    await change("source.update", ["shop", id], ["PATCH", ofSource, { enabled: true }]);
    const number = String(made.id);
    await change("source.sync", ["shop", number], ["POST", `${ofSource}/sync-now`]);
    const run = String(made.run_id);
    await change("run.cancel", ["shop", run], ["POST", `${ofSource}/runs/${run}/cancel`]);
    await change("source.delete", ["shop", number], ["DELETE", ofSource]);

    const [first, second] = await searchForNothing(server);
    const advice = "/v1/coach/recommendations";
    await change("recommendation.apply", [null, `${first}`], ["POST", `${advice}/${first}/apply`]);
    await change("recommendation.dismiss", [null, `${second}`], ["POST", `${advice}/${second}/dismiss`]);
    await change("person.forget", ["shop", "shop"], ["DELETE", `${SHOP}/analytics/people?user_id=u1`]);

    await change("key.create", [null, id], ["POST", "/v1/keys", { name: "web", scopes: ["search"] }]);
    const ofKey = `/v1/keys/${made.id}`;
    await change("key.update", [null, id], ["PATCH", ofKey, { name: "www" }]);
    await change("key.rotate", [null, id], ["POST", `${ofKey}/rotate`, {}]);
    await change("key.delete", [null, id], ["DELETE", ofKey]);

    await change("tenant.create", [null, id], ["POST", "/v1/tenants", { name: "brief" }]);
    const ofTenant = `/v1/tenants/${made.id}`;
    await change("tenant.update", [null, id], ["PATCH", ofTenant, { name: "short" }]);
    await change("tenant.delete", [null, id], ["DELETE", ofTenant]);

    await change("snapshot.create", [null, id], ["POST", "/v1/snapshots"]);
    const snapshot = `/v1/snapshots/${made.id}`;
    await eventually(
      async () => (await server.get(snapshot)).json.data.status === "complete",
      "the snapshot is written",
    );
    await change("snapshot.delete", [null, id], ["DELETE", snapshot]);
    await change("index.delete", ["next", "next"], ["DELETE", "/v1/indexes/next"]);

    expect([...new Set(seen)].sort()).toEqual([...AUDIT_ACTIONS].sort());
    const { entries } = await page(server, "?limit=1000");
    expect(entries.map(({ action }) => action)).toEqual(seen.reverse());
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from(seen, (_, i) => seen.length - i));
  });

  test("the file has the same entries, one per line, and only its owner can read it", async () => {
    const file = join(server.dataDir, "audit.ndjson");
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const { entries } = await page(server, "?limit=1000");
    expect(lines.reverse().map((line) => JSON.parse(line) as unknown)).toEqual(entries);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

describe.each(servers)("the audit log over %s", (_http, server) => {
  test("has no line for reads, document changes or refused requests", async () => {
    const { seq } = await newest(server);
    const { key } = (await server.post("/v1/keys", { name: "web", scopes: ["search", "documents"] })).json
      .data;
    const own = { key: key as string };
    expectStatus(await server.post(`${SHOP}/documents/batch`, { documents: [{ id: "a" }] }, own), 200);
    expectStatus(await server.query("shop", { q: "a" }), 200);
    expectStatus(await server.patch(`${SHOP}/documents/a`, { title: "b" }, own), 200);
    expectStatus(await server.delete(`${SHOP}/documents/a`, own), 200);
    expectStatus(await server.get("/v1/keys"), 200);
    expectStatus(await server.delete(SHOP, own), 403);
    expectStatus(await server.delete(SHOP, { key: "nobody" }), 401);
    expectStatus(await server.delete("/v1/keys/999"), 404);
    expectStatus(await server.post("/v1/indexes", { name: "shop", schema: SCHEMA }), 409);
    expectStatus(await server.patch(`${SHOP}/settings`, { num_typos: "many" }), 400);
    expect((await newest(server)).seq).toBe(seq + 1); // only the key's creation was logged
  });

  test("names key and tenant, and can be filtered and paged", async () => {
    const tenant = (await server.post("/v1/tenants", { name: "acme" })).json.data;
    const admin = tenant.admin_key as { id: number; key: string };
    await send(server, "POST", "/v1/indexes", { body: { name: "own", schema: SCHEMA }, key: admin.key });
    const headers = { "x-skein-tenant": "acme" }; // the bootstrap key belongs to no tenant
    await send(server, "PATCH", "/v1/indexes/own/settings", { body: { num_typos: 0 }, headers });
    const { entries } = await page(server, "?tenant=acme");
    expect(entries.map((entry) => [entry.action, entry.tenant_id, entry.key_id])).toEqual([
      ["settings.update", tenant.id, null],
      ["index.create", tenant.id, admin.id],
    ]);
    expect((await page(server, `?key_id=${admin.id}`)).entries).toEqual([entries[1]]);
    expect((await page(server, "?tenant=acme&key_id=bootstrap")).entries).toEqual([entries[0]]);
    expect((await page(server, "?tenant=acme&action=index.create")).entries).toEqual([entries[1]]);
    expect((await page(server, `?tenant=acme&before=${entries[0]!.time}`)).entries).toEqual([entries[1]]);
    const first = await page(server, "?tenant=acme&limit=1");
    expect(first).toEqual({ entries: [entries[0]], next: entries[0]!.seq });
    expect(await page(server, `?tenant=acme&limit=1&before=${first.next}`)).toEqual({
      entries: [entries[1]],
    });
    expect((await page(server, "?limit=0")).entries).toHaveLength(1);
    expect(await page(server, "?tenant=nobody")).toEqual({ entries: [] });
  });

  test("refuses other parameters", async () => {
    for (const wrong of ["limit=x", "before=yesterday", "action=key.steal", "key_id=web"]) {
      const reply = await server.raw("GET", `/v1/audit?${wrong}`);
      expect([reply.status, reply.json.code], wrong).toEqual([400, "SK-SYS-400"]);
      expect(reply.json.error).toContain(wrong.split("=")[0]);
    }
  });

  test("is closed to a key with the scope admin, because it shows other tenants", async () => {
    const { key } = (await server.post("/v1/keys", { name: "all", scopes: ["admin"] })).json.data;
    expectStatus(await server.get("/v1/audit", { key: key as string }), 403);
    expectStatus(await server.get("/v1/audit", { key: null }), 401);
  });
});

describe("small audit files", () => {
  const limits = { auditFileBytesMax: 1_000, auditFilesMax: 3 };
  const server = sharedServer({ shards: 1, config: { limits, trust_proxy: true }, quiet: true });

  test("are limited in number, also over restarts, and the pages span all of them", async () => {
    await server.createIndex("shop", SCHEMA);
    for (let i = 0; i < 20; i++) {
      expectStatus(await server.patch(`${SHOP}/settings`, { num_typos: i % 3 }), 200);
      if (i === 10) {
        await server.stop();
        await server.launch();
      }
    }
    const { entries } = await page(server);
    expect(entries[0]!.seq).toBe(21);
    expect(entries.length).toBeLessThan(15);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => 21 - i));
  });

  test("record the client's address behind a trusted proxy", async () => {
    const change = async (forwarded: string): Promise<string> => {
      const headers = { "x-forwarded-for": `10.9.9.9, ${forwarded}` };
      expectStatus(await server.patch(`${SHOP}/settings`, { num_typos: 2 }, { headers }), 200);
      return (await newest(server)).address;
    };
    expect(await change("192.0.2.7")).toBe("192.0.2.7");
    expect(await change("x".repeat(9_000))).toBe("127.0.0.1");
  });

  test("are counted in the metrics", async () => {
    const { text } = await server.raw("GET", "/metrics");
    expect(text).toMatch(/^skein_audit_lines_total [1-9]/m);
    expect(text).toContain("\nskein_audit_lines_dropped_total 0\n");
  });

  test("are printed by skein audit", async () => {
    const folder = mkdtempSync(join(tmpdir(), "skein-audit-cli-"));
    const env = { SKEIN_URL: server.url, SKEIN_API_KEY: ADMIN_KEY };
    const skein = (...args: string[]) =>
      runProgram("server/cli/main.js", ["audit", ...args], { folder, env });
    const { seq, time } = await newest(server);
    const table = await skein("--limit", "2");
    expect(table).toMatchObject({ code: 0, err: "" });
    expect(table.out).toMatch(new RegExp(`^${seq} .*settings\\.update`, "m"));
    expect(table.out).toContain(time);
    expect(table.out, "cut although no terminal reads it").not.toContain("…");
    expect(table.out).toContain(`For older entries: --before ${seq - 1}`);
    const json = await skein(
      "--json",
      "--action",
      "settings.update",
      "--key-id",
      "bootstrap",
      "--limit",
      "1",
    );
    expect((JSON.parse(json.out) as { data: Page }).data.entries[0]!.seq).toBe(seq);
    expect((await skein("--tenant", "nobody")).out).toBe("No matching entries.\n");
    expect(await skein("--action", "x")).toMatchObject({ code: 2, out: "" });
    rmSync(folder, { recursive: true });
  });
});
