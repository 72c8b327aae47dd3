// An engine with much unused memory is replaced between requests: its memory shrinks, every answer stays the
// same, even for older generations in use, and writes continue.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { VECTOR_BYTES } from "../../../../engine-wasm/assembly/layout.js";
import { Board } from "../../../../engine-wasm/host/instance/board.js";
import type { Engine } from "../../../../engine-wasm/host/instance/engine.js";
import { GARBAGE_BYTES_MAX, WASTED_BYTES_MAX } from "../../../../shards/index/limits.js";
import { encodeInUse } from "../../../../shards/protocol/control.js";
import { Action } from "../../../../shards/protocol/ops.js";
import {
  dropEntries,
  killRows,
  type LiveSegment,
  OpenSegment,
  SegmentCodes,
  takeEntries,
} from "../../../../shards/segments/open-segment.js";
import { summarize } from "../../../../shards/segments/segment-pieces.js";
import { Snapshots } from "../../../../shards/segments/snapshots.js";
import { piecesRange } from "../../../../shards/storage/keyspace.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { engineModule, priceBetween, SCHEMA, type TestDocument, TestShard, UID } from "../harness.js";

const DOCUMENTS = 40_000;
const BATCH = 5_000;

let location = "";
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "skein-renewal-"));
});
afterEach(() => rm(location, { recursive: true }));

function documents(from: number, count: number): TestDocument[] {
  return Array.from({ length: count }, (_, i) => {
    const n = from + i;
    const title = Array.from({ length: 24 }, (_word, w) => `w${(n * 31 + w * 977) % 20_011}`).join(" ");
    return { id: `d${n}`, body: { id: `d${n}`, title, price: n % 100 } };
  });
}

/**
 * Waits until the background work that follows a pause in writes has finished. Returns the peak memory in
 * bytes.
 */
async function quiet(shard: TestShard): Promise<number> {
  for (let peak = 0; ; ) {
    const { memoryBytes, merging, maintenanceDue } = await shard.stats();
    peak = Math.max(peak, memoryBytes);
    if (!merging && !maintenanceDue) return peak;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("memory is freed when most documents are gone, and answers stay the same", async () => {
  const shard = await TestShard.open(await LevelStore.open(location));
  // Measured after every step, because on a slow machine some memory is released before the last response.
  let peak = 0;
  for (let from = 0; from < DOCUMENTS; from += BATCH) {
    expect((await shard.write(Action.UPSERT, documents(from, BATCH))).failures).toEqual([]);
    peak = Math.max(peak, (await shard.stats()).memoryBytes);
  }
  await shard.deleteWhere(priceBetween(10, 99));
  const answers = [await shard.search(), await shard.search(priceBetween(7, 9))];
  expect(answers.map((seqs) => seqs.length)).toEqual([4000, 1200]);
  peak = Math.max(peak, await quiet(shard));
  const after = await shard.stats();
  expect(after.memoryBytes).toBeLessThan(peak - WASTED_BYTES_MAX);
  expect([await shard.search(), await shard.search(priceBetween(7, 9))]).toEqual(answers);
  const [again] = documents(1000, 1);
  await shard.write(Action.UPSERT, [again!]);
  expect(await shard.get("d1000")).toEqual(again!.body);
  expect((await shard.search()).length).toBe(4000);
  expect(shard.reports).toEqual([]);
  await shard.close();
});

test("data seen only by unused older generations is freed, and replaced segments leave the disk", async () => {
  const store = await LevelStore.open(location);
  const shard = await TestShard.open(store);
  shard.oldest = 0;
  for (let round = 0; round < 2; round++) {
    for (let from = 0; from < DOCUMENTS; from += BATCH) {
      expect((await shard.write(Action.UPSERT, documents(from, BATCH))).failures).toEqual([]);
    }
  }
  await quiet(shard);
  const kept = await shard.stats();
  await shard.ask(encodeInUse(UID, shard.generation));
  await quiet(shard);
  const { memoryBytes, segmentBytes } = await shard.stats();
  expect(memoryBytes).toBeLessThan(kept.memoryBytes / 2);
  expect(await store.diskBytes(piecesRange(UID))).toBeLessThan(segmentBytes + GARBAGE_BYTES_MAX);
  expect((await shard.search()).length).toBe(DOCUMENTS);
  expect(shard.reports).toEqual([]);
  await shard.close();
});

async function addSegment(engine: Engine, id: number, firstSeq: number): Promise<OpenSegment> {
  const workbench = (await engineModule()).workbench();
  const rows = Array.from({ length: 1000 }, (_, i) => {
    const seq = firstSeq + i;
    return { seq, raw: Buffer.from(JSON.stringify({ id: `d${seq}`, title: `title ${seq}` })) };
  });
  const bytes = workbench.build(SCHEMA, rows).segment!;
  const { terms, ...counts } = summarize(bytes, "test");
  const record = { id, bytes: bytes.length, pieces: 1, schemaVersion: 1, deleted: 0, ...counts };
  return new OpenSegment(engine, engine.attach(bytes), record, terms);
}

test("every snapshot in use moves, with the segments and bitsets it shares", async () => {
  const engine = (await engineModule()).engine();
  const workbench = (await engineModule()).workbench();
  const first: LiveSegment = { segment: await addSegment(engine, 1, 1), live: null };
  const second: LiveSegment = { segment: await addSegment(engine, 2, 1001), live: null };
  const fewer = { ...first, live: killRows(engine, first, [0, 5, 999]) };
  const snapshots = new Snapshots(engine, 1, [first], 1000, () => null);
  snapshots.publish(2, [fewer, second], 2000);
  snapshots.publish(3, [fewer, { ...second, live: killRows(engine, second, [7]) }], 2000);
  engine.detach(await addSegment(engine, 3, 5000).then(({ address }) => address));
  const hashes = BigUint64Array.from({ length: 2000 }, (_, i) => workbench.hash(`d${i + 1}`));
  const found = () =>
    [1, 2, 3].map((at) => engine.findIds(snapshots.at(at).address, new Uint8Array(hashes.buffer)));
  const before = found();
  expect(before.map((rows) => rows.length)).toEqual([1000, 1997, 1996]);
  const used = engine.usedBytes();
  snapshots.renewEngine();
  expect(found()).toEqual(before);
  expect(engine.usedBytes()).toBe(used);
  snapshots.retire(3);
  expect(found()[2]).toEqual(before[2]);
  expect(engine.usedBytes()).toBeLessThan(used);
});

test("replaced codes stay while a reader may see them, and the codes of all snapshots move", async () => {
  const module = await engineModule();
  const engine = module.engine();
  const codesOfFirst = (): SegmentCodes => new SegmentCodes(engine, engine.newCodes(1000), 1000, 1);
  const first: LiveSegment = { segment: await addSegment(engine, 1, 1), live: null };
  first.segment.replaceCodes(codesOfFirst());
  const snapshots = new Snapshots(engine, 1, [first], 1000, ({ codes }) => codes);
  snapshots.publish(2, [{ ...first, live: killRows(engine, first, [3]) }], 1000);
  const lent = engine.lend(1 << 20, () => undefined)!;
  const board = new Board(lent.memory.buffer, lent.board);
  const used = engine.usedBytes();
  board.enter(lent.reader);
  first.segment.replaceCodes(codesOfFirst());
  snapshots.showCodes();
  const { address, bytes } = first.segment.codes!;
  expect(snapshots.at(1).codes[0]!.address).toBe(address);
  expect(snapshots.at(2).codes[0]!.address).toBe(address);
  expect(engine.usedBytes()).toBeGreaterThanOrEqual(used + bytes);
  board.leave(lent.reader);
  expect(Math.abs(engine.usedBytes() - used)).toBeLessThan(100); // the difference is free regions' headers
  snapshots.showCodes();
  expect(Math.abs(engine.usedBytes() - used)).toBeLessThan(100);
  engine.fillCodes(address, 0, new Uint8Array(VECTOR_BYTES).fill(1));
  snapshots.renewEngine();
  expect(engine.codesCount(snapshots.newest.codes[0]!.address)).toBe(1);
  first.segment.replaceCodes(null);
  snapshots.showCodes();
  expect(snapshots.newest.codes).toEqual([null]);
});

test("a segment that no snapshot needs by the end of the copying does not move", async () => {
  const engine = (await engineModule()).engine();
  const workbench = (await engineModule()).workbench();
  const first: LiveSegment = { segment: await addSegment(engine, 1, 1), live: null };
  const second: LiveSegment = { segment: await addSegment(engine, 2, 1001), live: null };
  const snapshots = new Snapshots(engine, 1, [first, second], 2000, () => null);
  const fewer = { ...second, live: killRows(engine, second, [3]) };
  snapshots.publish(2, [fewer], 2000);
  const hashes = BigUint64Array.from({ length: 2000 }, (_, i) => workbench.hash(`d${i + 1}`));
  const found = () => engine.findIds(snapshots.newest.address, new Uint8Array(hashes.buffer));
  const before = found();
  expect(before.length).toBe(999);
  const held = snapshots.entries;
  takeEntries(held);
  const renewal = engine.beginRenewal();
  const steps = renewal.copyAhead(new Set(held.map(({ segment }) => segment)));
  steps.next();
  snapshots.retire(2);
  const answersOnTheWay = found();
  while (steps.next().done !== true);
  dropEntries(held);
  const used = engine.usedBytes();
  snapshots.renewEngine(renewal);
  expect([answersOnTheWay, found()]).toEqual([before, before]);
  expect(Math.abs(engine.usedBytes() - used)).toBeLessThan(100); // the difference is free regions' headers
  expect(engine.memoryBytes() - used).toBeLessThan(1_000_000);
});
