// Persistence across a clean stop, a kill -9 immediately after an acknowledged batch, and kills during
// writes.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { eventually, expectStatus, meanwhile, sleep, TestServer } from "../world/harness.js";

const SCHEMA = {
  fields: [
    { name: "title", type: "string" },
    { name: "group", type: "string", facet: true },
    { name: "n", type: "int64" },
  ],
  default_sorting_field: "n",
};

function documents(from: number, count: number): { id: string; title: string; group: string; n: number }[] {
  return Array.from({ length: count }, (_, i) => from + i).map((n) => ({
    id: `d${n}`,
    title: `thing number${n} ${n % 3 === 0 ? "fizz" : "plain"}`,
    group: `g${n % 5}`,
    n,
  }));
}

/** Everything a client can see of an index, except times. */
async function view(server: TestServer, index: string): Promise<unknown> {
  const queries = [
    { q: "*", facets: ["group"], per_page: 250 },
    { q: "fizz thing", facets: ["group"], filter_by: "n:>10", per_page: 100 },
    { q: "fiz", sort: "n:asc" },
    { q: "plian", page: 2, per_page: 7 },
  ];
  const answers = [];
  for (const body of queries) {
    const reply = await server.query(index, body);
    expectStatus(reply, 200);
    const { search_time_ms: _time, query_id: _id, ...rest } = reply.json;
    answers.push(rest);
  }
  const { data } = (await server.get(`/v1/indexes/${index}`)).json;
  const settings = (await server.get(`/v1/indexes/${index}/settings`)).json.data;
  return { answers, data, settings };
}

describe("restart", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await TestServer.start({ shards: 3 });
  });

  afterAll(() => server.close());

  test("a clean stop keeps indexes, settings, keys and documents", async () => {
    await server.createIndex("kept", SCHEMA, documents(0, 500));
    await server.createIndex("dropped", SCHEMA, documents(0, 5));
    const settings = { num_typos: 1, searchable_attributes: ["group", "title"], weights: [2, 1] };
    expectStatus(await server.patch("/v1/indexes/kept/settings", settings), 200);
    expectStatus(await server.delete("/v1/indexes/dropped"), 200);
    const key = (await server.post("/v1/keys", { name: "reader", scopes: ["search"] })).json.data;
    const before = await view(server, "kept");
    expect(await server.stop()).toBe(0);
    await server.launch();
    expect(await view(server, "kept")).toEqual(before);
    expectStatus(await server.get("/v1/indexes/dropped"), 404);
    expectStatus(await server.post("/v1/indexes/kept/query", { q: "fizz" }, { key: key.key }), 200);
  });

  test("kill -9 after an acknowledged batch loses none of it", async () => {
    await server.createIndex("killed", SCHEMA);
    let sent = 0;
    for (let round = 0; round < effort(1, 10); round++) {
      for (let i = 0; i < 4; i++) {
        expectStatus(
          await server.post("/v1/indexes/killed/documents/batch", { documents: documents(sent, 25) }),
          200,
        );
        sent += 25;
      }
      const before = await view(server, "killed");
      await server.stop("SIGKILL");
      await server.launch();
      expect(await view(server, "killed")).toEqual(before);
      expect((await server.get("/v1/indexes/killed")).json.data.records_count).toBe(sent);
    }
  });

  test("kill -9 during writes keeps every acknowledged document and whole batches per shard", async () => {
    await server.createIndex("torn", SCHEMA);
    let acknowledged = 0;
    for (let round = 0; round < effort(1, 10); round++) {
      const writer = async () => {
        const from = acknowledged;
        const reply = await server
          .raw("POST", "/v1/indexes/torn/documents/batch", { body: { documents: documents(from, 40) } })
          .catch(() => undefined);
        if (reply?.status === 200) acknowledged = Math.max(acknowledged, from + 40);
      };
      await meanwhile(new Array(3).fill(writer), async () => {
        await sleep(300);
        await server.stop("SIGKILL");
      });
      await server.launch();
      const found = new Set<string>();
      for (const line of (await server.raw("GET", "/v1/indexes/torn/documents/export")).text
        .trim()
        .split("\n")) {
        if (line !== "") found.add((JSON.parse(line) as { id: string }).id);
      }
      for (let n = 0; n < acknowledged; n++) expect(found.has(`d${n}`), `d${n} was acknowledged`).toBe(true);
      const reply = await server.query("torn", { q: "*", per_page: 0 });
      expect(reply.json.found).toBe(found.size);
      expect((await server.get("/v1/indexes/torn")).json.data.records_count).toBe(found.size);
    }
  });

  test("SIGTERM lets running requests finish and refuses later ones", async () => {
    await server.createIndex("term", SCHEMA, documents(0, 200));
    const running = Array.from({ length: 50 }, () =>
      server.raw("POST", "/v1/indexes/term/query", { body: { q: "thing" } }),
    );
    await sleep(5);
    const stopped = server.stop();
    for (const outcome of await Promise.allSettled(running)) {
      if (outcome.status === "fulfilled") expect([200, 503]).toContain(outcome.value.status);
    }
    expect(await stopped).toBe(0);
    await server.launch();
    expect((await server.query("term", { q: "*" })).json.found).toBe(200);
  });

  test("a second server on the same data directory is refused", async () => {
    await expect(TestServer.start({ dataDir: server.dataDir, shards: 3 })).rejects.toThrow(/did not start/);
    expect((await server.query("term", { q: "*" })).json.found).toBe(200);
  });

  test("many restarts do not grow the files of an unchanged index", async () => {
    const first = await view(server, "kept");
    for (let i = 0; i < 2; i++) {
      await server.stop("SIGKILL");
      await server.launch();
    }
    expect(await view(server, "kept")).toEqual(first);
    await eventually(async () => (await server.get("/health/ready")).status === 200, "ready again");
  });
});
