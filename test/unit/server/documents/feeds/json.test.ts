// JSON feeds: where the items are, numbers that do not fit into a double, and errors that affect an item, a
// line or the whole feed.

import { describe, expect, test } from "vitest";
import { jsonItems } from "../../../../../server/documents/feeds/json-items.js";
import { readFeed } from "../../../../../server/documents/feeds/read-feed.js";
import { all, cut, cutText, read, refusal, type Settings, values, valuesOf } from "./read.js";

async function refused(json: string, settings: Settings = {}): Promise<string> {
  try {
    await read("json", json, settings);
  } catch (error) {
    return `${(error as { code: string }).code} ${(error as Error).message}`;
  }
  return "read";
}

const itemsOf = (text: string, sizes: number[], path: string | null = null) =>
  jsonItems({ encoding: "utf-8", pieces: cutText(text, sizes) }, null, path, 1000);

describe("items are found in", () => {
  test.each<[what: string, json: string]>([
    ["an array", ' [{"id":"1"} , {"id":"2"}] '],
    ["an array in an object", '{"total":2,"items":[{"id":"1"},{"id":"2"}],"next":null}'],
    [
      "an array deep in an object",
      '{"a":{"tags":["x",["y"],{"z":[{}]}],"n":[]},"data":{"list":[{"id":"1"},{"id":"2"}]},"more":[{"id":"3"}]}',
    ],
    ["pretty-printed", JSON.stringify({ meta: { page: 1 }, products: [{ id: "1" }, { id: "2" }] }, null, 2)],
    ["lines", '{"id":"1"}\n\n  {"id":"2"}\r\n'],
    ["lines without a last newline", '{"id":"1"}\n{"id":"2"}'],
    [
      "lines containing arrays",
      '{"id":"1","x":[{"y":1}]}\n{"id":"2","x":[]}\n'.replaceAll(/,"x":[^\n]*/g, "}"),
    ],
  ])("%s", async (_, json) => {
    expect(await values("json", json)).toEqual([{ id: "1" }, { id: "2" }]);
  });

  test.each<[path: string, id: string]>([
    ["/data/products", "2"],
    ["data/products", "2"],
    ["/groups/1/items", "4"],
    ["/a~1b/c~0d", "5"],
    ["/first", "1"],
  ])("the array at items_path %s", async (itemsPath, id) => {
    const json = JSON.stringify({
      first: [{ id: "1" }],
      data: { other: [{ id: "0" }], products: [{ id: "2" }] },
      groups: [{ items: [{ id: "3" }] }, { items: [{ id: "4" }] }],
      "a/b": { "c~d": [{ id: "5" }] },
    });
    expect(await values("json", json, { itemsPath })).toEqual([{ id }]);
  });

  test("a single line only if the content type says NDJSON", async () => {
    expect(
      await values("json", '{"id":"1"}', { contentType: "application/x-ndjson; charset=utf-8" }),
    ).toEqual([{ id: "1" }]);
    expect(await refused('{"id":"1"}')).toBe("SK-DS-422 the feed has no array of items; set items_path");
  });

  test("an empty array, as an empty feed", async () => {
    expect(await values("json", "[]")).toEqual([]);
    expect(await values("json", '{"products":[]}')).toEqual([]);
    expect(await values("json", '{"products":[]}', { itemsPath: "/products" })).toEqual([]);
    expect(await refused('{"products":[]}', { itemsPath: "/items" })).toBe(
      "SK-DS-422 the feed has no array at /items; check items_path",
    );
    expect(await refused('{"items":{"id":1}}', { itemsPath: "/items" })).toBe(
      "SK-DS-422 the feed has no array at /items; check items_path",
    );
    expect(await refused('{"tags":["a"]}')).toBe("SK-DS-422 the feed has no array of items; set items_path");
  });
});

describe("values", () => {
  test("integers beyond 2^53 are exact, other numbers doubles, -0 is 0", async () => {
    const json =
      '[{"a":9007199254740991,"b":9007199254740993,"c":-123456789012345678901234567890,"d":0.1,"e":-0,"f":1e3,"g":1E-7}]';
    const [item] = await values("json", json);
    expect(item).toEqual({
      a: 9007199254740991,
      b: 9007199254740993n,
      c: -123456789012345678901234567890n,
      d: 0.1,
      e: 0,
      f: 1000,
      g: 1e-7,
    });
    expect(Object.is((item as { e: number }).e, 0)).toBe(true);
  });

  test("a number too large for a double fails its item", async () => {
    const digits = "9".repeat(400);
    expect(await values("json", `[{"a":1e400},{"a":1},{"b":[-1e400]},{"a":${digits}},{"a":2}]`)).toEqual([
      "item has a number that is too large",
      { a: 1 },
      "item has a number that is too large",
      "item has a number that is too large",
      { a: 2 },
    ]);
  });

  test("items that are not objects fail; JavaScript names are ordinary names; the last of two members wins", async () => {
    expect(await values("json", '[1,"a",null,true,[{"id":1}],{"id":1,"id":2}]')).toEqual([
      ...Array(5).fill("item is not an object"),
      { id: 2 },
    ]);
    const [item] = await read("json", '[{"__proto__":{"x":1},"constructor":"c","a":{"__proto__":[]}}]');
    expect(Object.keys(item!.value!)).toEqual(["__proto__", "constructor", "a"]);
    expect(Object.keys(item!.value!.a as object)).toEqual(["__proto__"]);
    expect(({} as { x?: number }).x).toBeUndefined();
  });

  test("strings keep escapes, lone surrogates and every kind of character", async () => {
    expect(
      await values("json", String.raw`[{"a":"\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00","ä😀":"ä😀"}]`),
    ).toEqual([{ a: '"\\/\b\f\n\r\tä😀', "ä😀": "ä😀" }]);
  });
});

describe("broken JSON", () => {
  test.each<[json: string, message: string]>([
    ["hello", 'SK-DS-422 the feed is not JSON: it begins with "hello"'],
    ["<rss/>", 'SK-DS-422 the feed is not JSON: it begins with "<rss/>"'],
    ["", "SK-DS-520 the feed is empty"],
    [" \n ", "SK-DS-520 the feed is empty"],
    ['[{"a":1},{"a":x}]', 'SK-DS-422 the feed is not JSON at byte 15, after 1 items: unexpected "x"'],
    ['[{"ä":1},{"a" 1}]', "SK-DS-422 the feed is not JSON at byte 16, after 1 items: unexpected a value"],
    ["[{},]", 'SK-DS-422 the feed is not JSON at byte 5, after 1 items: unexpected "]"'],
    ['[{"a":1,}]', 'SK-DS-422 the feed is not JSON at byte 9, after 0 items: unexpected "}"'],
    ["[{]", 'SK-DS-422 the feed is not JSON at byte 3, after 0 items: unexpected "]"'],
    ["[,{}]", 'SK-DS-422 the feed is not JSON at byte 2, after 0 items: unexpected ","'],
    ["[]]", 'SK-DS-422 the feed is not JSON at byte 3, after 0 items: unexpected "]"'],
    ["[] []", 'SK-DS-422 the feed is not JSON at byte 4, after 0 items: unexpected "["'],
    ["[{:1}]", 'SK-DS-422 the feed is not JSON at byte 3, after 0 items: unexpected ":"'],
    ["[{} {}]", 'SK-DS-422 the feed is not JSON at byte 5, after 1 items: unexpected "{"'],
  ])("%j ends the feed", async (json, message) => {
    expect(await refused(json)).toBe(message);
  });

  test("in a feed of lines, only the broken line fails", async () => {
    const lines = [
      '{"id":1}',
      "{",
      '{"id":2},{"id":3}',
      '{"id":4}]',
      "{}{}",
      "nonsense",
      '{"id":5}',
      "[1]",
      "7",
      '{"id":"',
    ];
    expect(await values("json", `${lines.join("\n")}\n{"id":6}`)).toEqual([
      { id: 1 },
      "line 2 is not a single JSON value",
      "line 3 is not a single JSON value",
      "line 4 is not a single JSON value",
      "line 5 is not a single JSON value",
      "line 6 is not a single JSON value",
      { id: 5 },
      "item is not an object",
      "item is not an object",
      "line 10 is not a single JSON value",
      { id: 6 },
    ]);
  });

  test("a truncated last line counts as an early end", async () => {
    expect(await refused('{"id":1}\n{"id":2}\n{"id"')).toBe("SK-DS-520 the feed ended early, in line 3");
  });
});

describe("hostile feeds", () => {
  test("values nested 10,000 deep fail their item, and end the feed outside items", async () => {
    const deep = "[".repeat(10_000) + "]".repeat(10_000);
    expect(await values("json", `[{"a":${deep}},{"id":1}]`)).toEqual([
      "item has values nested more than 64 deep",
      { id: 1 },
    ]);
    expect(await refused(`{"a":${deep},"b":[{}]}`)).toBe("SK-DS-422 the feed's JSON is nested too deeply");
    expect(await refused(`[{"a":${"[".repeat(500_000)}`)).toBe(
      "SK-DS-422 the feed's JSON is nested too deeply",
    );
  });

  test("an oversized item ends a feed that is an array, but fails only its line in a feed of lines", async () => {
    const item = (bytes: number) => `{"a":"${"x".repeat(bytes)}"}`;
    expect(await refused(`[{},${item(5_000_000)},{}]`)).toBe("SK-DS-413 item 2 is larger than 1048576 bytes");
    expect(await refused(`[{},{"a":[${'"b",'.repeat(1_000_000)}1]},{}]`)).toBe(
      "SK-DS-413 item 2 is larger than 1048576 bytes",
    );
    expect(await refused(`{"a":"${"x".repeat(5_000_000)}","b":[{}]}`)).toBe(
      "SK-DS-413 item 1 is larger than 1048576 bytes",
    );
    expect(await values("json", `{"id":1}\n${item(5_000_000)}\n{"id":3}\n`)).toEqual([
      { id: 1 },
      "line 2 is larger than 1048576 bytes",
      { id: 3 },
    ]);
    const umlauts = `{"a":"${"ä".repeat(600_000)}"}`; // 1.2 MB
    expect(await refused(`[${umlauts}]`)).toBe("SK-DS-413 item 1 is larger than 1048576 bytes");
    expect(await values("json", `{"id":1}\n${umlauts}\n`)).toEqual([
      { id: 1 },
      "line 2 is larger than 1048576 bytes",
    ]);
  });

  test("data around the items costs nothing, whatever its length", async () => {
    const junk = `{"x":[1,"a",{"b":null}]},`.repeat(200_000);
    expect(await values("json", `{"junk":[0,${junk}0],"items":[{"id":1}],"more":[${junk}0]}`)).toEqual([
      { id: 1 },
    ]);
  });
});

describe("chunks", () => {
  const FEEDS = [
    '{"m":{"t":["ä"]},"d":[{"id":"ä😀","n":-1.5e3,"b":[true,false,null]},{"a":{"b":[{}]}},3]}',
    '{"id":"ä😀"}\n\nbroken\n{"n":12345678901234567890}\n',
    '[{"id":1},{"s":"\\u00e4\\n"},[]]',
  ];

  test.each(FEEDS)("%s: yields the same items wherever it is cut", async (feed) => {
    const items = valuesOf(await all(itemsOf(feed, [feed.length])));
    expect(items.length).toBeGreaterThan(2);
    for (let first = 1; first < feed.length; first++) {
      expect(valuesOf(await all(itemsOf(feed, [first, feed.length])))).toEqual(items);
    }
    for (const size of [1, 2, 3]) expect(valuesOf(await all(itemsOf(feed, [size])))).toEqual(items);
  });

  test.each([FEEDS[0]!, FEEDS[2]!])("%s: an early end is refused wherever it occurs", async (feed) => {
    const bytes = Buffer.from(feed);
    const items = valuesOf(await read("json", bytes));
    for (let length = 0; length < bytes.length; length++) {
      const options = {
        format: "json",
        itemsPath: null,
        delimiter: null,
        encoding: null,
        itemBytesMax: 1000,
      } as const;
      const { code, items: before } = await refusal(
        readFeed({ chunks: cut(bytes.subarray(0, length), [5]), contentType: null }, options),
      );
      expect(code).toBe("SK-DS-520");
      expect(valuesOf(before)).toEqual(items.slice(0, before.length));
    }
  });
});
