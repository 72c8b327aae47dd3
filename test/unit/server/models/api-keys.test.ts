// Endpoint keys at rest: which tenant's indexes can open a key, and for which server.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readChangedSettings } from "../../../../server/catalog/indexes.js";
import type { IndexRecord } from "../../../../server/catalog/records/index-record.js";
import { Secrets, UnreadableSecretError } from "../../../../server/ground/data-dir/secrets.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { modelServers, openApiKey } from "../../../../server/models/api-keys.js";
import { makeRecord } from "../record.js";

const ADDRESSES = { allowPrivate: false, allowHosts: [] };

let directory: string;
let secrets: Secrets;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "skein-keys-"));
  secrets = new Secrets(directory);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function withKey(): IndexRecord {
  const embedder = {
    source: "endpoint",
    url: "https://models.example/v1",
    model: "small",
    api_key: "sk-key",
  };
  const servers = modelServers(secrets, ADDRESSES, 1);
  return readChangedSettings(makeRecord(), { embedder }, DEFAULT_LIMITS, servers);
}
const at = (record: IndexRecord, url: string): IndexRecord => ({
  ...record,
  settings: { ...record.settings, embedder: { ...record.settings.embedder, url } },
});

test("every index of the tenant with the same server can open the key", () => {
  const record = withKey();
  expect(openApiKey(secrets, record, "embedder")).toBe("sk-key");
  expect(openApiKey(new Secrets(directory), { ...record, uid: 9, name: "copy" }, "embedder")).toBe("sk-key");
  expect(openApiKey(secrets, at(record, "https://MODELS.example:443/v2"), "embedder")).toBe("sk-key");
});

test("no other tenant, server or data directory can open it", () => {
  const record = withKey();
  const unreadable = (other: IndexRecord, by = secrets) =>
    expect(() => openApiKey(by, other, "embedder")).toThrow(UnreadableSecretError);
  unreadable({ ...record, tenant: 2 });
  unreadable(at(record, "https://evil.example/v1"));
  unreadable(at(record, "http://models.example/v1"));
  rmSync(join(directory, "secrets.key"));
  unreadable(record, new Secrets(directory));
});

test("an index without a key has none", () => {
  expect(openApiKey(secrets, makeRecord(), "embedder")).toBeNull();
});
