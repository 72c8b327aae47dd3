// `skein analytics` and `skein coach` as people and scripts use them: output, exit codes, and accepting or
// rejecting a recommendation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN_KEY, expectStatus } from "../world/harness.js";
import { type ProgramRun, runProgram } from "../world/program.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const DOCUMENTS = ["trouser 1", "trouser 2", "trouser 3", "belt", "sock"].map((title, i) => ({
  id: `p${i}`,
  title,
}));
const VISITORS = 24;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "skein-coach-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Visitors search for "slax", find nothing, then search for "trouser" and click. Others search for a belt and
 * a sock, in either order.
 */
const server = sharedServer({ shards: 1 }, async (server) => {
  await server.createIndex("shop", SCHEMA, DOCUMENTS);
  for (let i = 0; i < VISITORS; i++) {
    const user_id = `u${i}`;
    expectStatus(await server.query("shop", { q: "slax", user_id }), 200);
    const { query_id } = (await server.query("shop", { q: "trouser", user_id })).json;
    const click = { type: "click", query_id, document_id: "p1", position: 2, user_id };
    expectStatus(await server.post("/v1/indexes/shop/events", click), 202);
    expectStatus(await server.query("shop", { q: "zorvex", user_id }), 200);
    const session_id = `s${i}`;
    for (const q of i % 2 === 0 ? ["belt", "sock"] : ["sock", "belt"]) {
      const other = (await server.query("shop", { q, session_id })).json.query_id as string;
      const bought = { type: "conversion", query_id: other, document_id: "p3", value: 7.5 };
      expectStatus(await server.post("/v1/indexes/shop/events", bought), 202);
    }
  }
});

function skein(...args: string[]): Promise<ProgramRun> {
  const env = { SKEIN_URL: server.url, SKEIN_API_KEY: ADMIN_KEY };
  return runProgram("server/cli/main.js", args, { folder, env });
}

test("reports are printed as tables, or as JSON", async () => {
  const top = await skein("analytics", "top", "shop", "--limit", "4");
  expect(top).toMatchObject({ code: 0, err: "" });
  expect(top.out).toMatch(
    /^searches +clicked +results +query\n.*\n24 +0\.0 % +1 +belt\n24 +0\.0 % +0 +slax\n24 +0\.0 % +1 +sock\n24 +100\.0 % +3 +trouser\n$/,
  );
  const missed = await skein("analytics", "no-results", "shop", "--days", "30");
  expect(missed.out).toMatch(/24 +slax\n24 +zorvex\n$/);
  const summary = await skein("analytics", "summary", "shop", "--interval", "hour");
  expect(summary.out).toMatch(/^searches: +120\nwithout results: +48 \(40\.0 %\)\nwith a click: +20\.0 %/);
  expect(summary.out).toMatch(/users: +48\n/);
  const json = await skein("analytics", "top", "shop", "--json");
  expect(JSON.parse(json.out).data).toHaveLength(5);
  expect((await skein("analytics", "top", "shop", "--from", "2020-01-01", "--to", "2020-01-02")).out).toBe(
    "No searches in this period.\n",
  );
});

test("a recommendation is found, shown, and applied or dismissed once", async () => {
  const analyzed = await skein("coach", "analyze", "shop", "--days", "1");
  expect(analyzed).toMatchObject({ code: 0, err: "" });
  expect(analyzed.out).toMatch(/^192 searches and events were analyzed\.\n/);
  const listed = JSON.parse((await skein("coach", "list", "shop", "--json")).out).data as {
    id: number;
    type: string;
  }[];
  const idOf = (type: string) => String(listed.find((one) => one.type === type)!.id);
  const synonym = idOf("missing_synonym");
  const gap = idOf("catalog_gap");
  const long = await skein("coach", "list", "shop", "--long");
  expect(long.out).toContain(`${synonym}  Let "slax" also find "trouser"`);

  expect((await server.query("shop", { q: "slax" })).json.found).toBe(0);
  const applied = await skein("coach", "apply", synonym);
  expect(applied).toMatchObject({ code: 0, err: "" });
  expect(applied.out).toMatch(/^"Let "slax" also find "trouser"" is applied: synonym \d+ is in force\.\n$/);
  expect((await server.query("shop", { q: "slax" })).json.found).toBe(3);
  expect((await skein("coach", "apply", synonym)).out).toBe(applied.out);
  const opposite = await skein("coach", "dismiss", synonym);
  expect([opposite.code, opposite.out]).toEqual([2, ""]);
  expect(opposite.err).toMatch(/SK-AI-409/);
  expect((await skein("coach", "dismiss", gap)).out).toMatch(
    /^"Nothing is found for "zorvex"" is dismissed\.\n$/,
  );
  expect((await skein("coach", "list", "shop", "--status", "applied")).out).toMatch(/missing_synonym/);
  expect((await skein("coach", "list", "shop")).out).not.toMatch(/missing_synonym|catalog_gap/);
  const again = await skein("coach", "analyze", "shop");
  expect(again.out).not.toMatch(/missing_synonym|catalog_gap/);
  expect(await skein("coach", "apply", "999999")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/SK-AI-404/),
  });
});

test("a person is forgotten by name", async () => {
  expect((await skein("analytics", "forget", "shop", "--user", "u3")).out).toBe(
    "4 searches and events are anonymous now.\n",
  );
  expect((await skein("analytics", "summary", "shop")).out).toMatch(/users: +47\n/);
  expect(await skein("analytics", "forget", "shop")).toMatchObject({
    code: 2,
    err: expect.stringMatching(/give either --user or --session/),
  });
});
