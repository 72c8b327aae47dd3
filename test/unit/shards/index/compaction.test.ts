// The disk space of deleted documents is reclaimed once the index is quiet, even if the index was closed in
// between.
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { GARBAGE_BYTES_MAX } from "../../../../shards/index/limits.js";
import { encodeInUse } from "../../../../shards/protocol/control.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { decodeReleasedDocuments } from "../../../../shards/segments/dead-documents.js";
import { documentRange, releasedDocumentsKey } from "../../../../shards/storage/keyspace.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { TestShard, UID } from "../harness.js";

const DOCUMENTS = 60;
const TEXT_BYTES = 100_000;

let location = "";
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "skein-compaction-"));
});
afterEach(() => rm(location, { recursive: true }));

/**
 * Returns how many deleted documents still occupy space according to the database, and the size of all
 * documents.
 */
async function garbage(store: LevelStore): Promise<{ released: number; bytes: number }> {
  const record = await store.get(releasedDocumentsKey(UID));
  const released = record === undefined ? 0 : decodeReleasedDocuments(record, "the record");
  return { released, bytes: await store.diskBytes(documentRange(UID, 0, DOCUMENTS)) };
}

type Moment = "before deletion from the database" | "before compaction" | "during compaction";

/** Writes documents, deletes them and closes the index at `moment`. */
async function deleteAndClose(moment: Moment): Promise<void> {
  let shard = await TestShard.open(await LevelStore.open(location));
  const documents = Array.from({ length: DOCUMENTS }, (_, i) => {
    return { id: `d${i}`, body: { id: `d${i}`, text: randomBytes(TEXT_BYTES / 2).toString("hex") } };
  });
  expect((await shard.write(Action.UPSERT, documents)).failures).toEqual([]);
  await shard.close(); // the documents are in the log; reopening moves them into tables

  const store = await LevelStore.open(location);
  shard = await TestShard.open(store);
  expect((await shard.deleteWhere({})).deleted).toBe(DOCUMENTS);
  const compacted = new Promise<void>((resolve) => {
    store.compact = async () => {
      resolve();
      throw new Error("cut short");
    };
  });
  if (moment !== "before deletion from the database") await shard.ask(encodeInUse(UID, shard.generation));
  if (moment === "during compaction") await compacted;
  await shard.settled();
  await shard.close();
}

test.each([
  ["before deletion from the database", 0],
  ["before compaction", DOCUMENTS],
  ["during compaction", DOCUMENTS],
] as const)("closed %s: disk space is freed after it reopens", async (moment, released) => {
  await deleteAndClose(moment);
  const store = await LevelStore.open(location);
  expect((await garbage(store)).released).toBe(released);

  const shard = await TestShard.open(store);
  const before = await garbage(store);
  expect(before.released).toBe(DOCUMENTS);
  expect(before.bytes).toBeGreaterThan(GARBAGE_BYTES_MAX);
  await vi.waitUntil(async () => (await garbage(store)).released === 0, { timeout: 60_000 });
  expect((await garbage(store)).bytes).toBeLessThan(TEXT_BYTES);
  expect(shard.reports).toEqual([]);
  await shard.close();
});
