// Real catalogues: all documents are imported, and a few searches return what a person would expect. Needs
// the data folder.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATA, isAbsent } from "../../data-folder.js";
import { expectStatus, TestServer } from "../world/harness.js";
import type { ReplyBody } from "../world/reply.js";

const absent = isAbsent(DATA, "real-data.test.ts");

interface Catalogue {
  file: string;
  documentsMax: number;
  fields: { name: string; type: string; facet?: boolean }[];
}

const text = (...names: string[]) => names.map((name) => ({ name, type: "string" }));
const facet = (type: string, ...names: string[]) => names.map((name) => ({ name, type, facet: true }));

const CATALOGUES: Record<string, Catalogue> = {
  icecat: {
    file: "icecat/documents.jsonl.gz",
    documentsMax: 20_000,
    fields: [
      ...text("title", "name"),
      ...facet("string", "brand"),
      ...text("description", "date_released"),
      ...facet("float", "price"),
      { name: "ean", type: "string[]" },
    ],
  },
  esci: {
    file: "esci/documents.jsonl.gz",
    documentsMax: 5_000,
    fields: [
      ...text("title"),
      ...facet("string", "brand", "color"),
      ...facet("string[]", "category"),
      ...text("bullet_points", "description"),
      { name: "price", type: "float" },
      { name: "rating", type: "float" },
      { name: "rating_count", type: "int32" },
      ...facet("bool", "is_book"),
    ],
  },
  bestbuy: {
    file: "bestbuy/products.jsonl.gz",
    documentsMax: 5_000,
    fields: [
      ...text("name"),
      ...facet("string", "brand"),
      ...facet("string[]", "categories"),
      ...text("category_path", "description"),
      { name: "price", type: "float" },
      { name: "popularity", type: "int64" },
    ],
  },
  magento: {
    file: "magento/products.jsonl.gz",
    documentsMax: 5_000,
    fields: [
      ...text("name", "sku"),
      ...facet("string", "type", "attribute_set", "parent_sku"),
      ...facet("string[]", "categories"),
      { name: "price", type: "float" },
      { name: "qty", type: "int32" },
      ...facet("bool", "in_stock"),
      ...text("description"),
    ],
  },
  debian: {
    file: "debian-packages/documents.jsonl.gz",
    documentsMax: 5_000,
    fields: [
      ...text("name", "summary"),
      ...facet("string", "section", "priority"),
      ...facet("string[]", "tags"),
      ...text("description", "maintainer"),
      { name: "installed_size", type: "int32" },
      { name: "size", type: "int64" },
      { name: "depends_count", type: "int32" },
    ],
  },
  cities: {
    file: "world-cities/documents.jsonl.gz",
    documentsMax: 5_000,
    fields: [
      ...text("name", "asciiname", "alternatenames"),
      ...facet("string", "country", "country_code", "timezone"),
      { name: "population", type: "int64" },
    ],
  },
};

describe.skipIf(absent)("real data", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ shards: 2 });
  });

  afterAll(() => server?.close());

  async function search(index: string, q: string, more: Record<string, unknown> = {}): Promise<ReplyBody> {
    const reply = await server.query(index, { q, ...more });
    expectStatus(reply, 200);
    return reply.json;
  }

  const shown = (body: ReplyBody, field: string): string[] =>
    body.hits.map((hit) => String(hit.document[field]).toLowerCase());

  test.each(Object.entries(CATALOGUES))("%s imports without a rejected document", async (name, catalogue) => {
    await server.createIndex(name, { fields: catalogue.fields });
    const lines = gunzipSync(readFileSync(join(DATA, catalogue.file)))
      .toString("utf8")
      .trim()
      .split("\n")
      .slice(0, catalogue.documentsMax);
    const reply = await server.raw("POST", `/v1/indexes/${name}/documents/import`, {
      body: lines.join("\n"),
      headers: { "content-type": "application/x-ndjson" },
    });
    expectStatus(reply, 200);
    expect(reply.text.trim().split("\n"), "one summary line and no failures").toHaveLength(1);
    expect((await search(name, "*")).found).toBe(lines.length);
    expect((await server.get(`/v1/indexes/${name}`)).json.data.records_count).toBe(lines.length);
  });

  test("icecat: part numbers, misspelt brands, prefixes, filters", async () => {
    for (const q of ["dv7-1211ea", "DV7 1211EA", "dv7-1211"]) {
      expect(shown(await search("icecat", q), "name")[0], q).toBe("dv7-1211ea");
    }
    expect(shown(await search("icecat", "samsng monitor"), "brand")).toContain("samsung");
    expect(shown(await search("icecat", "toner xerx", { per_page: 5 }), "brand")).toContain("xerox");
    const cheap = await search("icecat", "notebook", {
      filter_by: "brand:=hp && price:[100..500]",
      facets: ["brand"],
    });
    expect(Object.keys(cheap.facets.brand!).map((brand) => brand.toLowerCase())).toEqual(["hp"]);
    expect((await search("icecat", "keybo")).found).toBeGreaterThan(
      (await search("icecat", "keyboards", { num_typos: 0 })).found,
    );
  });

  test("esci: long product titles", async () => {
    expect(shown(await search("esci", "kindle paperwhite"), "title")[0]).toContain("kindle paperwhite");
    expect(shown(await search("esci", "memory foam matress"), "title")[0]).toContain("mattress");
    expect(
      (await search("esci", "*", { filter_by: "is_book:true", facets: ["is_book"] })).facets.is_book,
    ).toEqual({ true: expect.any(Number) });
  });

  test("bestbuy: categories and prices", async () => {
    const phones = await search("bestbuy", "galaxy", {
      filter_by: "categories:=`Cell Phones` && price:<100",
      sort: "price:asc",
    });
    expect(phones.found).toBeGreaterThan(0);
    const prices = phones.hits.map((hit) => hit.document.price as number);
    expect(prices).toEqual([...prices].sort((a, b) => a - b));
    expect(shown(await search("bestbuy", "samsung galxy"), "name")[0]).toContain("galaxy");
  });

  test("magento: SKUs and apparel", async () => {
    for (const q of ["MH01-XS-Black", "mh01 xs black"])
      expect(shown(await search("magento", q), "sku")[0], q).toBe("mh01-xs-black");
    expect(shown(await search("magento", "hoodie"), "name").every((name) => name.includes("hood"))).toBe(
      true,
    );
    expect(
      (await search("magento", "*", { filter_by: "categories:=`Men/Tops/Hoodies & Sweatshirts`" })).found,
    ).toBeGreaterThan(10);
  });

  test("debian: package names and tags", async () => {
    expect(shown(await search("debian", "apache2"), "name")[0]).toContain("apache2");
    const games = await search("debian", "strategy game", {
      filter_by: "section:=games",
      facets: ["section"],
    });
    expect(Object.keys(games.facets.section!)).toEqual(["games"]);
    expect(
      (await search("debian", "*", { filter_by: "tags:=`interface::graphical` && size:>1000000" })).found,
    ).toBeGreaterThan(0);
  });

  test("cities: many scripts and diacritics", async () => {
    for (const q of ["Dubai", "Дубай", "دبي", "ドバイ", "두바이", "dubaï"])
      expect(shown(await search("cities", q), "name")[0], q).toBe("dubai");
    expect(shown(await search("cities", "sao paulo"), "name")[0]).toBe("são paulo");
    expect(
      shown(
        await search("cities", "*", { sort: "population:desc", filter_by: "country_code:=JP" }),
        "name",
      )[0],
    ).toBe("tokyo");
  });
});
