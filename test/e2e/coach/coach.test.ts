// The coach on a simulated shop with a real catalogue: it must find the planted problems and ignore patterns
// that only look like problems.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_SCHEMA, demoCatalogue } from "../../../server/cli/demo/catalogue.js";
import { SEED } from "../../property/seed.js";
import { expectStatus, TestServer } from "../world/harness.js";
import { type Planted, SimulatedShop } from "./simulated-shop.js";

interface Recommendation {
  readonly id: number;
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

/** Words that occur in the name, brand or material of 8 to 120 products. */
function commonWords(): string[] {
  const counts = new Map<string, number>();
  for (const { name, brand, material } of demoCatalogue()) {
    const words =
      `${name} ${brand} ${material}`.toLowerCase().match(/(?<![\p{L}'])\p{L}{5,}(?![\p{L}'])/gu) ?? [];
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count >= 8 && count <= 120).map(([word]) => word);
}

const words = commonWords();
const server = new TestServer({ shards: 1 });
let planted: Planted;
let advice: Recommendation[];

beforeAll(async () => {
  await server.launch();
  await server.createIndex("shop", DEMO_SCHEMA, demoCatalogue());
  const shop = new SimulatedShop(server, "shop", words, SEED, Date.now());
  planted = await shop.visit();
  await server.stop();
  await shop.write(1);
  await server.launch();
  const reply = await server.post("/v1/indexes/shop/coach/analyze", {});
  expectStatus(reply, 200);
  advice = reply.json.data.recommendations as Recommendation[];
});

afterAll(() => server.close());

const payloads = (type: string) => advice.filter((one) => one.type === type).map(({ payload }) => payload);

/** Returns the same text for queries that differ only in word order or plurals. */
const formOf = (text: unknown): string =>
  String(text)
    .split(" ")
    .map((word) => word.replace(/s$/, ""))
    .sort()
    .join(" ");

/** Precision and recall of the recommendations. */
function judged(said: readonly string[], right: readonly string[]): { precision: number; recall: number } {
  const hits = said.filter((one) => right.includes(one)).length;
  return { precision: said.length === 0 ? 1 : hits / said.length, recall: hits / right.length };
}

/** Keyword mode, because the coach works on words. */
const ASKED = { search_mode: "keyword", per_page: 10, analytics: false };
const search = async (q: string, options = {}) =>
  (await server.post("/v1/indexes/shop/query", { q, ...ASKED, ...options })).json;

/** Searches without prefix matching, because a synonym replaces whole words. */
const foundBy = async (q: string): Promise<number> => (await search(q, { prefix: false })).found;

async function hitsOf(q: string): Promise<string[]> {
  const json = await search(q);
  return json.hits.map(({ document }: { document: { id: string } }) => document.id);
}

describe(`in a made-up shop the coach finds (seed ${SEED})`, () => {
  test("missing synonyms", () => {
    const said = payloads("missing_synonym").map((one) => `${one.user_term} = ${one.your_term}`);
    const right = [...planted.synonyms].map(([user, word]) => `${user} = ${word}`);
    const { precision, recall } = judged(said, right);
    expect(precision, said.join()).toBeGreaterThanOrEqual(0.8);
    expect(recall, said.join()).toBeGreaterThanOrEqual(0.8);
  });

  test("which word replaces the other", () => {
    for (const { user_term, kind } of payloads("missing_synonym"))
      expect(kind, String(user_term)).toBe(words.includes(String(user_term)) ? "one_way" : "multi_way");
  });

  test("gaps in the catalogue", () => {
    const said = payloads("catalog_gap").map(({ query }) => formOf(query));
    const { precision, recall } = judged(said, planted.gaps.map(formOf));
    expect(recall, said.join()).toBeGreaterThanOrEqual(0.9);
    expect(precision, said.join()).toBeGreaterThanOrEqual(0.7);
  });

  test("documents that rank too low", () => {
    const said = payloads("ranking_opportunity").map(({ query }) => String(query));
    const { precision, recall } = judged(said, [...planted.misranked.keys()]);
    expect(precision, said.join()).toBeGreaterThanOrEqual(0.7);
    expect(recall, said.join()).toBeGreaterThanOrEqual(0.7);
  });

  test("searches that work very well", () => {
    const said = payloads("top_performer").map(({ query }) => String(query));
    const { precision, recall } = judged(said, planted.performers);
    expect(precision, said.join()).toBeGreaterThanOrEqual(0.7);
    expect(recall, said.join()).toBeGreaterThanOrEqual(0.7);
  });

  test("advice that helps when followed and leaves working queries alone", async () => {
    const working = [...planted.good, ...planted.performers];
    const before = new Map<string, string[]>();
    for (const word of [...working, ...planted.misranked.keys()]) before.set(word, await hitsOf(word));
    for (const { id } of advice) {
      const { json } = await server.post(`/v1/coach/recommendations/${id}/apply`);
      expect(json.data.recommendation).toMatchObject({ status: "applied" });
    }
    for (const word of working) expect(await hitsOf(word), word).toEqual(before.get(word));
    for (const { user_term, your_term } of payloads("missing_synonym")) {
      const [found, wanted] = [await foundBy(String(user_term)), await foundBy(String(your_term))];
      expect(found, `${user_term} finds ${your_term}`).toBeGreaterThanOrEqual(wanted);
    }
    for (const { query } of payloads("ranking_opportunity")) {
      const [word, low] = [String(query), planted.misranked.get(String(query))];
      if (low === undefined) continue;
      const [was, is] = [before.get(word)!.indexOf(low), (await hitsOf(word)).indexOf(low)];
      expect(is, word).toBeGreaterThanOrEqual(0);
      expect(is, word).toBeLessThan(was);
    }
  });
});
