// Background work on vectors while vectors arrive, documents are deleted and merges become due. Also what
// remains in the database after the vector source has changed or the index was dropped.
import { afterEach, describe, expect, test } from "vitest";
import type { VectorPolicy } from "../../../../shards/protocol/control.js";
import { Action } from "../../../../shards/protocol/ops.js";
import { EVERY_KEY, kindOfKey } from "../../../../shards/storage/keyspace.js";
import type { KeyRange } from "../../../../shards/storage/store.js";
import { decodeVector } from "../../../../shards/vectors/vector-record.js";
import { CrashDisk, CrashStore } from "../../../crash/crash-store.js";
import { NO_VECTORS, SCHEMA, TestShard } from "../harness.js";
import { DOCUMENTS, ENDPOINT, numbers, PUSHED, trainedModel, VectorShard } from "./vector-shard.js";

const OTHER = { ...ENDPOINT, origin: ENDPOINT.origin + 1 };
const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
const doc = (i: number) => ({
  id: `d${i}`,
  body: { id: `d${i}`, title: `${TOPICS[i % 4]} item ${i % 7}`, price: i, embedding: numbers(i) },
});
const docs = (from: number, count: number) => Array.from({ length: count }, (_, i) => doc(from + i));

/** A store in which scans of stored vectors wait while the gate is shut. */
class GatedStore extends CrashStore {
  /** Number of scans that have reached the gate. */
  readers = 0;
  #shut: Promise<void> = Promise.resolve();

  /** Shuts the gate. Returns a function that opens it. */
  shut(): () => void {
    let open = (): void => undefined;
    this.#shut = new Promise((resolve) => {
      open = resolve;
    });
    return () => open();
  }

  override async *entries(range: KeyRange): AsyncIterableIterator<[Uint8Array, Uint8Array]> {
    const found: [Uint8Array, Uint8Array][] = []; // read before waiting
    for await (const entry of super.entries(range)) found.push(entry);
    if (kindOfKey(range.from) === "vector") {
      this.readers++;
      await this.#shut;
    }
    yield* found;
  }
}

let shard: VectorShard;

async function open(store: CrashStore, policy: VectorPolicy): Promise<void> {
  shard = new VectorShard(await TestShard.open(store, SCHEMA, policy));
}

async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
}

afterEach(() => shard.test.close());

describe("while a segment is searched for vectors", () => {
  let store: GatedStore;
  let release: () => void;

  /**
   * Gives the first two of 20 documents vectors, then reopens the index. The job that finds out which
   * documents have vectors waits at the gate.
   */
  async function standing(): Promise<void> {
    const disk = new CrashDisk();
    await open(new CrashStore(disk), ENDPOINT);
    await shard.test.write(Action.UPSERT, docs(0, 20));
    await shard.put(new Map([1, 2].map((seq) => [seq, seq])));
    await shard.test.close();
    store = new GatedStore(disk);
    release = store.shut();
    await open(store, ENDPOINT);
    await until(() => store.readers === 1);
    expect(await shard.test.stats()).toMatchObject({ vectors: 0, pending: 20 });
  }

  test("arriving vectors are stored, and deleted documents no longer wait", async () => {
    await standing();
    await shard.put(new Map([2, 3, 4, 5].map((seq) => [seq, 40 + seq])));
    await shard.test.write(Action.DELETE, [{ id: "d4" }, { id: "d9" }]);
    await shard.test.write(Action.UPSERT, [doc(10)]);
    release();
    await shard.test.settled();
    const waiting = [6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 23];
    expect((await shard.pending()).map(({ seq }) => seq).sort((a, b) => a - b)).toEqual(waiting);
    expect(await shard.test.stats()).toMatchObject({ pending: waiting.length });
    expect(new Set(await shard.nearest(shard.query(1), 99))).toEqual(new Set([1, 2, 3, 4]));
    for (const seq of [3, 4]) expect((await shard.nearest(shard.query(40 + seq), 1))[0]).toBe(seq);
    expect((await shard.similarities(shard.query(43), [3]))[0]).toBeGreaterThan(0.999);
    expect(shard.test.reports).toEqual([]);
  });

  test("vectors for other settings end the search", async () => {
    await standing();
    await shard.setPolicy(OTHER);
    expect(await shard.put(new Map([[7, 7]]), OTHER.origin)).toBe(0); // no waiting document is known yet
    release();
    await shard.test.settled();
    expect(await shard.test.stats()).toMatchObject({ vectors: 1, pending: 19 });
    expect(await shard.nearest(shard.query(7), 99)).toEqual([7]);
  });

  test("the search yields to merges once there are many segments, and then continues", async () => {
    await standing();
    for (let i = 0; i < 24; i++) await shard.test.write(Action.UPSERT, [doc(20 + i)]);
    expect((await shard.test.stats()).segments).toBe(25);
    expect(store.readers).toBe(1);
    release();
    await shard.test.settled();
    expect(store.readers).toBeGreaterThan(1);
    const stats = await shard.test.stats();
    expect(stats).toMatchObject({ vectors: 2, pending: 42 });
    expect(stats.segments).toBeLessThan(24);
    expect(await shard.put(new Map(docs(0, 44).map((_, i) => [i + 1, i])))).toBe(0);
    expect(await shard.test.stats()).toMatchObject({ vectors: 44, pending: 0 });
  });
});

describe("what is stored", () => {
  /** Returns the number of stored keys of each kind, and the vectors' origins. */
  async function stored(disk: CrashDisk): Promise<{ kinds: Record<string, number>; origins: Set<number> }> {
    const kinds: Record<string, number> = {};
    const origins = new Set<number>();
    for await (const [key, value] of new CrashStore(disk).entries(EVERY_KEY)) {
      const kind = kindOfKey(key) ?? "unknown";
      kinds[kind] = (kinds[kind] ?? 0) + 1;
      if (kind === "vector") origins.add(decodeVector(key, value).origin);
    }
    return { kinds, origins };
  }

  /** Changes to `policy` and waits until `count` documents have their vectors and the codes are stored. */
  async function brought(policy: VectorPolicy, count: number): Promise<void> {
    await shard.setPolicy(policy);
    if (policy.source === "documents")
      await shard.setModel(
        await trainedModel(
          1,
          1,
          docs(0, 40).map(({ body }) => body),
        ),
      );
    await shard.test.settled();
    if (policy.source === "endpoint") {
      const waiting = await shard.pending();
      await shard.put(new Map(waiting.map(({ seq }) => [seq, seq])), policy.origin);
    }
    await until(async () => {
      await shard.test.settled();
      const { vectors, pending, maintenanceDue, merging } = await shard.test.stats();
      return vectors === count && pending === 0 && !maintenanceDue && !merging;
    });
  }

  test("after source changes is only the last source's vectors, and nothing of a dropped index", async () => {
    const disk = new CrashDisk();
    disk.isEager = true; // makes unsynced data visible to `stored` too
    await open(new CrashStore(disk), NO_VECTORS);
    for (const from of [0, 10, 20]) await shard.test.write(Action.UPSERT, docs(from, 10));
    await shard.test.write(Action.DELETE, [{ id: "d3" }]);
    await shard.test.write(Action.UPSERT, []); // purges the deleted document
    for (const policy of [ENDPOINT, OTHER, PUSHED, DOCUMENTS]) {
      await brought(policy, 29);
      const { kinds, origins } = await stored(disk);
      const origin = policy.source === "documents" ? 1 : policy.origin;
      expect([[...origins], kinds.vector], policy.source).toEqual([[origin], kinds.document]);
      expect(kinds["codes of segment"]).toBeGreaterThan(0);
    }
    expect((await stored(disk)).kinds["piece of model"]).toBe(1);
    await brought(NO_VECTORS, 0);
    const { kinds } = await stored(disk);
    for (const kind of ["vector", "codes of segment", "model", "piece of model"])
      expect(kinds[kind], kind).toBeUndefined();
    await brought(PUSHED, 29);
    await shard.test.drop();
    await until(async () => {
      const left = (await stored(disk)).kinds;
      return Object.keys(left).every((kind) => !/document|vector|codes|model|segment/.test(kind));
    });
    await open(new CrashStore(disk), PUSHED);
    expect(await shard.test.stats()).toMatchObject({ vectors: 0, pending: 0 });
  });
});
