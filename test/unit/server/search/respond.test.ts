// The response as clients parse it, and stored bytes that must not be changed on their way through.
import { describe, expect, it } from "vitest";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { readQueryRequest } from "../../../../server/question/request/query-request.js";
import type { Found, Hit } from "../../../../server/search/found.js";
import { facetText } from "../../../../server/search/matching/facets.js";
import { respond, respondAgain } from "../../../../server/search/respond.js";
import { makeRecord, queried, schema } from "../record.js";

const fieldOf = (name: string) => {
  const found = schema.field(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const QUERY_ID = "019ab0c4-7d2e-7000-8001-0123456789ab";
const requestOf = (body: object) => readQueryRequest(body, queried(makeRecord()), DEFAULT_LIMITS);
const EMPTY: Found = {
  request: requestOf({ q: "*" }),
  mode: "keyword",
  hits: [],
  relatedHits: [],
  suggestions: [],
  aiContext: null,
  curated: false,
  found: 0,
  foundByWords: 0,
  outOf: 0,
  facets: [],
  remember: null,
};

const textOf = (found: Found): string => Buffer.from(respond(found, QUERY_ID, 0.4).bytes).toString();

function hit(id: string, more: Partial<Hit> & { textMatch?: number; bonus?: number } = {}): Hit {
  const { textMatch = 0, bonus = 0 } = more;
  const from = { matched: true, neighbour: false, hasWord: false, pinned: false };
  return {
    winner: { shard: 0, seq: Number(id), textMatch, bonus, ...from },
    id: Buffer.from(id),
    document: Buffer.from(`{"id":"${id}"}`),
    highlight: new Uint8Array(0),
    matchType: "keyword",
    explanation: null,
    ...more,
  };
}

describe("response", () => {
  it("has every member when nothing was found", () => {
    expect(JSON.parse(textOf(EMPTY))).toEqual({
      hits: [],
      found: 0,
      page: 1,
      per_page: 10,
      total_pages: 0,
      facets: {},
      search_time_ms: 0,
      search_mode: "keyword",
      ai_enhanced: false,
      ai_context: null,
      suggestions: [],
      related_hits: [],
      curated_applied: false,
      query_id: QUERY_ID,
      data: { _comment: expect.any(String), hits: [], found: 0, out_of: 0, facets: {}, facet_counts: [] },
    });
  });

  it("splices documents and highlights as they are", () => {
    const document = Buffer.from('{"id":"1",  "big":9007199254740993}');
    const highlight = Buffer.from('{"title":{"snippet":"<mark>a</mark>","matched_tokens":["a"]}}');
    const text = textOf({
      ...EMPTY,
      hits: [
        hit("1", { document, highlight, textMatch: 2 ** 52 + 1, bonus: 2 ** 24 }),
        hit("2", { matchType: "pinned" }),
      ],
      found: 21,
      outOf: 30,
    });
    expect(text.split(document.toString())).toHaveLength(3);
    expect(JSON.parse(text)).toMatchObject({
      hits: [
        {
          highlight: { title: { matched_tokens: ["a"] } },
          text_match: 4503599627370497,
          relevance_bonus: 16_777_216,
          match_type: "keyword",
        },
        { document: { id: "2" }, highlight: {}, text_match: 0, relevance_bonus: 0, match_type: "pinned" },
      ],
      total_pages: 3,
      data: { hits: [{ text_match: 4503599627370497 }, { document: { id: "2" } }], found: 21, out_of: 30 },
    });
    expect(
      JSON.parse(textOf({ ...EMPTY, found: 5, request: requestOf({ q: "*", per_page: 0 }) })),
    ).toMatchObject({ total_pages: 0 });
  });

  it("is the same when repeated, except for the time it took and the query's id", () => {
    const { bytes, content } = respond({ ...EMPTY, found: 3 }, QUERY_ID, 123.4);
    const first = JSON.parse(Buffer.from(bytes).toString());
    const again = JSON.parse(Buffer.from(respondAgain(content, "another id", 4.6)).toString());
    expect(first.search_time_ms).toBe(123);
    expect(again).toEqual({ ...first, search_time_ms: 5, query_id: "another id" });
  });

  it("fits into its byte limit, unless it is a single document", () => {
    const bytesMax = 100;
    const brands = { field: fieldOf("brand"), counts: [{ value: "acme", count: 1 }] };
    const one = { ...EMPTY, hits: [hit("1")] };
    const sizeOf = (found: Found): number => respond(found, QUERY_ID, 0, bytesMax).bytes.length;
    expect(sizeOf(one)).toBeGreaterThan(bytesMax);
    expect(sizeOf({ ...EMPTY, relatedHits: [hit("1")] })).toBeGreaterThan(bytesMax);
    for (const found of [EMPTY, { ...EMPTY, hits: [hit("1"), hit("2")] }, { ...one, facets: [brands] }])
      expect(() => sizeOf(found)).toThrow(expect.objectContaining({ code: "SK-SE-413" }));
  });

  it("keeps the order of facet values and any key", () => {
    const counts = ["10", "__proto__", 'a"b', "2"].map((value, i) => ({ value, count: 9 - i }));
    const text = textOf({ ...EMPTY, facets: [{ field: fieldOf("brand"), counts }] });
    expect(text).toContain('"facets":{"brand":{"10":9,"__proto__":8,"a\\"b":7,"2":6}}');
    expect(JSON.parse(text)).toMatchObject({
      data: {
        facet_counts: [{ field_name: "brand", counts: counts.map(({ value, count }) => ({ value, count })) }],
      },
    });
  });

  it("prints facet values as JSON does", () => {
    expect(facetText(10.5, fieldOf("price"))).toBe("10.5");
    expect(facetText(1, fieldOf("sale"))).toBe("true");
    expect(facetText(0, fieldOf("sale"))).toBe("false");
    expect(facetText(9007199254740993n, fieldOf("views"))).toBe("9007199254740993");
  });
});
