// What an answer shows of a document: projection, partial updates and highlights, byte for byte.
import { beforeAll, describe, expect, test } from "vitest";
import type { Workbench } from "../../../engine-wasm/host/workbench.js";
import type { HighlightRequest } from "../../../shards/protocol/fetch.js";
import { Highlighter } from "../../../shards/query/highlight.js";
import { hasInternalMembers } from "../../../shards/query/internal.js";
import { project, projectionOf } from "../../../shards/query/project.js";
import { chooseWindow } from "../../../shards/query/snippet-window.js";
import { spliceMembers } from "../../../shards/query/splice.js";
import { engineModule } from "./harness.js";

let workbench: Workbench;
beforeAll(async () => {
  workbench = (await engineModule()).workbench();
});

describe("projection", () => {
  const raw = Buffer.from(
    '{ "id": "1", "a" : 12345678901234567890, "_x": {}, "embedding": [1], "b": [ 1, 2 ] }',
  );
  const shown = (fields?: string[], exclude?: string[]): string => {
    const record = { id: "1", raw, internal: hasInternalMembers(raw, workbench) };
    return Buffer.from(project(record, projectionOf(fields, exclude), workbench)).toString();
  };

  test("internal members never show, id always does, values keep their bytes", () => {
    expect(shown()).toBe('{"id": "1","a" : 12345678901234567890,"b": [ 1, 2 ]}');
    expect(shown(["b", "_x", "embedding"])).toBe('{"id": "1","b": [ 1, 2 ]}');
    expect(shown([])).toBe('{"id": "1"}');
    expect(shown(undefined, ["id", "a"])).toBe('{"id": "1","b": [ 1, 2 ]}');
    expect(shown(["a"], ["a"])).toBe('{"id": "1","a" : 12345678901234567890}');
  });

  test("escaped names of internal members are seen", () => {
    expect(hasInternalMembers(Buffer.from('{"id":"1","\\u005fx":1}'), workbench)).toBe(true);
    expect(hasInternalMembers(Buffer.from('{"id":"1","\\u0065mbedding":1}'), workbench)).toBe(true);
    expect(hasInternalMembers(Buffer.from('{"id":"1","a":{"_x":1},"b":"\\u00e4"}'), workbench)).toBe(false);
  });
});

test("partial updates replace whole members in place and keep the rest as written", () => {
  const base = Buffer.from('{"id":"1", "n": 9223372036854775807, "t":"x","dup":1,"dup":2}');
  const patch = Buffer.from('{"t": null, "id":"other", "new": {"a": [1]}}');
  const spliced = Buffer.from(spliceMembers(base, patch, workbench)).toString();
  expect(spliced).toBe('{"id":"1","n": 9223372036854775807,"t": null,"dup":2,"new": {"a": [1]}}');
});

describe("highlight", () => {
  const request: HighlightRequest = {
    fields: ["title", "tags", "price"],
    terms: [],
    prefixes: [],
    snippetTokens: 0,
    startTag: "<mark>",
    endTag: "</mark>",
    escapeHtml: false,
  };
  const highlight = (document: object, more: Partial<HighlightRequest>): unknown => {
    const analysis = { symbolsToIndex: "", tokenSeparators: "" };
    const highlighter = new Highlighter({ ...request, ...more }, analysis, workbench);
    return JSON.parse(Buffer.from(highlighter.highlight(Buffer.from(JSON.stringify(document)))).toString());
  };

  test("marks whole words and typed prefixes in their original spelling", () => {
    const document = { id: "1", title: "Crème brûlée, CREMES and brulees", price: 3 };
    expect(highlight(document, { terms: ["creme"], prefixes: ["bru"] })).toEqual({
      title: {
        snippet: "<mark>Crème</mark> <mark>brû</mark>lée, CREMES and <mark>bru</mark>lees",
        matched_tokens: ["Crème", "brûlée", "brulees"],
      },
    });
  });

  test("marks the whole word when folding changed its letters", () => {
    expect(highlight({ title: "Straße" }, { prefixes: ["stras"] })).toEqual({
      title: { snippet: "<mark>Straße</mark>", matched_tokens: ["Straße"] },
    });
  });

  test("takes the best element of an array and only fields with a match", () => {
    const document = { title: "none", tags: ["red", "red shoe", 7, "shoe"] };
    expect(highlight(document, { terms: ["red", "shoe"] })).toEqual({
      tags: { snippet: "<mark>red</mark> <mark>shoe</mark>", matched_tokens: ["red", "shoe"] },
    });
    expect(highlight({ title: null, tags: [] }, { terms: ["x"] })).toEqual({});
  });

  test("shows the stretch with the most different words and says where it was cut", () => {
    const words = Array.from({ length: 40 }, (_, i) => `w${i}`);
    words[3] = words[4] = words[5] = "alpha";
    words[30] = "alpha";
    words[32] = "beta";
    expect(highlight({ title: words.join(" ") }, { terms: ["alpha", "beta"], snippetTokens: 7 })).toEqual({
      title: {
        snippet: "…w28 w29 <mark>alpha</mark> w31 <mark>beta</mark> w33 w34…",
        matched_tokens: ["alpha", "beta"],
      },
    });
  });

  test("escapes text but not the tags", () => {
    const document = { title: `<b> "tom" & jerry's </b>` };
    expect(highlight(document, { terms: ["tom"], escapeHtml: true })).toEqual({
      title: {
        snippet: "&lt;b&gt; &quot;<mark>tom</mark>&quot; &amp; jerry&#39;s &lt;/b&gt;",
        matched_tokens: ["tom"],
      },
    });
  });
});

test("a snippet window lies inside the text and holds its best marks", () => {
  const mark = (token: number, word = "a") => ({ token, word });
  expect(chooseWindow(10, [], 5)).toEqual({ first: 0, end: 10 });
  expect(chooseWindow(5, [mark(4)], 5)).toEqual({ first: 0, end: 5 });
  expect(chooseWindow(100, [mark(0)], 10)).toEqual({ first: 0, end: 10 });
  expect(chooseWindow(100, [mark(99)], 10)).toEqual({ first: 90, end: 100 });
  expect(chooseWindow(100, [mark(10), mark(50), mark(59, "b")], 10)).toEqual({ first: 50, end: 60 });
});
