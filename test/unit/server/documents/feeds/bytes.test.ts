// Converting a feed's bytes to text, with any compression and encoding: detects the format, distinguishes
// damaged from truncated input, and stops endless input.

import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { FeedFormat } from "../../../../../server/catalog/records/data-source.js";
import { decodeText, isEncoding } from "../../../../../server/documents/feeds/charset.js";
import { FeedEnd } from "../../../../../server/documents/feeds/feed-end.js";
import { inflate } from "../../../../../server/documents/feeds/inflate.js";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { FeedError } from "../../../../../server/ground/errors.js";
import { all, cut, refusal, values } from "./read.js";

const TEXT = "id,title\n1,Käse – “fein” 😀\n".repeat(2000);
const PLAIN = Buffer.from(TEXT);

async function inflated(bytes: Uint8Array, header: string | null, bytesMax = 1e9, sizes: number[] = []) {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of inflate(cut(bytes, sizes), header, bytesMax)) chunks.push(chunk);
  } catch (error) {
    if (error instanceof FeedError) return `${error.code} ${error.message}`;
    throw error;
  }
  return Buffer.concat(chunks).toString("utf8");
}

async function decoded(
  bytes: Uint8Array,
  option: string | null = null,
  type: string | null = null,
  sizes: number[] = [],
) {
  const text = await decodeText(cut(bytes, sizes), type, option);
  let all = "";
  for await (const piece of text.pieces) all += piece;
  return { encoding: text.encoding, text: all };
}

describe("inflate", () => {
  test.each<[what: string, bytes: Uint8Array, header: string | null]>([
    ["plain", PLAIN, null],
    ["plain although declared as gzip", PLAIN, "gzip"],
    ["gzip according to the header", gzipSync(PLAIN), "gzip"],
    ["gzip according to its magic bytes", gzipSync(PLAIN), null],
    ["a .gz file that the server compressed once more", gzipSync(gzipSync(PLAIN)), "gzip"],
    [
      "gzip with several members",
      Buffer.concat([gzipSync(PLAIN.subarray(0, 999)), gzipSync(PLAIN.subarray(999))]),
      null,
    ],
    ["deflate with a zlib header", deflateSync(PLAIN), "deflate"],
    ["deflate according to its first bytes", deflateSync(PLAIN), null],
    ["raw deflate", deflateRawSync(PLAIN), "deflate"],
    ["identity", PLAIN, "identity"],
  ])("%s", async (_, bytes, header) => {
    expect(await inflated(bytes, header)).toBe(TEXT);
    expect(await inflated(bytes, header, 1e9, [1, 7, 300])).toBe(TEXT);
  });

  test.each([
    '[{"id":"1"}]',
    '{"id":"1"}\n',
    "<rss><item><id>1</id></item></rss>",
    '<?xml version="1.0"?>\r\n<rss/>',
    "id\ttitle\n1\tKäse\n",
    "\ufeffid,title\n1,a\n",
  ])("%j declared as deflate is inflated only if it is compressed", async (text) => {
    for (const sizes of [[], [1]]) {
      expect(await inflated(Buffer.from(text), "deflate", 1e9, sizes)).toBe(text);
      expect(await inflated(deflateRawSync(text), "deflate", 1e9, sizes)).toBe(text);
    }
  });

  test.each<[string, Buffer]>([
    ["CSV in Latin-1", Buffer.from("id;Größe;Farbe\n1;40;blau\n", "latin1")],
    ["an XML comment in Latin-1", Buffer.from("<!-- Müller Export --><rss/>", "latin1")],
    ["UTF-16 with a byte order mark", Buffer.from("\ufeffid,title\n1,a\n", "utf16le")],
  ])("%s declared as deflate is left as it is", async (_, bytes) => {
    expect(await inflated(bytes, "deflate")).toBe(bytes.toString("utf8"));
  });

  test.each([0, 1, 3, 6, 9])("deflate data of level %i is inflated", async (level) => {
    for (const text of [TEXT, "a", ""]) {
      expect(await inflated(deflateSync(text, { level }), "deflate")).toBe(text);
      expect(await inflated(deflateRawSync(text, { level }), "deflate")).toBe(text);
    }
  });

  test("an empty body stays empty", async () => {
    expect(await inflated(Buffer.alloc(0), "gzip")).toBe("");
  });

  test("truncated data is distinguished from damaged data", async () => {
    const whole = gzipSync(PLAIN);
    for (let length = 2; length < whole.length; length += 41) {
      expect(await inflated(whole.subarray(0, length), null)).toMatch(/^SK-DS-520 the feed ended early/);
    }
    const damaged = Buffer.from(whole);
    damaged.fill(0xff, 20, 60);
    expect(await inflated(damaged, null)).toMatch(/^SK-DS-422 the feed's compressed data is damaged/);
  });

  test("a small body that inflates beyond the limit is refused", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    expect(bomb.length).toBeLessThan(60_000);
    expect(await inflated(bomb, null, 1_000_000)).toBe("SK-DS-413 the feed is larger than 1000000 bytes");
    expect(await inflated(gzipSync(bomb), "gzip", 1_000_000)).toBe(
      "SK-DS-413 the feed is larger than 1000000 bytes",
    );
    expect(await inflated(PLAIN, null, PLAIN.length - 1)).toMatch(/^SK-DS-413/);
    expect(await inflated(PLAIN, null, PLAIN.length)).toBe(TEXT);
  });

  test("an unsupported encoding is refused by name", async () => {
    expect(await inflated(PLAIN, "br")).toBe(
      'SK-DS-422 the content encoding "br" is not supported; use gzip',
    );
  });

  test("a source's error is passed on unchanged", async () => {
    async function* failing() {
      yield gzipSync(PLAIN).subarray(0, 100);
      throw new FeedError("SK-DS-521", "the connection broke");
    }
    await expect(async () => {
      for await (const _ of inflate(failing(), "gzip", 1e9));
    }).rejects.toThrow("the connection broke");
  });
});

describe("the end of a feed", () => {
  const LINES = Buffer.from('{"id":"1"}\n{"id":"2"}\n{"id":"3"}\n');
  const TABLE = Buffer.from("id,title\n1,chair\n2,table\n");
  const ARRAY = Buffer.from('[{"id":"1"},{"id":"2"}]');
  const members = (cut: number) =>
    Buffer.concat([gzipSync(LINES.subarray(0, cut)), gzipSync(LINES.subarray(cut))]);

  async function isProven(format: FeedFormat, bytes: Uint8Array, header: string | null, sizes: number[]) {
    const end = new FeedEnd();
    const chunks = inflate(cut(bytes, sizes), header, 1e9, end);
    const options = { format, itemsPath: null, delimiter: null, encoding: null, itemBytesMax: 1000 };
    expect((await all(readFeed({ chunks, contentType: null, end }, options))).length).toBeGreaterThan(0);
    return end.isProven;
  }

  test.each<[what: string, proven: boolean, format: FeedFormat, bytes: Uint8Array, header?: string]>([
    ["lines", false, "json", LINES],
    ["a table", false, "csv", TABLE],
    ["a JSON array", true, "json", ARRAY],
    ["an object with an array", true, "json", Buffer.from('{"items":[{"id":"1"}]}')],
    ["XML", true, "brandx_merchant", Buffer.from("<rss><item><id>1</id></item></rss>")],
    ["a table that a catalog may be, too", false, "brandx_catalog", TABLE],
    ["gzip around lines", true, "json", gzipSync(LINES)],
    ["zlib around a table", true, "csv", deflateSync(TABLE)],
    ["raw deflate around a table", true, "csv", deflateRawSync(TABLE), "deflate"],
    ["a .gz file that was compressed once more", true, "csv", gzipSync(gzipSync(TABLE))],
    ["several gzip members, between which a cut is not seen", false, "json", members(11)],
    ["several gzip members that were compressed once more", true, "json", gzipSync(members(11)), "gzip"],
    ["lines that are only said to be compressed", false, "json", LINES, "gzip"],
  ])("%s: known is %j", async (_, proven, format, bytes, header = null as never) => {
    for (const sizes of [[], [1], [3, 50]]) expect(await isProven(format, bytes, header, sizes)).toBe(proven);
  });

  test.each([
    ["gzip", gzipSync(TABLE), null],
    ["zlib", deflateSync(TABLE), null],
    ["raw deflate", deflateRawSync(TABLE), "deflate"],
  ] as const)("%s: is never known for data that was cut", async (_, bytes, header) => {
    for (let length = 1; length < bytes.length; length++) {
      const end = new FeedEnd();
      const reading = (async () => {
        for await (const _ of inflate(cut(bytes.subarray(0, length)), header, 1e9, end));
      })();
      await reading.catch((error: unknown) => expect(error).toBeInstanceOf(FeedError));
      expect(end.isProven).toBe(false);
    }
  });
});

describe("a reader that stops early", () => {
  const options = { itemsPath: null, delimiter: null, encoding: null, itemBytesMax: 1000 };

  test.each<[format: FeedFormat, start: string, item: string]>([
    ["brandx_merchant", "<rss>", "<item><id>1</id></item>"],
    ["csv", "id\n", "1\n"],
    ["json", "[1", ',{"id":"1"}'],
    ["json", "", '{"id":"1"}\n'],
  ])("%s: ends its source", async (format, start, item) => {
    let ended = false;
    async function* endless() {
      try {
        yield Buffer.from(start);
        for (;;) yield Buffer.from(item.repeat(1000));
      } finally {
        ended = true;
      }
    }
    for await (const group of readFeed(
      { chunks: inflate(endless(), null, 1e9), contentType: null },
      { format, ...options },
    )) {
      if (group.length > 1) break;
    }
    expect(ended).toBe(true);
  });

  test.each<[format: FeedFormat, start: string, item: string]>([
    ["brandx_merchant", "<rss>", "<item><id>1</id></item>"],
    ["csv", "id\n", "1\n"],
    ["json", "[1", ',{"id":"1"}'],
  ])(
    "%s: a source's error is passed on unchanged, after the items before it",
    async (format, start, item) => {
      const chunks = inflate(cut(Buffer.from(start + item.repeat(200_000))), null, 300_000);
      const { code, message } = await refusal(
        readFeed({ chunks, contentType: null }, { format, ...options }),
      );
      expect([code, message]).toEqual(["SK-DS-413", "the feed is larger than 300000 bytes"]);
      async function* breaking() {
        yield Buffer.from(start + item.repeat(9_999));
        throw new FeedError("SK-DS-521", "the connection broke");
      }
      const broken = await refusal(
        readFeed({ chunks: breaking(), contentType: null }, { format, ...options }),
      );
      expect(broken.code).toBe("SK-DS-521");
    },
  );

  test("an unreadable feed ends its source, too", async () => {
    let ended = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.from("no XML");
      } finally {
        ended = true;
      }
    }
    const feed = { chunks: endless(), contentType: null };
    await expect(all(readFeed(feed, { format: "brandx_merchant", ...options }))).rejects.toThrow(
      "not XML at line 1",
    );
    expect(ended).toBe(true);
  });
});

describe("encodings", () => {
  const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16();
  const latin = Buffer.from("id,title\n1,K\xe4se \x96 \x93fein\x94 \x80\n", "latin1");
  const LATIN = "id,title\n1,Käse – “fein” €\n";

  test.each<[what: string, bytes: Buffer, encoding: string]>([
    ["UTF-8", PLAIN, "utf-8"],
    ["UTF-8 with a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), PLAIN]), "utf-8"],
    ["UTF-16LE with a byte order mark", Buffer.from(`\ufeff${TEXT}`, "utf16le"), "utf-16le"],
    ["UTF-16LE without one", Buffer.from(TEXT, "utf16le"), "utf-16le"],
    ["UTF-16BE with a byte order mark", utf16be(`\ufeff${TEXT}`), "utf-16be"],
    ["UTF-16BE without one", utf16be(TEXT), "utf-16be"],
  ])("%s is recognised, whatever the chunks", async (_, bytes, encoding) => {
    for (const sizes of [[], [1], [3, 65535, 1, 7]]) {
      expect(await decoded(bytes, null, null, sizes)).toEqual({ encoding, text: TEXT });
    }
  });

  test("the option wins over the declaration, and that over the content type; ISO-8859-1 is read as windows-1252", async () => {
    expect((await decoded(latin, "ISO-8859-1")).text).toBe(LATIN);
    expect((await decoded(latin, null, 'text/csv; charset="windows-1252"')).text).toBe(LATIN);
    const xml = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>\xe4</a>', "latin1");
    expect((await decoded(xml, null, "text/xml; charset=utf-8")).text).toContain("<a>ä</a>");
    expect((await decoded(xml, "iso-8859-2")).text).toContain("<a>ä</a>");
    expect((await decoded(xml, "iso-8859-7")).text).toContain("<a>δ</a>");
  });

  test("a declaration of UTF-16 in a text that is not UTF-16 is ignored", async () => {
    expect((await decoded(Buffer.from('<?xml version="1.0" encoding="utf-16"?><a>ä</a>'))).encoding).toBe(
      "utf-8",
    );
  });

  test("an unknown encoding is refused", async () => {
    await expect(decoded(PLAIN, null, "text/csv; charset=klingon")).rejects.toMatchObject({
      code: "SK-DS-422",
      message: 'the feed\'s encoding "klingon" is unknown; set the encoding',
    });
    expect(
      ["utf-8", "UTF8", "latin1", "windows-1252", "shift_jis", "utf-16"].filter((name) => !isEncoding(name)),
    ).toEqual([]);
    expect(["klingon", "", "utf-99", "replacement"].filter(isEncoding)).toEqual([]);
  });

  test.each<[format: "csv" | "json" | "brandx_merchant", before: string, after: string]>([
    ["csv", "id,title\n1,a\n2,b", "\n3,c\n"],
    ["json", '[{"id":"1"},{"id":"2","title":"b', '"},{"id":"3"}]'],
    ["json", '{"id":"1"}\n{"id":"2","title":"b', '"}\n{"id":"3"}\n'],
    [
      "brandx_merchant",
      "<rss><item><id>1</id></item><item><id>2</id><title>b",
      "</title></item><item><id>3</id></item></rss>",
    ],
  ])(
    "%s: an item with bytes that are not UTF-8 fails, the others are read",
    async (format, before, after) => {
      const feed = (bytes: number[]) =>
        Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
      for (const bytes of [[0xe4], [0xc3], [0xff, 0xfe], [0xed, 0xa0, 0x80], [0xe4, 0xef, 0xbf, 0xbd]]) {
        expect(await values(format, feed(bytes))).toEqual([
          expect.objectContaining({ id: "1" }),
          expect.stringContaining(
            "item has bytes that are not UTF-8; set the encoding, for instance windows-1252",
          ),
          expect.objectContaining({ id: "3" }),
        ]);
      }
      const own = await values(format, feed([0xef, 0xbf, 0xbd]));
      expect(own[1]).toMatchObject({ title: "b\ufffd" });
    },
  );

  test("half a surrogate pair in UTF-16 fails its item, too", async () => {
    const feed = Buffer.from('[{"id":"1"},{"id":"\ud83d"},{"id":"\ud83d\ude00\ufffd"}]', "utf16le");
    expect(await values("json", feed)).toEqual([
      { id: "1" },
      "item has bytes that are not UTF-16LE; set the encoding, for instance utf-8",
      { id: "😀\ufffd" },
    ]);
  });
});
