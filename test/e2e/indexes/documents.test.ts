// Documents over HTTP: every action, per-document errors, exact counts, streaming import and export. Runs on
// both HTTP transports.
import { describe, expect, test } from "vitest";
import { ADMIN_KEY, eventually, expectStatus, meanwhile, sleep, type TestServer } from "../world/harness.js";
import { serverOverEachHttp } from "../world/shared-server.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "count", type: "int32" },
    { name: "big", type: "int64" },
    { name: "price", type: "float" },
    { name: "sale", type: "bool" },
    { name: "tags", type: "string[]", facet: true },
    { name: "sizes", type: "int32[]" },
    { name: "ratios", type: "float[]" },
    { name: "must", type: "string", optional: false },
  ],
};

const SERVERS = serverOverEachHttp({ shards: 3 });
let names = 0;

/** Creates a new index, so that tests do not see each other's documents. */
async function freshIndex(server: TestServer): Promise<string> {
  const name = `docs-${++names}`;
  await server.createIndex(name, SCHEMA);
  return name;
}

async function batch(server: TestServer, index: string, documents: unknown[], action?: string) {
  const reply = await server.post(`/v1/indexes/${index}/documents/batch`, {
    documents,
    ...(action ? { action } : {}),
  });
  expectStatus(reply, 200);
  return reply.json.data;
}

describe.each(SERVERS)("batches over %s", (_http, server) => {
  test("upsert replaces the whole document", async () => {
    const index = await freshIndex(server);
    await batch(server, index, [{ id: "a", title: "one", count: 1, must: "m" }]);
    expect(await batch(server, index, [{ id: "a", title: "two", must: "m" }])).toMatchObject({
      received: 1,
      succeeded: 1,
      failed: 0,
      errors: [],
    });
    expect((await server.get(`/v1/indexes/${index}/documents/a`)).json.data).toEqual({
      id: "a",
      title: "two",
      must: "m",
    });
    expect((await server.query(index, { q: "one", num_typos: 0 })).json.found).toBe(0);
    expect((await server.query(index, { q: "two" })).json.found).toBe(1);
    expect((await server.get(`/v1/indexes/${index}`)).json.data.records_count).toBe(1);
  });

  test("create, update, emplace and delete do what their names say", async () => {
    const index = await freshIndex(server);
    expect(await batch(server, index, [{ id: "a", title: "one", must: "m" }], "create")).toMatchObject({
      succeeded: 1,
    });
    const again = await batch(
      server,
      index,
      [
        { id: "a", title: "two", must: "m" },
        { id: "b", title: "three", must: "m" },
      ],
      "create",
    );
    expect(again).toMatchObject({ received: 2, succeeded: 1, failed: 1 });
    expect(again.errors).toEqual([{ index: 0, id: "a", code: "SK-DOC-409", error: expect.any(String) }]);

    const update = await batch(
      server,
      index,
      [
        { id: "a", count: 5 },
        { id: "zz", count: 5 },
      ],
      "update",
    );
    expect(update.errors).toEqual([{ index: 1, id: "zz", code: "SK-DOC-404", error: expect.any(String) }]);
    expect((await server.get(`/v1/indexes/${index}/documents/a`)).json.data).toEqual({
      id: "a",
      title: "one",
      count: 5,
      must: "m",
    });

    expect(
      await batch(
        server,
        index,
        [
          { id: "a", sale: true },
          { id: "c", title: "new", must: "m" },
        ],
        "emplace",
      ),
    ).toMatchObject({ succeeded: 2 });
    expect((await server.get(`/v1/indexes/${index}/documents/a`)).json.data).toMatchObject({
      title: "one",
      count: 5,
      sale: true,
    });

    const gone = await batch(server, index, [{ id: "a" }, { id: "b" }], "delete");
    expect(gone).toMatchObject({ received: 2, failed: 0 });
    expect((await server.get(`/v1/indexes/${index}/documents/a`)).status).toBe(404);
    expect((await server.query(index, { q: "*" })).json.found).toBe(1);
  });

  test("one bad document never stops the others", async () => {
    const index = await freshIndex(server);
    const documents = [
      { id: "good1", must: "m", title: "fine" },
      { id: "t", must: "m", title: 5 },
      { id: "n", must: "m", count: "5" },
      { id: "r", must: "m", count: 2147483648 },
      { id: "f", must: "m", count: 1.5 },
      { id: "b", must: "m", sale: "true" },
      { id: "l", must: "m", tags: "x" },
      { id: "e", must: "m", tags: ["x", 1] },
      { id: "s", must: "m", sizes: [1, 2.5] },
      { id: "m" },
      { must: "m" },
      { id: 7, must: "m" },
      { id: "", must: "m" },
      "text",
      null,
      { id: "good2", must: "m", ratios: [1, 2.5, -0], price: 3, undeclared: { deep: [1, { x: null }] } },
    ];
    const result = await batch(server, index, documents);
    expect(result.errors.map((error) => error.index)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    ]);
    expect(new Set(result.errors.map((error) => error.code))).toEqual(new Set(["SK-DOC-400"]));
    expect(result).toMatchObject({ received: 16, succeeded: 2, failed: 14 });
    const int32 = "an integer from -2147483648 to 2147483647";
    expect(result.errors.map(({ error }) => error)).toEqual([
      "field 'title' must be a string",
      `field 'count' must be ${int32}`,
      `field 'count' is out of range; expected ${int32}`,
      `field 'count' must be ${int32}`,
      "field 'sale' must be true or false",
      "field 'tags' must be an array of strings",
      "field 'tags' must be an array of strings",
      "field 'sizes' must be an array of integers from -2147483648 to 2147483647",
      "field 'must' is missing; expected a string (the schema has optional: false)",
      "id is missing; expected a string",
      "id must be a string of 1 to 512 bytes",
      "id must be a string of 1 to 512 bytes",
      "the document must be a JSON object with a string 'id'",
      "the document must be a JSON object with a string 'id'",
    ]);
    expect((await server.query(index, { q: "*" })).json.found).toBe(2);
    expect((await server.get(`/v1/indexes/${index}/documents/good2`)).json.data.undeclared).toEqual({
      deep: [1, { x: null }],
    });
  });
});

describe.each(SERVERS)("values of documents over %s", (_http, server) => {
  test("null counts as a missing value", async () => {
    const index = await freshIndex(server);
    expect(
      await batch(server, index, [{ id: "a", must: "m", title: null, count: null, tags: null }]),
    ).toMatchObject({
      failed: 0,
    });
    expect((await server.query(index, { q: "*", filter_by: "count:!=5" })).json.found).toBe(1);
  });

  test("the last of several documents with the same id wins", async () => {
    const index = await freshIndex(server);
    await batch(
      server,
      index,
      [1, 2, 3].map((count) => ({ id: "same", must: "m", count })),
    );
    expect((await server.get(`/v1/indexes/${index}/documents/same`)).json.data.count).toBe(3);
    expect((await server.get(`/v1/indexes/${index}`)).json.data.records_count).toBe(1);
  });

  test("int64 values stay exact from end to end", async () => {
    const index = await freshIndex(server);
    const values = [
      "9223372036854775807",
      "-9223372036854775808",
      "9007199254740993",
      "9007199254740992",
      "0",
    ];
    const documents = values.map((value, i) => `{"id":"d${i}","must":"m","big":${value}}`).join(",");
    expectStatus(
      await server.raw("POST", `/v1/indexes/${index}/documents/batch`, {
        body: `{"documents":[${documents}]}`,
      }),
      200,
    );
    for (const [i, value] of values.entries()) {
      expect((await server.raw("GET", `/v1/indexes/${index}/documents/d${i}`)).text).toContain(
        `"big":${value}`,
      );
      const found = await server.query(index, { q: "*", filter_by: `big:=${value}` });
      expect(found.json.hits.map((hit) => hit.document.id)).toEqual([`d${i}`]);
      expect(found.text).toContain(`"big":${value}`);
    }
    const sorted = await server.query(index, { q: "*", sort: "big:asc" });
    expect(sorted.json.hits.map((hit) => hit.document.id)).toEqual(["d1", "d4", "d3", "d2", "d0"]);
    expect((await server.query(index, { q: "*", filter_by: "big:>9007199254740992" })).json.found).toBe(2);
    const refused = await server.raw("POST", `/v1/indexes/${index}/documents/batch`, {
      body: '{"documents":[{"id":"x","must":"m","big":9223372036854775808}]}',
    });
    expect(refused.json.data.failed).toBe(1);
  });

  test("internal fields are stored but never shown", async () => {
    const index = await freshIndex(server);
    const embedding = Array.from({ length: 512 }, (_, i) => i / 512);
    await batch(server, index, [{ id: "a", must: "m", title: "seen", _note: "hidden", embedding }]);
    const views = [
      (await server.get(`/v1/indexes/${index}/documents/a`)).text,
      (await server.query(index, { q: "seen", fields: ["embedding", "_note", "title"] })).text,
      (await server.raw("GET", `/v1/indexes/${index}/documents/export`)).text,
    ];
    for (const text of views) {
      expect(text).toContain("seen");
      expect(text).not.toContain("hidden");
      expect(text).not.toContain("embedding");
    }
    expect(await batch(server, index, [{ id: "b", must: "m", embedding: [1, 2] }])).toMatchObject({
      failed: 1,
    });
  });
});

describe.each(SERVERS)("single documents and deletion by filter over %s", (_http, server) => {
  test("PATCH changes and DELETE removes one document", async () => {
    const index = await freshIndex(server);
    await batch(server, index, [{ id: "a/b c", must: "m", title: "old", count: 1 }]);
    const path = `/v1/indexes/${index}/documents/${encodeURIComponent("a/b c")}`;
    const patched = await server.patch(path, { title: "fresh", count: null });
    expectStatus(patched, 200);
    expect(patched.json.data).toMatchObject({ id: "a/b c", title: "fresh" });
    expect((await server.query(index, { q: "fresh", num_typos: 0 })).json.found).toBe(1);
    expect((await server.query(index, { q: "old", num_typos: 0 })).json.found).toBe(0);
    expectStatus(await server.patch(path, { count: "x" }), 400);
    expectStatus(await server.patch(`/v1/indexes/${index}/documents/none`, { title: "x" }), 404);
    expectStatus(await server.patch(path, { notes: "n".repeat(600_000) }), 200);
    expect((await server.patch(path, { more: "n".repeat(600_000) })).json.code).toBe("SK-DOC-413");
    expect((await server.delete(path)).json.data).toEqual({ id: "a/b c", deleted: true });
    expectStatus(await server.delete(path), 404);
  });

  test("deletion by filter removes the documents that match it", async () => {
    const index = await freshIndex(server);
    await batch(
      server,
      index,
      Array.from({ length: 100 }, (_, count) => ({ id: `d${count}`, must: "m", count })),
    );
    const path = `/v1/indexes/${index}/documents?filter_by=${encodeURIComponent("count:<40 || count:=99")}`;
    expectStatus(await server.delete(path), 200);
    expect((await server.query(index, { q: "*" })).json.found).toBe(59);
    expectStatus(await server.delete(`/v1/indexes/${index}/documents`), 400);
    for (const refused of [
      await server.delete(`/v1/indexes/${index}/documents?filter_by=nope:=1`),
      await server.get(`/v1/indexes/${index}/documents/export?filter_by=nope:=1`),
    ]) {
      expectStatus(refused, 400);
      expect(refused.json).toMatchObject({ code: "SK-DOC-400", details: { position: 0 } });
    }
    expect((await server.query(index, { q: "*" })).json.found).toBe(59);
  });
});

describe.each(SERVERS)("imports and exports over %s", (_http, server) => {
  test("importing an export restores the documents, and both are streamed", async () => {
    const index = await freshIndex(server);
    const lines = Array.from({ length: 5000 }, (_, i) =>
      i % 1000 === 7
        ? '{"id": broken'
        : JSON.stringify({ id: `d${i}`, must: "m", title: `title ${i}`, big: i, tags: ["a", `t${i % 7}`] }),
    );
    const body = lines.join("\n");
    const reply = await server.raw("POST", `/v1/indexes/${index}/documents/import`, {
      body,
      headers: { "content-type": "application/x-ndjson" },
    });
    expectStatus(reply, 200);
    const answers = reply.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers).toHaveLength(6);
    const summary = answers.at(-1)!;
    expect(JSON.stringify(summary)).toContain("4995");
    const exported = await server.raw("GET", `/v1/indexes/${index}/documents/export`);
    const ids = exported.text
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(new Set(ids).size).toBe(4995);
    const some = await server.raw(
      "GET",
      `/v1/indexes/${index}/documents/export?filter_by=${encodeURIComponent("big:<10")}`,
    );
    expect(some.text.trim().split("\n")).toHaveLength(9);
    const copy = await freshIndex(server);
    await server.raw("POST", `/v1/indexes/${copy}/documents/import`, {
      body: exported.text,
      headers: { "content-type": "application/x-ndjson" },
    });
    const again = await server.raw("GET", `/v1/indexes/${copy}/documents/export`);
    expect(again.text.trim().split("\n").sort()).toEqual(exported.text.trim().split("\n").sort());
  });

  test("an import that pauses and is cut off mid-line keeps the complete lines", async () => {
    const index = await freshIndex(server);
    const socket = await server.socket();
    socket.on("error", () => undefined);
    const pieces = [
      '{"id":"a","must":"m","title":"caf',
      'é"}\n{"id":"b","must":"m"}\n{"id":"c"',
      ',"must":"m"}',
    ];
    socket.write(
      `POST /v1/indexes/${index}/documents/import HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${ADMIN_KEY}\r\n` +
        `content-type: application/x-ndjson\r\ncontent-length: ${Buffer.byteLength(pieces.join(""))}\r\n\r\n`,
    );
    for (const piece of pieces) {
      socket.write(piece);
      await sleep(50); // the import must cope with the pauses
    }
    const answer = await new Promise<string>((resolve) => {
      let text = "";
      socket.on("data", (data) => {
        text += String(data);
        if (text.includes('"received"')) resolve(text);
      });
      socket.on("close", () => resolve(text));
    });
    socket.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect((await server.query(index, { q: "cafe" })).json.found).toBe(1);
    expect((await server.query(index, { q: "*" })).json.found).toBe(3);
  });
});

describe.each(SERVERS)("what every client sees over %s", (_http, server) => {
  test("a batch is visible as a whole or not at all", async () => {
    const index = await freshIndex(server);
    const seen = new Set<number>();
    const reader = async () => seen.add((await server.query(index, { q: "*", per_page: 0 })).json.found);
    await meanwhile([reader], async () => {
      for (let round = 1; round <= 20; round++) {
        await batch(
          server,
          index,
          Array.from({ length: 50 }, (_, i) => ({ id: `r${round}-${i}`, must: "m", count: round })),
        );
      }
    });
    for (const found of seen) expect(found % 50).toBe(0);
  });

  test("fields can be added, dropped and added again by PATCH of the schema", async () => {
    const index = await freshIndex(server);
    await batch(server, index, [{ id: "a", must: "m", title: "x", late: "needle" }]);
    expect((await server.query(index, { q: "needle", num_typos: 0 })).json.found).toBe(0);
    const fields = [...SCHEMA.fields, { name: "late", type: "string", facet: true }];
    expectStatus(await server.patch(`/v1/indexes/${index}`, { schema: { fields } }), 200);
    const active = async () => (await server.get(`/v1/indexes/${index}`)).json.data.status === "active";
    await eventually(active, "the field is indexed");
    const reply = await server.query(index, { q: "needle", num_typos: 0, facets: ["late"] });
    expect(reply.json.found).toBe(1);
    expect(reply.json.facets).toEqual({ late: { needle: 1 } });
  });
});
