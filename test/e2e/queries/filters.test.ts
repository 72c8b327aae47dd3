// Filters and URL parameters over HTTP: values in every notation, and errors with their position.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectStatus, TestServer } from "../world/harness.js";

const SCHEMA = {
  fields: [
    { name: "i", type: "int32" },
    { name: "l", type: "int64" },
    { name: "n", type: "float" },
    { name: "s", type: "string" },
  ],
};

describe("filters over HTTP", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ shards: 2 });
    await server.createIndex("f", SCHEMA);
    const documents =
      '{"id":"a","i":1.0,"l":1e3,"n":0.3,"s":"tick ` tock"},{"id":"b","i":2,"l":9007199254740993,"n":2,"s":"plain"}';
    const reply = await server.raw("POST", "/v1/indexes/f/documents/batch", {
      body: `{"documents":[${documents}]}`,
    });
    expect(reply.json.data.failed).toBe(0);
  });

  afterAll(() => server.close());

  const found = async (body: object): Promise<unknown[]> => {
    const reply = await server.query("f", { q: "*", sort: "i:asc", ...body });
    expectStatus(reply, 200);
    return reply.json.hits.map((hit) => hit.document.id);
  };

  test("integer fields accept integral numbers in every spelling, exactly", async () => {
    for (const filter_by of ["i:=1.0", "i:1e0", "i:=10e-1", "l:=1e3", "l:=1000.00", "l:[1.0e3, 7]"]) {
      expect(await found({ filter_by })).toEqual(["a"]);
    }
    expect(await found({ filter_by: "l:=9007199254740993.0" })).toEqual(["b"]);
    expect(await found({ filter_by: "l:=9.007199254740992e15" })).toEqual([]);
    expect(await found({ filters: { i: 1.0, l: [1e3] } })).toEqual(["a"]);
    expectStatus(await server.query("f", { q: "*", filter_by: "i:=1.5" }), 400);
  });

  test("three dots are not a range", async () => {
    const reply = await server.query("f", { q: "*", filter_by: "n:[1...3]" });
    expect(reply.json).toMatchObject({
      code: "SK-SE-400",
      details: { position: 4, expected: "<low>..<high>, or the value in backticks" },
    });
    expect(await found({ filter_by: "n:[0.1.. .5]" })).toEqual(["a"]);
  });

  test("a backtick is written twice inside backticks", async () => {
    expect(await found({ filter_by: "s:=`tick `` tock`" })).toEqual(["a"]);
    expect(await found({ filter_by: "s:!=[`tick `` tock`, x]" })).toEqual(["b"]);
  });

  test("a URL parameter may be given only once", async () => {
    const twice = "filter_by=i:=1&filter_by=i:=2";
    for (const reply of [
      await server.get(`/v1/indexes/f/documents/export?${twice}`),
      await server.delete(`/v1/indexes/f/documents?${twice}`),
    ]) {
      expect(reply.json).toMatchObject({
        code: "SK-SYS-400",
        error: 'the parameter "filter_by" is given more than once',
      });
    }
    const actions = await server.raw("POST", "/v1/indexes/f/documents/import?action=update&action=delete", {
      body: '{"id":"a"}\n',
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(actions.json.code).toBe("SK-SYS-400");
    expect(await found({})).toEqual(["a", "b"]);
  });

  test("a key's expiry day must exist", async () => {
    const make = (expires_at: string) =>
      server.post("/v1/keys", { name: "k", scopes: ["search"], expires_at });
    for (const day of ["2127-02-31", "2127-02-29T00:00:00Z", "2127-13-01"]) {
      expect((await make(day)).json.code).toBe("SK-SYS-400");
    }
    expectStatus(await make("2128-02-29"), 201);
  });
});
