// A shard's thread dies: requests it was serving get 503 SK-SE-503 with Retry-After, everything else
// continues, and the thread is restarted with all acknowledged documents. shard-killer.mjs kills it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, expectStatus, meanwhile, sleep, TestServer } from "../world/harness.js";

const SHARDS = 3;
const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "n", type: "int32", facet: true },
  ],
};

function documents(from: number, count: number) {
  return Array.from({ length: count }, (_, i) => ({
    id: `d${from + i}`,
    title: `thing number${from + i}`,
    n: from + i,
  }));
}

describe("a dying shard", () => {
  const killDir = mkdtempSync(join(tmpdir(), "skein-kill-"));
  let server: TestServer;

  beforeAll(async () => {
    const killer = join(import.meta.dirname, "shard-killer.mjs");
    const env = { NODE_OPTIONS: `--import=${killer}`, SKEIN_TEST_KILL_DIR: killDir };
    server = await TestServer.start({ shards: SHARDS, env });
    await server.createIndex("things", SCHEMA, documents(0, 300));
    await server.createIndex("others", SCHEMA, documents(0, 30));
  });

  afterAll(async () => {
    await server.close();
    rmSync(killDir, { recursive: true, force: true });
  });

  /** Ends the shard's thread and waits until it is gone. */
  async function kill(shard: number): Promise<void> {
    const order = join(killDir, String(shard));
    writeFileSync(order, "");
    await eventually(async () => !existsSync(order), `shard ${shard} has ended`);
  }

  let asked = 0;

  /**
   * Matches all documents, with a different query each time: a query that was running when two threads died
   * would be blamed for their deaths.
   */
  const everything = () => ({ q: "thing", filter_by: `n:>-${++asked}` });

  const found = async (): Promise<number> => {
    const reply = await server.query("things", { ...everything(), per_page: 0 });
    return reply.status === 200 ? reply.json.found : -1;
  };

  /**
   * Eight clients query continuously during `work`. Expects each reply to be 200 or the specified 503, and
   * counts both.
   */
  async function asking(
    question: () => object,
    work: (statuses: ReadonlyMap<number, number>) => Promise<void>,
  ): Promise<void> {
    const statuses = new Map<number, number>();
    const client = async () => {
      const reply = await server.query("things", { ...question(), facets: ["n"] });
      statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1);
      if (reply.status === 200) return;
      expectStatus(reply, 503);
      expect(reply.json.code).toBe("SK-SE-503");
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    };
    await meanwhile(new Array(8).fill(client), () => work(statuses));
  }

  test("comes back on its own with all its data", async () => {
    const before = (await server.query("things", { q: "thing", facets: ["n"], per_page: 50 })).json.data;
    for (let shard = 0; shard < SHARDS; shard++) {
      await kill(shard);
      await eventually(async () => (await found()) === 300, `shard ${shard} answers again`);
      expect((await server.query("things", { q: "thing", facets: ["n"], per_page: 50 })).json.data).toEqual(
        before,
      );
      expect((await server.query("others", { q: "*" })).json.found).toBe(30);
    }
    expect((await server.get("/health/ready")).status).toBe(200);
    const metrics = (await server.get("/metrics")).text;
    for (let shard = 0; shard < SHARDS; shard++)
      expect(metrics).toMatch(new RegExp(`^skein_shard_restarts_total\\{shard="${shard}"\\} [1-9]`, "m"));
  });

  test("fails only requests in progress, with 503 and Retry-After", async () => {
    await asking(everything, async (statuses) => {
      await eventually(async () => statuses.has(200), "a request is answered");
      for (let i = 0; i < 4; i++) {
        await sleep(150); // let the load run for a while
        await kill(i % SHARDS);
      }
      await eventually(async () => (await found()) === 300, "all shards answer again");
      const before = statuses.get(200)!;
      await eventually(async () => statuses.get(200)! > before, "another request is answered");
    });
  });

  test("does not make a query that many clients sent at the time look poisonous", async () => {
    const popular = { q: "thing", filter_by: "n:>=0" };
    await asking(
      () => popular,
      async () => {
        await sleep(150);
        await kill(1);
        await eventually(async () => (await found()) === 300, "all shards answer again");
      },
    );
    expectStatus(await server.query("things", { ...popular, facets: ["n"] }), 200);
  });

  test("loses no acknowledged write and accepts new ones", async () => {
    const acknowledged = new Set<string>();
    let next = 1000;
    const writer = async () => {
      const batch = documents(next, 20);
      next += 20;
      const reply = await server.post("/v1/indexes/things/documents/batch", { documents: batch });
      expect([200, 503], reply.text).toContain(reply.status);
      if (reply.status !== 200) return;
      // the other shard may have stored its part of the batch
      const { errors } = reply.json.data as unknown as { errors: { id: string; code: string }[] };
      const refused = new Map(errors.map(({ id, code }) => [id, code]));
      for (const { id } of batch) {
        if (refused.has(id)) expect(refused.get(id)).toBe("SK-DOC-503");
        else acknowledged.add(id);
      }
    };
    await meanwhile([writer], async () => {
      for (let i = 0; i < 4; i++) {
        await sleep(150); // let the load run for a while
        await kill(i % SHARDS);
      }
      const before = acknowledged.size;
      await eventually(async () => acknowledged.size > before, "writes are accepted again");
    });
    await eventually(
      async () => (await found()) >= 300 + acknowledged.size,
      "all acknowledged documents are found",
    );
    const exported = await server.raw("GET", "/v1/indexes/things/documents/export");
    expectStatus(exported, 200);
    const ids = new Set(
      exported.text
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { id: string }).id),
    );
    expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
    expect(await found()).toBe(ids.size);
  });
});
