// The real store and the crash-simulating store behave alike.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LevelStore } from "../../shards/storage/level-store.js";
import { StoreLockedError } from "../../shards/storage/store.js";
import { CrashDisk, CrashStore } from "../crash/crash-store.js";
import { storeSuite } from "./store-suite.js";

storeSuite("LevelStore", async () => {
  const location = await mkdtemp(join(tmpdir(), "skein-store-"));
  return {
    open: () => LevelStore.open(location),
    remove: () => rm(location, { recursive: true }),
  };
});

storeSuite("CrashStore", async () => {
  const disk = new CrashDisk();
  return { open: async () => new CrashStore(disk), remove: async () => undefined };
});

test("an open LevelStore cannot be opened a second time", async () => {
  const location = await mkdtemp(join(tmpdir(), "skein-store-"));
  const store = await LevelStore.open(location);
  await expect(LevelStore.open(location)).rejects.toBeInstanceOf(StoreLockedError);
  await store.close();
  await rm(location, { recursive: true });
});

test("a LevelStore frees the disk space of deleted values and keeps the remaining ones", async () => {
  const location = await mkdtemp(join(tmpdir(), "skein-store-"));
  const store = await LevelStore.open(location);
  const value = (fill: number): Uint8Array => Buffer.alloc(64 * 1024, fill);
  const keys = Array.from({ length: 128 }, (_, i) => Uint8Array.of(1, i));
  for (const key of keys) await store.batch([{ type: "put", key, value: value(key[1]!) }], { sync: false });
  const range = { from: Uint8Array.of(1), to: Uint8Array.of(2) };
  await store.compact(range);
  expect(await store.diskBytes(range)).toBeGreaterThan(keys.length * 64 * 1024);
  await store.clear({ from: Uint8Array.of(1, 4), to: Uint8Array.of(1, 120) });
  await store.compact(range);
  expect(await store.diskBytes(range)).toBeLessThan(16 * 64 * 1024);
  expect(store.getSync(Uint8Array.of(1, 3))).toEqual(value(3));
  expect(store.getSync(Uint8Array.of(1, 4))).toBeUndefined();
  expect(store.getSync(Uint8Array.of(1, 120))).toEqual(value(120));
  await store.close();
  await rm(location, { recursive: true });
});

test("a CrashStore forgets whatever was not synced, and all work stops at the frozen sync", async () => {
  const put = (key: number) => [{ type: "put" as const, key: Uint8Array.of(key), value: Uint8Array.of(key) }];
  for (const keepsLast of [false, true]) {
    const disk = new CrashDisk();
    disk.freezeAt = 2;
    disk.keepsLast = keepsLast;
    const store = new CrashStore(disk);
    await store.batch(put(1), { sync: true });
    await store.batch(put(2), { sync: false });
    await expect(store.batch(put(3), { sync: true })).rejects.toThrow("frozen");
    expect(() => store.getSync(Uint8Array.of(1))).toThrow("frozen");
    const after = new CrashStore(disk);
    const left = await after.getMany([Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)]);
    expect(left.map((value) => value !== undefined)).toEqual(
      keepsLast ? [true, true, true] : [true, false, false],
    );
  }
});
