// A failing embedder, and a disk that rejects vectors: documents are still written and found, the failure is
// reported, and the vectors are added later.
import { afterEach, describe, expect, test } from "vitest";
import { Embedder } from "../../../../engine-wasm/host/vectors/embedder.js";
import { armShardFault, SHARD_FAULT_POINTS } from "../../../../shards/fault.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { modelPieceKey } from "../../../../shards/storage/keyspace.js";
import { type BatchOptions, type StoreOp, StoreWriteError } from "../../../../shards/storage/store.js";
import { CrashDisk, CrashStore } from "../../../crash/crash-store.js";
import { effort } from "../../../effort.js";
import { engineModule, SCHEMA, TestShard, UID } from "../harness.js";
import { DOCUMENTS, ENDPOINT, trainedModel, VectorShard } from "./vector-shard.js";

const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
const about = (i: number) => ({
  id: `d${i}`,
  body: { id: `d${i}`, title: `${TOPICS[i % 4]} item ${i % 7}`, price: i },
});
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const BODIES = upTo(80).map((i) => about(i).body);

/** True if the test waits for a retry, which takes several seconds. */
const SEES_RETRY = effort(false, true);
const TRAPPED = /index 7: documents could not be embedded/;

/** Number of future embedders that get a trapped instance, so that every call fails. */
let spoilt = 0;

/** A store that accepts only deletions while it is full. */
class FullStore extends CrashStore {
  isFull = false;

  override async batch(ops: Iterable<StoreOp>, options: BatchOptions): Promise<void> {
    if (this.isFull && options.adds) throw new StoreWriteError("no space left");
    await super.batch(ops, options);
  }
}

function trap(): never {
  throw new WebAssembly.RuntimeError("unreachable");
}

async function open(): Promise<VectorShard> {
  const module = await engineModule();
  const embedder = (model: Uint8Array): Embedder => {
    const instance = module.instantiate();
    const made = new Embedder(instance, model);
    if (spoilt > 0) {
      spoilt--;
      expect(() => instance.run(trap)).toThrow("unreachable");
    }
    return made;
  };
  const store = new CrashStore(new CrashDisk());
  return new VectorShard(await TestShard.open(store, SCHEMA, DOCUMENTS, embedder));
}

async function until(shard: VectorShard, vectors: number): Promise<void> {
  for (;;) {
    await shard.test.settled();
    const stats = await shard.test.stats();
    if (stats.vectors === vectors && stats.pending === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

afterEach(() => {
  spoilt = 0;
  for (const point of SHARD_FAULT_POINTS) armShardFault(point, null);
});

describe("a trap in the embedder", () => {
  test("during a write: the document is stored and found, the trap is reported, and the vector follows later", async () => {
    const shard = await open();
    spoilt = 1;
    await shard.setModel(await trainedModel(1, 1, BODIES));
    await shard.test.write(Action.UPSERT, upTo(20).map(about));
    expect(spoilt).toBe(0);
    expect(shard.test.reports).toEqual([expect.stringMatching(TRAPPED)]);
    expect(await shard.test.search()).toEqual(upTo(20).map((i) => i + 1));
    await until(shard, 20);
    await shard.test.write(Action.UPSERT, [about(21)]);
    expect(await shard.test.stats()).toMatchObject({ vectors: 21, pending: 0 });
    expect(shard.test.reports).toHaveLength(1);
    await shard.test.close();
  });

  test("during background work: nothing counts as embedded without its vector, and the work is retried", async () => {
    const shard = await open();
    await shard.test.write(Action.UPSERT, upTo(20).map(about));
    spoilt = 1;
    await shard.setModel(await trainedModel(1, 1, BODIES));
    await shard.test.settled();
    expect(shard.test.reports).toEqual([
      expect.stringMatching(/background work failed, to be tried again.*embedded/),
    ]);
    expect(await shard.test.stats()).toMatchObject({ vectors: 0, pending: 20 });
    await shard.test.write(Action.UPSERT, [about(21)]);
    if (SEES_RETRY) await until(shard, 21);
    expect(shard.test.reports).toHaveLength(1);
    await shard.test.close();
  });

  test.runIf(SEES_RETRY)(
    "repeatedly: the embedder is abandoned, while words and writes keep working",
    async () => {
      const shard = await open();
      await shard.test.write(Action.UPSERT, upTo(20).map(about));
      spoilt = Number.POSITIVE_INFINITY;
      await shard.setModel(await trainedModel(1, 1, BODIES));
      await until(shard, 0);
      expect(shard.test.reports).toEqual([
        expect.stringMatching(/to be tried again/),
        expect.stringMatching(/to be tried again/),
        expect.stringMatching(/have no vectors until the index is opened again/),
      ]);
      await shard.test.write(Action.UPSERT, [about(21)]);
      expect(await shard.test.search()).toEqual(upTo(21).map((i) => i + 1));
      spoilt = 0;
      await shard.test.write(Action.UPSERT, [about(22)]);
      await shard.test.settled();
      expect((await shard.test.stats()).vectors).toBeGreaterThan(0);
      await shard.test.close();
    },
  );
});

test("a write that meets a damaged model: its documents are stored, and another model is requested", async () => {
  const disk = new CrashDisk();
  const before = new VectorShard(await TestShard.open(new CrashStore(disk), SCHEMA, DOCUMENTS));
  await before.setModel(await trainedModel(1, 1, BODIES));
  await before.test.write(Action.UPSERT, upTo(20).map(about));
  await before.test.close();
  const key = Buffer.from(modelPieceKey(UID, 1, 0)).toString("latin1");
  const piece = Uint8Array.from(disk.durable.get(key)!);
  piece[piece.length - 3]! ^= 8;
  disk.durable.set(key, piece);
  const shard = new VectorShard(await TestShard.open(new CrashStore(disk), SCHEMA, DOCUMENTS));
  await shard.test.write(Action.UPSERT, [about(20)]);
  expect(shard.test.reports).toEqual([
    expect.stringMatching(
      /its model cannot be read, so another one will be trained.*piece of model 1, piece 0/,
    ),
  ]);
  expect((await shard.test.search()).length).toBe(21);
  expect(await shard.test.stats()).toMatchObject({ modelNumber: 0, pending: 21 });
  await shard.setModel(await trainedModel(1, 1, BODIES));
  await until(shard, 21);
  await shard.test.close();
});

describe("a disk that fills up while vectors are stored", () => {
  test("refuses endpoint vectors: their documents keep waiting, and get them once there is room", async () => {
    const store = new FullStore(new CrashDisk());
    const shard = new VectorShard(await TestShard.open(store, SCHEMA, ENDPOINT));
    await shard.test.write(Action.UPSERT, upTo(6).map(about));
    expect(await shard.put(new Map([[1, 1]]))).toBe(5);
    const given = new Map([2, 3, 4].map((seq) => [seq, seq]));
    store.isFull = true;
    await expect(shard.put(given)).rejects.toThrow();
    expect(await shard.test.stats()).toMatchObject({ vectors: 1, pending: 5 });
    expect((await shard.pending()).map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6]);
    expect(await shard.test.search()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await shard.nearest(shard.query(1), 9)).toEqual([1]);
    store.isFull = false;
    expect(await shard.put(given)).toBe(2);
    expect(new Set(await shard.nearest(shard.query(1), 9))).toEqual(new Set([1, 2, 3, 4]));
    await shard.test.close();
  });

  test("refuses background vectors: this is reported and retried, and writes are accepted in the meantime", async () => {
    const shard = await open();
    await shard.test.write(Action.UPSERT, upTo(20).map(about));
    armShardFault("vectors.before-store", () => {
      armShardFault("vectors.before-store", null);
      throw new StoreWriteError("no space left");
    });
    await shard.setModel(await trainedModel(1, 1, BODIES));
    await shard.test.settled();
    expect(shard.test.reports).toEqual([expect.stringMatching(/to be tried again.*no space left/)]);
    expect(await shard.test.stats()).toMatchObject({ vectors: 0, pending: 20 });
    await shard.test.write(Action.UPSERT, [about(20)]);
    expect((await shard.test.search()).length).toBe(21);
    if (SEES_RETRY) await until(shard, 21);
    expect(shard.test.reports).toHaveLength(1);
    await shard.test.close();
  });

  test("refuses the codes of an index that is being closed: it is reported, and they are recomputed", async () => {
    const disk = new CrashDisk();
    disk.isEager = true; // keeps vectors that were written without a sync
    const store = new FullStore(disk);
    const before = new VectorShard(await TestShard.open(store, SCHEMA, ENDPOINT));
    await before.test.write(Action.UPSERT, upTo(6).map(about));
    expect(await before.put(new Map(upTo(6).map((i) => [i + 1, i])))).toBe(0);
    store.isFull = true;
    await before.test.close();
    expect(before.test.reports).toEqual([
      expect.stringMatching(/^index 7: codes could not be stored and will be recomputed.*no space left/),
    ]);
    const shard = new VectorShard(await TestShard.open(new CrashStore(disk), SCHEMA, ENDPOINT));
    expect(await shard.test.stats()).toMatchObject({ vectors: 0, pending: 6 });
    await until(shard, 6);
    expect(shard.test.reports).toEqual([]);
    await shard.test.close();
  });
});
