// Highlighting as a visitor sees it, for every way a word can match, over HTTP.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";
import type { Hit } from "../world/reply.js";

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ shards: 3 });
});

afterAll(() => server.close());

type Texts = Record<string, unknown>;

/**
 * Creates an index with the fields of these documents, all of type text. Ids are the documents' positions.
 */
async function makeIndex(
  name: string,
  documents: readonly Texts[],
  settings: Record<string, unknown> = {},
  language?: string,
): Promise<void> {
  const names = new Set(documents.flatMap((document) => Object.keys(document)));
  const fields = Array.from(names, (field) => ({
    name: field,
    type: documents.some((document) => Array.isArray(document[field])) ? "string[]" : "string",
    optional: true,
    ...(language === undefined ? {} : { language }),
  }));
  await server.createIndex(name, { fields });
  if (Object.keys(settings).length > 0) {
    expectStatus(await server.patch(`/v1/indexes/${name}/settings`, settings), 200);
  }
  const rows = documents.map((document, i) => ({ id: String(i), ...document }));
  expectStatus(await server.post(`/v1/indexes/${name}/documents/batch`, { documents: rows }), 200);
}

async function hits(index: string, q: string, more: Record<string, unknown> = {}): Promise<Hit[]> {
  const reply = await server.query(index, { q, highlight_fields: "text", ...more });
  expectStatus(reply, 200);
  return reply.json.hits;
}

/** Snippets from the field `text`, in document order. */
async function snippets(index: string, q: string, more: Record<string, unknown> = {}): Promise<unknown[]> {
  const found = await hits(index, q, more);
  return found
    .sort((a, b) => Number(a.document.id) - Number(b.document.id))
    .map((hit) => hit.highlight.text?.snippet ?? null);
}

const texts = (...all: string[]): Texts[] => all.map((text) => ({ text }));

describe("every kind of match is marked", () => {
  test("words and prefixes, in the document's spelling", async () => {
    await makeIndex("plain", texts("Gaming Mouse & Crème brûlée", "MOUSE pad"));
    expect(await snippets("plain", "mou")).toEqual([
      "Gaming <mark>Mou</mark>se & Crème brûlée",
      "<mark>MOU</mark>SE pad",
    ]);
    expect(await snippets("plain", "CREME brul")).toEqual([
      "Gaming Mouse & <mark>Crème</mark> <mark>brûl</mark>ée",
    ]);
    const [hit] = await hits("plain", "creme brul");
    expect(hit!.highlight.text!.matched_tokens).toEqual(["Crème", "brûlée"]);
  });

  test("misspelt words, as a whole and as a prefix", async () => {
    await makeIndex("typos", texts("Wireless Keyboards"));
    expect(await snippets("typos", "wireles keybaords")).toEqual([
      "<mark>Wireless</mark> <mark>Keyboards</mark>",
    ]);
    expect(await snippets("typos", "keybaor")).toEqual(["Wireless <mark>Keyboards</mark>"]);
    expect(await snippets("typos", "wirelss keyb")).toEqual(["<mark>Wireless</mark> <mark>Keyb</mark>oards"]);
  });

  test("forms of a word if a language is set", async () => {
    await makeIndex("english", texts("Running in old shoes"), {}, "en");
    expect(await snippets("english", "shoe runs", { num_typos: 0, prefix: false })).toEqual([
      "<mark>Running</mark> in old <mark>shoes</mark>",
    ]);
    await makeIndex("german", texts("Zwei alte Häuser"), { language: "de" });
    expect(await snippets("german", "Haus", { num_typos: 0, prefix: false })).toEqual([
      "Zwei alte <mark>Häuser</mark>",
    ]);
  });

  test("synonyms: single words, and phrases in place", async () => {
    await makeIndex("synonyms", texts("tv stand", "Television set and a set of television cables"));
    const group = { type: "multi_way", synonyms: ["tv", "television set"] };
    expectStatus(await server.post("/v1/indexes/synonyms/synonyms", group), 201);
    expect(await snippets("synonyms", "tv")).toEqual([
      "<mark>tv</mark> stand",
      "<mark>Television</mark> <mark>set</mark> and a set of television cables",
    ]);
    expect(await snippets("synonyms", "television set")).toEqual([
      "<mark>tv</mark> stand",
      "<mark>Television</mark> <mark>set</mark> and a <mark>set</mark> of <mark>television</mark> cables",
    ]);
  });

  test("joined and split words", async () => {
    await makeIndex("joined", texts("a Wi-Fi router", "a wifi router", "a wi fi router"));
    const all = [
      "a <mark>Wi-Fi</mark> router",
      "a <mark>wifi</mark> router",
      "a <mark>wi</mark> <mark>fi</mark> router",
    ];
    expect(await snippets("joined", "wifi")).toEqual(all);
    expect(await snippets("joined", "wi-fi")).toEqual(all);
    expect(await snippets("joined", "wi fi")).toEqual(all);
  });

  test("part numbers", async () => {
    await makeIndex("parts", texts("belt AB-123/4", "belt ab1234", "belt AB 123 4"));
    expect(await snippets("parts", "ab1234")).toEqual([
      "belt <mark>AB-123/4</mark>",
      "belt <mark>ab1234</mark>",
      "belt <mark>AB</mark> <mark>123</mark> <mark>4</mark>",
    ]);
    expect((await snippets("parts", "ab12")).slice(0, 2)).toEqual([
      "belt <mark>AB-12</mark>3/4",
      "belt <mark>ab12</mark>34",
    ]);
    await makeIndex("skus", texts("AB 12 34 X", "AB 12 99"), { sku_fields: ["text"] });
    expect(await snippets("skus", "A-B1234x")).toEqual(["<mark>AB 12 34 X</mark>"]);
    expect(await snippets("skus", "ab123")).toEqual(["<mark>AB 12 3</mark>4 X"]);
  });

  test("words in scripts without spaces, and Korean", async () => {
    await makeIndex("asia", texts("東京都の天気予報", "삼성 노트북을 샀다", "ร้านอาหารไทย", "iPhone15ケース"));
    expect(await snippets("asia", "東京")).toEqual(["<mark>東京</mark>都の天気予報"]);
    expect(await snippets("asia", "天気 東京")).toEqual(["<mark>東京</mark>都の<mark>天気</mark>予報"]);
    expect(await snippets("asia", "노트북")).toEqual(["삼성 <mark>노트북</mark>을 샀다"]);
    expect(await snippets("asia", "อาหาร")).toEqual(["ร้าน<mark>อาหาร</mark>ไทย"]);
    expect(await snippets("asia", "ケース")).toEqual(["iPhone15<mark>ケース</mark>"]);
  });

  test("quoted words only within their phrase, stop words and excluded words never", async () => {
    await makeIndex("phrases", texts("shoe red, the red shoe of the year"), { stop_words: ["the", "of"] });
    expect(await snippets("phrases", '"red shoe"')).toEqual([
      "shoe red, the <mark>red</mark> <mark>shoe</mark> of the year",
    ]);
    expect(await snippets("phrases", '"red shoe" shoe')).toEqual([
      "<mark>shoe</mark> red, the <mark>red</mark> <mark>shoe</mark> of the year",
    ]);
    expect(await snippets("phrases", "the year -blue")).toEqual([
      "shoe red, the red shoe of the <mark>year</mark>",
    ]);
  });
});

describe("what is shown", () => {
  test("the best element of an array; fields without a match are left out", async () => {
    await makeIndex("arrays", [{ text: ["red hat", "red shoe", "shoe"], title: "none", note: "shoe box" }]);
    const [hit] = await hits("arrays", "red shoe", { highlight_fields: "title,text,note" });
    expect(hit!.highlight).toEqual({
      text: { snippet: "<mark>red</mark> <mark>shoe</mark>", matched_tokens: ["red", "shoe"] },
      note: { snippet: "<mark>shoe</mark> box", matched_tokens: ["shoe"] },
    });
    expect((await hits("arrays", "*"))[0]!.highlight).toEqual({});
  });

  test("a window of a long text, starting at a sentence", async () => {
    const filler = Array.from({ length: 60 }, (_, i) => `w${i}`).join(" ");
    const long = `A shoe first. ${filler}. Here the red, soft shoe stands. ${filler}`;
    await makeIndex("long", texts(long), { highlight: { snippet_tokens: 8 } });
    expect(await snippets("long", "red shoe")).toEqual([
      "…Here the <mark>red</mark>, soft <mark>shoe</mark> stands. w0 w1…",
    ]);
  });

  test("tags and escaping, according to the settings", async () => {
    const text = `<img src=x onerror=alert(1)> "Tom" & Jerry's`;
    await makeIndex("html", texts(text), { highlight: { start_tag: "<em class='hit'>", end_tag: "</em>" } });
    expect(await snippets("html", "tom")).toEqual([
      `<img src=x onerror=alert(1)> "<em class='hit'>Tom</em>" & Jerry's`,
    ]);
    expectStatus(await server.patch("/v1/indexes/html/settings", { highlight: { escape_html: true } }), 200);
    expect(await snippets("html", "tom")).toEqual([
      "&lt;img src=x onerror=alert(1)&gt; &quot;<em class='hit'>Tom</em>&quot; &amp; Jerry&#39;s",
    ]);
  });
});
