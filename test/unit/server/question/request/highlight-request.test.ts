// Which parts of a page's documents each query word highlights.
import { describe, expect, it } from "vitest";
import {
  ALT_EXACT,
  ALT_INFIX,
  ALT_JOINED,
  ALT_PREFIX,
  ALT_SPLIT,
  ALT_TYPO,
} from "../../../../../engine-wasm/assembly/layout.js";
import type {
  AlternativeKind,
  SearchAlternative,
  SearchWord,
} from "../../../../../engine-wasm/host/programs/search-program.js";
import { ResolvedSchema } from "../../../../../server/catalog/schema/resolved-schema.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { highlightRequest } from "../../../../../server/question/request/highlight-request.js";
import { readQueryRequest } from "../../../../../server/question/request/query-request.js";
import { planQuery } from "../../../../../server/search/matching/plan.js";
import type { HighlightWord } from "../../../../../shards/protocol/fetch.js";
import { field, makeRecord, queried } from "../../record.js";

function alternative(
  kind: AlternativeKind,
  terms: string[],
  more: Partial<SearchAlternative> = {},
): SearchAlternative {
  return {
    kind,
    typos: 0,
    exact: false,
    sequence: false,
    useForProximity: true,
    boost: 1,
    terms: terms.map((term) => ({ term, prefix: kind === ALT_PREFIX })),
    ...more,
  };
}

/** Returns the highlights for a query. Unless `words` is given, each word was found only as typed. */
function requested(q: string, words?: SearchWord[]) {
  const record = makeRecord({ sku_fields: ["brand"] }, [
    field("title", "string", 0, { language: "de", infix: true }),
    field("brand", "string", 1),
  ]);
  const index = queried(record);
  const request = readQueryRequest({ q, highlight_fields: "title,brand" }, index, DEFAULT_LIMITS);
  const { text } = planQuery(request, index, { documents: 10, documentsMax: 10 });
  const found = text.words.map(({ terms }) => ({
    weight: 1,
    alternatives: [alternative(ALT_EXACT, [...terms])],
  }));
  return highlightRequest(request.shape.highlight, text, words ?? found, record.settings);
}

describe("highlight request", () => {
  it("names each field with its language, and whether it holds part numbers or uses infix search", () => {
    const language = new ResolvedSchema(
      makeRecord({}, [field("title", "string", 0, { language: "de", infix: true })]),
    ).field("title")!.language;
    expect(language).toBeGreaterThan(0);
    expect(requested("shoe").fields).toEqual([
      { name: "title", language, sku: false, infix: true },
      { name: "brand", language: 0, sku: true, infix: false },
    ]);
  });

  it("separates the ways to match a word", () => {
    const alternatives = [
      alternative(ALT_EXACT, ["wifi"]),
      alternative(ALT_JOINED, ["wifi"]),
      alternative(ALT_PREFIX, ["wifi"]),
      alternative(ALT_SPLIT, ["wi", "fi"], { sequence: true }),
      alternative(ALT_TYPO, ["wife", "\u0001!wife"], { typos: 1 }),
      alternative(ALT_INFIX, ["ourwifi"], { typos: 1 }),
    ];
    expect(requested("wifi", [{ weight: 1, alternatives }]).words).toEqual([
      {
        terms: ["wifi"],
        prefixes: ["wifi"],
        typos: ["wife", "\u0001!wife"],
        infixes: ["ourwifi"],
        sequences: [["wi", "fi"]],
      },
    ]);
  });

  it("replaces words that were only quoted with their phrases", () => {
    const sequences = (words: HighlightWord[]) => words.map((word) => [word.terms, word.sequences]);
    const phrase = ["red", "shoe"];
    expect(sequences(requested('blue "red shoe"').words)).toEqual([
      [["blue"], []],
      [[], [phrase]],
      [[], [phrase]],
    ]);
    expect(sequences(requested('red "red shoe" "shoe"').words)).toEqual([
      [["red"], []],
      [[], [phrase, ["shoe"]]],
    ]);
  });
});
