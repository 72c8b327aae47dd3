// Suggestions: valid requests, which of a document's values are suggested, and how the list is filled.

import { describe, expect, it } from "vitest";
import { ALT_EXACT, ALT_PREFIX } from "../../../../../engine-wasm/assembly/layout.js";
import { NO_FILTER } from "../../../../../engine-wasm/host/programs/filter-program.js";
import type { SearchWord } from "../../../../../engine-wasm/host/programs/search-program.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { skuTerm, stemTerms } from "../../../../../server/question/words/variants.js";
import { SuggestionList } from "../../../../../server/search/suggest/suggest-list.js";
import {
  mayBeMisspelt,
  readSuggestRequest,
  type SuggestRequest,
} from "../../../../../server/search/suggest/suggest-request.js";
import { ValueChooser } from "../../../../../server/search/suggest/suggest-values.js";
import { analyser, makeRecord, queried, schema } from "../../record.js";

const POPULAR = { ...makeRecord(), defaultSortingField: "views" };

function read(body: unknown, record = makeRecord()): SuggestRequest {
  return readSuggestRequest(body, queried(record), DEFAULT_LIMITS, null);
}

describe("suggest request", () => {
  it("fills in the defaults", () => {
    const request = read({ q: "s", suggest_by: " title , tags," }, POPULAR);
    expect(request.fields.map((field) => field.name)).toEqual(["title", "tags"]);
    expect(request).toMatchObject({
      perPage: 5,
      groupBy: null,
      query: { q: "s", prefix: true, filter: NO_FILTER },
    });
    expect(request.query.shape.sort?.map(({ field, descending }) => [field?.name, descending])).toEqual([
      ["views", true],
      [undefined, true],
    ]);
    expect(read({ q: "s", suggest_by: "title" }).query.shape.sort).toBeNull();
  });

  it("searches with a prefix whatever the settings and the body say", () => {
    expect(
      read({ q: "s", suggest_by: "title", prefix: false }, makeRecord({ prefix: false })).query.prefix,
    ).toBe(true);
  });

  it("clamps per_page", () => {
    expect(read({ q: "s", suggest_by: "title", per_page: 0 }).perPage).toBe(1);
    expect(read({ q: "s", suggest_by: "title", per_page: 1e6 }).perPage).toBe(50);
  });

  it.each([
    [[], "the body must be an object"],
    [{ suggest_by: "title" }, "q is missing"],
    [{ q: 1, suggest_by: "title" }, "q must be a string"],
    [{ q: "s" }, "suggest_by is missing"],
    [{ q: "s", suggest_by: " , " }, "suggest_by is missing"],
    [{ q: "s", suggest_by: ["title"] }, "suggest_by must be a string"],
    [{ q: "s", suggest_by: "nothing" }, "suggest_by: unknown field 'nothing'"],
    [{ q: "s", suggest_by: "price" }, "suggest_by: field 'price' cannot be searched"],
    [{ q: "s", suggest_by: "notes" }, "suggest_by: field 'notes' cannot be searched"],
    [{ q: "s", suggest_by: "title,title" }, "suggest_by names a field twice"],
    [{ q: "s", suggest_by: "title", per_page: "5" }, "per_page must be an integer"],
    [{ q: "s", suggest_by: "title", group_by_field: 3 }, "group_by_field must be a string"],
    [{ q: "s", suggest_by: "title", group_by_field: "nothing" }, "group_by_field: unknown field 'nothing'"],
    [{ q: "s", suggest_by: "title", group_by_field: "stock" }, "its schema entry needs facet: true"],
    [{ q: "s", suggest_by: "title", filter_by: "price:>" }, "expected"],
    [{ q: "s".repeat(5_000), suggest_by: "title" }, "q is longer than"],
  ])("refuses %j", (body, message) => {
    expect(() => read(body)).toThrow(message);
  });

  it("corrects only inputs that have a word of four letters", () => {
    const misspelt = (text: string): boolean => mayBeMisspelt(analyser.tokens(text));
    expect(misspelt("red sho")).toBe(false);
    expect(misspelt("shoe r")).toBe(true);
    expect(misspelt("𝔞𝔟𝔠")).toBe(false);
    expect(mayBeMisspelt([{ term: "abcd", position: 0, start: 0, end: 5, parts: 2 }])).toBe(false);
  });
});

function word(...terms: string[]): SearchWord {
  return {
    weight: 1,
    alternatives: terms.map((text) => ({
      kind: text.endsWith("*") ? ALT_PREFIX : ALT_EXACT,
      typos: 0,
      exact: true,
      sequence: false,
      useForProximity: true,
      boost: 1,
      terms: [{ term: text.replace("*", ""), prefix: text.endsWith("*") }],
    })),
  };
}

const RULES = { analyser, languages: [], bytesMax: 40 };

function values(document: object, input: string[], words: SearchWord[], otherForms = false): string[] {
  const chooser = new ValueChooser({ ...RULES, input: analyser.tokens(input.join(" ")), words, otherForms });
  const fields = ["title", "brand", "tags"].map((name) => schema.field(name)!);
  return chooser
    .choose({ ...document }, fields)
    .map(({ value, field, startsWithInput }) => `${field} ${value}${startsWithInput ? " <" : ""}`);
}

describe("a document's values", () => {
  const RED = [word("red*")];
  const RED_SHOE = [word("red"), word("shoe*")];

  it("offer each value that has all the words, as it is written", () => {
    const document = {
      id: "1",
      title: "A Red shoe",
      brand: "REDLINE",
      tags: ["blue", "Redish", "infra red"],
    };
    expect(values(document, ["red"], RED)).toEqual([
      "title A Red shoe",
      "brand REDLINE <",
      "tags Redish <",
      "tags infra red",
    ]);
  });

  it("offer the value with the most words if the words are spread over several", () => {
    expect(values({ title: "red", brand: "shoe", tags: ["shoes"] }, ["red", "shoe"], RED_SHOE)).toEqual([
      "brand shoe",
    ]);
    expect(values({ title: "hat", brand: "red" }, ["red", "shoe"], RED_SHOE)).toEqual(["brand red"]);
    expect(values({ title: "red hat", brand: "red shoes" }, ["red", "shoe"], RED_SHOE)).toEqual([
      "brand red shoes <",
    ]);
  });

  it("match an earlier input word as a whole word only", () => {
    expect(values({ title: "redder red shoe" }, ["red", "shoe"], RED_SHOE)).toEqual([
      "title redder red shoe",
    ]);
  });

  it("leave out long texts, values without words and members that are not text", () => {
    expect(values({ title: `red ${"x".repeat(40)}`, brand: "", tags: ["!", "red"] }, ["red"], RED)).toEqual([
      "tags red <",
    ]);
    expect(values({ title: 5, brand: null, tags: [1, { red: 1 }] }, ["red"], RED)).toEqual([]);
    expect(values({}, ["red"], RED)).toEqual([]);
  });

  it("start with another form of the input only on request", () => {
    const corrected = [word("rad", "red")];
    expect(values({ title: "red hat" }, ["rad"], corrected, true)).toEqual(["title red hat <"]);
    expect(values({ title: "red hat" }, ["rad"], corrected)).toEqual(["title red hat"]);
  });
});

describe("values written in parts", () => {
  /** Like the engine's analyser, adds a joined token for two words with a hyphen between them. */
  const joining = {
    ...analyser,
    tokens: (text: string) =>
      analyser
        .tokens(text)
        .flatMap((token, i, all) =>
          text[token.end] === "-" && all[i + 1] !== undefined
            ? [token, { ...token, term: token.term + all[i + 1]!.term, parts: 2 }]
            : [token],
        ),
  };
  const starts = (typed: string, value: string): boolean =>
    new ValueChooser({
      ...RULES,
      analyser: joining,
      input: joining.tokens(typed),
      words: [],
      otherForms: false,
    }).startsWithInput(value);

  it.each([
    ["wif", "Wi-Fi router", true],
    ["wifi r", "Wi-Fi router", true],
    ["wi-fi r", "WiFi router", true],
    ["wi-f", "WiFi router", true],
    ["wi fi", "Wi-Fi router", true],
    ["wifi x", "Wi-Fi router", false],
    ["fi", "Wi-Fi router", false],
    ["wi r", "Wi-Fi router", false],
  ])("%j and %j: %j", (typed, value, expected) => {
    expect(starts(typed, value)).toBe(expected);
  });

  it("finds words in sequence, as stems or as a part number", () => {
    const other = (terms: string[], sequence: boolean): SearchWord => ({
      weight: 1,
      alternatives: [
        { ...word("x").alternatives[0]!, sequence, terms: terms.map((term) => ({ term, prefix: false })) },
      ],
    });
    const fits = (searched: SearchWord, text: string): boolean => {
      const input = analyser.tokens("none");
      const chooser = new ValueChooser({
        ...RULES,
        languages: [1],
        input,
        words: [searched],
        otherForms: false,
      });
      const fields = [schema.field("title")!, schema.field("brand")!];
      return chooser.choose({ title: "first", brand: text }, fields)[0]?.field === "brand";
    };
    expect(fits(other(["foot", "ball"], true), "a foot ball")).toBe(true);
    expect(fits(other(["foot", "ball"], true), "a ball foot")).toBe(false);
    expect(fits(other(stemTerms("runs", [1]), false), "running shoe")).toBe(true);
    expect(fits(other([skuTerm("ab12")], false), "AB 12")).toBe(true);
  });
});

describe("the list of suggestions", () => {
  const entry = (value: string) => ({ value, field: "title", document_id: "1" });
  const shown = (list: SuggestionList): string[] => list.suggestions.map(({ value }) => value);

  it("puts values that start with the input first, and drops duplicates and what exceeds the limit", () => {
    const list = new SuggestionList(3, analyser);
    list.add(entry("a b"), false);
    list.add(entry("B one"), true);
    list.add(entry("b ONE"), true);
    list.add(entry("A B"), false);
    expect(list.roundFull).toBe(false);
    list.add(entry("c b"), false);
    list.add(entry("b two"), true);
    list.closeRound();
    expect(shown(list)).toEqual(["B one", "b two", "a b"]);
    expect(list.full).toBe(true);
  });

  it("lets a later round only fill free places", () => {
    const list = new SuggestionList(3, analyser);
    list.add(entry("x b"), false);
    list.closeRound();
    expect(list.full).toBe(false);
    list.add(entry("bb"), true);
    list.add(entry("X B"), false);
    list.add(entry("y b"), false);
    list.add(entry("z b"), false);
    list.closeRound();
    expect(shown(list)).toEqual(["x b", "bb", "y b"]);
  });

  it("distinguishes groups by their exact value", () => {
    const list = new SuggestionList(5, analyser);
    list.add({ value: "Acme", field: "brand", count: 2 }, true);
    list.add({ value: "ACME", field: "brand", count: 1 }, true);
    list.add({ value: "Acme", field: "brand", count: 9 }, true);
    list.closeRound();
    expect(list.suggestions.map((one) => ("count" in one ? one.count : null))).toEqual([2, 1]);
  });
});
