// SYNC, which writes a feed's documents, skips unchanged ones and returns the sequence numbers of the stored
// documents that stay. Documents that are not in the feed are deleted.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Action } from "../../../../shards/protocol/ops.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { type TestDocument, TestShard } from "../harness.js";

let location = "";
let shard: TestShard;
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "skein-shard-"));
  shard = await TestShard.open(await LevelStore.open(location));
});
afterEach(async () => {
  await shard.close();
  await rm(location, { recursive: true });
});

const doc = (id: string, price: unknown = 1): TestDocument => ({ id, body: { id, price } });
const mark = (id: string): TestDocument => ({ id });

test("a document that is already stored is not written again, however it is printed", async () => {
  await shard.write(Action.UPSERT, [doc("a"), { id: "b", body: '{"id":"b","big":9007199254740993}' }]);
  const { segments, segmentBytes, deletedRows } = await shard.stats();
  const reply = await shard.write(Action.SYNC, [
    { id: "a", body: '{ "price": 1, "id": "a" }' },
    { id: "b", body: '{"big":9007199254740993,"id":"b"}' },
  ]);
  expect(reply).toEqual({ recorded: false, failures: [], unchanged: 2, kept: [1, 2], liveDocs: 2 });
  expect(await shard.seqs()).toEqual([1, 2]);
  expect(await shard.stats()).toMatchObject({ segments, segmentBytes, deletedRows });
});

test("a document with different digits is written", async () => {
  await shard.write(Action.UPSERT, [{ id: "b", body: '{"id":"b","big":9007199254740993}' }]);
  const reply = await shard.write(Action.SYNC, [{ id: "b", body: '{"id":"b","big":9007199254740992}' }]);
  expect(reply).toEqual({ recorded: true, failures: [], unchanged: 0, kept: [], liveDocs: 1 });
  expect(await shard.seqs()).toEqual([2]);
});

test("a batch of unchanged documents commits nothing, and later writes work", async () => {
  await shard.write(Action.UPSERT, [doc("a"), doc("b")]);
  await shard.write(Action.SYNC, [doc("a"), doc("b"), mark("c")]);
  expect((await shard.stats()).segments).toBe(1);
  expect(await shard.search()).toEqual([1, 2]);
  await shard.close();
  shard = await TestShard.open(await LevelStore.open(location));
  expect([shard.generation, shard.nextSeq]).toEqual([1, 3]);
  await shard.write(Action.SYNC, [doc("a", 2)]);
  expect(await shard.get("a")).toEqual({ id: "a", price: 2 });
});

test("marks and refused documents keep the stored versions", async () => {
  await shard.write(Action.UPSERT, [doc("a"), doc("b"), doc("c")]);
  const reply = await shard.write(Action.SYNC, [
    mark("a"),
    doc("b", "oops"),
    mark("new"),
    doc("d", "oops"),
    { id: "c", body: '{"id":"c","price":' },
  ]);
  expect(reply.failures.map(({ index }) => index)).toEqual([1, 3, 4]);
  expect(reply).toMatchObject({ unchanged: 0, kept: [1, 2, 3], liveDocs: 3 });
  expect(await shard.seqs()).toEqual([1, 2, 3]);
});

test("the last version of a repeated id wins, and counts as unchanged if it equals the first", async () => {
  const reply = await shard.write(Action.SYNC, [doc("a"), doc("a"), doc("b", 1), doc("b", 2), mark("b")]);
  expect(reply).toEqual({ recorded: true, failures: [], unchanged: 1, kept: [1, 4], liveDocs: 2 });
  expect(await shard.get("b")).toEqual({ id: "b", price: 2 });
  const bad = await shard.write(Action.SYNC, [doc("c", "oops"), doc("c", "oops"), doc("c", 3), doc("c", 3)]);
  expect(bad.failures.map(({ index }) => index)).toEqual([0, 1]);
  expect(bad).toMatchObject({ unchanged: 1, kept: [8] });
});

test("requests in one commit see each other's writes", async () => {
  await shard.write(Action.UPSERT, [doc("a"), doc("b"), doc("c")]);
  const first = shard.write(Action.UPSERT, [doc("z")]); // the other writes wait, then share a commit
  const [, patched, synced, gone, again] = await Promise.all([
    first,
    shard.write(Action.UPDATE, [{ id: "a", body: { price: 2 } }]),
    shard.write(Action.SYNC, [doc("a", 2), doc("b", 1), doc("c", 5)]),
    shard.write(Action.DELETE, [mark("b")]),
    shard.write(Action.SYNC, [mark("b"), doc("b", 1), doc("c", 5)]),
  ]);
  expect(patched.failures).toEqual([]);
  expect(synced).toMatchObject({ failures: [], unchanged: 2, kept: [5, 2] });
  expect(gone.failures).toEqual([]);
  expect(again).toMatchObject({ failures: [], unchanged: 1, kept: [8] });
  expect([...(await shard.documents()).values()]).toEqual([
    { id: "z", price: 1 },
    { id: "a", price: 2 },
    { id: "c", price: 5 },
    { id: "b", price: 1 },
  ]);
});

test("documents missing from a feed and not written since are deleted in one generation", async () => {
  await shard.write(Action.UPSERT, [doc("a"), doc("b"), doc("c"), doc("d"), doc("e")]);
  const beforeSeq = shard.nextSeq;
  shard.oldest = shard.generation;
  const { kept } = await shard.write(Action.SYNC, [doc("a"), doc("b", 2), mark("c")]);
  await shard.write(Action.UPSERT, [doc("e", 9), doc("f")]);
  const before = shard.generation;
  expect(await shard.deleteUnseen(beforeSeq, kept)).toEqual({ deleted: 1, liveDocs: 5 });
  expect([...(await shard.documents()).keys()].sort()).toEqual(["a", "b", "c", "e", "f"]);
  expect([...(await shard.documents(before)).keys()].sort()).toEqual(["a", "b", "c", "d", "e", "f"]);
  expect(await shard.deleteUnseen(beforeSeq, kept)).toEqual({ deleted: 0, liveDocs: 5 });
});

test("more rows than fit a slice are found across all segments", async () => {
  const ids = Array.from({ length: 25_000 }, (_, i) => `d${i}`);
  await shard.write(
    Action.UPSERT,
    ids.slice(0, 12_000).map((id) => doc(id)),
  );
  await shard.write(
    Action.UPSERT,
    ids.slice(12_000).map((id) => doc(id)),
  );
  const seqs = await shard.seqs();
  const kept = seqs.filter((seq) => seq % 3 === 0);
  await shard.write(Action.DELETE, [mark("d0")]);
  const reply = await shard.deleteUnseen(20_001, kept);
  expect(reply.deleted).toBe(20_000 - Math.floor(20_000 / 3) - 1);
  expect(await shard.seqs()).toEqual(seqs.filter((seq) => seq > 20_000 || seq % 3 === 0));
});
