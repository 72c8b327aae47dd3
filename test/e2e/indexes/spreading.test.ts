// An index lives in one shard while it is small, and in all of them once it has grown. Clients do not notice
// the change: concurrent reads and writes continue, each read finds every document once, and nothing
// acknowledged is lost.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { eventually, expectStatus, TestServer } from "../world/harness.js";

const HOME_DOCUMENTS_MAX = 200;
const FIELDS = [
  { name: "title", type: "string" },
  { name: "brand", type: "string", facet: true },
  { name: "number", type: "int32", sort: true },
];
const BRANDS = ["acme", "globex", "initech", "umbrella", "hooli"];

interface Document {
  readonly id: string;
  readonly title: string;
  readonly brand: string;
  readonly number: number;
}

function documents(from: number, count: number): Document[] {
  return Array.from({ length: count }, (_, i) => {
    const number = from + i;
    const word = number % 3 === 0 ? "shoe" : "boot";
    return { id: `d${number}`, title: `${word} number${number}`, brand: BRANDS[number % 5]!, number };
  });
}

async function shardsOf(server: TestServer, index: string): Promise<number> {
  return Number((await server.get(`/v1/indexes/${index}/stats`)).json.data.shards);
}

async function write(server: TestServer, index: string, batch: readonly Document[]): Promise<void> {
  const reply = await server.post(`/v1/indexes/${index}/documents/batch`, { documents: batch });
  expect([reply.status, reply.json.data?.succeeded], reply.text).toEqual([200, batch.length]);
}

describe.each(
  effort(
    [[3, 2]],
    [
      [3, 1],
      [8, 2],
    ],
  ),
)("%i shards, %i front-ends", (shards, frontEnds) => {
  let server: TestServer;

  beforeAll(async () => {
    const config = { limits: { homeDocumentsMax: HOME_DOCUMENTS_MAX, rememberedAnswersBytesMax: 1 } };
    server = await TestServer.start({ shards, frontEnds, config });
  });

  afterAll(() => server.close());

  /**
   * Expects queries, an export, a read of one document and the document count to show exactly the first
   * `count` documents.
   */
  async function expectAll(index: string, count: number): Promise<void> {
    const all = documents(0, count);
    const query = async (body: object) => {
      const reply = await server.query(index, body);
      expect(reply.status, reply.text).toBe(200);
      return reply.json as unknown as {
        found: number;
        hits: { document: Document }[];
        facets: { brand: Record<string, number> };
      };
    };
    const shoes = all.filter(({ title }) => title.startsWith("shoe"));
    const found = await query({ q: "shoes", sort_by: "number:desc", per_page: 20, facets: ["brand"] });
    expect(found.found).toBe(shoes.length);
    expect(found.hits.map(({ document }) => document)).toEqual(shoes.slice(-20).reverse());
    for (const brand of BRANDS)
      expect(found.facets.brand[brand]).toBe(shoes.filter((shoe) => shoe.brand === brand).length);
    const last = all.at(-1)!;
    expect((await query({ q: `number${last.number}`, num_typos: 0 })).hits[0]?.document).toEqual(last);
    expect((await query({ q: "*", filter_by: "number:>=50", per_page: 0 })).found).toBe(count - 50);
    const exported = await server.raw("GET", `/v1/indexes/${index}/documents/export`);
    const lines = exported.text.split("\n").filter((line) => line !== "");
    const inOrder = lines.map((line) => JSON.parse(line) as Document).sort((a, b) => a.number - b.number);
    expect(inOrder).toEqual(all);
    expect((await server.get(`/v1/indexes/${index}/documents/d7`)).json.data).toEqual(all[7]);
    expect((await server.get(`/v1/indexes/${index}`)).json.data.records_count).toBe(count);
  }

  test("an index starts in one shard and, once it has grown, spans all of them, also after a restart", async () => {
    await server.createIndex("shop", { fields: FIELDS }, documents(0, HOME_DOCUMENTS_MAX));
    expect(await shardsOf(server, "shop")).toBe(1);
    await expectAll("shop", HOME_DOCUMENTS_MAX);
    await server.stop();
    await server.launch();
    expect(await shardsOf(server, "shop")).toBe(1);
    await expectAll("shop", HOME_DOCUMENTS_MAX);
    await write(server, "shop", documents(HOME_DOCUMENTS_MAX, 1));
    await eventually(async () => (await shardsOf(server, "shop")) === shards, "it is spread");
    await expectAll("shop", HOME_DOCUMENTS_MAX + 1);
    const more = documents(HOME_DOCUMENTS_MAX + 1, 99);
    await write(server, "shop", more);
    await expectAll("shop", HOME_DOCUMENTS_MAX + 100);
    await server.stop();
    await server.launch();
    expect(await shardsOf(server, "shop")).toBe(shards);
    await expectAll("shop", HOME_DOCUMENTS_MAX + 100);
  });

  test("documents are changed and deleted in the right shard, before and after spreading", async () => {
    await server.createIndex("changed", { fields: FIELDS }, documents(0, 150));
    const path = "/v1/indexes/changed/documents";
    const found = async (filter: string) =>
      (await server.query("changed", { q: "*", filter_by: filter, per_page: 0 })).json.found;
    const change = async (id: number): Promise<void> => {
      expectStatus(await server.patch(`${path}/d${id}`, { number: 10_000 + id }), 200);
      expectStatus(await server.delete(`${path}/d${id + 1}`), 200);
      expectStatus(await server.get(`${path}/d${id + 1}`), 404);
      expect((await server.get(`${path}/d${id}`)).json.data.number).toBe(10_000 + id);
    };
    await change(10);
    await write(server, "changed", documents(150, 100));
    await eventually(async () => (await shardsOf(server, "changed")) === shards, "it is spread");
    for (let id = 20; id < 60; id += 2) await change(id);
    expect(await found("number:>=10000")).toBe(21);
    const deleted = await server.delete(`${path}?filter_by=${encodeURIComponent("number:>=10000")}`);
    expect(deleted.json.data).toMatchObject({ deleted: 21 });
    expect(await found("number:>=0")).toBe(250 - 42);
  });

  test("clients that write and search during spreading do not notice it", async () => {
    await server.createIndex("busy", { fields: FIELDS }, documents(0, 100));
    const batch = 10;
    let answered = 100;
    let begun = 100;
    const writer = async (): Promise<void> => {
      while (begun < 1_000) {
        const from = begun;
        begun += batch;
        await write(server, "busy", documents(from, batch));
        answered = from + batch;
      }
    };
    const seen = new Set<number>();
    const reader = async (): Promise<void> => {
      while (begun < 1_000) {
        const least = answered;
        const { status, json, text } = await server.query("busy", {
          q: "*",
          sort_by: "number:desc",
          per_page: 250,
          facets: ["brand"],
        });
        expect(status, text).toBe(200);
        expect(json.found % batch).toBe(0);
        expect(json.found).toBeGreaterThanOrEqual(least);
        expect(json.found).toBeLessThanOrEqual(begun);
        const numbers = json.hits.map(({ document }) => (document as unknown as Document).number);
        expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => json.found - 1 - i));
        const { facets } = json as unknown as { facets: { brand: Record<string, number> } };
        expect(Object.values(facets.brand)).toEqual(BRANDS.map(() => json.found / 5));
        const one = Math.floor((least * (json.found % 7)) / 7);
        expect((await server.get(`/v1/indexes/busy/documents/d${one}`)).json.data).toEqual(
          documents(one, 1)[0],
        );
        seen.add(await shardsOf(server, "busy"));
      }
    };
    await Promise.all([writer(), reader(), reader(), reader()]);
    await eventually(async () => (await shardsOf(server, "busy")) === shards, "it is spread");
    expect([...seen].every((count) => count === 1 || count === shards)).toBe(true);
    await expectAll("busy", 1_000);
  });
});
