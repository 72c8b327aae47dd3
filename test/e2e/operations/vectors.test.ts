// Vectors and models when an index is moved to another number of shards, saved to or restored from a
// snapshot, renamed, unloaded or deleted. Vectors from an endpoint are never requested twice.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { effort } from "../../effort.js";
import { type EmbeddingServer, startEmbeddingServer } from "../world/embedding-server.js";
import { eventually, expectStatus, MAIN, TestServer } from "../world/harness.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
const DOCUMENTS = Array.from({ length: 60 }, (_, i) => ({
  id: `d${i}`,
  title: `${TOPICS[i % 4]} number${i % 9}`,
}));
const INDEXES = ["asked", "learned"];

const place = mkdtempSync(join(tmpdir(), "skein-test-vectors-"));
let endpoint: EmbeddingServer;
let server: TestServer;

interface EmbedderStats {
  state: string;
  documents: number;
  pending: number;
  model: { number: number; trained_at: string } | null;
}

const start = (dataDir: string, shards: number, limits = {}): Promise<TestServer> =>
  TestServer.start({
    dataDir: join(place, dataDir),
    shards,
    config: { ai: { allow_hosts: ["127.0.0.1"] }, limits },
  });

async function embedder(index: string): Promise<EmbedderStats> {
  expectStatus(await server.query(index, { q: "cup", search_mode: "keyword" }), 200);
  return (await server.get(`/v1/indexes/${index}/stats`)).json.data.embedder as unknown as EmbedderStats;
}

async function ready(index: string, documents = DOCUMENTS.length): Promise<EmbedderStats> {
  await eventually(async () => {
    const stats = await embedder(index);
    return stats.state === "ready" && stats.pending === 0 && stats.documents === documents;
  }, `${index} has all its vectors`);
  return embedder(index);
}

/** Documents similar to a given one, which only vectors can find. */
async function near(index: string): Promise<unknown> {
  const reply = await server.post(`/v1/indexes/${index}/documents/d1/similar`, { per_page: 15 });
  expectStatus(reply, 200);
  const { hits } = reply.json.data as unknown as { hits: { document: { id: string }; similarity: number }[] };
  expect(hits.length).toBe(15);
  for (const { similarity } of hits) expect(similarity).not.toBeNull();
  return hits.map(({ document, similarity }) => [document.id, similarity]);
}

/** Those properties of the model that do not depend on the number of shards. */
async function modelOf(): Promise<unknown> {
  const { model } = await ready("learned");
  return [model?.number, model?.trained_at];
}

beforeAll(async () => {
  endpoint = await startEmbeddingServer();
  server = await start("data", 2);
  const asked = { source: "endpoint", url: endpoint.url(), model: "small" };
  for (const [name, settings] of [
    ["asked", { embedder: asked }],
    ["learned", { embedder: { source: "documents" } }],
  ] as const) {
    expectStatus(await server.post("/v1/indexes", { name, schema: SCHEMA, settings }), 201);
    expectStatus(await server.post(`/v1/indexes/${name}/documents/batch`, { documents: DOCUMENTS }), 200);
  }
});

afterAll(async () => {
  await server.close();
  await endpoint.close();
  rmSync(place, { recursive: true, force: true });
});

test("changing the number of shards requests no vectors and trains no model", async () => {
  const before = [];
  for (const index of INDEXES) {
    await ready(index);
    before.push(await near(index));
  }
  const model = await modelOf();
  const asked = endpoint.texts().length;
  expect(asked).toBe(DOCUMENTS.length);
  for (const shards of effort([3, 2], [3, 1, 2])) {
    expect(await server.stop()).toBe(0);
    server = await start("data", shards);
    for (const [i, index] of INDEXES.entries()) {
      await ready(index);
      expect(await near(index)).toEqual(before[i]);
    }
    expect(await modelOf()).toEqual(model);
    expect(endpoint.texts().length).toBe(asked);
  }
});

test("a snapshot contains the vectors and the model", async () => {
  const before = [];
  for (const index of INDEXES) before.push(await near(index));
  const model = await modelOf();
  const asked = endpoint.texts().length;
  const taken = (await server.post("/v1/snapshots")).json.data as unknown as { id: string };
  let path = "";
  await eventually(async () => {
    const { data } = (await server.get(`/v1/snapshots/${taken.id}`)).json;
    path = data.path as string;
    return data.status === "complete";
  }, "the snapshot is written");
  expect(await server.stop()).toBe(0);
  const args = ["restore", path, "--data-dir", join(place, "restored")];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: tmpdir(), stdio: "ignore" });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  server = await start("restored", 2);
  for (const [i, index] of INDEXES.entries()) {
    await ready(index);
    expect(await near(index)).toEqual(before[i]);
  }
  expect(await modelOf()).toEqual(model);
  expect(endpoint.texts().length).toBe(asked);
});

test("vectors follow their index in a swap, stay while it is unloaded, and are deleted when it is dropped", async () => {
  const asked = endpoint.texts().length;
  const [before, other] = [await near("asked"), await near("learned")];
  expectStatus(
    await server.post("/v1/indexes/asked/swap-with", { target_index: "learned", drop_source_after: false }),
    200,
  );
  await ready("asked");
  await ready("learned");
  expect(await near("learned")).toEqual(before);
  expect(await server.stop()).toBe(0);
  server = await start("restored", 2, { openIndexesMax: 1 });
  // Only one index may be loaded, so a query usually unloads the other index. Its own index must give the
  // right answer as soon as it is loaded, so there is no wait until it is ready.
  for (let round = 0; round < effort(10, 40); round++) {
    expect(await near("learned")).toEqual(before);
    expect(await near("asked")).toEqual(other);
  }
  for (const index of ["asked", "learned"]) await ready(index);
  expect(endpoint.texts().length).toBe(asked);
  expectStatus(await server.delete("/v1/indexes/learned"), 200);
  await ready("asked");
  expect(await server.stop()).toBe(0);
  const args = ["check", "--data-dir", join(place, "restored")];
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: tmpdir(), stdio: "ignore" });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  server = await start("restored", 2);
});
