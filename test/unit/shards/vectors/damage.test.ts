// Damage in stored vectors: word searches continue; damaged data is reported, then rebuilt or received again,
// but never used in a result. Afterwards `check` finds the damage and `repair` keeps the rest.
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runJob } from "../../../../shards/offline/shard-job.js";
import type { VectorPolicy } from "../../../../shards/protocol/control.js";
import type { ShardReport } from "../../../../shards/protocol/offline.js";
import { Action } from "../../../../shards/protocol/ops.js";
import * as keys from "../../../../shards/storage/keyspace.js";
import { LevelStore } from "../../../../shards/storage/level-store.js";
import { engineModule, SCHEMA, TestShard, UID } from "../harness.js";
import { DOCUMENTS, ENDPOINT, numbers, PUSHED, trainedModel, VectorShard } from "./vector-shard.js";

const folder = mkdtempSync(join(tmpdir(), "skein-vector-damage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let copies = 0;

const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
const ROWS = 24;
const doc = (i: number) => {
  const title = `${TOPICS[i % 4]} item ${i % 7}`;
  return { id: `d${i}`, body: { id: `d${i}`, title, price: i, embedding: numbers(i) } };
};
const all = Array.from({ length: ROWS }, (_, i) => doc(i));
const model = (bodies: unknown[]) => trainedModel(1, 1, bodies);

const locationIn = (dataDir: string): string => join(dataDir, "shards", "0");

async function open(dataDir: string, policy: VectorPolicy): Promise<VectorShard> {
  return new VectorShard(await TestShard.open(await LevelStore.open(locationIn(dataDir)), SCHEMA, policy));
}

async function until(shard: VectorShard, holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    await shard.test.settled();
  }
}

const embedded = (shard: VectorShard): Promise<void> =>
  until(shard, async () => (await shard.test.stats()).pending === 0);

async function make(policy: VectorPolicy): Promise<string> {
  const dataDir = join(folder, policy.source);
  const shard = await open(dataDir, policy);
  await shard.test.write(Action.UPSERT, all);
  if (policy.source === "documents") await shard.setModel(await model(all.map(({ body }) => body)));
  if (policy.source === "endpoint") await shard.put(new Map(all.map((_, i) => [i + 1, i])));
  await embedded(shard);
  // Codes are stored only once the index is quiet.
  await until(shard, async () => !(await shard.test.stats()).maintenanceDue);
  await shard.test.close();
  return dataDir;
}

async function damaged(
  from: string,
  key: Uint8Array,
  change: (value: Buffer) => Uint8Array | null,
): Promise<string> {
  const dataDir = join(folder, `copy-${copies++}`);
  cpSync(from, dataDir, { recursive: true });
  const store = await LevelStore.open(locationIn(dataDir));
  const value = change(Buffer.from((await store.get(key))!));
  await store.batch([value === null ? { type: "del", key } : { type: "put", key, value }], { sync: true });
  await store.close();
  return dataDir;
}

function flip(value: Buffer): Uint8Array {
  value[value.length - 3]! ^= 8;
  return value;
}

async function job(task: "check" | "repair", dataDir: string): Promise<ShardReport> {
  const indexes = [{ uid: UID, schema: SCHEMA, shards: 1, part: 0 }];
  const asked = { task, dataDir, shard: 0, indexes, only: null, dropping: [], dryRun: false };
  return runJob(asked, await engineModule());
}

async function problems(task: "check" | "repair", dataDir: string): Promise<string[]> {
  const report = await job(task, dataDir);
  return [...report.problems, ...report.indexes.flatMap((index) => index.problems)];
}

/** Expects that `check` names the damage, `repair` fixes the index, and `check` then finds nothing. */
async function expectMended(dataDir: string, name: RegExp): Promise<void> {
  expect((await problems("check", dataDir)).join("\n")).toMatch(name);
  expect((await job("repair", dataDir)).indexes[0]!.repair).toMatchObject({ documents: ROWS, lost: [] });
  expect(await problems("check", dataDir)).toEqual([]);
}

const words = async (shard: VectorShard): Promise<void> =>
  expect(await shard.test.search()).toEqual(all.map((_, i) => i + 1));

describe("vectors from outside", () => {
  const made = new Map<string, string>();
  beforeAll(async () => {
    for (const policy of [PUSHED, ENDPOINT]) made.set(policy.source, await make(policy));
  });

  test.each([PUSHED, ENDPOINT])(
    "of source $source: an undamaged database has no problems",
    async ({ source }) => {
      expect(await problems("check", made.get(source)!)).toEqual([]);
    },
  );

  test("a damaged pushed vector counts as missing, is reported once and rebuilt", async () => {
    const key = keys.vectorKey(UID, 8);
    for (const change of [flip, (value: Buffer) => value.subarray(1)]) {
      const dataDir = await damaged(made.get("pushed")!, key, change);
      const shard = await open(dataDir, PUSHED);
      expect(await shard.similarities(shard.query(7), [8, 9])).toEqual([Number.NaN, expect.any(Number)]);
      await words(shard);
      await until(shard, async () => (await shard.similarities(shard.query(7), [8]))[0]! > 0.999);
      expect(shard.test.reports.filter((line) => line.includes("index 7, vector 8"))).toHaveLength(1);
      expect((await shard.nearest(shard.query(7), 1))[0]).toBe(8);
      await shard.test.close();
      expect(await problems("check", dataDir)).toEqual([]);
    }
    const repaired = await damaged(made.get("pushed")!, key, flip);
    await expectMended(repaired, /index 7, vector 8: damaged/);
    const shard = await open(repaired, PUSHED);
    await embedded(shard);
    expect(await shard.test.stats()).toMatchObject({ vectors: ROWS });
    expect((await shard.nearest(shard.query(7), 1))[0]).toBe(8);
    await shard.test.close();
  });

  test("a document with a damaged endpoint vector waits again; repair keeps the other vectors", async () => {
    const key = keys.vectorKey(UID, 8);
    const waits = async (shard: VectorShard): Promise<void> => {
      await until(shard, async () => (await shard.test.stats()).pending === 1);
      expect((await shard.pending()).map(({ seq }) => seq)).toEqual([8]);
      expect(await shard.put(new Map([[8, 7]]))).toBe(0);
      expect((await shard.nearest(shard.query(7), 1))[0]).toBe(8);
      await shard.test.close();
    };
    const met = await damaged(made.get("endpoint")!, key, flip);
    const shard = await open(met, ENDPOINT);
    await shard.similarities(shard.query(7), [8]);
    await waits(shard);
    const repaired = await damaged(made.get("endpoint")!, key, flip);
    await expectMended(repaired, /index 7, vector 8: damaged/);
    await waits(await open(repaired, ENDPOINT));
  });

  test("a damaged vector is reported once if background work and then a query read it", async () => {
    const unreadable = await damaged(made.get("endpoint")!, keys.vectorKey(UID, 8), flip);
    const dataDir = await damaged(unreadable, keys.codesKey(UID, 1, 0), () => null);
    const shard = await open(dataDir, ENDPOINT);
    await until(shard, async () => (await shard.test.stats()).pending === 1);
    const reports = () => shard.test.reports.filter((line) => line.includes("index 7, vector 8"));
    expect(reports()).toHaveLength(1);
    expect(await shard.similarities(shard.query(7), [8])).toEqual([Number.NaN]);
    expect(reports()).toHaveLength(1);
    await shard.test.close();
  });

  test("damaged codes are reported and rebuilt", async () => {
    const key = keys.codesKey(UID, 1, 0);
    const dataDir = await damaged(made.get("pushed")!, key, flip);
    const shard = await open(dataDir, PUSHED);
    await embedded(shard);
    expect((await shard.nearest(shard.query(7), 1))[0]).toBe(8);
    expect(shard.test.reports.join()).toMatch(
      /codes of segment 1 cannot be used and will be recomputed.*codes of segment 1, piece 0/,
    );
    await shard.test.close();
    const other = await damaged(made.get("pushed")!, key, flip);
    await expectMended(other, /index 7, codes of segment 1, piece 0: damaged/);
  });

  test("a vector without its document is named, and repair deletes it", async () => {
    const from = made.get("pushed")!;
    const dataDir = await damaged(from, keys.vectorKey(UID, 8), (value) => value);
    const store = await LevelStore.open(locationIn(dataDir));
    const value = (await store.get(keys.vectorKey(UID, 8)))!;
    const { vectorPuts } = await import("../../../../shards/vectors/vector-record.js");
    const puts = vectorPuts(UID, { origin: PUSHED.origin, seqs: [99], vectors: value.subarray(8) });
    await store.batch(puts, { sync: true });
    await store.close();
    await expectMended(dataDir, /index 7, vector 99: its document is not stored/);
  });
});

describe("the model", () => {
  let made = "";
  beforeAll(async () => {
    made = await make(DOCUMENTS);
  });

  test.each([
    ["record", keys.modelKey(UID), flip, /index 7, model: damaged/],
    [
      "record, cut short,",
      keys.modelKey(UID),
      (value: Buffer) => value.subarray(0, 9),
      /index 7, model: cut short/,
    ],
    ["piece", keys.modelPieceKey(UID, 1, 0), flip, /index 7, piece of model 1, piece 0: damaged/],
    [
      "missing piece",
      keys.modelPieceKey(UID, 1, 0),
      () => null,
      /index 7, piece of model 1, piece 0: missing/,
    ],
  ] as const)(
    "%s: it is abandoned, and another one with its number is not confused with it",
    async (_, key, change, name) => {
      const dataDir = await damaged(made, key, change);
      const shard = await open(dataDir, DOCUMENTS);
      expect((await shard.embed(["lamp"])).query).toBeNull();
      expect(shard.test.reports.join()).toMatch(name);
      await words(shard);
      expect((await shard.test.stats()).modelNumber).toBe(0);
      expect(await shard.nearest(shard.query(1), 100)).toEqual([]);
      // A model trained on other documents. The damaged model's number is lost, so model numbers start over.
      const other = await model(all.slice(3, 15).map(({ body }) => body));
      await shard.setModel(other);
      await embedded(shard);
      const { vectors } = await shard.embed(
        [],
        all.map((__, i) => i + 1),
      );
      await shard.test.close();
      const bench = (await engineModule()).workbench();
      const documents = all.map(({ body }, i) => ({ seq: i + 1, raw: Buffer.from(JSON.stringify(body)) }));
      const steps = (await engineModule())
        .embedder(other.bytes)
        .embed(bench.build(SCHEMA, documents).segment!);
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      expect(Buffer.from(vectors).equals(step.value)).toBe(true);
      expect(await problems("check", dataDir)).toEqual([]);
      await expectMended(await damaged(made, key, change), name);
    },
  );

  test("repair keeps an undamaged model and its vectors", async () => {
    const dataDir = await damaged(made, keys.manifestKey(UID), flip);
    await expectMended(dataDir, /index 7, manifest: damaged/);
    const shard = await open(dataDir, DOCUMENTS);
    await embedded(shard);
    expect(await shard.test.stats()).toMatchObject({ modelNumber: 1, vectors: ROWS });
    expect(shard.test.reports).toEqual([]);
    await shard.test.close();
  });

  test("bytes that are not a model are refused, and the current one stays", async () => {
    const dataDir = await damaged(made, keys.modelKey(UID), (value) => value);
    const shard = await open(dataDir, DOCUMENTS);
    const bytes = Buffer.from("no model");
    await expect(
      shard.setModel({ number: 9, since: 9, documents: 1, fields: 1, trainedAt: 1, tookMs: 1, bytes }),
    ).rejects.toMatchObject({ code: "SHARD-BAD-MESSAGE" });
    expect((await shard.embed(["lamp"])).query).not.toBeNull();
    expect((await shard.test.stats()).modelNumber).toBe(1);
    await shard.test.close();
  });
});
