// Tests the promise in docs/how-to/upgrade.md: a server starts on the data directory of each earlier build,
// gives the same answers, and can write to the directory. The directories are in test/golden/directories,
// named after the date of their build. Each is a gzipped JSON file that maps file names to contents in
// base64. They are never rewritten.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, TestServer } from "../world/harness.js";
import type { FacetCounts } from "../world/reply.js";

const FOLDER = "test/golden/directories";

function unpack(file: string): string {
  const files = JSON.parse(String(gunzipSync(readFileSync(join(FOLDER, file))))) as Record<string, string>;
  const directory = mkdtempSync(join(tmpdir(), "skein-upgrade-"));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(directory, dirname(name)), { recursive: true });
    writeFileSync(join(directory, name), Buffer.from(content, "base64"));
  }
  return directory;
}

describe.each(readdirSync(FOLDER))("the data directory of %s", (file) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ dataDir: unpack(file), shards: 2 });
  });

  afterAll(() => server.close());

  async function query(body: object): Promise<{ ids: string[]; found: number; facets: FacetCounts }> {
    const asked = { per_page: 50, search_mode: "keyword", ...body };
    const { hits, found, facets } = (await server.post("/v1/indexes/shop/query", asked)).json;
    return { ids: hits.map(({ document }) => document.id), found, facets };
  }

  test("has its index with every document, and no deleted one", async () => {
    await eventually(async () => {
      const { json } = await server.get("/v1/indexes/shop");
      return json.data.status === "active";
    }, "stored documents are re-indexed if necessary");
    const { found, facets } = await query({ q: "*", facets: ["brand"] });
    expect(found).toBe(38);
    expect(facets).toEqual({ brand: { Acme: 13, Zeta: 13, Norr: 12 } });
    expect((await server.get("/v1/indexes/shop/documents/5")).status).toBe(404);
    const { json } = await server.get("/v1/indexes/shop/documents/39");
    expect(json.data).toMatchObject({ sku: "GR-139/B", views: 39_000, note: { deep: 39 } });
  });

  test("answers queries", async () => {
    expect(new Set((await query({ q: "shoe" })).ids)).toEqual(new Set(["0", "10", "20", "30"]));
    expect((await query({ q: "shoes" })).found).toBe(4);
    expect((await query({ q: "jackat" })).ids).toContain("13");
    expect((await query({ q: "gr 107 b" })).ids[0]).toBe("7");
    expect((await query({ q: "grosse" })).found).toBe(4);
    expect((await query({ q: "東京" })).found).toBe(4);
    expect((await query({ q: "wifi" })).found).toBe(4);
    expect((await query({ q: "*", filter_by: "price:<2" })).ids).toEqual(["3"]);
    expect((await query({ q: "*", filter_by: "new:true && tags:=tag2 && stock:>30" })).ids).toEqual([
      "38",
      "34",
    ]);
    expect((await query({ q: "*", sort: "price:asc", per_page: 2 })).ids).toEqual(["3", "0"]);
  });

  test("keeps synonyms, rules, settings and keys", async () => {
    expect((await query({ q: "trainer" })).found).toBe(4);
    expect((await query({ q: "boot" })).ids[0]).toBe("7");
    const settings = await server.get("/v1/indexes/shop/settings");
    expect(settings.json.data).toMatchObject({ sku_fields: ["sku"], brand_field: "brand" });
    const keys = await server.get("/v1/keys");
    expect(keys.json.data).toMatchObject([{ name: "web", scopes: ["search"] }]);
  });

  test("has a readable query log, which the first build lacked", async () => {
    const report = await server.get(
      "/v1/indexes/shop/analytics/no-results?from=2026-11-01&to=2026-12-01&limit=1000",
    );
    expect(report.status).toBe(200);
  });

  test("accepts writes and snapshots, and starts again after both", async () => {
    const batch = await server.post("/v1/indexes/shop/documents/batch", {
      documents: [{ id: "40", title: "Trail shoe new", brand: "Acme", price: 5 }],
    });
    expect(batch.json.data).toMatchObject({ succeeded: 1 });
    expect((await server.post("/v1/snapshots")).status).toBe(202);
    await eventually(async () => {
      const { json } = await server.get("/v1/snapshots");
      return (json.data as unknown as { status: string }[])[0]?.status === "complete";
    }, "the snapshot is complete");
    await server.stop();
    await server.launch();
    expect((await query({ q: "shoe" })).found).toBe(5);
  });
});
