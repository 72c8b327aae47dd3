// Real third-party feeds in a complete server: previewed, imported into an index with the suggested schema,
// and searched.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATA, isAbsent } from "../../data-folder.js";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import { documentsOf, FROM_LOOPBACK, makeSource, type Run, sync } from "../world/feeds.js";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const FEEDS = join(DATA, "feeds");
const absent = isAbsent(FEEDS, "sources/real-feeds.test.ts");
const FILES = absent ? [] : readdirSync(FEEDS).filter((name) => name !== "MANIFEST.tsv");

interface Preview {
  readonly items: readonly { source: object | null; document: object | null; errors: readonly string[] }[];
  readonly fields_seen: readonly { path: string; count: number; example: string }[];
  readonly suggested_field_map: Record<string, string>;
  readonly suggested_schema: { fields: object[] };
}

function formatOf(name: string): string {
  if (name.includes("facebook")) return "brandx_catalog";
  if (name.endsWith(".xml")) return "brandx_merchant";
  return name.endsWith(".csv") ? "csv" : "json";
}

function typeOf(name: string): string {
  if (name.endsWith(".jsonl")) return "application/x-ndjson";
  return name.endsWith(".xml") ? "application/xml" : "application/octet-stream";
}

/** For each file, how many items are imported, how many fail, and what some of the documents must contain. */
const SAYS: Record<string, { imported: number; failed: number; documents: Record<string, object> }> = {
  "google-merchant-rss_feed.xml": {
    imported: 6,
    failed: 0,
    documents: {
      TV_123456: {
        title: 'LG Flatron M2262D 22" Full HD LCD TV',
        link: "http://www.example.com/electronics/tv/LGM2262D.html",
        price: 159,
        price_currency: "USD",
        availability: "in stock",
      },
    },
  },
  "til-facebook-dpa_product_catalog_sample_feed_atom.xml": {
    imported: 1,
    failed: 0,
    documents: {
      DB_1: {
        title: "Dog Bowl In Blue",
        price: 9.99,
        price_currency: "GBP",
        link: "http://www.example.com/bowls/db-1.html",
        shipping: { country: "UK", service: "Standard", price: "4.95 GBP" },
      },
    },
  },
  "til-criteo-xml_criteo_feed_sample.xml": {
    imported: 1,
    failed: 0,
    documents: { myproductid: { price: 1299.99, price_currency: "EUR", sale_price: 1199.99, adult: true } },
  },
  "rome-base-products2.xml": { imported: 0, failed: 2, documents: {} },
  // two items share an id
  "rome-base-jobs-atombase.xml": { imported: 1, failed: 1, documents: {} },
  "magento-products_gear_bags.csv": {
    imported: 14,
    failed: 0,
    documents: { "24-MB01": { name: "Joust Duffle Bag", price: 34, qty: 100, category: "Gear\nBags" } },
  },
  "pfp-07_streaming_jsonl-input-input.jsonl": {
    imported: 50,
    failed: 0,
    documents: { "SKU-001": { title: "Streaming Record 001", availability: "in_stock" } },
  },
};

describe.skipIf(absent)("real feeds", () => {
  const server = sharedServer({ shards: 2, config: FROM_LOOPBACK }, (server) =>
    server.createIndex("probe", { fields: [{ name: "title", type: "string" }] }),
  );
  let feeds: FeedServer;

  beforeAll(async () => {
    feeds = await startFeedServer();
    for (const name of FILES)
      feeds.route(`/${name}`, {
        body: readFileSync(join(FEEDS, name)),
        headers: { "content-type": typeOf(name) },
      });
  });

  afterAll(() => feeds.close());

  test.each(FILES)("%s", async (name) => {
    const index = name.toLowerCase().replaceAll(".", "-");
    const feed = { url: feeds.url(`/${name}`), format: formatOf(name) };
    const looked = await server.post("/v1/indexes/probe/data-sources/preview", feed);
    expectStatus(looked, 200);
    const {
      suggested_schema: schema,
      suggested_field_map: field_map,
      items,
    } = looked.json.data as unknown as Preview;
    expectStatus(await server.post("/v1/indexes", { name: index, schema }), 201);
    const source = await makeSource(server, index, { ...feed, field_map });
    const run: Run = await sync(server, source);
    const { imported, failed, documents } = SAYS[name] ?? { documents: {} };
    expect(run.status, run.error ?? "").toBe(
      run.documents_imported > 0 || run.documents_failed > 0 ? "completed" : "failed",
    );
    if (imported !== undefined)
      expect([run.documents_imported, run.documents_failed]).toEqual([imported, failed]);
    for (const { error } of run.errors) expect(error).toMatch(/^the item has no id|item |^line /);
    expect(run.documents_imported + run.documents_failed).toBeGreaterThanOrEqual(items.length);
    const stored = await documentsOf(server, index);
    expect(Object.keys(stored).length).toBe(run.documents_imported);
    expect(stored).toMatchObject(documents);
    expect(await sync(server, source)).toMatchObject({
      documents_imported: 0,
      documents_unchanged: run.documents_imported,
    });
  });
});
