// Damage on a real server: what clients see when an index, a document, a shard database or the catalog is
// damaged. Everything undamaged is still served, and check and repair restore the index.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClassicLevel } from "classic-level";
import { describe, expect, test } from "vitest";
import { ENVELOPE_CATALOG, seal } from "../../../shards/storage/envelope.js";
import { deletedRowsKey, documentKey, manifestKey, pieceKey } from "../../../shards/storage/keyspace.js";
import { ADMIN_KEY, eventually, expectStatus, MAIN } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const OPTIONS = { keyEncoding: "view", valueEncoding: "view", compression: false } as const;
const documents = Array.from({ length: 40 }, (_, i) => ({ id: `d${i}`, title: `thing number${i}` }));

// Spreads the indexes over all shards: the tests look up records by the index's uid, but an index at home
// stores its records under another number (homeData).
const server = sharedServer({ config: { limits: { homeDocumentsMax: 1 } } }, async (server) => {
  await server.createIndex("hurt", SCHEMA, documents);
  await server.createIndex("well", SCHEMA, documents);
});
/** The first index created has uid 1. */
const UID = 1;

function skein(...args: string[]) {
  const result = spawnSync(process.execPath, [MAIN, ...args, "--data-dir", server.dataDir], {
    encoding: "utf8",
    cwd: tmpdir(),
  });
  return { status: result.status, text: result.stdout, errors: result.stderr };
}

/** Flips a bit in a stored value while the server is stopped; returns false if the key does not exist. */
async function damage(folder: string, key: Uint8Array): Promise<boolean> {
  const db = new ClassicLevel<Uint8Array, Uint8Array>(join(server.dataDir, folder), OPTIONS);
  const value = await db.get(key);
  if (value !== undefined) {
    const changed = Uint8Array.from(value);
    changed[changed.length >> 1]! ^= 4;
    await db.put(key, changed);
  }
  await db.close();
  return value !== undefined;
}

async function damageDocument(seq: number): Promise<number> {
  for (const shard of [0, 1]) if (await damage(`shards/${shard}`, documentKey(UID, seq))) return shard;
  throw new Error(`no shard has document ${seq}`);
}

/** Damages the first piece of one of the index's segments. Returns the piece's database and key. */
async function firstPiece(): Promise<{ database: string; key: Uint8Array }> {
  for (const shard of [0, 1]) {
    for (let segment = 1; segment < 100; segment++) {
      const found = { database: `shards/${shard}`, key: pieceKey(UID, segment, 0) };
      if (await damage(found.database, found.key)) return found;
    }
  }
  throw new Error("there is no segment");
}

async function expectHealthy(count: number): Promise<void> {
  const reply = await server.query("hurt", { q: "thing", per_page: 100 });
  expectStatus(reply, 200);
  expect(reply.json.found).toBe(count);
  expect(reply.json.hits.length).toBe(count);
  expect((await server.query("well", { q: "thing" })).json.found).toBe(40);
}

/**
 * Searches the index in a multi-search. Returns the error code of its slot, or undefined if the search
 * succeeded.
 */
async function slotCode(name: string): Promise<unknown> {
  const reply = await server.post("/v1/multi-search", { searches: [{ index: name, q: "thing" }] });
  expectStatus(reply, 200);
  return (reply.json.data.results as { code?: string }[])[0]!.code;
}

const statusOf = async (name: string): Promise<unknown> =>
  (await server.get(`/v1/indexes/${name}`)).json.data.status;

describe("a damaged index", () => {
  test("manifest: the index answers 503 and says why, all else works, and repair restores it", async () => {
    await server.stop();
    expect(await damage("shards/1", manifestKey(UID))).toBe(true);
    const check = skein("check");
    expect(check.status).toBe(1);
    expect(check.text).toContain('shard 1, index "hurt" (1)');
    expect(check.text).toContain("index 1, manifest: damaged");
    await server.launch();
    const refused = await server.query("hurt", { q: "thing" });
    expectStatus(refused, 503);
    expect(refused.json).toMatchObject({
      code: "SK-SE-503",
      error: expect.stringContaining(
        "index 1, manifest: damaged (length or checksum)); stop the server and run",
      ),
    });
    expect(await slotCode("hurt")).toBe("SK-SE-503");
    const write = await server.post("/v1/indexes/hurt/documents/batch", { documents });
    expectStatus(write, 503);
    // The server does not read a request's body if it cannot open the index.
    const csv = { headers: { "content-type": "text/csv" } };
    expectStatus(await server.post("/v1/indexes/hurt/documents/batch", { documents }, csv), 503);
    expect(await statusOf("hurt")).toBe("error");
    expect(await statusOf("well")).toBe("active");
    expect((await server.query("well", { q: "thing" })).json.found).toBe(40);
    expect((await server.get("/health/ready")).json.data).toMatchObject({ status: "ready", failed: 1 });
    expect(JSON.stringify(server.log)).toContain("index 1, manifest: damaged");
    await server.stop();
    expect(skein("repair", "--dry-run").text).toContain("rebuilt from");
    expect(skein("check").status).toBe(1);
    const repair = skein("repair");
    expect(repair.text).toContain("0 lost");
    expect(repair.status).toBe(0);
    await server.launch();
    await expectHealthy(40);
  });

  test("segment nobody reads: found soon after the start, and all else works", async () => {
    await server.stop();
    const piece = await firstPiece();
    await server.launch();
    expect((await server.query("well", { q: "thing" })).json.found).toBe(40);
    await eventually(
      async () => (await server.get("/health/ready")).json.data.unseen === 0,
      "every index has been checked",
    );
    expect((await server.get("/health/ready")).json.data).toEqual({ status: "ready", failed: 1, unseen: 0 });
    expect(await statusOf("hurt")).toBe("error");
    expect(JSON.stringify(server.log)).toMatch(/index 1, segment \d+, piece 0: damaged/);
    expectStatus(await server.query("hurt", { q: "thing" }), 503);
    await server.stop();
    await damage(piece.database, piece.key); // flips the same bit back
    await server.launch();
    await expectHealthy(40);
  });
});

describe("a damaged data directory", () => {
  test("document: only reads that need it are refused; repair drops and lists it", async () => {
    await server.stop();
    const shard = await damageDocument(5);
    await server.launch();
    const refused = await server.query("hurt", { q: "thing", per_page: 100 });
    expectStatus(refused, 503);
    expect(refused.json.error).toContain("index 1, document 5: damaged");
    expectStatus(await server.get("/v1/indexes/hurt/documents/d4"), 503);
    expectStatus(await server.get("/v1/indexes/hurt/documents/d7"), 200);
    expect((await server.query("hurt", { q: "thing", per_page: 0 })).json.found).toBe(40);
    expect(await statusOf("hurt")).toBe("error");
    await server.stop();
    expect(skein("repair").text).toContain("lost: document 5");
    const check = JSON.parse(skein("check", "--json").text);
    expect(check).toMatchObject({ damaged: false });
    expect(check.shards[shard].indexes[0]).toMatchObject({ name: "hurt", problems: [] });
    await server.launch();
    await expectHealthy(39);
    expectStatus(await server.post("/v1/indexes/hurt/documents/batch", { documents: [documents[4]] }), 200);
    await expectHealthy(40);
  });

  test("repair does not bring back deleted or replaced documents", async () => {
    const old = documents.slice(10, 20).map(({ id }) => ({ id, title: "thing replaced" }));
    expectStatus(await server.post("/v1/indexes/hurt/documents/batch", { documents: old }), 200);
    for (let i = 20; i < 25; i++) expectStatus(await server.delete(`/v1/indexes/hurt/documents/d${i}`), 200);
    await server.stop("SIGKILL");
    for (const shard of [0, 1]) {
      await damage(`shards/${shard}`, manifestKey(UID));
      for (let segment = 1; segment < 20; segment++)
        await damage(`shards/${shard}`, deletedRowsKey(UID, segment));
    }
    expect(skein("repair").status).toBe(0);
    await server.launch();
    await expectHealthy(35);
    expect((await server.query("hurt", { q: "replaced", per_page: 0, num_typos: 0 })).json.found).toBe(10);
    for (let i = 20; i < 25; i++) expectStatus(await server.get(`/v1/indexes/hurt/documents/d${i}`), 404);
  });
});

describe("a damaged database", () => {
  test("of a shard: the server does not start and says what to do; repair fixes it", async () => {
    await server.stop();
    const folder = join(server.dataDir, "shards/0");
    const list = readdirSync(folder).find((name) => name.startsWith("MANIFEST"))!;
    const bytes = readFileSync(join(folder, list));
    bytes[20]! ^= 1;
    writeFileSync(join(folder, list), bytes);
    const start = skein("serve", "--port", "0", "--admin-key", ADMIN_KEY);
    expect(start.status).toBe(2);
    expect(start.errors).toMatch(
      /^skein: the database at .*shards\/0 is damaged: .* run "skein check" and "skein repair"\n$/,
    );
    expect(skein("check").status).toBe(1);
    expect(skein("repair").text).toContain("shard 0: LevelDB's files were repaired");
    await server.launch();
    expect((await server.query("well", { q: "thing" })).json.found).toBe(40);
  });

  test("of the query logs: searches work, reports are refused; check names it; moved away, a new log begins", async () => {
    const report = () => server.get("/v1/indexes/well/analytics/queries");
    expectStatus(await server.query("well", { q: "before" }), 200);
    expectStatus(await report(), 200);
    await server.stop();
    const folder = join(server.dataDir, "analytics");
    const list = readdirSync(folder).find((name) => name.startsWith("MANIFEST"))!;
    const bytes = readFileSync(join(folder, list));
    bytes[20]! ^= 1;
    writeFileSync(join(folder, list), bytes);
    const found = skein("check");
    expect([found.status, found.text]).toEqual([1, expect.stringMatching(/^query logs: .*MANIFEST/m)]);
    await server.launch();
    expectStatus(await server.query("well", { q: "while it is damaged" }), 200);
    expect((await report()).json).toMatchObject({ code: "SK-AN-503" });
    await server.stop();
    renameSync(folder, `${folder}.damaged`);
    expect(skein("check").status).toBe(0);
    await server.launch();
    expectStatus(await server.query("well", { q: "after" }), 200);
    expect((await report()).json.data).toMatchObject([{ query: "after", count: 1 }]);
  });

  test("commands refuse to run beside a server, and name it", () => {
    for (const command of ["check", "repair", "serve"]) {
      const refused = skein(command);
      expect(refused.status).toBe(2);
      expect(refused.errors).toBe(
        `skein: another server (pid ${server.pid}) is running on the data directory ${server.dataDir}\n`,
      );
    }
  });
});

describe("a damaged catalog", () => {
  test("record: an index becomes unavailable, not unknown; a tenant's record stops the start", async () => {
    await server.stop();
    expect(await damage("catalog", Buffer.from("index/1"))).toBe(true);
    const check = skein("check");
    expect(check.status).toBe(1);
    expect(check.text).toContain("catalog record index/1: damaged");
    await server.launch();
    expect((await server.query("well", { q: "thing" })).json.found).toBe(40);
    expectStatus(await server.query("hurt", { q: "thing" }), 503);
    expect(await slotCode("hurt")).toBe("SK-SE-503");
    expectStatus(await server.post("/v1/indexes", { name: "hurt", schema: SCHEMA }), 503);
    await server.stop();
    expect(await damage("catalog", Buffer.from("index/1"))).toBe(true); // flips the same bit back
    expect(await damage("catalog", Buffer.from("tenant/1"))).toBe(true);
    const start = skein("serve", "--port", "0", "--admin-key", ADMIN_KEY);
    expect(start.status).toBe(2);
    expect(start.errors).toContain("catalog record tenant/1: damaged (length or checksum); restore");
    await damage("catalog", Buffer.from("tenant/1"));
    await server.launch();
    await expectHealthy(35);
  });

  test("of another version is refused, not treated as damaged", async () => {
    await server.stop();
    const key = Buffer.from("meta");
    const db = new ClassicLevel<Uint8Array, Uint8Array>(join(server.dataDir, "catalog"), OPTIONS);
    const kept = await db.get(key);
    await db.put(key, seal(ENVELOPE_CATALOG, 2, Uint8Array.of(1, 2, 3)));
    await db.close();
    for (const command of ["serve", "check", "repair"]) {
      const refused = skein(command);
      expect(refused.status).toBe(2);
      expect(refused.errors).toMatch(
        /was written by another version of Skein: .*format version 2, this build reads 1\n$/,
      );
    }
    await db.open();
    await db.put(key, kept!);
    await db.close();
    await server.launch();
    await expectHealthy(35);
  });

  test("missing databases are not created again", async () => {
    await server.stop();
    const start = (): string => {
      const { status, errors } = skein("serve", "--port", "0", "--admin-key", ADMIN_KEY);
      expect(status).toBe(2);
      return errors;
    };
    const catalog = join(server.dataDir, "catalog");
    renameSync(catalog, `${catalog}.away`);
    expect(start()).toContain("catalog is damaged: it is missing, but the shards exist; restore");
    expect(skein("check").status).toBe(1);
    mkdirSync(catalog);
    expect(start()).toContain("catalog is damaged: it is missing, but the shards exist; restore");
    rmSync(catalog, { recursive: true });
    renameSync(`${catalog}.away`, catalog);
    const shard = join(server.dataDir, "shards/1");
    rmSync(shard, { recursive: true });
    expect(start()).toContain("shards/1 is missing; restore it from a backup");
    expect(skein("check").status).toBe(1);
    mkdirSync(shard);
    expect(start()).toContain("shards/1 is missing; restore it from a backup");
  });
});
