// The demo: its catalogue is always the same and fits its schema, its searches can be pasted into a shell,
// and a client whose feed already exists gets a message that says so.
import { expect, test } from "vitest";
import { DEMO_SCHEMA, demoCatalogue } from "../../../../server/cli/demo/catalogue.js";
import { serveFeed } from "../../../../server/cli/demo/feed.js";
import { sampleCommand, sampleSearches } from "../../../../server/cli/demo/samples.js";

test("the catalogue is deterministic, with unique ids and part numbers", () => {
  const products = demoCatalogue();
  expect(products).toEqual(demoCatalogue());
  expect(products.length).toBeGreaterThan(400);
  expect(new Set(products.map((product) => product.id)).size).toBe(products.length);
  expect(new Set(products.map((product) => product.sku)).size).toBe(products.length);
  for (const product of products) expect(product.sku).toMatch(/^[A-Z]{2}-\d{3}\/\d$/);
});

test("every field of a product is declared with its type", () => {
  const types = new Map(DEMO_SCHEMA.fields.map((field) => [field.name, field.type]));
  for (const product of demoCatalogue()) {
    for (const [name, value] of Object.entries(product)) {
      const type = types.get(name);
      if (name === "id" || type === "string") expect(typeof value).toBe("string");
      else if (type === "string[]") expect(Array.isArray(value) && value.length > 0).toBe(true);
      else if (type === "bool") expect(typeof value).toBe("boolean");
      else if (type === "float") expect(Number.isFinite(value)).toBe(true);
      else expect(Number.isInteger(value), `${name} of ${product.id}`).toBe(true);
    }
  }
});

test("sample commands are quoted for the shell", () => {
  const commands = sampleSearches(demoCatalogue()).map(({ query }) => sampleCommand("products", query));
  expect(commands[0]).toBe("skein search products watreproof jakcet");
  expect(commands).toContain(
    "skein search products running shoes --filter 'price:<=120 && in_stock:true' --facets brand,color",
  );
  expect(commands).toContain(`skein search products '"merino wool" -boots'`);
});

test("a client that already has the feed is not sent it again", async () => {
  const { server, url } = await serveFeed(demoCatalogue());
  try {
    const first = await fetch(url);
    expect((await first.text()).match(/<item>/g)).toHaveLength(100);
    const headers = { "if-none-match": first.headers.get("etag")! };
    expect((await fetch(url, { headers })).status).toBe(304);
    expect((await fetch(url, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  } finally {
    server.close();
  }
});
