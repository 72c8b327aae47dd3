// Semantic search settings over HTTP: what is refused, that an endpoint's key is never shown again, and what
// an index reports about model training.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually, expectStatus, TestServer } from "../world/harness.js";

const KEY = "sk-never-shown-0123456789";
const ENDPOINT = { source: "endpoint", url: "http://127.0.0.1:9/v1", model: "small" };
const SCHEMA = { fields: [{ name: "title", type: "string" }] };

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ shards: 1, config: { ai: { allow_hosts: ["127.0.0.1"] } } });
});
afterAll(() => server.close());

const settings = async (index: string) => (await server.get(`/v1/indexes/${index}/settings`)).json.data;
const patch = (index: string, embedder: object) =>
  server.patch(`/v1/indexes/${index}/settings`, { embedder });

function everyFileOf(folder: string): Buffer {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

describe("an endpoint's key", () => {
  test("appears in no reply, log or file, across restarts, copies, swaps and snapshots", async () => {
    const replies: string[] = [];
    const send = async (method: "post" | "patch" | "get", path: string, body?: unknown, status = 200) => {
      const reply = method === "get" ? await server.get(path) : await server[method](path, body);
      expectStatus(reply, status);
      replies.push(JSON.stringify(reply.json));
      return reply.json.data;
    };
    const shown = { ...ENDPOINT, api_key: null, fields: null, dimensions: 512 };
    await send(
      "post",
      "/v1/indexes",
      { name: "a", schema: SCHEMA, settings: { embedder: { ...ENDPOINT, api_key: KEY } } },
      201,
    );
    await send("post", "/v1/indexes", { name: "b", schema: SCHEMA }, 201);
    await send("post", "/v1/indexes/b/copy-settings-from", { source_index: "a", copy: ["settings"] });
    expect(await settings("b")).toMatchObject({ embedder: shown });
    await send("patch", "/v1/indexes/b/settings", { embedder: { model: "large", api_key: KEY } });
    await send("post", "/v1/indexes/a/swap-with", { target_index: "b" });
    expect(await send("get", "/v1/indexes/a/settings")).toMatchObject({
      embedder: { ...shown, model: "large" },
    });
    await send("post", "/v1/indexes/a/query", { q: "x" });
    expect(await send("patch", "/v1/indexes/a/settings", await settings("a"))).toMatchObject({
      embedder: { ...shown, model: "large" },
    });
    // The stored key is not sent to a different server; the client would have to supply it again.
    const moved = { url: "http://127.0.0.1:10/v1" };
    const refused = (await patch("a", moved)).json;
    expect(refused).toMatchObject({
      code: "SK-IX-400",
      error: expect.stringContaining("must be sent again"),
    });
    await server.stop();
    await server.launch();
    expect(await send("get", "/v1/indexes/a/settings")).toMatchObject({
      embedder: { ...shown, model: "large" },
    });
    expect((await patch("a", moved)).status).toBe(400);
    expect((await patch("a", { ...moved, api_key: "sk key" })).json.error).not.toContain("sk key");
    await send("post", "/v1/snapshots", {}, 202);
    await send("get", "/openapi.json");
    await server.stop();
    expect(replies.join("\n")).not.toContain(KEY);
    expect(JSON.stringify(server.log)).not.toContain(KEY);
    expect(everyFileOf(server.dataDir).includes(KEY)).toBe(false);
    await server.launch();
  });
});

describe("settings of semantic search", () => {
  test("are refused with the name of the setting", async () => {
    await server.createIndex("c", SCHEMA);
    const cases: [object, string][] = [
      [{ embedder: { source: "endpoint" } }, "embedder.url is missing"],
      [{ embedder: { url: ENDPOINT.url } }, "embedder.url must be absent"],
      [
        { embedder: { ...ENDPOINT, url: "http://10.0.0.1/v1" } },
        "embedder.url must resolve to a public address",
      ],
      [{ embedder: { dimensions: 1_536 } }, "embedder.dimensions must be 512"],
      [{ semantic: { candidates: 0 } }, "semantic.candidates must be an integer from 1 to 1000"],
    ];
    for (const [body, message] of cases) {
      const { status, json } = await server.patch("/v1/indexes/c/settings", body);
      expect([status, json.code, json.error]).toEqual([400, "SK-IX-400", expect.stringContaining(message)]);
    }
  });

  test("decide whether a query may carry a vector, also in a multi-search", async () => {
    await server.createIndex("d", SCHEMA, [{ id: "1", title: "red shoe" }]);
    const vector = Array.from({ length: 512 }, (_, i) => Math.sin(i) / 3);
    const refused = await server.query("d", { q: "red", vector });
    expect([refused.status, refused.json.code]).toEqual([400, "SK-SE-400"]);
    expectStatus(await patch("d", { source: "pushed" }), 200);
    expect((await server.query("d", { q: "red", vector })).json.found).toBe(1);
    const searches = Array.from({ length: 50 }, () => ({ index: "d", q: "red", vector }));
    const reply = await server.post("/v1/multi-search", { searches });
    expectStatus(reply, 200);
    expect(reply.json.data).toMatchObject({ results: searches.map(() => ({ found: 1 })) });
  });
});

describe("an index that learns from its documents", () => {
  test("gets a model as soon as it has enough documents", async () => {
    const documents = Array.from({ length: 200 }, (_, i) => ({
      id: `${i}`,
      title: `shoe ${i % 7} lace ${i % 5}`,
    }));
    const embedder = async (): Promise<Record<string, unknown>> =>
      (await server.get("/v1/indexes/e/stats")).json.data.embedder as Record<string, unknown>;
    await server.createIndex("e", SCHEMA, documents.slice(1));
    expect(await embedder()).toMatchObject({ source: "none", state: "none", model: null });
    const batch = { documents: documents.slice(0, 1) };
    expectStatus(await server.post("/v1/indexes/e/documents/batch", batch), 200);
    const first = await embedder();
    expect([first.source, first.state === "none"]).toEqual(["documents", false]);
    await eventually(async () => (await embedder()).state === "ready", "the index has its vectors");
    expect(await embedder()).toMatchObject({ documents: 200, pending: 0, model: { documents: 200 } });
    const trained = server.log.filter(({ msg }) => msg === "a model was trained");
    expect(trained.map(({ index, sample }) => [index, sample])).toEqual([["e", 200]]);
  });
});
