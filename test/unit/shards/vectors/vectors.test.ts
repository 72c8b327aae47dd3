// Vectors in one shard over real storage: where they come from, and what survives writes, merges, re-indexing
// and restarts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { FLAG_INDEX, TYPE_FLOAT } from "../../../../engine-wasm/assembly/layout.js";
import type { VectorPolicy } from "../../../../shards/protocol/control.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { encodeEmbed } from "../../../../shards/protocol/vectors.js";
import { EVERY_KEY, kindOfKey } from "../../../../shards/storage/keyspace.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { NO_VECTORS, SCHEMA, TestShard, UID } from "../harness.js";
import { DOCUMENTS, ENDPOINT, numbers, PUSHED, trainedModel, VectorShard } from "./vector-shard.js";

let directory: string;
let shard: VectorShard;

async function open(policy: VectorPolicy, schema = SCHEMA): Promise<VectorShard> {
  shard = new VectorShard(await TestShard.open(await LevelStore.open(directory), schema, policy));
  return shard;
}

async function reopen(policy: VectorPolicy): Promise<void> {
  await shard.test.close();
  await open(policy);
}

/** Counts the database's keys by kind. The shard must be closed. */
async function keys(): Promise<Record<string, number>> {
  const store = await LevelStore.open(directory);
  const counts: Record<string, number> = {};
  for await (const key of store.keys(EVERY_KEY)) {
    const kind = kindOfKey(key) ?? "unknown";
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  await store.close();
  return counts;
}

const pushed = (i: number) => ({
  id: `d${i}`,
  body: { id: `d${i}`, title: `number ${i}`, price: i, embedding: numbers(i) },
});
const plain = (i: number) => ({ id: `d${i}`, body: { id: `d${i}`, title: `number ${i}`, price: i } });
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

/** Resolves once every document has its vector. */
async function embedded(): Promise<void> {
  for (;;) {
    await shard.test.settled();
    if ((await shard.test.stats()).pending === 0) return;
  }
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "skein-vectors-"));
});

afterEach(async () => {
  await shard.test.close();
  rmSync(directory, { recursive: true, force: true });
});

describe("pushed vectors", () => {
  test("a document is found by its vector, in the same write and after a restart", async () => {
    await open(PUSHED);
    await shard.test.write(Action.UPSERT, upTo(30).map(pushed));
    for (const again of [false, true]) {
      if (again) await reopen(PUSHED);
      await embedded();
      expect((await shard.nearest(shard.query(7), 1))[0]).toBe(8);
      const [own, other] = await shard.similarities(shard.query(7), [8, 9]);
      expect(own).toBeGreaterThan(0.999);
      expect(other).toBeLessThan(0.5);
      expect(await shard.test.stats()).toMatchObject({ vectors: 30, pending: 0 });
    }
  });

  test("documents without a vector, deleted and replaced documents are neither found nor counted", async () => {
    await open(PUSHED);
    await shard.test.write(Action.UPSERT, [...upTo(5).map(pushed), plain(5)]);
    await shard.test.write(Action.DELETE, [{ id: "d0" }]);
    await shard.test.write(Action.UPSERT, [
      { ...pushed(9), id: "d1", body: { ...pushed(9).body, id: "d1" } },
    ]);
    expect((await shard.nearest(shard.query(0), 100)).sort((a, b) => a - b)).toEqual([3, 4, 5, 8]);
    expect(await shard.test.stats()).toMatchObject({ deletedRows: 2, vectors: 4, pending: 0 });
    const similarities = await shard.similarities(shard.query(9), [6, 8]);
    expect(similarities).toEqual([Number.NaN, expect.closeTo(1, 3)]);
  });

  test("a read of an older generation finds the vectors of that time", async () => {
    await open(PUSHED);
    await shard.test.write(Action.UPSERT, upTo(3).map(pushed));
    const { generation } = shard.test;
    shard.test.oldest = generation;
    await shard.test.write(Action.DELETE, [{ id: "d1" }]);
    expect(await shard.nearest(shard.query(1), 1, {}, generation)).toEqual([2]);
    expect(await shard.nearest(shard.query(1), 1)).not.toEqual([2]);
  });

  test("a filter is applied before nearness", async () => {
    await open(PUSHED);
    await shard.test.write(Action.UPSERT, upTo(20).map(pushed));
    const filter = filterOf({ op: "intRange", slot: 1, low: 10n, high: 12n });
    expect((await shard.nearest(shard.query(3), 100, { filter })).sort((a, b) => a - b)).toEqual([
      11, 12, 13,
    ]);
  });

  test("merges and re-indexing keep vectors", async () => {
    await open(PUSHED);
    for (const i of upTo(40)) await shard.test.write(Action.UPSERT, [pushed(i)]);
    await shard.test.write(Action.DELETE, [{ id: "d3" }]);
    await shard.test.settled();
    const before = await shard.nearest(shard.query(20), 100);
    expect(before).toHaveLength(39);
    const weight = { slot: 2, name: "weight", type: TYPE_FLOAT, flags: FLAG_INDEX, language: 0 };
    await shard.test.changeSchema({ ...SCHEMA, version: 2, fields: [...SCHEMA.fields, weight] });
    await embedded();
    expect((await shard.test.stats()).staleSegments).toBe(0);
    expect(await shard.nearest(shard.query(20), 100)).toEqual(before);
  });

  test("missing or damaged codes are rebuilt from the vectors", async () => {
    await open(PUSHED);
    await shard.test.write(Action.UPSERT, upTo(10).map(pushed));
    const before = await shard.nearest(shard.query(4), 100);
    while (!(await storesCodes())) await new Promise((resolve) => setTimeout(resolve, 100));
    await shard.test.close();
    const store = await LevelStore.open(directory);
    const entries: [Uint8Array, Uint8Array][] = [];
    for await (const entry of store.entries(EVERY_KEY)) entries.push(entry);
    const [key, value] = entries.find(([one]) => kindOfKey(one) === "codes of segment")!;
    const damaged = Uint8Array.from(value);
    damaged[40]! ^= 1;
    await store.batch([{ type: "put", key, value: damaged }], { sync: true });
    await store.close();
    await open(PUSHED);
    await embedded();
    expect(await shard.nearest(shard.query(4), 100)).toEqual(before);
  });

  /** True if the index has been quiet long enough for its codes to be stored. */
  async function storesCodes(): Promise<boolean> {
    const { merging, maintenanceDue } = await shard.test.stats();
    return !merging && !maintenanceDue;
  }

  test("a purged document's vector is deleted, and so are another source's vectors", async () => {
    await open(PUSHED);
    await shard.test.write(Action.UPSERT, upTo(6).map(pushed));
    await shard.test.write(Action.DELETE, [{ id: "d0" }, { id: "d1" }]);
    await shard.test.write(Action.UPSERT, [plain(7)]);
    await shard.test.settled();
    await shard.test.close();
    expect(await keys()).toMatchObject({ document: 5, vector: 5 });
    await open(NO_VECTORS);
    await shard.test.write(Action.UPSERT, [plain(8)]);
    while (!(await storesCodes())) await new Promise((resolve) => setTimeout(resolve, 100));
    await shard.test.close();
    const left = await keys();
    expect(left.vector).toBeUndefined();
    expect(left["codes of segment"]).toBeUndefined();
    await open(PUSHED);
    await embedded();
    expect(await shard.nearest(shard.query(3), 1)).toEqual([4]);
  });
});

describe("endpoint vectors", () => {
  test("documents wait until their vectors arrive, across restarts and merges", async () => {
    await open(ENDPOINT);
    for (const i of upTo(12)) await shard.test.write(Action.UPSERT, [plain(i)]);
    expect((await shard.test.stats()).pending).toBe(12);
    expect((await shard.pending(5)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(
      await shard.put(
        new Map([
          [1, 1],
          [2, 2],
          [3, 3],
        ]),
      ),
    ).toBe(9);
    await reopen(ENDPOINT);
    await shard.test.settled();
    expect((await shard.test.stats()).pending).toBe(9);
    expect((await shard.pending()).map(({ seq }) => seq)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(await shard.nearest(shard.query(2), 1)).toEqual([2]);
    await shard.test.write(Action.DELETE, [{ id: "d4" }]);
    expect((await shard.test.stats()).pending).toBe(8);
    expect((await shard.pending()).map(({ seq }) => seq)).not.toContain(5);
    expect(await shard.put(new Map(upTo(12).map((i) => [i + 1, i + 1])))).toBe(0);
    expect(await shard.nearest(shard.query(9), 1)).toEqual([9]);
    expect((await shard.nearest(shard.query(5), 100)).length).toBe(11);
  });

  test("vectors for other settings are ignored", async () => {
    await open(ENDPOINT);
    await shard.test.write(Action.UPSERT, upTo(3).map(plain));
    await shard.put(new Map(upTo(3).map((i) => [i + 1, i])));
    expect(await shard.put(new Map([[1, 5]]), ENDPOINT.origin + 1)).toBe(0);
    await shard.setPolicy({ ...ENDPOINT, origin: ENDPOINT.origin + 1 });
    await shard.test.settled();
    expect(await shard.nearest(shard.query(1), 100)).toEqual([]);
    expect(await shard.pending()).toHaveLength(3);
  });
});

describe("vectors from the index's own model", () => {
  const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
  const about = (i: number) => ({
    id: `d${i}`,
    body: { id: `d${i}`, title: `${TOPICS[i % 4]} item ${i % 7}`, price: i },
  });

  const model = (number: number, since: number) =>
    trainedModel(
      number,
      since,
      upTo(80).map((i) => about(i).body),
    );

  test("documents written before and after it get vectors, and keep them across a restart", async () => {
    await open(DOCUMENTS);
    await shard.test.write(Action.UPSERT, upTo(40).map(about));
    expect((await shard.embed(["lamp"])).query).toBeNull();
    await shard.setModel(await model(1, 1));
    await embedded();
    await shard.test.write(Action.UPSERT, [about(41)]);
    for (const again of [false, true]) {
      if (again) await reopen(DOCUMENTS);
      await embedded();
      const { query } = await shard.embed(["lamp"]);
      const found = await shard.nearest(query!, 11);
      expect(found.every((seq) => (seq === 41 ? 41 : seq - 1) % 4 === 1)).toBe(true);
      expect(found).toContain(41);
      expect(await shard.test.stats()).toMatchObject({
        vectors: 41,
        pending: 0,
        modelNumber: 1,
        modelDocuments: 80,
      });
    }
    expect((await shard.modelOf())?.number).toBe(1);
  });

  test("a loaded model answers synchronously, as a read within another read must", async () => {
    await open(DOCUMENTS);
    await shard.setModel(await model(1, 1));
    await shard.test.close();
    await open(DOCUMENTS);
    const request = encodeEmbed({ uid: UID, terms: [{ term: "phone", weight: 1 }], seqs: [] });
    expect(shard.test.answersAtOnce(request)).toBe(false);
    await shard.embed(["phone"]);
    expect(shard.test.answersAtOnce(request)).toBe(true);
  });

  test("a newer model replaces the previous one, and an older one changes nothing", async () => {
    await open(DOCUMENTS);
    await shard.test.write(Action.UPSERT, upTo(40).map(about));
    await shard.setModel(await model(1, 1));
    await embedded();
    const { query } = await shard.embed(["phone"]);
    const before = await shard.similarities(query!, [4]);
    await shard.setModel(await model(2, 2));
    await embedded();
    await shard.setModel(await model(1, 1));
    expect(await shard.test.stats()).toMatchObject({ modelNumber: 2, pending: 0, vectors: 40 });
    expect(await shard.similarities(query!, [4])).toEqual(before);
    await shard.test.close();
    expect((await keys())["piece of model"]).toBe(1);
    await open(DOCUMENTS);
  });

  test("a reopened index finds the same documents by vectors at once, whatever their source", async () => {
    for (const policy of [PUSHED, ENDPOINT, DOCUMENTS]) {
      await open(policy);
      const documents = upTo(40).map((i) => ({
        ...pushed(i),
        body: { ...pushed(i).body, ...about(i).body },
      }));
      await shard.test.write(Action.UPSERT, documents);
      await shard.test.write(Action.DELETE, [{ id: "d6" }]);
      if (policy === ENDPOINT) await shard.put(new Map(upTo(20).map((i) => [i + 1, i])));
      if (policy === DOCUMENTS) await shard.setModel(await model(1, 1));
      await shard.test.settled();
      const { vectors } = await shard.test.stats();
      expect(vectors).toBe(policy === ENDPOINT ? 19 : 39);
      const before = await shard.nearest(shard.query(7), 100);
      expect(before).toHaveLength(vectors);
      await reopen(policy);
      expect(await shard.nearest(shard.query(7), 100)).toEqual(before);
      expect((await shard.test.stats()).vectors).toBe(vectors);
      await shard.test.drop();
      await shard.test.close();
    }
    await open(NO_VECTORS);
  });

  test("the training sample consists of the documents with the smallest id hashes", async () => {
    await open(NO_VECTORS);
    for (const i of upTo(20)) await shard.test.write(Action.UPSERT, [about(i)]);
    await shard.test.write(Action.DELETE, [{ id: "d5" }]);
    const all = await shard.sample(100);
    expect(all).toHaveLength(19);
    expect(all.map(({ hash }) => hash)).toEqual(all.map(({ hash }) => hash).sort((a, b) => (a < b ? -1 : 1)));
    expect(await shard.sample(4)).toEqual(all.slice(0, 4));
  });
});
