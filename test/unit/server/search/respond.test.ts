// The response as clients parse it, stored bytes that must not be changed on their way through, and buffers
// that are used again.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FacetValue } from "../../../../engine-wasm/host/programs/encoded-facet.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { queryIdText } from "../../../../server/query-log/rows/query-ids.js";
import { readQueryRequest } from "../../../../server/question/request/query-request.js";
import { type FacetTable, type Found, type Hits, NO_HITS } from "../../../../server/search/found.js";
import { facetText } from "../../../../server/search/matching/facets.js";
import { RankedRows } from "../../../../server/search/matching/merge.js";
import { ReplyBuffers } from "../../../../server/search/reply-writer.js";
import { respond, respondAgain } from "../../../../server/search/respond.js";
import { NOTHING_COMPARED } from "../../../../server/search/semantic/nearest.js";
import { naiveReply, type PlainHit } from "../../../oracle/reply.js";
import { makeRecord, queried, schema } from "../record.js";
import { answerOf, flagsOf, PLAIN_ROW } from "./encoded-result.js";

const fieldOf = (name: string) => {
  const found = schema.field(name);
  if (found === undefined) throw new Error(name);
  return found;
};
const QUERY_ID = { atMs: 1_764_486_000_123, counter: 0x123456, frontEnd: 0xabcdef012345 };
const requestOf = (body: object) => readQueryRequest(body, queried(makeRecord()), DEFAULT_LIMITS);
const EMPTY: Found = {
  request: requestOf({ q: "*" }),
  mode: "keyword",
  hits: NO_HITS,
  relatedHits: NO_HITS,
  compared: NOTHING_COMPARED,
  suggestions: [],
  aiContext: null,
  curated: false,
  found: 0,
  foundByWords: 0,
  outOf: 0,
  facets: [],
  memory: null,
};

const buffers = new ReplyBuffers();

/** Writes the response into a buffer that other responses used before. */
function textOf(found: Found, bytesMax?: number, tookMs = 0.4): string {
  const reply = buffers.take();
  try {
    respond(found, QUERY_ID, tookMs, reply, bytesMax);
    return Buffer.from(reply.bytes).toString();
  } finally {
    reply.release();
  }
}

const FLAGS = {
  keyword: flagsOf(PLAIN_ROW),
  semantic: flagsOf({ ...PLAIN_ROW, matched: false, neighbour: true }),
  hybrid: flagsOf({ ...PLAIN_ROW, matched: false, neighbour: true, hasWord: true }),
  pinned: flagsOf({ ...PLAIN_ROW, matched: false, pinned: true }),
};
/** Sequence numbers of hits that are near. */
const NEAR = Float64Array.from({ length: 50 }, (_, i) => 2 * i);
const COMPARED = {
  seqs: NEAR,
  cosines: new Float32Array(NEAR.length),
  isNear: new Uint8Array(NEAR.length).fill(1),
  isOther: new Uint8Array(NEAR.length),
  shardOf: () => 0,
};

function hit(id: string, more: Partial<PlainHit> = {}): PlainHit {
  const document = `{"id":"${id}"}`;
  return {
    document,
    highlight: "",
    textMatch: 0,
    bonus: 0,
    matchType: "keyword",
    explanation: null,
    ...more,
  };
}

function hitsOf(...hits: PlainHit[]): Hits {
  const rows = new RankedRows();
  for (const [i, { textMatch, bonus, matchType }] of hits.entries())
    rows.add(0, 2 * i, textMatch, bonus, FLAGS[matchType as keyof typeof FLAGS]);
  return {
    rows,
    documents: hits.map(({ document, highlight }) => ({
      id: Buffer.from("unused"),
      document: Buffer.from(document),
      highlight: Buffer.from(highlight),
    })),
    explanations: hits.map(({ explanation }) => explanation as Hits["explanations"][number]),
  };
}

function tableOf(name: string, counts: { value: FacetValue; count: number }[]): FacetTable {
  const field = fieldOf(name);
  const facets = [{ slot: field.slot, type: field.code, limit: 0 }];
  return { field, counts: answerOf({ facets: [counts] }, { facets }).facets[0]! };
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
      query_id: queryIdText(QUERY_ID),
      data: { _comment: expect.any(String), hits: [], found: 0, out_of: 0, facets: {}, facet_counts: [] },
    });
  });

  it("splices documents and highlights as they are", () => {
    const document = '{"id":"1",  "big":9007199254740993}';
    const highlight = '{"title":{"snippet":"<mark>a</mark>","matched_tokens":["a"]}}';
    const text = textOf({
      ...EMPTY,
      hits: hitsOf(
        hit("1", { document, highlight, textMatch: 2 ** 52 + 1, bonus: 2 ** 24 }),
        hit("2", { matchType: "pinned" }),
      ),
      found: 21,
      outOf: 30,
    });
    expect(text.split(document)).toHaveLength(3);
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
    const reply = buffers.take();
    const contentStart = respond({ ...EMPTY, found: 3 }, QUERY_ID, 123.4, reply);
    const first = JSON.parse(Buffer.from(reply.bytes).toString());
    const second = buffers.take();
    respondAgain(reply.bytes.subarray(contentStart), { ...QUERY_ID, counter: 1 }, 4.6, second);
    const again = JSON.parse(Buffer.from(second.bytes).toString());
    expect(first.search_time_ms).toBe(123);
    const query_id = queryIdText({ ...QUERY_ID, counter: 1 });
    expect(again).toEqual({ ...first, search_time_ms: 5, query_id });
  });

  it("fits into its byte limit, unless it is a single document", () => {
    const bytesMax = 100;
    const brands = tableOf("brand", [{ value: "acme", count: 1 }]);
    const one = { ...EMPTY, hits: hitsOf(hit("1")) };
    const sizeOf = (found: Found): number => textOf(found, bytesMax).length;
    expect(sizeOf(one)).toBeGreaterThan(bytesMax);
    expect(sizeOf({ ...EMPTY, relatedHits: hitsOf(hit("1")) })).toBeGreaterThan(bytesMax);
    for (const found of [EMPTY, { ...EMPTY, hits: hitsOf(hit("1"), hit("2")) }, { ...one, facets: [brands] }])
      expect(() => sizeOf(found)).toThrow(expect.objectContaining({ code: "SK-SE-413" }));
    const text = textOf({ ...EMPTY, hits: hitsOf(hit("1"), hit("2")) });
    expect(textOf({ ...EMPTY, hits: hitsOf(hit("1"), hit("2")) }, text.length)).toBe(text);
    expect(() => textOf({ ...EMPTY, hits: hitsOf(hit("1"), hit("2")) }, text.length - 1)).toThrow();
  });

  it("keeps the order of facet values and any key", () => {
    const counts = ["10", "__proto__", 'a"b', "2"].map((value, i) => ({ value, count: 9 - i }));
    const text = textOf({ ...EMPTY, facets: [tableOf("brand", counts)] });
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

describe("any response", () => {
  it("equals what JSON.stringify writes", () => {
    const odd = fc.constantFrom("\0", "\n", "\x1f", "\x7f", '"', "\\", "\u2028");
    const character = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
    const text = fc.string({ unit: fc.oneof(odd, character), maxLength: 20 });
    const json = fc.json({ stringUnit: "grapheme" });
    const integer = fc.oneof(fc.nat(20), fc.maxSafeNat());
    const plainHit = fc.record({
      document: json,
      highlight: fc.oneof(fc.constant(""), json),
      textMatch: integer,
      bonus: integer,
      matchType: fc.constantFrom("keyword", "semantic", "hybrid", "pinned"),
      explanation: fc.option(fc.record({ text: fc.array(text), points: fc.double({ noNaN: true }) }), {
        nil: null,
      }),
    });
    const count = fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 2 ** 32 - 1 }));
    const countsOf = <T extends FacetValue>(value: fc.Arbitrary<T>) =>
      fc.array(fc.record({ value: value as fc.Arbitrary<FacetValue>, count }), { maxLength: 5 });
    const facets = fc.record({
      brand: countsOf(text),
      price: countsOf(fc.double({ noNaN: true, noDefaultInfinity: true })),
      sale: countsOf(fc.constantFrom(0, 1)),
      views: countsOf(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
    });
    const found = fc.record({
      hits: fc.array(plainHit, { maxLength: 12 }),
      relatedHits: fc.array(plainHit, { maxLength: 5 }),
      found: integer,
      outOf: integer,
      tookMs: fc.double({ min: 0, max: 20_000, noNaN: true }),
      page: fc.integer({ min: 1, max: 1_000 }),
      perPage: fc.nat(250),
      mode: fc.constantFrom("keyword" as const, "semantic" as const, "hybrid" as const),
      curated: fc.boolean(),
      suggestions: fc.array(fc.record({ value: text, found: integer }), { maxLength: 3 }),
      aiContext: fc.option(fc.record({ original_query: text, user_message: text }), { nil: null }),
    });
    fc.assert(
      fc.property(
        found,
        facets,
        fc.subarray(["brand", "price", "sale", "views"] as const),
        (plain, all, shown) => {
          const request = { ...EMPTY.request, page: plain.page, perPage: plain.perPage };
          const tables = shown.map((name) => tableOf(name, all[name]));
          const text = textOf(
            {
              ...EMPTY,
              ...(plain as unknown as Pick<Found, "mode" | "found" | "outOf" | "curated" | "suggestions">),
              aiContext: plain.aiContext as unknown as Found["aiContext"],
              hits: hitsOf(...plain.hits),
              relatedHits: hitsOf(...plain.relatedHits),
              compared: COMPARED,
              request,
              facets: tables,
            },
            undefined,
            plain.tookMs,
          );
          const printed = shown.map((name) => ({
            field: name,
            counts: all[name].map(({ value, count: times }) => ({
              value: facetText(value, fieldOf(name)),
              count: times,
            })),
          }));
          expect(text).toBe(naiveReply({ ...plain, queryId: queryIdText(QUERY_ID), facets: printed }));
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("reply buffers", () => {
  it("are used again only after their release, and not if they have grown too large", () => {
    const own = new ReplyBuffers();
    const first = own.take();
    first.text("first");
    const second = own.take();
    second.text("second");
    expect(Buffer.from(first.bytes).toString()).toBe("first");
    first.release();
    const third = own.take();
    expect(third).toBe(first);
    expect(third.length).toBe(0);
    third.put(new Uint8Array(1_000_000));
    third.release();
    expect(own.take()).not.toBe(third);
    expect(Buffer.from(second.bytes).toString()).toBe("second");
  });

  it("a released writer has no limit", () => {
    const own = new ReplyBuffers();
    const reply = own.take();
    reply.limitTo(3);
    expect(() => reply.text("long")).toThrow(expect.objectContaining({ code: "SK-SE-413" }));
    reply.release();
    own.take().text("long");
  });
});
