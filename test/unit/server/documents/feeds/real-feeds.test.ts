// Feeds written by real shops and programs: each feed's item count, and some values that are hard to parse
// correctly. Needs the data folder.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { FeedFormat } from "../../../../../server/catalog/records/data-source.js";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { DATA, isAbsent } from "../../../../data-folder.js";
import { cut, read, refusal, values, valuesOf } from "./read.js";

const FEEDS = join(DATA, "feeds");
const bytesOf = (name: string) => readFileSync(join(FEEDS, name));

const ITEMS: [name: string, format: FeedFormat, items: number][] = [
  ["gdata-recipe1-entry.xml", "brandx_merchant", 1],
  ["google-merchant-rss_feed.xml", "brandx_merchant", 6],
  ["rome-base-courses-atombase.xml", "brandx_merchant", 2],
  ["rome-base-custom-tags-examplebase.xml", "brandx_merchant", 1],
  ["rome-base-events2base.xml", "brandx_merchant", 2],
  ["rome-base-housing2base.xml", "brandx_merchant", 2],
  ["rome-base-jobs-atombase.xml", "brandx_merchant", 2],
  ["rome-base-news-atom.xml", "brandx_merchant", 2],
  ["rome-base-personals2.xml", "brandx_merchant", 2],
  ["rome-base-products2.xml", "brandx_merchant", 2],
  ["rome-base-research-atom.xml", "brandx_merchant", 2],
  ["rome-base-reviews2.xml", "brandx_merchant", 2],
  ["rome-base-rss-test-1.xml", "brandx_merchant", 1],
  ["rome-base-services2.xml", "brandx_merchant", 2],
  ["rome-base-travel-atom.xml", "brandx_merchant", 2],
  ["rome-base-wanted-atom.xml", "brandx_merchant", 2],
  ["til-criteo-xml_criteo_feed_sample.xml", "brandx_catalog", 1],
  ["til-facebook-dpa_product_catalog_sample_feed_atom.xml", "brandx_catalog", 1],
  ["magento-images_products_training_video.csv", "csv", 6],
  ["magento-products_gear_bags.csv", "csv", 14],
  ["magento-products_gear_fitness_equipment_ball.csv", "csv", 9],
  ["magento-products_gear_fitness_equipment_strap.csv", "csv", 3],
  ["magento-products_training_video_download.csv", "csv", 6],
  ["pfp-02_csv_input-input-input.csv", "csv", 1],
  ["pfp-golden-ingestion-csv_adapter-products_valid.csv", "csv", 2],
  ["pfp-matrix-fixtures-adapter-input.csv", "csv", 3],
  ["pfp-matrix-golden-schema-stripe.shopify_bulk.csv", "brandx_catalog", 3],
  ["MANIFEST.tsv", "csv", 34],
  ["pfp-06_shopify_realtime-input-input.json", "json", 1],
  ["pfp-07_streaming_jsonl-input-input.jsonl", "json", 50],
  ["pfp-e2e-fixtures-shopify_bulk_input.jsonl", "json", 3],
  ["pfp-e2e-fixtures-shopify_inventory_input.json", "json", 4],
  ["pfp-matrix-fixtures-schema-openai.product_feed.jsonl", "json", 5],
  ["pfp-matrix-fixtures-schema-stripe.product_feed.jsonl", "json", 5],
];

describe.skipIf(isAbsent(FEEDS, "feeds/real-feeds.test.ts"))("real feeds", () => {
  test.each(ITEMS)("%s as %s has %d items, none of them broken", async (name, format, count) => {
    const items = await read(format, bytesOf(name));
    expect(items.filter((item) => item.value === null)).toEqual([]);
    expect(items.map((item) => item.at)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  });

  test("Google Merchant: CDATA, entities, repeated and nested elements", async () => {
    const items = await values("brandx_merchant", bytesOf("google-merchant-rss_feed.xml"));
    expect(items[0]).toMatchObject({
      title: 'LG Flatron M2262D 22" Full HD LCD TV',
      link: "http://www.example.com/electronics/tv/LGM2262D.html",
      "g:price": "159.00 USD",
    });
  });

  test("Atom: a link becomes its address, an empty element its attributes, a nested one an object", async () => {
    const [course] = await values("brandx_merchant", bytesOf("rome-base-courses-atombase.xml"));
    expect(course).toMatchObject({
      link: "http://www.example.com/courses/robots.html",
      "g:label": ["robots", "society", "computers"],
      "g:course_date_range": { "g:start": "2005-08-19T08:30:00", "g:end": "2005-12-20T09:45:00" },
    });
    const [bowl] = await values(
      "brandx_catalog",
      bytesOf("til-facebook-dpa_product_catalog_sample_feed_atom.xml"),
    );
    expect(bowl).toMatchObject({
      "g:id": "DB_1",
      "g:price": "9.99 GBP",
      "g:shipping": { "g:country": "UK", "g:service": "Standard", "g:price": "4.95 GBP" },
      applink: expect.arrayContaining([{ property: "ios_url", content: "example-ios://electronic" }]),
    });
  });

  test("a Criteo feed: repeated images, a typographic apostrophe, a > in the text", async () => {
    const [boots] = await values("brandx_catalog", bytesOf("til-criteo-xml_criteo_feed_sample.xml"));
    expect(boots).toMatchObject({
      "g:google_product_category": "Women’s > Shoes > Working Boots",
      "g:additional_image_link": [
        "http://www.example.com/product/image/working-boots-side.png",
        "http://www.example.com/product/image/working-boots-side_2.png",
      ],
    });
  });

  test("Magento CSV: line breaks and doubled quotes in cells", async () => {
    const [bag] = await values("csv", bytesOf("magento-products_gear_bags.csv"));
    expect(bag).toMatchObject({
      category: "Gear\nBags",
      sku: "24-MB01",
      price: "34",
      description: expect.stringContaining('L 29" x W 13" x H 11".'),
      strap_bags: "Adjustable\nCross Body\nDetachable\nDouble\nPadded\nShoulder",
      new: "",
    });
  });

  test("NDJSON: a broken line and a line that is not an object fail, the others are read", async () => {
    const items = await read("json", bytesOf("pfp-golden-ingestion-json_adapter-products_invalid.jsonl"));
    expect(valuesOf(items)).toEqual([
      expect.objectContaining({ id: "p-1" }),
      "line 2 is not a single JSON value",
      "item is not an object",
      expect.objectContaining({ id: "p-2" }),
    ]);
  });

  test("a real feed cut at any place is refused, after the correct items", async () => {
    const whole = bytesOf("google-merchant-rss_feed.xml");
    const items = valuesOf(await read("brandx_merchant", whole));
    const end = whole.lastIndexOf(">");
    for (let length = 0; length <= end; length += 97) {
      const options = {
        format: "brandx_merchant",
        itemsPath: null,
        delimiter: null,
        encoding: null,
        itemBytesMax: 65536,
      } as const;
      const feed = { chunks: cut(whole.subarray(0, length)), contentType: null };
      const { code, items: before } = await refusal(readFeed(feed, options));
      expect(code).toBe("SK-DS-520");
      expect(valuesOf(before)).toEqual(items.slice(0, before.length));
    }
  });
});
