// Which index uses which endpoint: shared within a tenant, closed when the settings change.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../../../server/catalog/catalog.js";
import { readChangedSettings } from "../../../../server/catalog/indexes.js";
import { Secrets } from "../../../../server/ground/data-dir/secrets.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { Recorder } from "../../../../server/ground/metrics/recorder.js";
import { modelServers } from "../../../../server/models/api-keys.js";
import { EmbeddingEndpoints } from "../../../../server/models/embedding-endpoints.js";
import { CrashDisk, CrashStore } from "../../../crash/crash-store.js";
import { type EmbeddingServer, startEmbeddingServer } from "../../../e2e/world/embedding-server.js";
import { makeRecord } from "../record.js";
import { API_KEY, failureOf, NEVER } from "./embedding-world.js";

const ADDRESSES = { allowPrivate: false, allowHosts: ["127.0.0.1"] };

let server: EmbeddingServer;
let directory: string;
let catalog: Catalog;
let endpoints: EmbeddingEndpoints;

beforeEach(async () => {
  server = await startEmbeddingServer({ apiKey: API_KEY });
  directory = mkdtempSync(join(tmpdir(), "skein-endpoints-"));
  catalog = await Catalog.on(new CrashStore(new CrashDisk()));
  endpoints = open();
});
afterEach(async () => {
  endpoints.close();
  await Promise.all([catalog.close(), server.close()]);
  rmSync(directory, { recursive: true, force: true });
});

function open(addresses = ADDRESSES): EmbeddingEndpoints {
  const secrets = new Secrets(directory);
  const limits = { ...DEFAULT_LIMITS, embeddingQueryMsMax: 600_000 };
  return new EmbeddingEndpoints({ catalog, secrets, addresses, limits, recorder: new Recorder() });
}

/** Creates an index in the catalog or changes it. */
async function put(uid: number, embedder: object, tenant = 1): Promise<void> {
  const servers = modelServers(new Secrets(directory), ADDRESSES, tenant);
  await catalog.change(({ indexes }) => {
    const before = indexes.get(uid) ?? { ...makeRecord(), uid, id: uid, tenant, name: `index-${uid}` };
    return { type: "index.put", record: readChangedSettings(before, { embedder }, DEFAULT_LIMITS, servers) };
  });
}

const of = (uid: number) => endpoints.of({ uid });
const endpoint = (more: object = {}) => ({
  source: "endpoint",
  url: server.url(),
  model: "small",
  api_key: API_KEY,
  ...more,
});

describe("an index's endpoint", () => {
  test("is null if the settings name none", async () => {
    await put(1, { source: "documents" });
    expect([of(1), of(99)]).toEqual([null, null]);
  });

  test("follows its settings, with its key", async () => {
    await put(1, endpoint());
    expect(await of(1)!.embedQuery("shoe")).toHaveLength(512);
    expect(server.requests[0]).toMatchObject({
      headers: { authorization: `Bearer ${API_KEY}` },
      body: { model: "small" },
    });
    expect(of(1)).toBe(of(1));
  });

  test("is shared with the tenant's other indexes that have the same server, model and key", async () => {
    await put(1, endpoint());
    await put(2, endpoint({ fields: ["title"] }));
    await put(3, endpoint({ model: "large" }));
    await put(4, endpoint({ api_key: "other" }));
    await put(5, endpoint(), 2);
    expect(of(2)).toBe(of(1));
    expect(new Set([1, 2, 3, 4, 5].map(of)).size).toBe(4);
  });

  test("is kept across unrelated changes, and across changes of other indexes and back", async () => {
    await put(1, endpoint());
    await put(2, endpoint());
    const first = of(1)!;
    expect(of(2)).toBe(first);
    await put(1, { fields: ["title"] });
    await put(2, { source: "none" });
    expect([of(1), of(2)]).toEqual([first, null]);
    expect(await first.embedQuery("shoe")).toHaveLength(512);
  });

  test("is closed when the settings change or the index is deleted: nothing is sent there again", async () => {
    for (const change of [
      () => put(1, { model: "large" }),
      () => put(1, { api_key: "other" }),
      () => put(1, { source: "pushed" }),
      () => catalog.change(() => ({ type: "index.delete", uid: 1 })),
    ]) {
      await put(1, endpoint());
      const before = of(1)!;
      await before.embedQuery("shoe");
      await change();
      expect(of(1)).not.toBe(before);
      expect(await before.embedQuery("another")).toBeNull();
      while (server.openConnections() > 0) await new Promise(setImmediate);
    }
  });
});

test("an unreadable key is reported as such, and nothing is sent", async () => {
  await put(1, endpoint());
  rmSync(join(directory, "secrets.key"));
  endpoints = open();
  const sentence = "the stored API key cannot be read; set embedder.api_key again";
  expect(await of(1)!.embedQuery("shoe")).toBeNull();
  expect((await failureOf(of(1)!.embedDocuments(["shoe"], NEVER))).message).toBe(sentence);
  expect(of(1)!.state).toMatchObject({ status: "down", lastError: sentence });
  expect(server.requests).toEqual([]);
  await put(1, { api_key: API_KEY });
  expect(await of(1)!.embedQuery("shoe")).toHaveLength(512);
});

test("a host that the operator no longer allows is not connected to", async () => {
  await put(1, endpoint());
  endpoints = open({ allowPrivate: false, allowHosts: [] });
  const failure = await failureOf(of(1)!.embedDocuments(["shoe"], NEVER));
  expect(failure.message).toContain("does not resolve to a public address");
  expect(server.requests).toEqual([]);
});
