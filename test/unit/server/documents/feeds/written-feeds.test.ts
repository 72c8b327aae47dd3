// Items written as a feed are read back unchanged: any values, in any format, encoding, compression and
// chunking.

import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FeedFormat } from "../../../../../server/catalog/records/data-source.js";
import { inflate } from "../../../../../server/documents/feeds/inflate.js";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { effort } from "../../../../effort.js";
import { all, cut, valuesOf } from "./read.js";

const RUNS = { numRuns: effort(150, 3000) };

/** Text without control characters or lone surrogates, which XML cannot represent. */
const text = fc
  .string({ unit: fc.constantFrom(..."ab<>&\"';,|\t ]>-!?/=#äß€😀中\ufffd") })
  .map((value) => value.trim());
const names = fc.uniqueArray(fc.constantFrom("id", "g:price", "title", "constructor", "__proto__", "ä"), {
  minLength: 1,
});
const chunkSizes = fc.array(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 4 });
const transport = fc.record({
  sizes: chunkSizes,
  encoding: fc.constantFrom("utf-8", "utf-8 with a mark", "utf-16le", "utf-16be"),
  zipped: fc.boolean(),
});

async function sent(
  feed: string,
  format: FeedFormat,
  { sizes, encoding, zipped }: { sizes: number[]; encoding: string; zipped: boolean },
) {
  const written = encoding === "utf-8" ? feed : `\ufeff${feed}`;
  const plain = encoding.startsWith("utf-8") ? Buffer.from(written) : Buffer.from(written, "utf16le");
  if (encoding === "utf-16be") plain.swap16();
  const chunks = inflate(cut(zipped ? gzipSync(plain) : plain, sizes), null, 1e9);
  const options = { format, itemsPath: null, delimiter: null, encoding: null, itemBytesMax: 1e6 };
  return valuesOf(await all(readFeed({ chunks, contentType: null }, options)));
}

/** Rounds integers beyond 2^53 the way JSON.parse does. */
function doubles(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(doubles);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, doubles(member)]));
}

const records = names.chain((columns) =>
  fc.array(fc.tuple(...columns.map(() => text)), { maxLength: 12 }).map((rows) => ({ columns, rows })),
);
const objects = ({ columns, rows }: { columns: string[]; rows: string[][] }) =>
  rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i]!])));

const escaped = (value: string) =>
  value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("]]>", "]]&gt;");
const cdata = (value: string) => `<![CDATA[${value.replaceAll("]]>", "]]]]><![CDATA[>")}]]>`;
const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`;

describe("generated feeds", () => {
  test("round-trip as XML, escaped or as CDATA", async () => {
    await fc.assert(
      fc.asyncProperty(records, fc.boolean(), transport, async (table, asCdata, way) => {
        const items = objects(table).map((item) => {
          const members = Object.entries(item).map(
            ([name, value]) => `<${name}>${asCdata ? cdata(value) : escaped(value)}</${name}>`,
          );
          return `<item>\n${members.join("\n")}\n</item>`;
        });
        const feed = `<?xml version="1.0"?>\n<rss><channel>${items.join("\n")}</channel></rss>`;
        expect(await sent(feed, "brandx_merchant", way)).toEqual(objects(table));
      }),
      RUNS,
    );
  });

  test("round-trip as CSV with each delimiter", async () => {
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.constantFrom(",", ";", "\t", "|"),
        transport,
        async (table, delimiter, way) => {
          const lines = [table.columns, ...table.rows].map((cells) => cells.map(quoted).join(delimiter));
          const rows = table.rows.filter((cells) => cells.some((cell) => cell.trim() !== ""));
          expect(await sent(`${lines.join("\n")}\n`, "csv", way)).toEqual(objects({ ...table, rows }));
        },
      ),
      RUNS,
    );
  });

  test("round-trip as JSON: an array, in an object and as lines", async () => {
    const item = fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 });
    const shape = fc.constantFrom("array", "object", "lines");
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { minLength: 2, maxLength: 8 }),
        shape,
        transport,
        async (list, as, way) => {
          const expected = JSON.parse(JSON.stringify(list)).map((value: object) => ({ ...value }));
          const feed =
            as === "array"
              ? JSON.stringify(list, null, 1)
              : as === "object"
                ? JSON.stringify({ meta: { tags: ["a"] }, items: list })
                : list.map((value) => JSON.stringify(value)).join("\n");
          expect(doubles(await sent(feed, "json", way))).toEqual(expected);
        },
      ),
      RUNS,
    );
  });

  test("of any bytes yield items or a FeedError", async () => {
    const formats = fc.constantFrom<FeedFormat>("brandx_merchant", "brandx_catalog", "json", "csv");
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.string({ unit: fc.constantFrom(...'<>/!?-[]"= &;ai:{},\n1') }).map((value) => Buffer.from(value)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, formats, chunkSizes, async (feed, format, sizes) => {
        const options = { format, itemsPath: null, delimiter: null, encoding: null, itemBytesMax: 100 };
        try {
          await all(
            readFeed({ chunks: inflate(cut(feed, sizes), null, 10_000), contentType: null }, options),
          );
        } catch (error) {
          expect(error).toMatchObject({ name: "FeedError" });
        }
      }),
      { numRuns: effort(1000, 30_000) },
    );
  });
});
