// The catalog: commands and their effects, persistence across a restart, errors caused by damaged records.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Catalog } from "../../../../server/catalog/catalog.js";
import { readNewIndex } from "../../../../server/catalog/indexes.js";
import { nameKey } from "../../../../server/catalog/lookups.js";
import type { IndexRecord } from "../../../../server/catalog/records/index-record.js";
import type { KeyRecord } from "../../../../server/catalog/records/key.js";
import { apply, type Command, EMPTY_STATE } from "../../../../server/catalog/state.js";
import { DEFAULT_LIMITS } from "../../../../server/ground/limits.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { StoreLockedError } from "../../../../shards/storage/store.js";
import { SERVERS } from "../record.js";

const CREATED = "2030-01-01T00:00:00.000Z";

function record(uid: number, name: string, tenant = 1): IndexRecord {
  const body = { name, schema: { fields: [{ name: "title", type: "string", "x-note": { a: [1] } }] } };
  return { ...readNewIndex(body, DEFAULT_LIMITS, SERVERS), uid, id: uid, tenant, createdAt: CREATED };
}

function key(id: number, tenant = 1): KeyRecord {
  return {
    id,
    tenant,
    name: `key ${id}`,
    hash: `hash-${id}`,
    prefix: "sk_abc",
    scopes: ["search"],
    indexes: ["*"],
    expiresAt: null,
    rateLimit: null,
    createdAt: CREATED,
  };
}

const tenant = (id: number, name: string): Command => ({
  type: "tenant.put",
  tenant: { id, name, plan: "default", createdAt: CREATED },
});

describe("apply", () => {
  const run = (...commands: Command[]) =>
    commands.reduce((state, command) => apply(state, command).state, EMPTY_STATE);

  test("is a function of its input and leaves the old state unchanged", () => {
    const command: Command = { type: "index.put", record: record(3, "a") };
    expect(apply(EMPTY_STATE, command)).toEqual(apply(EMPTY_STATE, command));
    expect(EMPTY_STATE.indexes.size).toBe(0);
    expect(EMPTY_STATE.version).toBe(0);
  });

  test("never assigns a number twice, even after a deletion", () => {
    const state = run({ type: "index.put", record: record(7, "a") }, { type: "index.delete", uid: 7 });
    expect([state.nextIndexUid, state.nextIndexId]).toEqual([8, 8]);
  });

  test("finds indexes by tenant and name, keys by hash", () => {
    const state = run(
      { type: "index.put", record: record(1, "a", 1) },
      { type: "index.put", record: record(2, "a", 2) },
      { type: "key.put", key: key(1) },
    );
    expect(state.indexByName.get(nameKey(2, "a"))?.uid).toBe(2);
    expect(state.indexByName.get(nameKey(1, "b"))).toBeUndefined();
    expect(state.keyByHash.get("hash-1")?.key.id).toBe(1);
  });

  test("keeps a deleted index in the drop list until its data is dropped", () => {
    const deleted = run({ type: "index.put", record: record(1, "a") }, { type: "index.delete", uid: 1 });
    expect([...deleted.toDrop]).toEqual([1]);
    expect(deleted.indexByName.size).toBe(0);
    expect(apply(deleted, { type: "index.dropped", uid: 1 }).state.toDrop.size).toBe(0);
  });

  test("after spreading, no longer has an index at home, and lists its home data to be dropped", () => {
    const atHome = { ...record(1, "a"), isHome: true as const };
    const before = run({ type: "index.put", record: atHome });
    const { state: spread, changes } = apply(before, { type: "index.spread", uid: 1, home: 77 });
    expect(spread.indexes.get(1)).toEqual(record(1, "a"));
    expect([...spread.toDrop]).toEqual([77]);
    expect(changes.map(({ kind, id }) => [kind, id])).toEqual([
      ["index", 1],
      ["drop", 77],
    ]);
  });

  test("deletes a tenant's keys with the tenant", () => {
    const state = run(
      tenant(1, "default"),
      tenant(2, "other"),
      { type: "key.put", key: key(1, 1) },
      { type: "key.put", key: key(2, 2) },
      { type: "tenant.delete", id: 2 },
    );
    expect([...state.keys.keys()]).toEqual([1]);
    expect([...state.tenants.keys()]).toEqual([1]);
  });
});

describe("a catalog on disk", () => {
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "skein-catalog-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test("has every kind of record after a restart", async () => {
    const catalog = await Catalog.open(directory);
    const commands: Command[] = [
      { type: "shards.fix", shards: 3 },
      tenant(1, "default"),
      { type: "key.put", key: key(1) },
      { type: "key.put", key: key(2) },
      { type: "key.delete", id: 2 },
      { type: "index.put", record: record(1, "a") },
      { type: "index.put", record: record(2, "b") },
      { type: "index.delete", uid: 2 },
      { type: "usage.put", usage: [{ tenant: 1, month: "2030-01", searches: 7 }] },
    ];
    for (const command of commands) await catalog.change(() => command);
    const before = catalog.state;
    await catalog.close();
    const reopened = await Catalog.open(directory);
    expect(reopened.state).toEqual(before);
    expect(reopened.state.version).toBe(commands.length);
    await reopened.close();
  });

  test("applies changes in sequence, each to the state after the previous one", async () => {
    const catalog = await Catalog.open(directory);
    const put = () => catalog.change((state) => ({ type: "key.put", key: key(state.nextKeyId) }));
    await Promise.all(Array.from({ length: 20 }, put));
    expect([...catalog.state.keys.keys()]).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    await catalog.close();
  });

  test("ignores a refused change and applies later ones", async () => {
    const catalog = await Catalog.open(directory);
    const refused = catalog.change(() => {
      throw new Error("no");
    });
    const later = catalog.change(() => tenant(1, "default"));
    await expect(refused).rejects.toThrow("no");
    expect((await later).version).toBe(1);
    await catalog.close();
  });

  test("cannot be opened a second time", async () => {
    const catalog = await Catalog.open(directory);
    await expect(Catalog.open(directory)).rejects.toThrow(StoreLockedError);
    await catalog.close();
  });

  test("names a damaged record", async () => {
    const catalog = await Catalog.open(directory);
    await catalog.change(() => tenant(1, "default"));
    await catalog.close();
    const store = await LevelStore.open(join(directory, "catalog"));
    const bytes = Uint8Array.from((await store.get(Buffer.from("tenant/1")))!);
    bytes[20]! ^= 1;
    await store.batch([{ type: "put", key: Buffer.from("tenant/1"), value: bytes }], { sync: true });
    await store.close();
    await expect(Catalog.open(directory)).rejects.toThrow(/catalog record tenant\/1.*damaged/);
  });
});
