// Queries that name unwanted things, over HTTP: documents with those things are still found, but rank lower.
import { describe, expect, test } from "vitest";
import { expectStatus } from "../world/harness.js";
import type { Reply } from "../world/reply.js";
import { sharedServer } from "../world/shared-server.js";

const FIELDS = [
  { name: "title", type: "string" },
  { name: "brand", type: "string", facet: true },
  { name: "color", type: "string", facet: true },
  { name: "price", type: "float" },
];
const belts = [
  { id: "p", title: "belt with buckles", brand: "Acme", color: "Red", price: 10 },
  { id: "q", title: "belt", brand: "Acme buckle", color: "Red", price: 30 },
  { id: "r", title: "belt of leather", brand: "Zeta", color: "Red", price: 40 },
  { id: "s", title: "belt of cloth", brand: "Zeta", color: "Red", price: 20 },
];

const ids = (reply: Reply): string[] => reply.json.hits.map(({ document }) => String(document.id));
const context = (reply: Reply) => reply.json.ai_context as Record<string, unknown> | null;
const filters = (reply: Reply) => context(reply)?.applied_filters as Record<string, unknown> | undefined;

describe("documents with unwanted words come last", () => {
  const server = sharedServer({ shards: 2, quiet: true }, (it) =>
    it.createIndex("belts", { fields: FIELDS }, belts),
  );
  const rule = (name: string, type: string, documents: string[]) =>
    server.post(`/v1/indexes/${name}/ranking-rules`, { name: type, type, effect: { documents } });

  test("but are not lost", async () => {
    expectStatus(await server.patch("/v1/indexes/belts/settings", { language: "en" }), 200);
    const reply = await server.query("belts", { q: "belt without buckle", explain: true });
    expect([ids(reply).slice(0, 2).sort(), ids(reply).slice(2).sort()]).toEqual([
      ["r", "s"],
      ["p", "q"],
    ]);
    expect([reply.json.found, reply.json.curated_applied]).toEqual([4, false]);
    expect(filters(reply)).toEqual({ filter_by: null, sort_by: null, avoided: ["buckle"] });
    expect(context(reply)).toMatchObject({
      rewritten_query: "belt",
      intent: "avoid",
      user_message: 'Results for "belt" · those with "buckle" come later',
    });
    const { explanation } = reply.json.hits[3] as unknown as { explanation: { text: string[] } };
    expect(explanation.text[0]).toBe("A word that the query does not want puts it last.");
  });

  test("under any sort", async () => {
    const sorted = async (sort: string) =>
      ids(await server.query("belts", { q: "belt without buckle", sort }));
    expect(await sorted("price:asc")).toEqual(["s", "r", "p", "q"]);
    expect(await sorted("price:desc")).toEqual(["r", "s", "q", "p"]);
    expect(ids(await server.query("belts", { q: "cheapest belt without buckle" }))).toEqual([
      "s",
      "r",
      "p",
      "q",
    ]);
  });

  test("in a query that also uses vectors", async () => {
    const reply = await server.query("belts", { q: "belt without buckle", search_mode: "hybrid" });
    expect([ids(reply).slice(2).sort(), reply.json.found]).toEqual([["p", "q"], 4]);
  });

  test("unless a shop's rule decides about them", async () => {
    await server.createIndex("pinned-belts", { fields: FIELDS }, belts);
    expectStatus(await rule("pinned-belts", "pin", ["p"]), 201);
    expectStatus(await rule("pinned-belts", "hide", ["r"]), 201);
    const reply = await server.query("pinned-belts", { q: "belt without buckle" });
    expect(ids(reply)).toEqual(["p", "s", "q"]);
    expect(reply.json.curated_applied).toBe(true);
  });
});
