// Data sources over HTTP: lifecycle, refusals, permissions, hidden passwords, swaps, persistence.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectStatus, type TestServer } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const SOURCES = "/v1/indexes/shop/data-sources";
const FEED = { url: "https://feeds.example/shop.xml", format: "brandx_merchant" };
const PASSWORD = "correct-horse-battery";

type Source = Record<string, unknown> & { id: number };

async function make(server: TestServer, body: object = {}, index = "shop"): Promise<Source> {
  const reply = await server.post(`/v1/indexes/${index}/data-sources`, { ...FEED, ...body });
  expectStatus(reply, 201);
  return reply.json.data as unknown as Source;
}

const REFUSED: [name: string, body: object, sentence: RegExp][] = [
  ["no url", { url: undefined }, /^url is missing; expected an http or https URL/],
  ["a number as url", { url: 7 }, /^url must be an http or https URL, not 7/],
  ["a url without a host", { url: "shop.xml" }, /^url must be an absolute URL/],
  ["another protocol", { url: "ftp://feeds.example/x" }, /^url must/],
  ["a file", { url: "file:///etc/passwd" }, /^url must/],
  ["a loopback address", { url: "http://127.0.0.1/x" }, /^url/],
  ["a loopback address as a single number", { url: "http://2130706433/x" }, /^url/],
  ["a mapped loopback address", { url: "http://[::ffff:127.0.0.1]/x" }, /^url/],
  ["the metadata address", { url: "http://169.254.169.254/latest" }, /^url/],
  ["localhost", { url: "http://localhost:9200/" }, /^url/],
  ["a long url", { url: `https://feeds.example/${"x".repeat(2_100)}` }, /^url is longer than 2048 bytes/],
  ["no format", { format: undefined }, /^format is missing; expected one of brandx_merchant/],
  [
    "an unknown format",
    { format: "xml" },
    /^format must be one of brandx_merchant, brandx_catalog, json, csv/,
  ],
  [
    "an unknown schedule",
    { schedule: "weekly" },
    /^schedule must be manual, hourly, daily or a five-field cron expression/,
  ],
  ["six cron fields", { schedule: "0 0 * * * *" }, /^schedule must be/],
  ["an impossible day", { schedule: "0 0 31 2 *" }, /^schedule must be/],
  ["an unknown mode", { sync_mode: "merge" }, /^sync_mode must be one of upsert, replace/],
  [
    "a field map of lists",
    { field_map: { a: ["b"] } },
    /^field_map\["a"\] must be the name of a field, not an array/,
  ],
  [
    "a field map to an internal field",
    { field_map: { a: "_b" } },
    /^field_map\["a"\] must name a field that a feed may write/,
  ],
  ["a field map to the embedding", { field_map: { a: "embedding" } }, /^field_map\["a"\] must name/],
  [
    "two paths for a field",
    { field_map: { a: "t", b: "t" } },
    /^field_map\["b"\] maps to "t", and so does "a"/,
  ],
  ["no user name", { basic_auth: { password: "x" } }, /^basic_auth\.username is missing/],
  ["no password", { basic_auth: { username: "x" } }, /^basic_auth\.password is missing/],
  ["a ratio above 1", { max_delete_ratio: 1.5 }, /^max_delete_ratio must be a number from 0 to 1/],
  ["a long delimiter", { delimiter: ",," }, /^delimiter must be one character/],
  ["an unknown encoding", { encoding: "klingon" }, /^encoding must be the name of an encoding/],
  ["an empty path", { id_field: " " }, /^id_field must be a path of the feed/],
  ["an unknown member", { interval: 5 }, /^interval is unknown; expected one of url, format/],
];

describe("data sources", () => {
  const server = sharedServer({ shards: 2, config: { limits: { dataSourcesPerIndexMax: 10 } } }, (server) =>
    server.createIndex("shop", SCHEMA, [{ id: "1", title: "chair" }]),
  );

  test("can be created with defaults, listed, read, changed and deleted", async () => {
    const made = await make(server);
    expect(made).toEqual({
      id: made.id,
      ...FEED,
      schedule: "manual",
      sync_mode: "upsert",
      field_map: {},
      basic_auth: null,
      enabled: true,
      items_path: null,
      id_field: null,
      delimiter: null,
      encoding: null,
      max_delete_ratio: 0.5,
      suspended: false,
      created_at: made.created_at,
      updated_at: made.created_at,
      last_run: null,
      next_run_at: null,
    });
    const one = `${SOURCES}/${made.id}`;
    const body = { schedule: "0 */2 * * *", field_map: { "g:price": "price" }, max_delete_ratio: 1 };
    const changed = (await server.patch(one, body)).json.data;
    expect(changed).toMatchObject({ ...FEED, ...body });
    expect(new Date(changed.next_run_at as string).getUTCHours() % 2).toBe(0);
    expect(Date.parse(changed.next_run_at as string)).toBeGreaterThan(Date.now());
    expect((await server.get(one)).json.data).toEqual(changed);
    expect((await server.get(SOURCES)).json.data).toEqual([changed]);
    expect((await server.patch(one, { enabled: false })).json.data.next_run_at).toBeNull();
    const restored = (await server.patch(one, { schedule: null, field_map: null, enabled: null })).json.data;
    expect(restored).toMatchObject({ schedule: "manual", field_map: {}, enabled: true, max_delete_ratio: 1 });
    expect((await server.get(`${one}/runs`)).json.data).toEqual([]);
    expect((await server.delete(one)).json.data).toEqual({ id: made.id, deleted: true });
    for (const gone of [
      await server.get(one),
      await server.patch(one, {}),
      await server.delete(one),
      await server.post(`${one}/sync-now`),
      await server.get(`${one}/runs`),
    ]) {
      expect([gone.status, gone.json.code]).toEqual([404, "SK-DS-404"]);
    }
  });

  test.each(REFUSED)("with %s are refused", async (_, body, sentence) => {
    const given = Object.fromEntries(
      Object.entries({ ...FEED, ...body }).filter(([, value]) => value !== undefined),
    );
    const reply = await server.raw("POST", SOURCES, { body: given });
    expect([reply.status, reply.json.code]).toEqual([400, "SK-DS-400"]);
    expect(reply.json.error).toMatch(sentence);
  });

  test("are unchanged after a refused change", async () => {
    const made = await make(server);
    for (const [, body, sentence] of REFUSED.slice(1)) {
      if (Object.values(body)[0] === undefined || "basic_auth" in body) continue;
      const reply = await server.raw("PATCH", `${SOURCES}/${made.id}`, { body });
      expect(reply.status, reply.text).toBe(400);
      expect(reply.json.error).toMatch(sentence);
    }
    expect((await server.get(`${SOURCES}/${made.id}`)).json.data).toEqual(made);
    await server.delete(`${SOURCES}/${made.id}`);
  });

  test("are limited in number", async () => {
    const made = [];
    for (let i = 0; i < 10; i++) made.push(await make(server));
    const reply = await server.raw("POST", SOURCES, { body: FEED });
    expect(reply.json).toMatchObject({
      code: "SK-DS-400",
      error: expect.stringContaining("10 data sources"),
    });
    for (const { id } of made) await server.delete(`${SOURCES}/${id}`);
  });

  test("require the scope sources and an existing index", async () => {
    const keyOf = async (scope: string): Promise<string> => {
      const reply = await server.post("/v1/keys", { name: scope, scopes: [scope], indexes: ["shop"] });
      return reply.json.data.key;
    };
    const [sources, documents] = [await keyOf("sources"), await keyOf("documents")];
    expect((await server.get(SOURCES, { key: sources })).status).toBe(200);
    expect((await server.get(SOURCES, { key: documents })).status).toBe(403);
    expect((await server.get("/v1/incidents", { key: documents })).status).toBe(403);
    expect((await server.get("/v1/indexes/none/data-sources")).json.code).toBe("SK-IX-404");
  });
});

describe("credentials", () => {
  const server = sharedServer({ shards: 1 }, (server) => server.createIndex("shop", SCHEMA));
  const basic_auth = { username: "shop", password: PASSWORD };

  test("are removed from the URL, and the password is never shown", async () => {
    const inUrl = await make(server, { url: `https://us%C3%A9r:${PASSWORD}@feeds.example/a.xml#top` });
    expect(inUrl).toMatchObject({
      url: "https://feeds.example/a.xml",
      basic_auth: { username: "usér", password: null },
    });
    const given = await make(server, { url: `https://x:y@feeds.example/a.xml`, basic_auth });
    expect(given).toMatchObject({ basic_auth: { username: "shop", password: null } });
    expect((await server.get(SOURCES)).text).not.toContain(PASSWORD);
  });

  test("are kept if a change omits them, and removed with null", async () => {
    const { id } = await make(server, { basic_auth });
    const one = `${SOURCES}/${id}`;
    const shown = { username: "shop", password: null };
    expect((await server.patch(one, { schedule: "daily" })).json.data.basic_auth).toEqual(shown);
    expect((await server.patch(one, { basic_auth: shown })).json.data.basic_auth).toEqual(shown);
    expect((await server.patch(one, { basic_auth: null })).json.data.basic_auth).toBeNull();
    const refused = await server.raw("PATCH", one, { body: { basic_auth: { username: "shop" } } });
    expect(refused.json.error).toBe("basic_auth.password is missing; expected a string");
  });

  test("are not sent to another server: changing it requires the password again", async () => {
    const { id } = await make(server, { basic_auth });
    const one = `${SOURCES}/${id}`;
    for (const url of [
      "https://other.example/shop.xml",
      "http://feeds.example/shop.xml",
      "https://feeds.example:8443/",
    ]) {
      const refused = await server.raw("PATCH", one, { body: { url } });
      expect(refused.json.error).toBe(
        "basic_auth.password must be sent again, because the url names a different server",
      );
    }
    expectStatus(await server.patch(one, { url: "https://feeds.example/other.xml" }), 200);
    expectStatus(await server.patch(one, { url: "https://other.example/", basic_auth }), 200);
  });

  test("are sealed in the data directory, whose key only the owner can read", async () => {
    await make(server, { basic_auth });
    expect(statSync(join(server.dataDir, "secrets.key")).mode & 0o777).toBe(0o600);
    expect(await server.stop()).toBe(0);
    const files = readdirSync(server.dataDir, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile()))
      expect(readFileSync(join(file.parentPath, file.name)).includes(PASSWORD), file.name).toBe(false);
    await server.launch();
    const sources = (await server.get(SOURCES)).json.data as unknown as Source[];
    expect(sources.at(-1)).toMatchObject({ basic_auth: { username: "shop", password: null } });
    expect(JSON.stringify(server.log)).not.toContain(PASSWORD);
  });
});

describe("data sources and their index", () => {
  const server = sharedServer({ shards: 1 });

  const sourcesOf = async (index: string): Promise<number[]> =>
    ((await server.get(`/v1/indexes/${index}/data-sources`)).json.data as unknown as Source[]).map(
      ({ id }) => id,
    );

  test("stay with the name when indexes are swapped, also across a restart", async () => {
    for (const name of ["live", "next"]) await server.createIndex(name, SCHEMA, [{ id: name, title: name }]);
    const [live, next] = [await make(server, {}, "live"), await make(server, {}, "next")];
    expectStatus(await server.post("/v1/indexes/live/swap-with", { target_index: "next" }), 200);
    const documentOf = async (index: string) =>
      (await server.query(index, { q: "*" })).json.hits[0]!.document.id;
    const expectStayed = async () => {
      expect(await sourcesOf("live")).toEqual([live.id]);
      expect(await sourcesOf("next")).toEqual([next.id]);
      expect(await documentOf("live")).toBe("next");
    };
    await expectStayed();
    await server.stop();
    await server.launch();
    await expectStayed();
    const dropping = { target_index: "next", drop_source_after: true };
    expectStatus(await server.post("/v1/indexes/live/swap-with", dropping), 200);
    expect(await sourcesOf("live")).toEqual([live.id]);
    expect(await documentOf("live")).toBe("live");
  });

  test("are not copied with settings, and are deleted with the index", async () => {
    for (const name of ["from", "to"]) await server.createIndex(name, SCHEMA);
    const { id } = await make(server, {}, "from");
    expectStatus(await server.post("/v1/indexes/to/copy-settings-from", { source_index: "from" }), 200);
    expect(await sourcesOf("to")).toEqual([]);
    await server.delete("/v1/indexes/from");
    await server.createIndex("from", SCHEMA);
    expect(await sourcesOf("from")).toEqual([]);
    expect((await server.get(`/v1/indexes/from/data-sources/${id}`)).status).toBe(404);
  });
});
