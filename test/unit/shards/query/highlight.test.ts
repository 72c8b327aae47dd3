// Which parts of a text each kind of match marks, and which part of the text is shown.
import { beforeAll, describe, expect, test } from "vitest";
import type { Workbench } from "../../../../engine-wasm/host/instance/workbench.js";
import { languageNumber } from "../../../../engine-wasm/host/stemmer.js";
import type { HighlightWord } from "../../../../shards/protocol/fetch.js";
import { HIGHLIGHT_TEXT_BYTES } from "../../../../shards/query/limits.js";
import { engineModule } from "../harness.js";
import { field, highlighted, word } from "./highlighted.js";

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await engineModule()).workbench();
});

const EN = languageNumber("en");
const englishStem = (stem: string): string => `\u0001${String.fromCharCode(0x20 + EN)}${stem}`;

/** Returns the text with [marks]; null if nothing is marked. */
function marked(text: string, words: Partial<HighlightWord>[], more = {}): string | null {
  const request = { fields: [field("t", more)], words: words.map(word), startTag: "[", endTag: "]" };
  return highlighted(workbench, { t: text }, request).t?.snippet ?? null;
}
function matched(text: string, words: Partial<HighlightWord>[], more = {}): string[] {
  const request = { fields: [field("t", more)], words: words.map(word) };
  return highlighted(workbench, { t: text }, request).t?.matched_tokens ?? [];
}

describe("what is marked", () => {
  test("whole words in their original spelling", () => {
    expect(marked("Crème brûlée, CREME", [{ terms: ["creme"] }])).toBe("[Crème] brûlée, [CREME]");
    expect(matched("Crème brûlée, CREME Crème", [{ terms: ["creme"] }])).toEqual(["Crème", "CREME"]);
    expect(marked("nothing", [{ terms: ["creme"] }])).toBeNull();
    expect(marked("", [{ terms: ["creme"] }])).toBeNull();
  });

  test("the typed part of a longer word", () => {
    expect(marked("Mouse mou MOUTH", [{ prefixes: ["mou"] }])).toBe("[Mou]se [mou] [MOU]TH");
    expect(matched("Mouse mou MOUTH", [{ prefixes: ["mou"] }])).toEqual(["Mouse", "mou", "MOUTH"]);
    expect(marked("학교에서", [{ prefixes: ["학교"] }])).toBe("[학교]에서");
    expect(marked("Клавиатура", [{ prefixes: ["клав"] }])).toBe("[Клав]иатура");
  });

  test("a word that contains the typed text, in a field with infix search", () => {
    const words = [{ terms: ["phone"], infixes: ["smartphone", "wifi"] }];
    expect(marked("Smartphone, phone", words, { infix: true })).toBe("[Smartphone], [phone]");
    expect(matched("Smartphone", words, { infix: true })).toEqual(["Smartphone"]);
    expect(marked("a Wi-Fi", words, { infix: true })).toBe("a [Wi-Fi]");
    expect(marked("Smartphone, phone", words)).toBe("Smartphone, [phone]");
  });

  test("letters that fold to several letters, or to none, as a whole", () => {
    expect(marked("brûlée", [{ prefixes: ["bru"] }])).toBe("[brû]lée");
    expect(marked("bru\u0302le\u0301e", [{ prefixes: ["bru"] }])).toBe("[bru\u0302]le\u0301e");
    expect(marked("Straße", [{ prefixes: ["stra"] }])).toBe("[Stra]ße");
    expect(marked("Straße", [{ prefixes: ["strass"] }])).toBe("[Straß]e");
    expect(marked("Straße", [{ prefixes: ["stras"] }])).toBe("[Straße]");
    expect(marked("don't", [{ prefixes: ["don"] }])).toBe("[don]'t");
    expect(marked("ﬁshing", [{ prefixes: ["fish"] }])).toBe("[ﬁsh]ing");
  });

  test("the longer of two prefixes, and a whole word rather than a prefix", () => {
    expect(marked("keyboards", [{ prefixes: ["key"] }, { prefixes: ["keyboard"] }])).toBe("[keyboard]s");
    expect(marked("keyboards", [{ prefixes: ["key"] }, { terms: ["keyboards"] }])).toBe("[keyboards]");
  });

  test("misspelt words as a whole, but only the typed part if it is a prefix", () => {
    const words = [{ prefixes: ["headphone"], typos: ["headphones", "hedphone"] }];
    expect(marked("headphones hedphone", words)).toBe("[headphone]s [hedphone]");
    expect(marked("headphones", [{ prefixes: ["head"] }, { typos: ["headphones"] }])).toBe("[headphones]");
  });

  test("forms of a word in a field of that language", () => {
    const words = [{ terms: [englishStem("shoe")], typos: [englishStem("run")] }];
    expect(marked("Running shoes, shoe runs", words, { language: EN })).toBe(
      "[Running] [shoes], [shoe] [runs]",
    );
    expect(marked("Running shoes", words)).toBeNull();
    expect(marked("Running shoes", words, { language: languageNumber("de") })).toBeNull();
  });

  test("a joined word including all its parts", () => {
    expect(marked("a Wi-Fi router", [{ terms: ["wifi"] }])).toBe("a [Wi-Fi] router");
    expect(marked("a Wi-Fi router", [{ terms: ["wi"] }, { terms: ["fi", "wifi"] }])).toBe("a [Wi-Fi] router");
    expect(marked("a Wi-Fi router", [{ terms: ["wi"] }, { terms: ["fi"] }])).toBe("a [Wi]-[Fi] router");
    expect(matched("a Wi-Fi router", [{ terms: ["wi", "wifi"] }])).toEqual(["Wi-Fi"]);
  });

  test("the typed part of part numbers", () => {
    expect(marked("belt AB-123/4", [{ terms: ["ab1234"] }])).toBe("belt [AB-123/4]");
    expect(marked("belt AB-123/4", [{ prefixes: ["ab12"] }])).toBe("belt [AB-12]3/4");
    expect(marked("belt AB-123/4", [{ prefixes: ["ab123"] }])).toBe("belt [AB-123]/4");
    expect(matched("belt AB-123/4", [{ prefixes: ["ab12"] }])).toEqual(["AB-123/4"]);
    expect(marked("belt AB-123/4", [{ prefixes: ["a"] }])).toBe("belt [A]B-123/4");
    expect(matched("belt AB-123/4", [{ prefixes: ["a"] }])).toEqual(["AB"]);
    const both = [{ terms: ["ab"], prefixes: ["ab12"] }, { prefixes: ["12", "ab12"] }];
    expect(marked("belt AB-123/4", both)).toBe("belt [AB-12]3/4");
  });

  test("the whole value of a part number field", () => {
    expect(marked("AB 123 4", [{ terms: ["\u0002ab1234"] }], { sku: true })).toBe("[AB 123 4]");
    expect(marked("AB 123 4", [{ prefixes: ["\u0002ab12"] }], { sku: true })).toBe("[AB 12]3 4");
    expect(marked("AB 123 4 x", [{ terms: ["\u0002ab1234"] }], { sku: true })).toBeNull();
    expect(marked("AB 123 4", [{ terms: ["\u0002ab1234"] }])).toBeNull();
  });

  test("terms of a phrase only where they are adjacent", () => {
    const split = [{ sequences: [["wi", "fi"]] }];
    expect(marked("wi fi, fi wi x fi", split)).toBe("[wi] [fi], fi wi x fi");
    expect(marked("wi x fi", split)).toBeNull();
    expect(marked("wi", split)).toBeNull();
    const phrase = [["new", "york", "city"]];
    expect(marked("new york, New York City", [{ sequences: phrase }])).toBe("new york, [New] [York] [City]");
    expect(marked("a wi-fi b", [{ sequences: [["a", "wifi"]] }])).toBe("[a] [wi-fi] b");
  });

  test("a word in a script without spaces as one mark", () => {
    const tokyo = { sequences: [["東", "京"]] };
    expect(marked("東京都の天気、東の京", [tokyo])).toBe("[東京]都の天気、東の京");
    expect(marked("東京都", [tokyo, { sequences: [["京", "都"]] }])).toBe("[東京都]");
    expect(marked("東京東京", [tokyo])).toBe("[東京][東京]");
    expect(matched("東京都の東京", [tokyo])).toEqual(["東京"]);
  });

  test("text stays unchanged around the tags; escaping applies to the text only", () => {
    const title = `<b> "tom" & jerry's </b>`;
    const request = { words: [word({ terms: ["tom"] })] };
    expect(highlighted(workbench, { title }, request).title!.snippet).toBe(
      `<b> "<mark>tom</mark>" & jerry's </b>`,
    );
    expect(highlighted(workbench, { title }, { ...request, escapeHtml: true }).title).toEqual({
      snippet: "&lt;b&gt; &quot;<mark>tom</mark>&quot; &amp; jerry&#39;s &lt;/b&gt;",
      matched_tokens: ["tom"],
    });
  });
});

describe("which part is shown", () => {
  const words = [word({ terms: ["red"] }), word({ terms: ["shoe"], typos: ["shoo"], prefixes: ["shoe"] })];

  test("an array's element with the most different words, and only fields with a match", () => {
    const document = {
      title: "none",
      tags: ["red red red", "red shoe", 7, "shoe shoes"],
      price: 3,
      gone: null,
    };
    expect(highlighted(workbench, document, { words })).toEqual({
      tags: { snippet: "<mark>red</mark> <mark>shoe</mark>", matched_tokens: ["red", "shoe", "shoes"] },
    });
    // Two forms of one word count as one word.
    const forms = { tags: ["shoe shoo shoes", "a red shoe"] };
    expect(highlighted(workbench, forms, { words }).tags!.snippet).toBe(
      "a <mark>red</mark> <mark>shoe</mark>",
    );
    expect(highlighted(workbench, { title: null, tags: [] }, { words })).toEqual({});
  });

  const snippet = (text: string, snippetTokens: number): string =>
    highlighted(workbench, { t: text }, { words, snippetTokens, startTag: "[", endTag: "]" }).t!.snippet;

  test("the stretch with the most different words, from the start of its sentence", () => {
    const filler = Array.from({ length: 20 }, (_, i) => `w${i}`).join(" ");
    expect(snippet(`shoe shoe ${filler} red x shoe ${filler}`, 7)).toBe("…w18 w19 [red] x [shoe] w0 w1…");
    expect(snippet(`${filler}. The red old shoe is. ${filler}`, 7)).toBe("…The [red] old [shoe] is. w0 w1…");
    expect(snippet(`${filler}, the red old shoe is. ${filler}`, 7)).toBe("…the [red] old [shoe] is. w0 w1…");
    expect(snippet(`${filler} approx. of the red shoe ${filler}`, 8)).toBe(
      "…approx. of the [red] [shoe] w0 w1 w2…",
    );
    expect(snippet(`${filler} red shoe`, 4)).toBe("…w18 w19 [red] [shoe]");
    expect(snippet(`red shoe ${filler}`, 4)).toBe("[red] [shoe] w0 w1…");
  });

  test("only the first part of a very long text, marked as cut off", () => {
    const long = `red ${"x".repeat(HIGHLIGHT_TEXT_BYTES)} shoe`;
    const shown = highlighted(workbench, { t: long, u: [long, "red shoe"] }, { words, snippetTokens: 30 });
    expect(shown.t!.matched_tokens).toEqual(["red"]);
    expect(shown.t!.snippet.endsWith("x…")).toBe(true);
    expect(shown.u!.matched_tokens).toEqual(["red"]);
    expect(highlighted(workbench, { t: `${"x ".repeat(HIGHLIGHT_TEXT_BYTES / 2)}red` }, { words })).toEqual(
      {},
    );
  });
});
