// A hanging front-end is replaced while the others continue, and nothing is lost. A shard thread that dies
// comes back for all front-ends, with every acknowledged write. Afterwards the server still shuts down
// cleanly.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually, expectStatus, meanwhile, TestServer } from "../world/harness.js";
import { readPrometheusText } from "../world/prometheus-text.js";
import { oneForEach } from "./front-end-clients.js";

const QUERY = "/v1/indexes/shop/query";
const SCHEMA = {
  fields: [
    { name: "name", type: "string" },
    { name: "value", type: "int32" },
  ],
};
const DOCUMENTS = Array.from({ length: 40 }, (_, value) => ({ id: String(value), name: "lamp", value }));
/** Allows local reads no matter how busy the machine is. */
const PATIENT = { localReadMsMax: 10_000 };

async function answeredLocally(server: TestServer): Promise<number> {
  const scraped = readPrometheusText((await server.get("/metrics")).text);
  return scraped.value("skein_local_reads_total", { result: "answered" }) ?? 0;
}

describe.each([1, 2])("with %i shards", (shards) => {
  test("a front-end that hangs in a read is replaced, and the shards answer that read", async () => {
    const hang = join(import.meta.dirname, "front-end-poison.mjs");
    const server = await TestServer.start({
      shards,
      frontEnds: 2,
      env: { NODE_OPTIONS: `--import=${hang}` },
      config: { limits: { ...PATIENT, shardHangMsMax: 2_000, rememberedAnswersBytesMax: 1 } },
    });
    try {
      await server.createIndex("shop", SCHEMA, [
        ...DOCUMENTS,
        { id: "p", name: "lamp poisoncircle", value: -1 },
      ]);
      expectStatus(await server.patch("/v1/indexes/shop/settings", { embedder: { source: "none" } }), 200);
      const clients = await oneForEach(server, 2);
      const [hanging, other] = clients as [(typeof clients)[0], (typeof clients)[0]];
      await eventually(async () => {
        for (let i = 0; i < 20; i++)
          for (const client of clients)
            await client.post(QUERY, { q: "lamp", filter_by: `value:>-${i + 2}` });
        return (await answeredLocally(server)) > 20;
      }, "front-ends answer reads themselves");
      const hung = hanging.post(QUERY, { q: "poisoncircle" }).then(
        () => "answered",
        () => "cut",
      );
      for (let i = 0; i < 20; i++) expect((await other.post(QUERY, { q: "lamp" })).json.found).toBe(41);
      expect(await hung).toBe("cut");
      for (const client of clients) client.close();
      await eventually(
        async () => server.log.some(({ msg }) => msg === "a front-end is back"),
        "it is replaced",
      );
      const again = await oneForEach(server, 2, "probe2");
      for (const client of again) {
        const reply = await client.post(QUERY, { q: "poisoncircle" });
        expect([reply.status, reply.json.found]).toEqual([200, 1]);
        expect((await client.post(QUERY, { q: "lamp" })).json.found).toBe(41);
        client.close();
      }
      const documents = [{ id: "new", name: "lamp", value: 99 }];
      expectStatus(await server.post("/v1/indexes/shop/documents/batch", { documents }), 200);
      expect((await server.query("shop", { q: "lamp" })).json.found).toBe(42);
      expect(await server.stop()).toBe(0);
    } finally {
      await server.close();
    }
  });

  test("a shard thread that ends comes back for all front-ends, with every acknowledged write", async () => {
    const killDir = mkdtempSync(join(tmpdir(), "skein-kill-"));
    const killer = join(import.meta.dirname, "../faults/shard-killer.mjs");
    const server = await TestServer.start({
      shards,
      frontEnds: 2,
      env: { NODE_OPTIONS: `--import=${killer}`, SKEIN_TEST_KILL_DIR: killDir },
      config: { limits: PATIENT },
    });
    try {
      await server.createIndex("shop", SCHEMA, DOCUMENTS);
      const clients = await oneForEach(server, 2);
      let written = DOCUMENTS.length;
      const read = (client: (typeof clients)[0]) => async (): Promise<void> => {
        const before = written;
        const { status, json } = await client.post(QUERY, { q: "lamp", per_page: 1 });
        if (status === 200) expect(json.found).toBeGreaterThanOrEqual(before);
        else expect(status).toBe(503);
      };
      await meanwhile(clients.map(read), async () => {
        for (let round = 0; round < 3; round++) {
          writeFileSync(join(killDir, "0"), "");
          await eventually(async () => !existsSync(join(killDir, "0")), "the shard ends");
          await eventually(async () => {
            const documents = [{ id: `more ${round}`, name: "lamp", value: 100 + round }];
            const reply = await server.raw("POST", "/v1/indexes/shop/documents/batch", {
              body: { documents },
            });
            return reply.status === 200 && reply.json.data.failed === 0;
          }, "the shard is back");
          written++;
        }
      });
      for (const client of clients) {
        // Not the same query: it is refused for a while if it was in flight at two of the kills.
        expect((await client.post(QUERY, { q: "*" })).json.found).toBe(written);
        client.close();
      }
      expect(await server.stop()).toBe(0);
    } finally {
      await server.close();
      rmSync(killDir, { recursive: true, force: true });
    }
  });
});
