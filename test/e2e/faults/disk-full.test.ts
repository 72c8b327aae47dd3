// A full disk: writes are refused with 503 and Retry-After, reads and deletions continue, nothing
// acknowledged is lost, and writes work again without a restart once space is freed. The disk is a small
// tmpfs, which only root can mount.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { eventually, expectStatus, TestServer } from "../world/harness.js";
import type { Reply } from "../world/reply.js";

const MIB = 1024 * 1024;
const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const BATCH = 50;

const place = mkdtempSync(join(tmpdir(), "skein-test-disk-"));

/** A directory on a separate disk; null if this machine or user cannot mount one. */
function smallDisk(name: string, megabytes: number): string | null {
  const directory = join(place, name);
  mkdirSync(directory);
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", directory], { stdio: "pipe" });
    return directory;
  } catch {
    return null;
  }
}

function config(limits: object): string {
  const file = join(place, `${Object.values(limits).join("-")}.json`);
  writeFileSync(file, JSON.stringify({ limits }));
  return file;
}

/** A batch of about half a MiB. */
function documents(batch: number) {
  return Array.from({ length: BATCH }, (_, i) => {
    const words = Array.from({ length: 900 }, (_, word) => `w${(word * 31 + i * 7 + batch * 13) % 9973}`);
    return { id: `b${batch}-${i}`, title: `thing ${words.join(" ")}`, _stuffing: "x".repeat(4000) };
  });
}

function expectRefused(reply: Reply): void {
  expectStatus(reply, 503);
  expect(reply.json.code).toBe("SK-SYS-503");
  expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
}

let server: TestServer | undefined;
const mounted: string[] = [];

const send = (batch: number): Promise<Reply> =>
  server!.post("/v1/indexes/things/documents/batch", { documents: documents(batch) });
const found = async (): Promise<number> => {
  const reply = await server!.query("things", { q: "thing", per_page: 3 });
  expectStatus(reply, 200);
  return reply.json.found;
};

afterEach(async () => {
  await server?.close();
  for (const directory of mounted.splice(0)) execFileSync("umount", [directory]);
});

afterAll(() => rmSync(place, { recursive: true, force: true }));

describe("a full disk", () => {
  test("with no space left: reads go on, writes resume, and no acknowledged document is lost", async (context) => {
    const disk = smallDisk("small", 120);
    if (disk === null) return context.skip("cannot mount a tmpfs here (root on Linux can)");
    mounted.push(disk);
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(64 * MIB));
    const dataDir = join(disk, "data");
    server = await TestServer.start({ dataDir, flags: ["--config", config({ diskFreeBytesMin: 1 })] });
    await server.createIndex("things", SCHEMA);
    const acknowledged = new Set<string>();
    /**
     * Records the acknowledged documents. Returns true if the whole batch was stored. If some shards failed,
     * the reply lists the rejected documents.
     */
    const took = (batch: number, reply: Reply): boolean => {
      if (reply.status !== 200) {
        expectRefused(reply);
        return false;
      }
      const { errors } = reply.json.data as unknown as { errors: { id: string; code: string }[] };
      for (const { code } of errors) expect(code).toBe("SK-SYS-503");
      const refusedIds = new Set(errors.map(({ id }) => id));
      for (const { id } of documents(batch)) if (!refusedIds.has(id)) acknowledged.add(id);
      return errors.length === 0;
    };
    let next = 0;
    let refused = 0;
    for (; refused < 3; next++) {
      expect(next, "the disk fills up").toBeLessThan(400);
      if (!took(next, await send(next))) refused++;
    }
    expect(acknowledged.size).toBeGreaterThan(5 * BATCH);
    const before = await found();
    expect(before).toBe(acknowledged.size);
    for (let i = 0; i < 20; i++) expect(await found()).toBe(before);
    expect((await server.get("/v1/indexes/things/documents/b0-0")).status).toBe(200);

    rmSync(ballast);
    await eventually(async () => {
      const batch = next++;
      return took(batch, await send(batch));
    }, "writes are accepted again");
    for (let i = 0; i < 3; i++) {
      expect(took(next, await send(next))).toBe(true);
      next++;
    }
    const after = await found();
    for (const restart of [false, true]) {
      if (restart) {
        await server.stop("SIGKILL");
        await server.launch();
      }
      expect(await found()).toBe(after);
      const exported = await server.raw("GET", "/v1/indexes/things/documents/export");
      const ids = new Set<string>();
      for (const line of exported.text.trim().split("\n")) ids.add((JSON.parse(line) as { id: string }).id);
      expect(ids).toEqual(acknowledged);
      expect(ids.size).toBe(after);
    }
  });

  test("SIGTERM ends the server, and nothing acknowledged is lost", async (context) => {
    const disk = smallDisk("stopped", 48);
    if (disk === null) return context.skip("cannot mount a tmpfs here (root on Linux can)");
    mounted.push(disk);
    const flags = ["--config", config({ diskFreeBytesMin: 1 })];
    server = await TestServer.start({ dataDir: join(disk, "data"), shards: 1, flags });
    await server.createIndex("things", SCHEMA);
    expectStatus(await send(0), 200);
    const ballast = join(disk, "ballast");
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    expect(await found()).toBe(BATCH);
    // The search is neither logged, nor counted unless the catalog's last page has room for the count.
    expect(await server.stop()).toBe(2);
    expect(server.log.at(-1)).toMatchObject({ msg: "stopped, but not in good order" });
    expect(server.log.at(-1)!.failed).toContain("close the query log");
    rmSync(ballast);
    await server.launch();
    expect(await found()).toBe(BATCH);
  });

  test("with less space than the reserve: writes are refused before anything is touched", async (context) => {
    const disk = smallDisk("reserve", 160);
    if (disk === null) return context.skip("cannot mount a tmpfs here (root on Linux can)");
    mounted.push(disk);
    server = await TestServer.start({ dataDir: join(disk, "data") });
    await server.createIndex("things", SCHEMA);
    expectStatus(await send(0), 200);
    const ballast = join(disk, "ballast");
    writeFileSync(ballast, Buffer.alloc(110 * MIB));
    await eventually(async () => (await send(1)).status === 503, "the reserve is noticed");
    const before = await found();
    expectRefused(await send(2));
    expect(await found()).toBe(before);
    expectStatus(await server.delete("/v1/indexes/things/documents/b0-0"), 200);
    const ids = { action: "delete", documents: [{ id: "b0-1" }, { id: "b0-2" }] };
    expect((await server.post("/v1/indexes/things/documents/batch", ids)).json.data.succeeded).toBe(2);
    expect(await found()).toBe(before - 3);
    rmSync(ballast);
    await eventually(async () => (await send(2)).status === 200, "writes are accepted again");
    expect(await found()).toBeGreaterThanOrEqual(before - 3);
  });
});

describe("deletions on a full disk", () => {
  test("after a refused deletion: deletions are accepted again once a few MiB are free", async (context) => {
    const disk = smallDisk("nearly", 32);
    if (disk === null) return context.skip("cannot mount a tmpfs here (root on Linux can)");
    mounted.push(disk);
    const flags = ["--config", config({ diskFreeBytesMin: 1 })];
    server = await TestServer.start({ dataDir: join(disk, "data"), shards: 1, flags });
    await server.createIndex("things", SCHEMA);
    expectStatus(await send(0), 200);
    const ballast = join(disk, "ballast");
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(ballast, Buffer.alloc(bavail * bsize));
    const ids = Array.from({ length: BATCH }, (_, i) => `b0-${i}`);
    const remove = (id: string): Promise<Reply> => server!.delete(`/v1/indexes/things/documents/${id}`);
    // The first deletions may still succeed, because the log's last page has room for a few.
    await eventually(async () => {
      const id = ids.pop()!;
      const reply = await remove(id);
      if (reply.status === 503) ids.push(id);
      return reply.status === 503;
    }, "a deletion is refused");
    expect(await found()).toBe(ids.length);
    truncateSync(ballast, statSync(ballast).size - 4 * MIB);
    await eventually(async () => (await remove(ids.at(-1)!)).status === 200, "deletions are accepted again");
    expect(await found()).toBe(ids.length - 1);
    await server.stop("SIGKILL");
    await server.launch();
    expect(await found()).toBe(ids.length - 1);
  });

  test.for([
    ["documents", "/v1/indexes/things/documents?filter_by=title:thing"],
    ["index", "/v1/indexes/things"],
  ] as const)("on a disk full of documents: deleting the %s makes room", async ([what, path], context) => {
    const disk = smallDisk(`full-of-${what}`, 48);
    if (disk === null) return context.skip("cannot mount a tmpfs here (root on Linux can)");
    mounted.push(disk);
    const flags = ["--config", config({ diskFreeBytesMin: 1 })];
    server = await TestServer.start({ dataDir: join(disk, "data"), flags });
    await server.createIndex("things", SCHEMA);
    let next = 0;
    for (let refused = 0; refused < 3; next++) {
      expect(next, "the disk fills up").toBeLessThan(400);
      if ((await send(next)).status === 503) refused++;
    }
    const before = await found();
    expect(before).toBeGreaterThan(0);
    expectStatus(await server.delete(path), 200);
    if (what === "index") await server.createIndex("things", SCHEMA);
    expect(await found()).toBe(0);
    await eventually(async () => {
      const reply = await send(next++);
      return reply.status === 200 && reply.json.data.failed === 0;
    }, "writes are accepted again");
    const after = await found();
    await server.stop("SIGKILL");
    await server.launch();
    expect(await found()).toBe(after);
  });
});

describe("a memory limit", () => {
  test("once reached: writes are refused, reads go on", async () => {
    server = await TestServer.start();
    await server.createIndex("things", SCHEMA, documents(0).slice(0, 5));
    await server.stop();
    const { dataDir } = server;
    const limited = await TestServer.start({ dataDir, flags: ["--config", config({ memoryBytesMax: 1 })] });
    try {
      const body = { documents: documents(1) };
      expectRefused(await limited.post("/v1/indexes/things/documents/batch", body));
      const lines = () => limited.log.filter(({ msg }) => msg === "request refused");
      await eventually(async () => lines().length > 0, "the refusal is logged");
      expect(lines()[0]).toMatchObject({ code: "SK-SYS-503", reason: expect.stringContaining("memory") });
      expect(lines()[0]).not.toHaveProperty("err");
      expect((await limited.query("things", { q: "thing", per_page: 0 })).json.found).toBe(5);
    } finally {
      await limited.close();
    }
  });
});
