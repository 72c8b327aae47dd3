// Queries that end a shard's thread or break its engine: the shard recovers each time, a query that has
// failed twice is refused, and everything else continues. shard-poison.mjs causes the failures.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { eventually, TestServer } from "../world/harness.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const POISONS = ["poisonexit", "poisonhang", "poisontrap", "poisonheap"];
/**
 * In milliseconds. Longer than any thread waits for the processor, even on a busy machine, so that only a
 * thread that is really stuck counts as hanging.
 */
const HANG_MS = 5_000;

describe.each(effort([2], [1, 2]))("poisonous queries, %i shards", (shards) => {
  const folder = mkdtempSync(join(tmpdir(), "skein-poison-"));
  let server: TestServer;

  beforeAll(async () => {
    const config = join(folder, "skein.config.json");
    // Every query must reach the shards: neither the cache nor the HTTP thread may answer it.
    const limits = {
      shardHangMsMax: HANG_MS,
      rememberedAnswersBytesMax: 1,
      localDocumentsMax: 1,
      homeDocumentsMax: 1, // spreads the index, so that the query reaches every shard
    };
    writeFileSync(config, JSON.stringify({ limits }));
    const env = {
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "shard-poison.mjs")} --max-old-space-size=96`,
    };
    server = await TestServer.start({ shards, env, flags: ["--config", config] });
    const documents = Array.from({ length: 60 }, (_, i) => ({
      id: `d${i}`,
      title: `thing number${i} ${POISONS[i % POISONS.length]}`,
    }));
    await server.createIndex("things", SCHEMA, documents);
    await server.createIndex("others", SCHEMA, documents);
  });

  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const found = async (index: string): Promise<number> => {
    const reply = await server.query(index, { q: "thing", per_page: 0 });
    return reply.status === 200 ? reply.json.found : -1;
  };
  const answers = (): Promise<void> =>
    eventually(
      async () => (await found("things")) === 60 && (await found("others")) === 60,
      "all documents are found again",
    );
  const refusals = (word: string) =>
    server.log.filter(
      ({ msg, asked }) => String(msg).includes("refusing it") && String(asked).includes(word),
    );

  test.each(POISONS)("%s is refused after two failures", async (word) => {
    for (let time = 0; time < 2; time++) {
      const asked = server.query("things", { q: word });
      expect((await server.get("/health/live")).status).toBe(200);
      const reply = await asked;
      expect(reply.status, reply.text).toBe(503);
      expect(reply.json.code).toBe("SK-SE-503");
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
      await answers();
    }
    const restarts = (await server.get("/metrics")).text.match(/^skein_shard_restarts_total.*$/gm);
    for (let time = 0; time < 3; time++) {
      const reply = await server.query("things", { q: word });
      expect(reply.status).toBe(503);
      expect(reply.json.error).toContain("is refused");
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(60);
    }
    expect((await server.get("/metrics")).text.match(/^skein_shard_restarts_total.*$/gm)).toEqual(restarts);
    // The log arrives through a pipe and may lag behind.
    await eventually(async () => refusals(word).length >= shards, "every shard has logged it");
    expect(refusals(word).length).toBe(shards);
    const hangs = server.log.some(({ msg }) => msg === "shard thread hangs; ending it");
    if (word === "poisonhang") expect(hangs).toBe(true);
    await answers();
  });

  test("queries that ran beside it are cleared", async () => {
    const bystanders = ["thing number7", "number8 thing", "number9"];
    for (let time = 0; time < 3; time++) {
      await Promise.all(
        ["thing poisonexit number1", ...bystanders].map((q) => server.query("things", { q })),
      );
      await answers();
    }
    for (const q of bystanders) {
      const reply = await server.query("things", { q });
      expect(reply.status, reply.text).toBe(200);
    }
    expect((await server.query("things", { q: "thing poisonexit number1" })).json.error).toContain(
      "is refused",
    );
  });

  test("a query refused for one index is still run on another", async () => {
    const reply = await server.query("others", { q: "poisontrap number3" });
    expect(reply.status).toBe(503);
    expect(reply.json.error).not.toContain("is refused");
    await answers();
  });
});
