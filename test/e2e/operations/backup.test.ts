// Snapshots of a running server: a snapshot shows all shards and the catalog at the same moment and can be
// restored into another directory. Damaged snapshots, snapshots from newer versions and existing target
// directories are refused.
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { BlockedShards } from "../world/blocked-shards.js";
import { ADMIN_KEY, eventually, expectStatus, MAIN, meanwhile, TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const BATCH = 30;
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "batch", type: "string", facet: true },
  ],
};

interface Snapshot {
  id: string;
  status: string;
  bytes: number;
  documents: number;
  path: string;
}

function batch(number: number, round = 0) {
  return Array.from({ length: BATCH }, (_, i) => ({
    id: `b${number}-${i}`,
    title: `thing number${i} round${round}`,
    batch: `b${number}`,
  }));
}

async function skein(args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: tmpdir() });
  let [out, err] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, out: out.trim(), err: err.trim() };
}

/** Takes a snapshot over HTTP and waits until it ends. */
async function take(server: TestServer): Promise<Snapshot> {
  const reply = await server.post("/v1/snapshots");
  expectStatus(reply, 202);
  let data = reply.json.data as unknown as Snapshot;
  const { id } = data;
  await eventually(async () => {
    data = (await server.get(`/v1/snapshots/${id}`)).json.data as unknown as Snapshot;
    return data.status !== "running";
  }, "the snapshot is written");
  expect(data).toMatchObject({ status: "complete", error: null });
  return data;
}

const blocked = new BlockedShards();
const server = sharedServer({
  shards: 3,
  // A thread blocked by a test must not be mistaken for a hanging one.
  config: { limits: { shardHangMsMax: 3_600_000 } },
  env: blocked.env,
});
afterAll(() => blocked.close());
const directories: string[] = [];
const restored: TestServer[] = [];

const fresh = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "skein-test-"));
  directories.push(directory);
  return directory;
};
const restore = async (from: string): Promise<TestServer> => {
  const dataDir = fresh();
  const { code, err } = await skein(["restore", from, "--data-dir", dataDir]);
  expect(code, err).toBe(0);
  const copy = await TestServer.start({ dataDir, shards: 3 });
  restored.push(copy);
  return copy;
};

afterEach(async () => {
  await Promise.all(restored.splice(0).map((copy) => copy.close()));
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

describe("snapshots", () => {
  test("contain every earlier acknowledged write, whole batches, and nothing later, under continuous writes", async () => {
    await server.createIndex("live", SCHEMA);
    let started = 0;
    const acknowledged = new Set<number>();
    const writer = async () => {
      const number = started++;
      const reply = await server.post("/v1/indexes/live/documents/batch", { documents: batch(number) });
      expectStatus(reply, 200);
      acknowledged.add(number);
    };
    const reader = async () => expectStatus(await server.query("live", { q: "thing" }), 200);
    const moments: { before: number[]; after: number; path: string; documents: number }[] = [];
    await meanwhile([writer, writer, writer, writer, reader, reader], async () => {
      for (let round = 0; round < effort(2, 8); round++) {
        const written = acknowledged.size;
        await eventually(async () => acknowledged.size > written, "another batch is acknowledged");
        const before = [...acknowledged];
        const { path, documents } = await take(server);
        moments.push({ before, after: started, path, documents });
      }
    });
    for (const { before, after, path, documents } of moments) {
      const copy = await restore(path);
      const reply = await copy.query("live", { q: "*", facets: ["batch"], per_page: 0, facet_limit: 1000 });
      const found = new Set<string>();
      const exported = await copy.raw("GET", "/v1/indexes/live/documents/export");
      for (const line of exported.text.trim().split("\n")) found.add((JSON.parse(line) as { id: string }).id);
      expect(reply.json.found).toBe(found.size);
      expect(found.size).toBe(documents);
      for (let number = 0; number < started; number++) {
        const there = batch(number).filter(({ id }) => found.has(id)).length;
        expect([0, BATCH], `batch ${number} is whole or not there`).toContain(there);
        if (before.includes(number)) expect(there, `batch ${number} was acknowledged before`).toBe(BATCH);
        if (number >= after) expect(there, `batch ${number} began later`).toBe(0);
      }
      await copy.close();
    }
  });

  test("contain an index under creation in every shard or in none", async () => {
    let made = 0;
    const fields = [{ name: "title", type: "string" }];
    const taken: Snapshot[] = [];
    const maker = async () =>
      expectStatus(await server.post("/v1/indexes", { name: `made${made++}`, schema: { fields } }), 201);
    await meanwhile(new Array(8).fill(maker), async () => {
      while (taken.length < effort(2, 3)) taken.push(await take(server));
    });
    for (const { path } of taken) {
      const dataDir = fresh();
      expect((await skein(["restore", path, "--data-dir", dataDir])).code).toBe(0);
      const { code, out } = await skein(["check", "--data-dir", dataDir]);
      expect(code, out).toBe(0);
    }
    for (let i = 0; i < made; i++) expectStatus(await server.delete(`/v1/indexes/made${i}`), 200);
  });

  test("are known from the POST's reply on, even at the moment they complete", async () => {
    for (let round = 0; round < effort(2, 10); round++) {
      const { id } = (await server.post("/v1/snapshots")).json.data as unknown as Snapshot;
      const watch = async (): Promise<void> => {
        for (let status = "running"; status === "running"; ) {
          const reply = await server.get(`/v1/snapshots/${id}`);
          expectStatus(reply, 200);
          status = (reply.json.data as unknown as Snapshot).status;
        }
      };
      await Promise.all(Array.from({ length: 8 }, watch));
    }
  });

  test("restore indexes, settings, keys and answers, and the result is writable", async () => {
    await server.createIndex("shop", SCHEMA, [...batch(1), ...batch(2)]);
    expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents: batch(2, 7) }), 200);
    expectStatus(await server.patch("/v1/indexes/shop/settings", { num_typos: 1 }), 200);
    const key = (await server.post("/v1/keys", { name: "reader", scopes: ["search"] })).json.data
      .key as string;
    const ask = async (at: TestServer) => {
      const {
        search_time_ms: _time,
        query_id: _id,
        ...rest
      } = (
        await at.post(
          "/v1/indexes/shop/query",
          { q: "thing round7", per_page: 100, facets: ["batch"] },
          { key },
        )
      ).json;
      return [rest, (await at.get("/v1/indexes/shop/settings")).json.data];
    };
    const before = await ask(server);
    const { path } = await take(server);
    expectStatus(await server.delete("/v1/indexes/shop"), 200);
    const copy = await restore(path);
    expect(await ask(copy)).toEqual(before);
    expectStatus(await copy.post("/v1/indexes/shop/documents/batch", { documents: batch(3) }), 200);
    expect((await copy.query("shop", { q: "*", per_page: 0 })).json.found).toBe(3 * BATCH);
  });

  test("restore past searches, and none made after the snapshot", async () => {
    const searched = async (at: TestServer, index: string) =>
      (await at.get(`/v1/indexes/${index}/analytics/queries`)).json.data as unknown;
    await server.createIndex("logged", SCHEMA, batch(1));
    expectStatus(await server.query("logged", { q: "thing round0" }), 200);
    const { path } = await take(server);
    const dataDir = fresh();
    const later = new TestServer({ dataDir, shards: 3 });
    restored.push(later);
    expect((await skein(["restore", path, "--data-dir", dataDir])).code).toBe(0);
    await later.launch();
    const before = [{ query: "thing round0", count: 1, avg_results: BATCH, ctr: 0 }];
    expect(await searched(later, "logged")).toEqual(before);
    await later.createIndex("another", SCHEMA, batch(2));
    for (const index of ["logged", "another"]) expectStatus(await later.query(index, { q: "later" }), 200);
    expect(await searched(later, "another")).toHaveLength(1);
    await later.stop();
    expect((await skein(["restore", path, "--data-dir", dataDir, "--force"])).code).toBe(0);
    await later.launch();
    expect(await searched(later, "logged")).toEqual(before);
    await later.createIndex("another", SCHEMA, batch(2)); // gets the number that the first "another" had
    expect(await searched(later, "another")).toEqual([]);
  });
});

describe("snapshots managed by an operator", () => {
  test("are listed, removed, and taken one at a time, with the bootstrap key only", async () => {
    const refused: Reply[] = [];
    const asked = await blocked.while(1, async () => {
      const replies = Array.from({ length: 5 }, () => server.post("/v1/snapshots"));
      for (const reply of replies) void reply.then((one) => refused.push(one));
      await eventually(async () => refused.length === 4, "all but one are answered");
      return { replies };
    });
    expect(refused.slice(0, 4).map(({ json }) => json.code)).toEqual(new Array(4).fill("SK-SYS-409"));
    const statuses = (await Promise.all(asked.replies)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([202, 409, 409, 409, 409]);
    let list: Snapshot[] = [];
    await eventually(async () => {
      list = (await server.get("/v1/snapshots")).json.data as unknown as Snapshot[];
      return list.every(({ status }) => status === "complete");
    }, "all are complete");
    expect(list.at(-1)).toMatchObject({ indexes: expect.any(Number), shards: 3 });
    for (const { id, bytes, path } of list) {
      expect(readdirSync(path)).toContain("manifest.json");
      expect(bytes).toBeGreaterThan(0);
      expect((await server.delete(`/v1/snapshots/${id}`)).json.data).toEqual({ id, deleted: true });
      expect(existsSync(path)).toBe(false);
      expectStatus(await server.get(`/v1/snapshots/${id}`), 404);
    }
    expect((await server.get("/v1/snapshots")).json.data).toEqual([]);
    for (const id of ["..%2F..", "catalog", "20260101-000000-..%2F.."])
      expectStatus(await server.delete(`/v1/snapshots/${id}`), 404);
    const admin = (await server.post("/v1/keys", { name: "admin", scopes: ["admin"] })).json.data
      .key as string;
    for (const method of ["GET", "POST"])
      expectStatus(await server.call(method, "/v1/snapshots", { key: admin }), 403);
  });

  test("are refused by skein backup and restore when damaged, too new or in the way", async () => {
    await server.createIndex("kept", SCHEMA, batch(1));
    const copy = join(fresh(), "copy");
    const connection = ["--url", server.url, "--key", ADMIN_KEY];
    expectStatus(await server.query("kept", { q: "thing" }), 200);
    const backup = await skein(["backup", "--to", copy, ...connection]);
    expect(backup, backup.err).toMatchObject({ code: 0, out: copy });
    expect((await skein(["backup", "--to", copy, ...connection])).err).toMatch(/is not empty/);
    const printed = await skein(["backup", ...connection]);
    expect(existsSync(join(printed.out, "manifest.json"))).toBe(true);

    const target = fresh();
    const inUse = await skein(["restore", copy, "--data-dir", server.dataDir, "--force"]);
    expect(inUse).toMatchObject({ code: 2, err: expect.stringMatching(/is running on the data directory/) });
    expect((await skein(["restore", target, "--data-dir", target])).err).toMatch(/not a backup/);
    for (const name of ["manifest.json", "catalog.skb", "shard-1.skb", "analytics.skb"]) {
      const bad = join(fresh(), "bad");
      cpSync(copy, bad, { recursive: true });
      const bytes = readFileSync(join(bad, name));
      bytes[Math.floor(bytes.length / 2)]! ^= 1;
      writeFileSync(join(bad, name), bytes);
      const { code, err } = await skein(["restore", bad, "--data-dir", target]);
      expect([code, err], name).toEqual([2, expect.stringMatching(/damaged/)]);
    }
    const newer = join(fresh(), "newer");
    cpSync(copy, newer, { recursive: true });
    const text = readFileSync(join(newer, "manifest.json"), "utf8");
    writeFileSync(join(newer, "manifest.json"), text.replace('"version": 1', '"version": 2'));
    expect((await skein(["restore", newer, "--data-dir", target])).err).toMatch(
      /backup format 2; this version/,
    );
    expect(readdirSync(target)).toEqual([]);

    expect((await skein(["restore", copy, "--data-dir", target])).code).toBe(0);
    const first = await TestServer.start({ dataDir: target, shards: 3 });
    await first.createIndex("gone", SCHEMA, batch(5));
    await first.stop();
    expect((await skein(["restore", copy, "--data-dir", target])).err).toMatch(/already contains data/);
    const forced = await skein(["restore", copy, "--data-dir", target, "--force"]);
    expect(forced.code, forced.err).toBe(0);
    await first.launch();
    expectStatus(await first.get("/v1/indexes/gone"), 404);
    expect((await first.query("kept", { q: "*", per_page: 0 })).json.found).toBe(BATCH);
    await first.close();
  });
});
