// Real feeds: an index accepts the schema suggested for each feed, and that schema fails no item.
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readNewIndex } from "../../../../../server/catalog/indexes.js";
import type { FeedFormat } from "../../../../../server/catalog/records/data-source.js";
import type { FeedItem } from "../../../../../server/documents/feeds/feed-item.js";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { itemMapper } from "../../../../../server/documents/mapping/map-item.js";
import { suggestFor } from "../../../../../server/documents/mapping/suggest.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { DATA, isAbsent } from "../../../../data-folder.js";
import { SERVERS } from "../../record.js";

const FEEDS = join(DATA, "feeds");
const absent = isAbsent(FEEDS, "mapping/real-feeds.test.ts");
const FILES = absent ? [] : readdirSync(FEEDS).filter((name) => name !== "MANIFEST.tsv");

function formatOf(name: string): FeedFormat {
  if (name.endsWith(".xml")) return "brandx_merchant";
  return name.endsWith(".csv") ? "csv" : "json";
}

async function itemsOf(name: string, format: FeedFormat): Promise<FeedItem[]> {
  const options = { format, itemsPath: null, delimiter: null, encoding: null, itemBytesMax: 1024 * 1024 };
  const items: FeedItem[] = [];
  const chunks = createReadStream(join(FEEDS, name));
  const contentType = name.endsWith(".jsonl") ? "application/x-ndjson" : null;
  for await (const group of readFeed({ chunks, contentType }, options)) items.push(...group);
  return items;
}

describe.skipIf(absent)("a suggested mapping", () => {
  test.each(FILES)("for %s fits", async (name) => {
    const items = (await itemsOf(name, formatOf(name))).filter(({ value }) => value !== null);
    const { fieldMap, schema, fieldsSeen } = suggestFor(items, null);
    const { fields } = readNewIndex({ name: "shop", schema }, DEFAULT_LIMITS, SERVERS);
    const mapped = items.map(itemMapper({ fields, fieldMap, idField: null }));
    const wrong = mapped
      .flatMap(({ errors }) => errors)
      .filter((error) => !error.startsWith("the item has no id"));
    expect(wrong).toEqual([]);
    expect(fieldsSeen.length).toBeGreaterThan(0);
  });
});
