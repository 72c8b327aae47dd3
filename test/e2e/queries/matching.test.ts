// What a shop's visitors type and must find: spellings of part numbers, joined and split words, word forms,
// scripts without spaces, synonyms. Also checks the parts of an answer besides the hits.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";
import type { Hit, ReplyBody } from "../world/reply.js";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ shards: 3 });
});

afterAll(() => server.close());

const ids = (hits: readonly Hit[]): string[] => hits.map((hit) => hit.document.id);

async function search(index: string, q: string, more: Record<string, unknown> = {}): Promise<ReplyBody> {
  const reply = await server.query(index, { q, ...more });
  expectStatus(reply, 200);
  return reply.json;
}

async function found(index: string, q: string, more: Record<string, unknown> = {}): Promise<string[]> {
  return ids((await search(index, q, more)).hits).sort();
}

async function textIndex(
  name: string,
  texts: Record<string, string>,
  settings: Record<string, unknown> = {},
) {
  await server.createIndex(name, { fields: [{ name: "text", type: "string" }] });
  if (Object.keys(settings).length > 0) {
    expectStatus(await server.patch(`/v1/indexes/${name}/settings`, settings), 200);
  }
  const documents = Object.entries(texts).map(([id, text]) => ({ id, text }));
  expectStatus(await server.post(`/v1/indexes/${name}/documents/batch`, { documents }), 200);
}

describe("spellings", () => {
  test("joined, hyphenated and split words find each other", async () => {
    await textIndex("joined", { a: "wifi router", b: "wi-fi router", c: "wi fi router", d: "wire router" });
    for (const q of ["wifi router", "wi-fi router", "wi fi router"]) {
      expect(await found("joined", q), q).toEqual(["a", "b", "c"]);
    }
    await textIndex("units", { a: "cable 256gb", b: "cable 256 gb", c: "cable 256-gb", d: "cable 25 6gb" });
    for (const q of ["256gb", "256 gb", "256-gb"])
      expect(await found("units", q), q).toEqual(["a", "b", "c"]);
  });

  test("part numbers match in every spelling, in text and in queries", async () => {
    await textIndex("parts", { a: "belt AB-123/4", b: "belt ab1234", c: "belt AB 123 4", d: "belt AB-999" });
    for (const q of ["AB-123/4", "ab1234", "AB 123 4", "ab 1234", "AB123-4"]) {
      expect(await found("parts", q), q).toEqual(["a", "b", "c"]);
    }
    expect(await found("parts", "AB-12")).toEqual(expect.arrayContaining(["a", "b"]));
    expect(await found("parts", "AB-12")).not.toContain("d");
  });

  test("an emoji is a search word: unless symbols are indexed, no document contains it", async () => {
    const texts = { a: "party 🎉 hat", b: "party hat" };
    await textIndex("emoji", texts);
    for (const q of ["🎉", "🎉 🎂", '"🎉"', "❤️", "👩‍👩‍👧", "🇫🇷", "🎉 -hat", "$"]) {
      const { hits, found: count } = await search("emoji", q);
      expect([hits, count], q).toEqual([[], 0]);
    }
    expect(await found("emoji", "🎉 hat")).toEqual(["a", "b"]);
    for (const q of ["*", "", " ", "-", "...", "-🎉"]) expect(await found("emoji", q), q).toEqual(["a", "b"]);
    await textIndex("emoji-indexed", texts, { symbols_to_index: ["🎉"] });
    expect(await found("emoji-indexed", "🎉")).toEqual(["a"]);
    expect(await found("emoji-indexed", "🎂")).toEqual([]);
  });

  test("numbers with a decimal point are not joined", async () => {
    await textIndex("decimals", { a: "bottle 1.5 l", b: "bottle 15 l" });
    expect(await found("decimals", "bottle 15")).toEqual(["b"]);
  });

  test("a SKU match lifts its product above everything else", async () => {
    const fields = [
      { name: "title", type: "string" },
      { name: "sku", type: "string" },
    ];
    await server.createIndex("skus", { fields });
    expectStatus(await server.patch("/v1/indexes/skus/settings", { sku_fields: ["sku"] }), 200);
    const documents = [
      { id: "part", title: "drum", sku: "006 R 90321" },
      { id: "talk", title: "about 006 R 90321 006 R 90321", sku: "X" },
      { id: "longer", title: "kit", sku: "006R90321-B" },
    ];
    expectStatus(await server.post("/v1/indexes/skus/documents/batch", { documents }), 200);
    for (const q of ["006R90321", "006-r-90321", "006 R 90321"]) {
      const { hits } = await search("skus", q);
      expect(hits[0]!.document.id, q).toBe("part");
      expect(hits[0]!.relevance_bonus, q).toBeGreaterThanOrEqual(2 ** 52);
      expect(hits[0]!.text_match + hits[0]!.relevance_bonus).toBeLessThan(2 ** 53 + 2 ** 52);
      expect(
        hits.slice(1).every((hit) => hit.relevance_bonus < 2 ** 52),
        q,
      ).toBe(true);
    }
    const begun = await search("skus", "006R903");
    expect(ids(begun.hits)).toEqual(expect.arrayContaining(["part", "longer"]));
  });

  test("a document whose brand is named or whose field equals the query comes first", async () => {
    const fields = [
      { name: "title", type: "string" },
      { name: "brand", type: "string" },
    ];
    await server.createIndex("brands", { fields });
    expectStatus(await server.patch("/v1/indexes/brands/settings", { brand_field: "brand" }), 200);
    const documents = [
      { id: "other", title: "Case for Samsung Galaxy phone", brand: "Spigen" },
      { id: "own", title: "Galaxy phone case", brand: "Samsung" },
      { id: "whole", title: "phone", brand: "Nokia" },
      { id: "starts", title: "phone holder", brand: "Nokia" },
      { id: "ends", title: "holder phone", brand: "Nokia" },
    ];
    expectStatus(await server.post("/v1/indexes/brands/documents/batch", { documents }), 200);
    const samsung = await search("brands", "samsung case");
    expect(ids(samsung.hits)).toEqual(["own", "other"]);
    expect(samsung.hits[0]!.relevance_bonus).toBe(2 ** 24);
    const phone = await search("brands", "phone", { query_by: "title" });
    const bonus = Object.fromEntries(phone.hits.map((hit) => [hit.document.id, hit.relevance_bonus]));
    expect(bonus).toMatchObject({ whole: 2 ** 24, starts: 2 ** 20, ends: 0 });
    expect(ids(phone.hits)[0]).toBe("whole");
  });

  test("a typo in the first letter costs more", async () => {
    await textIndex("letters", { other: "crinter", same: "prinker" });
    expect(ids((await search("letters", "printer")).hits)).toEqual(["same", "other"]);
  });
});

describe("languages", () => {
  test("forms of a word match each other only where a language is set", async () => {
    const texts = { a: "running shoe", b: "run shoes", c: "runner" };
    await textIndex("plain", texts, { num_typos: 0 });
    await textIndex("english", texts, { num_typos: 0, language: "en" });
    expect(await found("plain", "shoes", { prefix: false })).toEqual(["b"]);
    expect(await found("english", "shoes", { prefix: false })).toEqual(["a", "b"]);
    expect(await found("english", "runs shoe", { prefix: false })).toEqual(["a", "b"]);
    expect(await found("english", "the shoe", { prefix: false })).toEqual(["a", "b"]);
  });

  test("a field may have its own language", async () => {
    const fields = [
      { name: "en", type: "string", language: "en" },
      { name: "de", type: "string", language: "de" },
      { name: "code", type: "string" },
    ];
    await server.createIndex("fields", { fields });
    const documents = [
      { id: "a", en: "houses", de: "Häuser", code: "shoes" },
      { id: "b", en: "house", de: "Haus", code: "shoe" },
    ];
    expectStatus(await server.post("/v1/indexes/fields/documents/batch", { documents }), 200);
    const exact = { prefix: false, num_typos: 0 };
    expect(await found("fields", "houses", { ...exact, query_by: "en" })).toEqual(["a", "b"]);
    expect(await found("fields", "shoes", { ...exact, query_by: "code" })).toEqual(["a"]);
  });

  test("setting a language later re-indexes the documents", async () => {
    await textIndex("later", { a: "printer", b: "printers" }, { num_typos: 0 });
    expect(await found("later", "printers", { prefix: false })).toEqual(["b"]);
    expectStatus(await server.patch("/v1/indexes/later/settings", { language: "en" }), 200);
    await expect
      .poll(() => found("later", "printers", { prefix: false }), { timeout: 150_000 })
      .toEqual(["a", "b"]);
  });

  test("an unknown language is refused with its name", async () => {
    const reply = await server.post("/v1/indexes", {
      name: "klingon",
      schema: { fields: [{ name: "t", type: "string", language: "xx" }] },
    });
    expectStatus(reply, 400);
    expect(reply.json.error).toContain("xx");
  });

  test("Chinese, Japanese, Korean and Thai text is searchable by word", async () => {
    await textIndex("asia", {
      ja: "東京都の天気予報",
      zh: "北京大学图书馆",
      ko: "삼성전자 노트북을 샀다",
      th: "ร้านอาหารไทยในกรุงเทพ",
      mixed: "iPhone15ケース",
      kyoto: "京都の東",
    });
    expect(await found("asia", "東京")).toEqual(["ja"]);
    expect(await found("asia", "天気")).toEqual(["ja"]);
    expect(await found("asia", "大学")).toEqual(["zh"]);
    expect(await found("asia", "图书馆 北京")).toEqual(["zh"]);
    expect(await found("asia", "노트북")).toEqual(["ko"]);
    expect(await found("asia", "อาหาร")).toEqual(["th"]);
    expect(await found("asia", "กรุงเทพ")).toEqual(["th"]);
    expect(await found("asia", "ケース")).toEqual(["mixed"]);
  });

  test("typos count characters, not bytes", async () => {
    await textIndex("cyrillic", { a: "клавиатура", b: "монитор" });
    expect(await found("cyrillic", "клавеатура")).toEqual(["a"]);
    expect(await found("cyrillic", "манитор")).toEqual(["b"]);
  });
});

describe("synonyms", () => {
  const post = (index: string, body: unknown) => server.post(`/v1/indexes/${index}/synonyms`, body);

  test("match words and phrases, both ways or one way, from the next query on", async () => {
    await textIndex("synonyms", {
      tv: "tv stand",
      television: "television stand",
      set: "television set stand",
      jeans: "jeans",
      trousers: "trousers",
    });
    expect(await found("synonyms", "tv")).toEqual(["tv"]);
    expectStatus(await post("synonyms", { type: "multi_way", synonyms: ["tv", "television set"] }), 201);
    expect(await found("synonyms", "tv")).toEqual(["set", "tv"]);
    expect(await found("synonyms", "television set stand")).toEqual(["set", "tv"]);
    const { hits } = await search("synonyms", "tv stand");
    expect(ids(hits)).toEqual(["tv", "set"]);
    const oneWay = await post("synonyms", {
      type: "one_way",
      synonyms: ["trousers", "jeans"],
      root: "trousers",
    });
    expectStatus(oneWay, 201);
    expect(await found("synonyms", "trousers")).toEqual(["jeans", "trousers"]);
    expect(await found("synonyms", "jeans")).toEqual(["jeans"]);
    const path = `/v1/indexes/synonyms/synonyms/${oneWay.json.data.id}`;
    expectStatus(await server.patch(path, { enabled: false }), 200);
    expect(await found("synonyms", "trousers")).toEqual(["trousers"]);
  });

  test("never match with typos and rank below the word itself", async () => {
    await textIndex("strict", { word: "sofa blue", synonym: "couch couch couch", near: "coach" });
    expectStatus(await post("strict", { type: "multi_way", synonyms: ["sofa", "couch"] }), 201);
    expect(ids((await search("strict", "sofa")).hits)).toEqual(["word", "synonym"]);
  });
});

describe("beside the hits", () => {
  test("there are related hits if little is found, and corrections if a word is misspelt", async () => {
    await textIndex("few", {
      both: "red lamp",
      red: "red chair",
      lamp: "desk lamp",
      none: "green table",
    });
    const few = await search("few", "red lamp");
    expect(ids(few.hits)).toEqual(["both"]);
    expect(few.found).toBe(1);
    expect(ids(few.related_hits as Hit[]).sort()).toEqual(["lamp", "red"]);
    expect((await search("few", "table")).related_hits).toEqual([]);
    expect((await search("few", "red lmap")).suggestions).toEqual([{ value: "red lamp" }]);
    expect((await search("few", "red lamp")).suggestions).toEqual([]);
  });
});

describe("explain", () => {
  test("explains in words why a hit ranks where it does, but only on request", async () => {
    await textIndex("why", { a: "wi-fi printer", b: "printers cable", c: "cable" }, { language: "en" });
    expect((await search("why", "printers wifi")).hits[0]).not.toHaveProperty("explanation");
    const { hits } = await search("why", "printers wifi", { explain: true });
    const { explanation } = hits[0] as Hit & { explanation: Record<string, unknown> };
    expect(explanation).toMatchObject({
      full: true,
      words: [
        { word: "printers", match: "stem", typos: 0, found: [{ field: "text", term: "printer", times: 1 }] },
        { word: "wifi", match: "exact", found: [{ field: "text", term: "wifi" }] },
      ],
      boost: 0,
      place: "normal",
    });
    expect((explanation.text as string[]).join(" ")).toContain(
      '"printers" was found in another form (printer) in text',
    );
  });
});
