// Speed measurements: the generated catalogue, the queries drawn from it, percentiles, rates, metrics pages.
import { describe, expect, test } from "vitest";
import { generateCatalogue } from "../../../bench/catalogue/generate.js";
import { ratesByTenth } from "../../../bench/load/bulk-import.js";
import { summarise } from "../../../bench/load/drive.js";
import { drawQueries } from "../../../bench/load/queries.js";
import { parseMetrics, total } from "../../../bench/load/server-meter.js";
import { readWorkload } from "../../../bench/load/workload.js";
import { Random, Zipf } from "../../../bench/random.js";
import type { InferredSchema } from "../../../server/documents/formats/infer.js";

const SCHEMA: InferredSchema = {
  fields: [
    { name: "title", type: "string" },
    { name: "brand", type: "string", facet: true },
    { name: "color", type: "string", facet: true },
    { name: "price", type: "float" },
    { name: "description", type: "string" },
  ],
};

interface Product {
  readonly id: string;
  readonly title: string;
  readonly brand: string;
  readonly price: number;
  readonly description: string;
}

const texts = [...generateCatalogue(3000, 1)];
const products = texts.map((text) => JSON.parse(text) as Product);

describe("the generated catalogue", () => {
  test("is the same for the same seed, whatever its size, and differs for another seed", () => {
    expect([...generateCatalogue(50, 1)]).toEqual(texts.slice(0, 50));
    expect([...generateCatalogue(1, 2)][0]).not.toBe(texts[0]);
    expect(new Set(products.map(({ id }) => id)).size).toBe(3000);
  });

  test("has about 412 bytes per document", () => {
    const mean = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / texts.length;
    expect(mean).toBeGreaterThan(400);
    expect(mean).toBeLessThan(425);
  });

  test("has few words that occur everywhere and many rare ones", () => {
    const documents = new Map<string, number>();
    for (const { description } of products) {
      for (const word of new Set(description.toLowerCase().match(/[a-z]+/g))) {
        documents.set(word, (documents.get(word) ?? 0) + 1);
      }
    }
    const counts = [...documents.values()].sort((a, b) => b - a);
    expect(counts[0]).toBeGreaterThan(1200);
    expect(counts[100]).toBeLessThan(300);
    expect(counts.filter((n) => n === 1).length).toBeGreaterThan(counts.length / 2);
  });
});

test("a Zipf draw follows Zipf's law, and a shift flattens the head", () => {
  const share = (shift: number): number => {
    const ranks = new Zipf(1000, 1, shift);
    const random = new Random(3);
    let first = 0;
    for (let i = 0; i < 20_000; i++) if (ranks.draw(random) === 0) first++;
    return first / 20_000;
  };
  // 1 / H(1000) = 0.1336; with a shift of 9: (1 / 10) / (H(1009) - H(9)) = 0.0214.
  expect(share(0)).toBeCloseTo(0.1336, 2);
  expect(share(9)).toBeCloseTo(0.0214, 2);
});

describe("drawn queries", () => {
  const workload = readWorkload("catalogue");
  const queries = drawQueries(workload, SCHEMA, products as never, 2000);
  const of = (kind: string) => queries.filter((query) => query.kind === kind).map(({ body }) => body);
  const known = new Set(
    products.flatMap(
      ({ title, brand, description }) =>
        `${title} ${brand} ${description}`.toLowerCase().match(/[\p{L}\p{N}]+/gu)!,
    ),
  );

  test("are the same for the same seed, and include every kind", () => {
    expect(drawQueries(workload, SCHEMA, products as never, 2000)).toEqual(queries);
    expect(new Set(queries.map(({ kind }) => kind))).toEqual(new Set(workload.mix.map(({ name }) => name)));
  });

  test("with only a typo contain words that no document has", () => {
    const long = of("typo only").filter(({ q }) => (q as string).length > 4);
    expect(long.length).toBeGreaterThan(20);
    expect(long.filter(({ q }) => known.has(q as string))).toEqual([]);
  });

  test("for a very frequent word use words that many documents have", () => {
    for (const { q } of of("very frequent word")) {
      const having = products.filter(({ title, description }) =>
        `${title} ${description}`.toLowerCase().includes(q as string),
      );
      expect(having.length, q as string).toBeGreaterThan(300);
    }
  });

  test("that browse have no words, only a filter and two facets", () => {
    for (const body of of("browse, filter, facets")) {
      expect(body).toMatchObject({ q: "*", filter_by: expect.any(String) });
      expect(body.facets).toEqual(["brand", "color"]);
    }
  });
});

test("percentiles use the nearest rank", () => {
  const times = Array.from({ length: 200 }, (_, i) => 200 - i);
  expect(summarise(times)).toEqual({ count: 200, p50: 100, p95: 190, p99: 198, max: 200 });
  expect(summarise([7])).toEqual({ count: 1, p50: 7, p95: 7, p99: 7, max: 7 });
  expect(summarise([])).toEqual({ count: 0, p50: 0, p95: 0, p99: 0, max: 0 });
});

test("rates per tenth count documents, interpolated linearly between acknowledgements", () => {
  // 1,000 documents in the first second, another 1,000 in the next four.
  const rates = ratesByTenth([
    { ms: 1000, documents: 1000 },
    { ms: 5000, documents: 2000 },
  ]);
  expect(rates.map(Math.round)).toEqual([1000, 1000, 1000, 1000, 1000, 250, 250, 250, 250, 250]);
  expect(ratesByTenth([])).toEqual([]);
});

test("a metrics page is read by name and labels", () => {
  const page = parseMetrics(
    '# HELP skein_a What.\n# TYPE skein_a counter\nskein_a{x="1"} 2\nskein_a{x="2 3"} 4.5\nskein_ab 7\nother 1\n',
  );
  expect(page.get('a{x="2 3"}')).toBe(4.5);
  expect(total(page, "a")).toBe(6.5);
  expect(total(page, "other")).toBe(1);
  expect(total(page, "missing")).toBe(0);
});
