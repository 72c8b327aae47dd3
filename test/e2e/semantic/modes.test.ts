// Search modes with pushed vectors: which mode answers, what is found in addition to word matches, and that
// filters, facets, sorting, paging and rules apply to the additional hits too.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";
import { found, idsOf, makeShop, SCHEMA, SHOP, toward } from "./near.js";

const PUSHED = { embedder: { source: "pushed" } };
const RED = toward(1);

const server = sharedServer({ shards: 3, quiet: true }, async (running) => {
  await makeShop(running, "shop", PUSHED);
  await makeShop(running, "strict", { ...PUSHED, semantic: { auto_max_full_matches: 1 } });
  await running.createIndex("words", SCHEMA, SHOP);
});

const ask = (body: object, index = "shop") => server.query(index, { vector: RED, ...body });

describe("the reply's search mode", () => {
  test.each([
    ["red shoe", {}, "hybrid"],
    ["scarlet", {}, "hybrid"],
    ["scarlet", { sort: "_text_match:desc" }, "hybrid"],
    ["scarlet", { sort: "price:asc" }, "keyword"],
    ["*", {}, "keyword"],
    ["", {}, "keyword"],
    ['"red shoe"', {}, "keyword"],
    ["red -hat", {}, "keyword"],
    ["AB-123/4", {}, "keyword"],
    ["15", {}, "keyword"],
    ["re", {}, "keyword"],
    ["iphone 15", {}, "hybrid"],
  ])("auto: %s %j is %s", async (q, more, mode) => {
    expect((await ask({ q, ...more })).json.search_mode).toBe(mode);
  });

  test("auto stays with words if they find enough", async () => {
    expect((await ask({ q: "red" }, "strict")).json.search_mode).toBe("keyword");
    expect((await ask({ q: "scarlet" }, "strict")).json.search_mode).toBe("hybrid");
  });

  test("an explicit mode is used, even for texts that auto leaves to words", async () => {
    for (const mode of ["keyword", "semantic", "hybrid"]) {
      for (const q of ["red", '"red shoe"', "re", "AB-123"])
        expect((await ask({ q, search_mode: mode })).json.search_mode, `${mode} ${q}`).toBe(mode);
    }
    expect((await ask({ q: "red", search_mode: "near" })).status).toBe(400);
  });

  test("falls back to words if a mode is impossible", async () => {
    const cases: [string, object][] = [
      ["shop", { q: "red shoe" }],
      ["words", { q: "red shoe" }],
      ["shop", { q: "*" }],
    ];
    for (const [index, body] of cases) {
      const byWords = await server.query(index, { ...body, search_mode: "keyword" });
      for (const mode of ["semantic", "hybrid"]) {
        const reply = await server.query(index, { ...body, search_mode: mode });
        expect([reply.json.search_mode, found(reply)]).toEqual(["keyword", found(byWords)]);
      }
    }
  });
});

describe("the hits", () => {
  test("semantic: the nearest come first, followed by documents with the words", async () => {
    const reply = await ask({ q: "scarlet", search_mode: "semantic" });
    expect(found(reply)).toBe("1:semantic 3:semantic 2:semantic");
    expect(reply.json.found).toBe(3);
    expect(found(await ask({ q: "hat", search_mode: "semantic", vector: toward(0, 0, 0, 1) }))).toBe(
      "4:hybrid 5:keyword",
    );
  });

  test("hybrid: a document with all words never ranks below one that is merely near", async () => {
    expect(found(await ask({ q: "red hat", search_mode: "hybrid" })).split(" ")[0]).toBe("5:keyword");
    const reply = await ask({ q: "green hat", search_mode: "hybrid" });
    expect(idsOf(reply)[0]).toBe("4");
    expect(new Set(idsOf(reply))).toEqual(new Set(["1", "2", "3", "4", "5"]));
  });

  test("hybrid: words find distant documents, and nearness finds documents without the words", async () => {
    const reply = await ask({ q: "scarlet", search_mode: "hybrid" });
    expect(found(reply)).toBe("1:semantic 3:semantic 2:semantic");
    const types = new Map(
      found(await ask({ q: "red" }))
        .split(" ")
        .map((one) => one.split(":") as [string, string]),
    );
    expect(Object.fromEntries(types)).toEqual({ 1: "hybrid", 2: "semantic", 3: "semantic", 5: "keyword" });
  });

  test("with q * the vector alone selects the hits, unless the mode is keyword", async () => {
    for (const search_mode of ["semantic", "hybrid"])
      expect(found(await ask({ q: "*", search_mode }))).toBe("1:semantic 3:semantic 2:semantic");
    expect((await ask({ q: "*" })).json.found).toBe(5);
  });

  test("filters, facets, sorting and paging apply to all hits", async () => {
    for (const search_mode of ["semantic", "hybrid"]) {
      const filtered = await ask({ q: "scarlet", search_mode, filter_by: "price:<25", facets: ["brand"] });
      expect([idsOf(filtered), filtered.json.found, filtered.json.facets]).toEqual([
        ["1", "2"],
        2,
        { brand: { acme: 2 } },
      ]);
      const all = await ask({ q: "scarlet", search_mode, facets: ["brand"] });
      expect(all.json.facets).toEqual({ brand: { acme: 2, best: 1 } });
      expect(idsOf(await ask({ q: "scarlet", search_mode, sort: "price:desc" }))).toEqual(["3", "2", "1"]);
      const pages = [];
      for (let page = 1; page <= 4; page++) {
        const reply = await ask({ q: "scarlet", search_mode, per_page: 1, page });
        expect([reply.json.found, reply.json.total_pages]).toEqual([3, 3]);
        pages.push(...idsOf(reply));
      }
      expect(pages).toEqual(idsOf(all));
    }
  });

  test("rules apply", async () => {
    const hits = async (type: string, effect: object): Promise<string> => {
      const rule = await server.post("/v1/indexes/shop/ranking-rules", { type, effect });
      expectStatus(rule, 201);
      const reply = found(await ask({ q: "scarlet" }));
      expectStatus(await server.delete(`/v1/indexes/shop/ranking-rules/${rule.json.data.id}`), 200);
      return reply;
    };
    expect(await hits("pin", { documents: ["4", "2"] })).toBe("4:pinned 2:semantic 1:semantic 3:semantic");
    expect(await hits("hide", { documents: ["1"] })).toBe("3:semantic 2:semantic");
    expect(await hits("bury", { documents: ["1"] })).toBe("3:semantic 2:semantic 1:semantic");
    expect(await hits("boost", { documents: ["2"], weight: 10 })).toBe("2:semantic 1:semantic 3:semantic");
    expect(await hits("hide", { filter_by: "brand:=acme" })).toBe("3:semantic");
  });

  test("explain reports how near a hit is", async () => {
    const explanations = (await ask({ q: "scarlet", explain: true })).json.hits.map(
      (hit) =>
        (hit as unknown as { explanation: { similarity: number; similarity_points: number; text: string[] } })
          .explanation,
    );
    expect(explanations.map(({ similarity }) => Math.round(similarity * 100))).toEqual([100, 90, 80]);
    for (const { similarity_points, text } of explanations) {
      expect(similarity_points).toBeGreaterThan(0);
      expect(text.join()).toContain("near to that of the query");
    }
  });

  test("related hits are the nearest ones when words find little", async () => {
    const related = async (body: object) =>
      ((await ask(body)).json.related_hits as { document: { id: string } }[]).map(
        ({ document }) => document.id,
      );
    expect(await related({ q: "crimson", search_mode: "keyword" })).toEqual(["1", "2"]);
    expect(await related({ q: "crimson", search_mode: "keyword", filter_by: "price:<35" })).toEqual([
      "1",
      "2",
    ]);
    expect(await related({ q: "crimson", search_mode: "keyword", vector: undefined })).toEqual([]);
  });

  test("each slot of a multi-search has its own mode", async () => {
    const modes = ["keyword", "semantic", "hybrid", "auto"];
    const searches = modes.map((search_mode) => ({ index: "shop", q: "scarlet", vector: RED, search_mode }));
    const reply = await server.post("/v1/multi-search", { searches });
    expectStatus(reply, 200);
    const results = reply.json.data.results as { search_mode: string; found: number }[];
    expect(results.map(({ search_mode, found: count }) => [search_mode, count])).toEqual([
      ["keyword", 0],
      ["semantic", 3],
      ["hybrid", 3],
      ["hybrid", 3],
    ]);
  });

  test("candidates limits how many hits nearness finds, min_similarity how near they must be", async () => {
    const settings = async (semantic: object) =>
      expectStatus(await server.patch("/v1/indexes/strict/settings", { semantic }), 200);
    await settings({ candidates: 1 });
    expect(idsOf(await ask({ q: "scarlet" }, "strict"))).toEqual(["1"]);
    await settings({ candidates: 200, min_similarity: 0.85 });
    expect(idsOf(await ask({ q: "scarlet" }, "strict"))).toEqual(["1", "3"]);
    await settings({ min_similarity: 0.3 });
  });

  test("the query vector is drawn towards three documents found by words, however few candidates there are", async () => {
    await makeShop(server, "few", { ...PUSHED, semantic: { candidates: 1 } });
    const reply = await ask({ q: "shoe", search_mode: "semantic", explain: true }, "few");
    expect(idsOf(reply)[0]).toBe("1");
    const [hit] = reply.json.hits as unknown as { explanation: { similarity: number } }[];
    // The query vector becomes (0.987, 0.160): the direction of (1, 0), the query, plus the direction of (1,
    // 0) + (0.8, 0.6), the two shoes. With only one of the shoes, the result would be different.
    expect(hit!.explanation.similarity).toBeCloseTo(0.987, 2);
  });
});
