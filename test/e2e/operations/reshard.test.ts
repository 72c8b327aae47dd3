// Restarting with a different number of shards: every document, every answer and the order of ties stay the
// same, and a kill -9 in the middle loses nothing.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { World } from "../faults/fault-world.js";
import { ADMIN_KEY, expectStatus, MAIN, sleep, TestServer } from "../world/harness.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "group", type: "string", facet: true },
    { name: "n", type: "int64" },
  ],
};

function documents(from: number, count: number) {
  return Array.from({ length: count }, (_, i) => from + i).map((n) => ({
    id: `d${n}`,
    // Few distinct titles, so most documents tie and are ordered by age.
    title: `thing kind${n % 7} ${n % 3 === 0 ? "fizz" : "plain"}`,
    group: `g${n % 5}`,
    n: n % 11,
    _internal: `hidden ${n}`,
  }));
}

/** Everything a client can see of an index, except times. */
async function view(server: TestServer, index: string): Promise<unknown> {
  const queries = [
    { q: "*", facets: ["group"], per_page: 250 },
    { q: "thing", facets: ["group"], per_page: 250, page: 2 },
    { q: "fizz thing", facets: ["group"], filter_by: "n:>3", per_page: 250 },
    { q: "fiz", sort: "n:asc", per_page: 100 },
    { q: "plian kind3", page: 2, per_page: 7 },
    { q: "thing", sort: "n:desc", per_page: 250 },
    { q: "renamed", per_page: 100 },
  ];
  const answers = [];
  for (const body of queries) {
    const reply = await server.query(index, body);
    expectStatus(reply, 200);
    const { search_time_ms: _time, query_id: _id, ...rest } = reply.json;
    answers.push(rest);
  }
  const exported = (await server.raw("GET", `/v1/indexes/${index}/documents/export`)).text;
  const { data } = (await server.get(`/v1/indexes/${index}`)).json;
  return { answers, data, documents: exported.trim().split("\n").sort() };
}

/** Inserts, replaces, patches and deletes documents, to mix documents of different ages with deleted ones. */
async function fill(server: TestServer, index: string, count: number): Promise<void> {
  await server.createIndex(index, SCHEMA);
  const write = async (body: object): Promise<void> => {
    const reply = await server.post(`/v1/indexes/${index}/documents/batch`, body);
    expect(reply.json.data, reply.text).toMatchObject({ failed: 0 });
  };
  for (let from = 0; from < count; from += 500)
    await write({ documents: documents(from, Math.min(500, count - from)) });
  await write({ documents: documents(20, 60) });
  await write({
    action: "update",
    documents: documents(100, 30).map(({ id }) => ({ id, title: "renamed thing" })),
  });
  await write({ action: "delete", documents: documents(200, 50).map(({ id }) => ({ id })) });
}

describe("changing the number of shards", () => {
  let dataDir = "";
  const open: TestServer[] = [];

  const start = async (shards: number): Promise<TestServer> => {
    const server = await TestServer.start({ dataDir, shards });
    open.push(server);
    return server;
  };

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), "skein-test-"));
  });

  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
    rmSync(dataDir, { recursive: true, force: true });
  });

  test("1 -> 3 -> 2 (-> 1) changes no answer, and writes still work", async () => {
    let server = await start(1);
    await fill(server, "things", 1200);
    await fill(server, "others", 300);
    await server.createIndex("empty", SCHEMA);
    expectStatus(await server.delete("/v1/indexes/others/documents/d7"), 200);
    const indexes = ["things", "others", "empty"];
    for (const shards of effort([3, 2], [3, 2, 1])) {
      const before = [];
      for (const index of indexes) before.push(await view(server, index));
      expect(await server.stop()).toBe(0);
      server = await start(shards);
      expect(readdirSync(join(dataDir, "shards")).sort()).toEqual(
        Array.from({ length: shards }, (_, shard) => String(shard)),
      );
      expect(existsSync(join(dataDir, "shards.new")) || existsSync(join(dataDir, "shards.old"))).toBe(false);
      const lines = server.log.filter(({ msg }) => msg === "the documents are redistributed");
      expect(lines).toEqual([expect.objectContaining({ percent: 100, documents: 1399, of: 1399 })]);
      for (const [i, index] of indexes.entries()) expect(await view(server, index)).toEqual(before[i]);
      // A newer document ranks before the documents that it ties with, and a document that is sent again is
      // replaced.
      const next = { id: "last", title: "thing kind1 plain", group: "g9", n: 1 };
      expectStatus(await server.post("/v1/indexes/things/documents/batch", { documents: [next] }), 200);
      const newest = await server.query("things", { q: "*", per_page: 1 });
      expect(newest.json.hits[0]!.document.id).toBe("last");
      expectStatus(await server.delete("/v1/indexes/things/documents/last"), 200);
    }
  });

  test("a field added just before is indexed afterwards", async () => {
    let server = await start(2);
    await fill(server, "things", 300);
    const fields = [...SCHEMA.fields, { name: "extra", type: "string" }];
    expectStatus(await server.patch("/v1/indexes/things", { schema: { fields } }), 200);
    await server.stop("SIGKILL");
    server = await start(3);
    const reply = await server.query("things", { q: "thing", facets: ["group"], per_page: 0 });
    expect(reply.json.found).toBe(250);
    const { data } = (await server.get("/v1/indexes/things")).json;
    expect(data).toMatchObject({ status: "active", records_count: 250 });
  });

  test("kill -9 in the middle, again and again, loses nothing; nor does going back", async () => {
    let server = await start(1);
    for (const index of ["a", "b", "c"]) await fill(server, index, effort(400, 2500));
    const before = [];
    for (const index of ["a", "b", "c"]) before.push(await view(server, index));
    await server.stop();
    // each of these starts is killed once it has moved one more index, the later ones at arbitrary moments
    for (let moved = 1; moved <= effort(1, 3); moved++) {
      const faults = new World();
      faults.arm("reshard.after-index", "kill");
      const { code, text } = await faults.startAndEnd(3, dataDir);
      expect(code, text).toBe(null);
      await faults.close();
    }
    for (const ms of effort([60], [0, 150, 50, 300, 100])) await cutShort(dataDir, 3, ms);
    server = await start(3);
    for (const [i, index] of ["a", "b", "c"].entries()) expect(await view(server, index)).toEqual(before[i]);
    await server.stop();
    await cutShort(dataDir, 2, 100);
    server = await start(3);
    for (const [i, index] of ["a", "b", "c"].entries()) expect(await view(server, index)).toEqual(before[i]);
    expect(existsSync(join(dataDir, "shards.new"))).toBe(false);
  });
});

/**
 * Starts a server with `shards` shards and kills it `ms` milliseconds after it logs that it is moving
 * documents or listening, whichever comes first.
 */
async function cutShort(dataDir: string, shards: number, ms: number): Promise<void> {
  const args = ["--port", "0", "--data-dir", dataDir, "--shards", String(shards), "--admin-key", ADMIN_KEY];
  const child = spawn(process.execPath, [MAIN, "serve", ...args], {
    cwd: tmpdir(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  await begun(child);
  await sleep(ms);
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await gone;
}

/**
 * Resolves once the server logs that it is moving documents or listening. Rejects if it exits before that.
 */
function begun(child: ChildProcess): Promise<void> {
  let output = "";
  return new Promise((resolve, reject) => {
    child.once("exit", () => reject(new Error(`the server exited on its own:\n${output}`)));
    child.stdout!.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.includes("redistributing the documents") || output.includes('"msg":"listening"')) resolve();
    });
  });
}
