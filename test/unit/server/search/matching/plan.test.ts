// From a request to the engine's program: words of the query text, allowed typos, sort keys, rows and facets.
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS, FIXED_LIMITS } from "../../../../../server/ground/limits.js";
import { readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { typosAllowed, typosAtLast } from "../../../../../server/question/words/typos/typo-rule.js";
import { planQuery, type QueryPlan } from "../../../../../server/search/matching/plan.js";
import { makeRecord, queried } from "../../record.js";

function plan(body: object, record = makeRecord(), documentsMax = 1_000): QueryPlan {
  const index = queried(record);
  const request = readQueryRequest(body, index, DEFAULT_LIMITS);
  return planQuery(request, index, { documents: documentsMax, documentsMax });
}
const words = (q: string, settings = {}): string[] =>
  plan({ q }, makeRecord(settings)).text.words.map(
    ({ terms, prefix, typosMax }) => `${terms.join("_")}${prefix ? "*" : ""}${typosMax}`,
  );

describe("query text", () => {
  it.each([
    ["red shoes", ["red0", "shoes*1"]],
    ["Red, SHOES!", ["red0", "shoes*1"]],
    ["*", []],
    ["  ", []],
    ["?!", []],
    ['"red shoes"', ["red0", "shoes0"]],
    ['blue "red shoes"', ["blue1", "red0", "shoes0"]],
    ['"red shoes" blue', ["red0", "shoes0", "blue*1"]],
    ['"red shoes', ["red0", "shoes*1"]],
    ['15" monitor', ["150", "monitor*1"]],
    ["shoes -red", ["shoes1"]],
    ["wi-fi", ["wi0", "fi*0"]],
    ["shoes - red", ["shoes1", "red*0"]],
    ['red shoes ! - ""', ["red0", "shoes*1"]],
    ["red red shoes red", ["red*0", "shoes1"]],
  ])("reads %j", (q, expected) => {
    expect(words(q)).toEqual(expected);
  });

  it("separates phrases and exclusions", () => {
    const { phrases, excludes } = plan({ q: 'a "b c" -d -"e f" -g-h' }).text;
    expect(phrases).toEqual([["b", "c"]]);
    expect(excludes).toEqual([["d"], ["e", "f"], ["g", "h"]]);
  });

  it("drops stop words unless there is nothing else", () => {
    expect(words("the red shoes", { stop_words: ["The"] })).toEqual(["red0", "shoes*1"]);
    expect(words("the", { stop_words: ["the"] })).toEqual(["the*0"]);
    expect(words('"the who"', { stop_words: ["the"] })).toEqual(["the0", "who0"]);
  });

  it("uses only the first words of a long query", () => {
    expect(words(Array.from({ length: 200 }, (_, i) => `w${i}`).join(" "))).toHaveLength(
      FIXED_LIMITS.queryTokensMax,
    );
  });

  it("allows typos by word length in code points", () => {
    const rule = { numTypos: 4, minLength1: 4, minLength2: 8, onNumbers: false };
    const lengths = [3, 4, 7, 8, 11, 12, 15, 16, 40];
    expect(lengths.map((length) => typosAllowed("ñ".repeat(length), rule))).toEqual([
      0, 1, 1, 2, 2, 3, 3, 4, 4,
    ]);
    expect(typosAllowed("𐐷𐐷𐐷", rule)).toBe(0);
    expect(typosAllowed("ab1234", rule)).toBe(0);
    expect(typosAllowed("ab1234", { ...rule, onNumbers: true })).toBe(1);
    expect(typosAllowed("ñ".repeat(40), { ...rule, numTypos: 1 })).toBe(1);
    expect([3, 4, 5, 7, 8, 12].map((length) => typosAtLast("ñ".repeat(length), rule))).toEqual([
      0,
      1,
      2,
      2,
      2,
      typosAllowed("ñ".repeat(12), rule),
    ]);
    expect(typosAtLast("ñññññ", { ...rule, numTypos: 1 })).toBe(1);
    expect(typosAtLast("ñññññ", { ...rule, minLength1: 6 })).toBe(0);
    expect(typosAtLast("ñ".repeat(10), { ...rule, minLength2: 20 })).toBe(1);
  });
});

describe("plan", () => {
  it("requests rows up to the end of the page, but no more than exist", () => {
    expect(plan({ q: "x", page: 3, per_page: 20 })).toMatchObject({ offset: 40, program: { k: 60 } });
    expect(plan({ q: "x", page: 50, per_page: 20 })).toMatchObject({ offset: 980, program: { k: 1_000 } });
    expect(plan({ q: "x", page: 1e15, per_page: 250 }).program.k).toBe(3);
    expect(plan({ q: "x", per_page: 0 }).program.k).toBe(0);
  });

  it("breaks ties by text match, then the default sorting field", () => {
    const record = { ...makeRecord(), defaultSortingField: "stock" };
    const keys = (body: object): string[] =>
      plan(body, record).program.sort.map(
        (key) => `${key.by === "field" ? key.slot : key.by}${key.descending ? "-" : "+"}`,
      );
    expect(keys({ q: "x" })).toEqual(["relevance-", "4-"]);
    expect(keys({ q: "x", sort: "price:asc" })).toEqual(["3+", "relevance-", "4-"]);
    expect(keys({ q: "x", sort_by: "stock:asc,_text_match:asc" })).toEqual(["4+", "relevance+"]);
  });

  it("requests the first values of each facet", () => {
    const body = { q: "x", facets: ["brand", "brand", "title"], max_facet_values: 5 };
    expect(plan(body, makeRecord()).program.facets).toEqual([{ slot: 1, type: 0, limit: 5 }]);
    expect(plan({ ...body, max_facet_values: 0 }).program.facets).toEqual([]);
  });
});
