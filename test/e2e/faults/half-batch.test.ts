// A batch that only one of two shards has stored when the server is killed. The test makes it by giving the
// other shard its database from before the batch back. A start takes the batch back, with the same number of
// shards and with another one.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TestServer } from "../world/harness.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };

const documentsOf = (title: string) => Array.from({ length: 20 }, (_, i) => ({ id: `d${i}`, title }));

test("half a batch is taken back by a start, and before documents move to other shards", async () => {
  const folder = mkdtempSync(join(tmpdir(), "skein-test-half-"));
  const dataDir = join(folder, "data");
  const before = join(folder, "before");
  const write = (server: TestServer, title: string) =>
    server.post("/v1/indexes/halves/documents/batch", { documents: documentsOf(title) });
  const config = { limits: { homeDocumentsMax: 1 } };
  const server = await TestServer.start({ shards: 2, dataDir, config });
  try {
    await server.createIndex("halves", SCHEMA);
    expect((await write(server, "old")).json.data.failed).toBe(0);
    await server.stop("SIGKILL");
    cpSync(join(dataDir, "shards", "1"), before, { recursive: true });
    await server.launch();
    expect((await write(server, "new")).json.data.failed).toBe(0);
    await server.stop("SIGKILL");
    rmSync(join(dataDir, "shards", "1"), { recursive: true });
    cpSync(before, join(dataDir, "shards", "1"), { recursive: true });
    const half = join(folder, "half");
    cpSync(dataDir, half, { recursive: true });
    for (const [shards, dir] of [
      [2, dataDir],
      [3, half],
    ] as const) {
      const again = await TestServer.start({ shards, dataDir: dir, config });
      const { json } = await again.query("halves", { q: "*", per_page: 100 });
      const found = json.hits.map(({ document }) => document).sort((a, b) => (a.id < b.id ? -1 : 1));
      expect(found).toEqual(documentsOf("old").sort((a, b) => (a.id < b.id ? -1 : 1)));
      expect(again.log.some(({ msg }) => String(msg).startsWith("taking back writes"))).toBe(true);
      expect((await write(again, "newer")).json.data.failed).toBe(0);
      expect((await again.query("halves", { q: "newer" })).json.found).toBe(20);
      expect(await again.stop()).toBe(0);
      await again.close();
    }
  } finally {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
