// Suggestions as a search box receives them: one letter, several words, corrections, groups, filters, errors.
import { describe, expect, test } from "vitest";
import { BROKEN_BODIES } from "../http/bad-input-cases.js";
import { expectStatus, type TestServer } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";
import { PRODUCTS, SCHEMA } from "../world/shop.js";

interface Suggestion {
  value: string;
  field: string;
  document_id?: string;
  count?: number;
}

const SERVERS = [1, 3].map((shards) => {
  const server = sharedServer({ shards }, (server) => server.createIndex("shop", SCHEMA, PRODUCTS));
  return [shards, server] as const;
});

async function suggest(
  server: TestServer,
  body: Record<string, unknown>,
  index = "shop",
): Promise<Suggestion[]> {
  const reply = await server.post(`/v1/indexes/${index}/suggest`, body);
  expectStatus(reply, 200);
  expect(Number.isInteger(reply.json.data.took_ms)).toBe(true);
  return reply.json.data.suggestions as Suggestion[];
}

async function values(server: TestServer, body: Record<string, unknown>, index = "shop"): Promise<string[]> {
  return (await suggest(server, body, index)).map((suggestion) => suggestion.value);
}

describe.each(SERVERS)("suggest with %i shards", (_shards, server) => {
  test("one letter is enough; values that start with it come first, popular ones before the rest", async () => {
    expect(await suggest(server, { q: "m", suggest_by: "name" })).toEqual([
      { value: "Espresso Machine", field: "name", document_id: "p4" },
      { value: "Gaming Mouse Pad", field: "name", document_id: "p3" },
      { value: "Wireless Mouse", field: "name", document_id: "p1" },
    ]);
    expect(await values(server, { q: "s", suggest_by: "name" })).toEqual(["Summer Skirts", "Running Shirts"]);
    expect(await values(server, { q: "東", suggest_by: "name" })).toEqual(["東京タワー 模型"]);
    expect(await values(server, { q: "TÓ", suggest_by: "brand" })).toEqual(["Tōkyō"]);
  });

  test("of several words all must match, the last one as a prefix", async () => {
    expect(await values(server, { q: "wireless m", suggest_by: "name" })).toEqual(["Wireless Mouse"]);
    expect(await values(server, { q: "wire m", suggest_by: "name" })).toEqual([]);
    expect(await values(server, { q: "wireless ", suggest_by: "name" })).toEqual([
      "Wireless Keyboard",
      "Wireless Mouse",
    ]);
    expect(await suggest(server, { q: "logitech mo", suggest_by: "brand,name" })).toEqual([
      { value: "Wireless Mouse", field: "name", document_id: "p1" },
    ]);
  });

  test("each value is listed once; from a list, the matching element", async () => {
    expect(await values(server, { q: "logi", suggest_by: "brand" })).toEqual(["Logitech"]);
    expect(await suggest(server, { q: "c", suggest_by: "categories" })).toEqual([
      { value: "Clothing", field: "categories", document_id: "p7" },
      { value: "Computers", field: "categories", document_id: "p3" },
    ]);
    expect(await values(server, { q: "mi", suggest_by: "categories,name" })).toEqual(["Mice"]);
  });

  test("corrections need four letters and only fill free places", async () => {
    expect(await values(server, { q: "keybaord", suggest_by: "name" })).toEqual(["Wireless Keyboard"]);
    expect(await values(server, { q: "wirelsss mous", suggest_by: "name" })).toEqual(["Wireless Mouse"]);
    expect(await values(server, { q: "kez", suggest_by: "name" })).toEqual([]);
    expect(await values(server, { q: "skirt", suggest_by: "name" })).toEqual([
      "Summer Skirts",
      "Running Shirts",
    ]);
    expect(await values(server, { q: "skirt", suggest_by: "name", per_page: 1 })).toEqual(["Summer Skirts"]);
    expect(await values(server, { q: "rayer", suggest_by: "brand" })).toEqual(["Razer"]);
  });

  test("grouped suggestions list each value once with its exact document count", async () => {
    expect(await suggest(server, { q: "w", suggest_by: "name", group_by_field: "brand" })).toEqual([
      { value: "Logitech", field: "brand", count: 2 },
    ]);
    expect(
      await suggest(server, { q: "m", suggest_by: "name,description", group_by_field: "categories" }),
    ).toEqual([
      { value: "Mice", field: "categories", count: 1 },
      { value: "Computers", field: "categories", count: 2 },
      { value: "Accessories", field: "categories", count: 1 },
      { value: "Kitchen", field: "categories", count: 1 },
    ]);
    expect(await suggest(server, { q: "skir", suggest_by: "name", group_by_field: "year" })).toEqual([
      { value: "2022", field: "year", count: 1 },
    ]);
    expect(await values(server, { q: "keyb", suggest_by: "name", group_by_field: "in_stock" })).toEqual([
      "true",
    ]);
    expect(await values(server, { q: "p", suggest_by: "name", group_by_field: "price" })).toEqual(["9"]);
    expect(
      await values(server, { q: "m", suggest_by: "name", group_by_field: "brand", per_page: 1 }),
    ).toHaveLength(1);
  });

  test("a filter narrows both kinds of suggestions", async () => {
    expect(
      await values(server, { q: "m", suggest_by: "name", filter_by: "in_stock:true && price:<100" }),
    ).toEqual(["Wireless Mouse"]);
    expect(
      await suggest(server, {
        q: "s",
        suggest_by: "name",
        filter_by: "in_stock:true",
        group_by_field: "brand",
      }),
    ).toEqual([{ value: "Acme & Sons", field: "brand", count: 1 }]);
  });

  test("the list is empty when the input is empty, has no searchable word, or matches nothing", async () => {
    for (const q of ["", " ", "*", "!", "-mouse", "zq"]) {
      expect(await values(server, { q, suggest_by: "name" }), q).toEqual([]);
      expect(await values(server, { q, suggest_by: "name", group_by_field: "brand" }), q).toEqual([]);
    }
  });

  test("long texts are not suggested", async () => {
    const long = `Long ${"text ".repeat(300)}`;
    await server.createIndex("texts", { fields: [{ name: "text", type: "string" }] }, [
      { id: "1", text: long },
      { id: "2", text: "Long story" },
    ]);
    expect(await values(server, { q: "long", suggest_by: "text" }, "texts")).toEqual(["Long story"]);
    expectStatus(await server.delete("/v1/indexes/texts"), 200);
  });
});

describe.each(SERVERS)("the order of suggestions with %i shards", (_shards, server) => {
  test("a value that starts with the input is found despite many more popular ones", async () => {
    const documents = Array.from({ length: 400 }, (_, i) => ({
      id: `m${i}`,
      name: `Model ${i} pro`,
      views: 1000 - i,
    }));
    documents.push({ id: "last", name: "Pro stand", views: 1 });
    const schema = {
      fields: [
        { name: "name", type: "string" },
        { name: "views", type: "int32" },
      ],
      default_sorting_field: "views",
    };
    await server.createIndex("many", schema, documents);
    expect(await values(server, { q: "p", suggest_by: "name", per_page: 3 }, "many")).toEqual([
      "Pro stand",
      "Model 0 pro",
      "Model 1 pro",
    ]);
    const all = await values(server, { q: "pro", suggest_by: "name", per_page: 999 }, "many");
    expect(all).toHaveLength(50);
    expectStatus(await server.delete("/v1/indexes/many"), 200);
  });

  test("without a default sorting field the best match comes first", async () => {
    await server.createIndex("plain", { fields: [{ name: "name", type: "string" }] }, [
      { id: "1", name: "Tea" },
      { id: "2", name: "Tea for two people and a dog" },
      { id: "3", name: "tea" },
    ]);
    expect(await suggest(server, { q: "tea", suggest_by: "name" }, "plain")).toEqual([
      { value: "tea", field: "name", document_id: "3" },
      { value: "Tea for two people and a dog", field: "name", document_id: "2" },
    ]);
    expectStatus(await server.delete("/v1/indexes/plain"), 200);
  });
});

describe.each(SERVERS)("refusals of suggest with %i shards", (_shards, server) => {
  test.each([
    ["q", undefined],
    ["q", 7],
    ["q", ["m"]],
    ["q", "x".repeat(5_000)],
    ["suggest_by", undefined],
    ["suggest_by", ""],
    ["suggest_by", ["name"]],
    ["suggest_by", "name,no_such_field"],
    ["suggest_by", "price"],
    ["suggest_by", "__proto__"],
    ["per_page", "5"],
    ["per_page", 1.5],
    ["group_by_field", 1],
    ["group_by_field", "no_such_field"],
    ["group_by_field", "sku"],
    ["filter_by", 3],
    ["filter_by", "price:>"],
    ["filter_by", "nothing:=1"],
  ])("%s = %j is refused", async (name, value) => {
    const reply = await server.post("/v1/indexes/shop/suggest", {
      q: "m",
      suggest_by: "name",
      [name]: value,
    });
    expect([reply.status, reply.json.code], reply.text).toEqual([400, "SK-SE-400"]);
    if (name !== "filter_by") expect(reply.json.error).toContain(name);
  });

  test.each(BROKEN_BODIES)("a body that is %s is refused", async (_name, body) => {
    const reply = await server.raw("POST", "/v1/indexes/shop/suggest", { body });
    expect([reply.status, reply.json.code]).toEqual([400, "SK-SE-400"]);
  });

  test("requires the scope search and an index of the tenant, and counts no search", async () => {
    const key = async (scopes: string[], indexes = ["*"]): Promise<string> =>
      (await server.post("/v1/keys", { name: "k", scopes, indexes })).json.data.key;
    const body = { q: "m", suggest_by: "name" };
    const status = async (index: string, key: string) => {
      const reply = await server.post(`/v1/indexes/${index}/suggest`, body, { key });
      return [reply.status, reply.json.code];
    };
    expect(await status("shop", await key(["search"]))).toEqual([200, undefined]);
    expect(await status("shop", await key(["documents"]))).toEqual([403, "SK-SYS-403"]);
    expect(await status("shop", await key(["search"], ["other*"]))).toEqual([403, "SK-SYS-403"]);
    expect(await status("none", await key(["search"]))).toEqual([404, "SK-SE-404"]);
  });
});
