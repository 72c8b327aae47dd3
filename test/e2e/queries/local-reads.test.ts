// Small indexes, which the HTTP thread reads directly from the shards' memory: without involving the shards,
// immediately after every write, and around every operation that moves an index to other memory or removes
// it.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { BlockedShards } from "../world/blocked-shards.js";
import { eventually, expectStatus, meanwhile, sleep, TestServer } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "kind", type: "string", facet: true },
    { name: "number", type: "int32" },
    { name: "writes", type: "int32" },
  ],
};
const DOCUMENTS = 40;
/** The shards answer at most this many reads of an index before the HTTP thread reads it directly. */
const FIRST_READS = 10;
/** Scrapes in quick succession share one reply. */
const SCRAPE_SHARED_MS = 300;

function documentOf(number: number, writes: number): object {
  return { id: `d${number}`, title: `lamp number ${number}`, kind: "lamp", number, writes };
}

/** Allows local reads no matter how busy the machine is. */
const PATIENT = { localReadMsMax: 10_000 };
/** Like PATIENT, and unloads idle indexes after a short time. */
const RESTLESS = { ...PATIENT, indexIdleMsMax: 400 };

async function makeIndex(server: TestServer): Promise<void> {
  const documents = Array.from({ length: DOCUMENTS }, (_, number) => documentOf(number, 0));
  await server.createIndex("shop", SCHEMA, documents);
  // No vectors, because semantic/local-vectors.test.ts covers vector queries.
  expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source: "none" } }), 200);
}

/** Number of reads sent in this file. Each query contains it, so that no answer comes from the cache. */
let readsSent = 0;

async function readOften(server: TestServer): Promise<void> {
  for (let i = 0; i < FIRST_READS; i++) {
    const filter_by = `writes:>-${++readsSent}`;
    expectStatus(await server.query("shop", { q: "lamp", per_page: DOCUMENTS, filter_by }), 200);
  }
}

async function answered(server: TestServer): Promise<number> {
  await sleep(SCRAPE_SHARED_MS);
  const scraped = readPrometheusText((await server.get("/metrics")).text);
  return scraped.value("skein_local_reads_total", { result: "answered" }) ?? 0;
}

async function readLocally(server: TestServer): Promise<void> {
  const before = await answered(server);
  await eventually(async () => {
    await readOften(server);
    return (await answered(server)) > before + FIRST_READS / 2;
  }, "reads are answered without a shard");
}

// The concurrent tests here mostly wait, and each of them has its own server.
describe.concurrent.each([1, 3])("with %i shards", (shards) => {
  test.sequential("searches do not wait for unresponsive shards", async () => {
    const blocked = new BlockedShards();
    const config = { limits: PATIENT };
    const server = await TestServer.start({ shards, env: blocked.env, config });
    try {
      await makeIndex(server);
      await readLocally(server);
      await blocked.while(0, async () => {
        const sorted = { q: "lamp", sort: "number:desc", per_page: 3, facets: ["kind"] };
        const reply = await server.query("shop", {
          ...sorted,
          highlight_fields: "title",
          filter_by: "number:<9",
        });
        expectStatus(reply, 200);
        expect(reply.json.hits.map(({ document }) => document.id)).toEqual(["d8", "d7", "d6"]);
        expect(reply.json.hits[0]!.highlight!.title!.snippet).toBe("<mark>lamp</mark> number 8");
        expect(reply.json.found).toBe(9);
      });
    } finally {
      await server.close();
      blocked.close();
    }
  });

  test.sequential("a search sees every previously answered write, whole, and never goes back in time", async () => {
    const server = await TestServer.start({ shards, config: { limits: PATIENT } });
    try {
      await makeIndex(server);
      await readLocally(server);
      const before = await answered(server);
      const sent = new Array<number>(DOCUMENTS).fill(0);
      const acknowledged = new Array<number>(DOCUMENTS).fill(0);
      const clients = [0, 1, 2];
      let reads = 0;
      await meanwhile(
        clients.map(() => {
          const seen = new Array<number>(DOCUMENTS).fill(0);
          return async () => {
            const least = acknowledged.map((writes, i) => Math.max(writes, seen[i]!));
            const query = { q: "lamp", per_page: DOCUMENTS, filter_by: `writes:>=-${++reads}` };
            const reply = await server.query("shop", query);
            expectStatus(reply, 200);
            expect([reply.json.found, reply.json.hits.length]).toEqual([DOCUMENTS, DOCUMENTS]);
            for (const { document } of reply.json.hits) {
              const { number, writes } = document as unknown as { number: number; writes: number };
              expect(writes).toBeGreaterThanOrEqual(least[number]!);
              expect(writes).toBeLessThanOrEqual(sent[number]!);
              seen[number] = writes;
            }
          };
        }),
        async () => {
          for (let round = 0; round < effort(30, 600); round++) {
            const some = clients.map((client) => (round * 7 + client * 13) % DOCUMENTS);
            const documents = [...new Set(some)].map((number) => documentOf(number, ++sent[number]!));
            expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents }), 200);
            for (const number of some) acknowledged[number] = sent[number]!;
          }
        },
      );
      expect(await answered(server)).toBeGreaterThan(before);
    } finally {
      await server.close();
    }
  });

  test.sequential("a restarted shard, an unloaded index, a new schema and a dropped index are noticed", async () => {
    const killDir = mkdtempSync(join(tmpdir(), "skein-kill-"));
    const killer = join(import.meta.dirname, "../faults/shard-killer.mjs");
    const env = { NODE_OPTIONS: `--import=${killer}`, SKEIN_TEST_KILL_DIR: killDir };
    const server = await TestServer.start({ shards, env, config: { limits: RESTLESS } });
    const expectFound = async (number: number, found: number): Promise<void> => {
      const reply = await server.query("shop", { q: "lamp", filter_by: `number:${number}` });
      expectStatus(reply, 200);
      expect(reply.json.found).toBe(found);
    };
    const write = async (number: number): Promise<void> =>
      expectStatus(
        await server.post("/v1/indexes/shop/documents/batch", { documents: [documentOf(number, 0)] }),
        200,
      );
    try {
      await makeIndex(server);
      await readLocally(server);
      writeFileSync(join(killDir, "0"), "");
      await eventually(async () => !existsSync(join(killDir, "0")), "the shard ends");
      await eventually(async () => {
        const reply = await server.post("/v1/indexes/shop/documents/batch", {
          documents: [documentOf(100, 0)],
        });
        return reply.status === 200;
      }, "the shard is back");
      await expectFound(100, 1);

      await readLocally(server);
      await eventually(async () => {
        const scraped = readPrometheusText((await server.get("/metrics")).text);
        return scraped.value("skein_indexes_loaded") === 0;
      }, "the index is unloaded");
      await write(101);
      await expectFound(101, 1);

      await readLocally(server);
      const fields = [...SCHEMA.fields, { name: "color", type: "string" }];
      expectStatus(await server.patch("/v1/indexes/shop", { schema: { fields } }), 200);
      const documents = [{ ...documentOf(102, 0), color: "magenta" }];
      expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents }), 200);
      const colored = await server.query("shop", { q: "magenta" });
      expect(colored.json.found).toBe(1);
      await expectFound(101, 1);

      await readLocally(server);
      expectStatus(await server.delete("/v1/indexes/shop"), 200);
      expectStatus(await server.query("shop", { q: "lamp" }), 404);
      await makeIndex(server);
      await expectFound(101, 0);
      await readLocally(server);
      await expectFound(39, 1);
    } finally {
      await server.close();
      rmSync(killDir, { recursive: true, force: true });
    }
  });
});

test.concurrent("a query that traps goes to the shards, which finally refuse it; other queries are answered", async () => {
  const preload = join(import.meta.dirname, "../faults/shard-poison.mjs");
  const env = { NODE_OPTIONS: `--import=${preload}` };
  const server = await TestServer.start({ shards: 1, env, config: { limits: PATIENT } });
  try {
    await makeIndex(server);
    await readLocally(server);
    const documents = [{ ...documentOf(0, 1), title: "lamp poisontrap" }];
    expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents }), 200);
    const poisoned = async (): Promise<string | undefined> =>
      (await server.query("shop", { q: "lamp poisontrap" })).json.error;
    await eventually(async () => /is refused/.test((await poisoned()) ?? ""), "the query is refused");
    await eventually(
      async () => (await server.query("shop", { q: "lamp" })).status === 200,
      "the index is open",
    );
    await readLocally(server);
    expect(await poisoned()).toContain("is refused");
  } finally {
    await server.close();
  }
});
