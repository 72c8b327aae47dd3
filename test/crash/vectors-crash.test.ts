// Simulates power failures while vectors are written: at every sync in turn, and, on a disk that happens to
// write everything immediately, at every batch and in the middle of every range delete. After reopening,
// every document must have the right vector or be waiting for it, every code must match its vector, and
// nothing may be left over.
import { describe, expect, test } from "vitest";
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import type { VectorPolicy } from "../../shards/protocol/control.js";
import { Action } from "../../shards/protocol/ops.js";
import type { NumberedModel } from "../../shards/protocol/vectors.js";
import { EVERY_KEY, kindOfKey, numberOfKey, segmentOfKey } from "../../shards/storage/keyspace.js";
import { decodeModelRecord } from "../../shards/vectors/model-store.js";
import { readCodes, writeCodes } from "../../shards/vectors/stored-codes.js";
import { decodeVector, isNone } from "../../shards/vectors/vector-record.js";
import { effort } from "../effort.js";
import { engineModule, SCHEMA, type TestDocument, TestShard, UID } from "../unit/shards/harness.js";
import {
  DOCUMENTS,
  ENDPOINT,
  numbers,
  PUSHED,
  trainedModel,
  VectorShard,
} from "../unit/shards/vectors/vector-shard.js";
import { CrashDisk, CrashStore } from "./crash-store.js";

type Step =
  | { write: Action; documents: TestDocument[] }
  | { model: NumberedModel }
  | { put: number[] }
  | { settle: true }
  | { reopen: true };

const TOPICS = ["red shoe leather", "blue lamp light", "green tea cup", "black phone case"];
const doc = (i: number, price = i): TestDocument => {
  const body = { id: `d${i}`, title: `${TOPICS[i % 4]} item ${i % 7}`, price };
  return { id: `d${i}`, body: i % 5 === 4 ? body : { ...body, embedding: numbers(i + price) } };
};
const docs = (from: number, count: number): TestDocument[] =>
  Array.from({ length: count }, (_, i) => doc(from + i));

async function settled(shard: VectorShard): Promise<void> {
  for (;;) {
    await shard.test.settled();
    const { pending, modelNumber } = await shard.test.stats();
    const { source } = shard.test.shard.index(UID).vectors;
    if (pending === 0 || source === "endpoint" || (source === "documents" && modelNumber === 0)) return;
    if (shard.test.reports.length > 0) throw new Error(shard.test.reports.join());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Writes, replacements, deletes, merges and a reopen around the steps that add vectors. */
function story(steps: { first: Step[]; later: Step[] }): Step[] {
  return [
    ...[0, 3, 6].map((from): Step => ({ write: Action.UPSERT, documents: docs(from, 4) })),
    ...steps.first,
    { write: Action.DELETE, documents: [{ id: "d2" }, { id: "d6" }] },
    { settle: true },
    { reopen: true },
    { write: Action.UPDATE, documents: [{ id: "d1", body: { price: 70 } }] },
    { write: Action.UPSERT, documents: [doc(3, 30), doc(12)] },
    ...steps.later,
    { settle: true },
  ];
}

interface Outcome {
  /**
   * The last acknowledged model. `put` has the sequence numbers of documents whose endpoint vectors were
   * acknowledged.
   */
  model: NumberedModel | null;
  put: Map<number, number>;
  frozen: boolean;
}

async function run(disk: CrashDisk, policy: VectorPolicy, steps: readonly Step[]): Promise<Outcome> {
  const outcome: Outcome = { model: null, put: new Map(), frozen: false };
  const open = async () => new VectorShard(await TestShard.open(new CrashStore(disk), SCHEMA, policy));
  let shard: VectorShard | null = null;
  try {
    shard = await open();
    for (const step of steps) {
      if ("settle" in step) await settled(shard);
      else if ("reopen" in step) {
        await shard.test.close();
        shard = await open();
      } else if ("model" in step) {
        await shard.setModel(step.model);
        outcome.model = step.model;
      } else if ("put" in step) {
        await shard.put(new Map(step.put.map((seq) => [seq, seq])));
        for (const seq of step.put) outcome.put.set(seq, seq);
      } else await shard.test.write(step.write, step.documents);
    }
  } catch {
    outcome.frozen = true;
  }
  await shard?.test.close().catch(() => undefined);
  return outcome;
}

interface Stored {
  bodies: Map<number, { embedding?: number[] }>;
  vectors: Map<number, { origin: number; vector: Uint8Array }>;
}

/**
 * Reads documents and vectors from the database. Fails if the stored model pieces do not all belong to the
 * current model, or if it has none.
 */
async function stored(disk: CrashDisk): Promise<Stored> {
  const found: Stored = { bodies: new Map(), vectors: new Map() };
  const pieces = new Set<number>();
  let model = 0;
  for await (const [key, value] of new CrashStore(disk).entries(EVERY_KEY)) {
    const kind = kindOfKey(key);
    if (kind === "document") {
      const text = Buffer.from(value).toString();
      found.bodies.set(numberOfKey(key), JSON.parse(text.slice(text.indexOf("{"))));
    }
    if (kind === "vector") found.vectors.set(numberOfKey(key), decodeVector(key, value));
    if (kind === "model") model = decodeModelRecord(value, "x").number;
    if (kind === "piece of model") pieces.add(segmentOfKey(key));
  }
  expect([...pieces]).toEqual(model === 0 ? [] : [model]);
  return found;
}

/** Returns the vector that a document must have, or null. */
async function expectedVector(
  policy: VectorPolicy,
  seq: number,
  body: { embedding?: number[] },
  model: NumberedModel | null,
  shard: VectorShard,
): Promise<Uint8Array | null> {
  const { workbench } = shard.test;
  if (policy.source === "pushed") {
    return body.embedding === undefined ? null : workbench.vectorOf(Float32Array.from(body.embedding));
  }
  if (policy.source === "endpoint") return workbench.vectorOf(Float32Array.from(numbers(seq)));
  const { segment } = workbench.build(SCHEMA, [{ seq, raw: Buffer.from(JSON.stringify(body)) }]);
  const embedding = (await engineModule()).embedder(model!.bytes).embed(segment!);
  for (;;) {
    const step = embedding.next();
    if (step.done === true) return isNone(step.value) ? null : step.value;
  }
}

const bit = (isSet: boolean): number => (isSet ? 1 : 0);

/** Counts the positions at which a vector's sign differs from the query's. */
function distance(query: Float32Array, vector: Uint8Array): number {
  const signs = new Int8Array(vector.buffer, vector.byteOffset + 4, VECTOR_BYTES - 4);
  return query.reduce((sum, number, i) => sum + (bit(number >= 0) ^ bit(signs[i]! >= 0)), 0);
}

async function expectRecovered(disk: CrashDisk, policy: VectorPolicy, outcome: Outcome): Promise<void> {
  disk.freezeAt = 0;
  const shard = new VectorShard(await TestShard.open(new CrashStore(disk), SCHEMA, policy));
  // The server also does this when a shard lacks a model that another shard has.
  if (outcome.model !== null) await shard.setModel(outcome.model);
  await settled(shard);
  await shard.test.write(Action.UPSERT, [doc(50)]);
  await settled(shard);
  const live = await shard.test.seqs();
  const waiting = new Set((await shard.pending()).map(({ seq }) => seq));
  const stats = await shard.test.stats();
  const { modelNumber } = stats;
  const origin = policy.source === "documents" ? modelNumber : policy.origin;
  const model = modelNumber === 0 ? null : await shard.modelOf();
  const { compared, seqs, distances } = await shard.nearestRows(shard.query(1), 1000);
  const found = new Map(Array.from(seqs, (seq, i) => [seq, distances[i]]));
  expect(shard.test.reports).toEqual([]);
  shard.test.oldest = null;
  await shard.test.write(Action.UPSERT, []); // purges deleted rows
  await shard.test.settled();
  await shard.test.close();
  const { bodies, vectors } = await stored(disk);
  expect([...bodies.keys()]).toEqual(live);
  const expected = new Map<number, number>();
  for (const seq of live) {
    const record = vectors.get(seq);
    if (policy.source === "documents" && model === null) expect(record).toBeUndefined();
    else if (waiting.has(seq)) expect([record, outcome.put.has(seq)]).toEqual([undefined, false]);
    else {
      const wanted = await expectedVector(policy, seq, bodies.get(seq)!, model, shard);
      expect(record?.origin, `vector ${seq}`).toBe(origin);
      expect(Buffer.from(record!.vector).equals(wanted ?? new Uint8Array(VECTOR_BYTES))).toBe(true);
      if (wanted !== null) expected.set(seq, distance(shard.query(1), wanted));
    }
  }
  for (const seq of vectors.keys()) expect(bodies.has(seq), `document of vector ${seq}`).toBe(true);
  expect(new Map([...found].sort(([a], [b]) => a - b))).toEqual(expected);
  expect(compared).toBe(expected.size);
  const unmade = policy.source === "documents" && model === null ? live.length : 0;
  expect(stats).toMatchObject({ pending: waiting.size + unmade, vectors: expected.size });
}

const BODIES = docs(0, 40).map(({ body }) => body);

const STORIES: { policy: VectorPolicy; steps: () => Promise<Step[]> }[] = [
  { policy: PUSHED, steps: async () => story({ first: [], later: [] }) },
  {
    policy: ENDPOINT,
    steps: async () => story({ first: [{ put: [1, 2, 3, 7] }], later: [{ put: [4, 8, 9, 15, 16] }] }),
  },
  {
    policy: DOCUMENTS,
    steps: async () =>
      story({
        first: [{ model: await trainedModel(1, 1, BODIES) }],
        later: [{ model: await trainedModel(2, 2, BODIES.slice(5)) }],
      }),
  },
];

const DISKS = [
  { name: "at any sync, its batch lost", isEager: false, keepsLast: false },
  { name: "at any batch, which is kept", isEager: true, keepsLast: true },
  ...effort([], [{ name: "at any sync, its batch kept", isEager: false, keepsLast: true }]),
];

describe.each(STORIES)("a shard with $policy.source vectors that loses power", ({ policy, steps }) => {
  test.each(DISKS)("$name", async ({ isEager, keepsLast }) => {
    const script = await steps();
    const calm = new CrashDisk();
    calm.isEager = isEager;
    const whole = await run(calm, policy, script);
    expect(whole.frozen).toBe(false);
    await expectRecovered(calm, policy, whole);
    const counted = new CrashDisk();
    counted.isEager = isEager;
    await run(counted, policy, script);
    expect(counted.syncs).toBeGreaterThan(8);
    for (let freezeAt = 1; freezeAt <= counted.syncs; freezeAt++) {
      const disk = new CrashDisk();
      Object.assign(disk, { freezeAt, isEager, keepsLast });
      await expectRecovered(disk, policy, await run(disk, policy, script));
    }
  });
});

test("a large segment's codes are read whole or not at all, wherever writing them was cut short", async () => {
  const bytes = new Uint8Array(9 * 1024 * 1024).fill(7);
  for (let freezeAt = 1; ; freezeAt++) {
    const disk = new CrashDisk();
    disk.isEager = true;
    await writeCodes(new CrashStore(disk), UID, 1, { origin: 1, bytes: bytes.subarray(1) });
    Object.assign(disk, { freezeAt: disk.syncs + freezeAt, keepsLast: true });
    const cut = await writeCodes(new CrashStore(disk), UID, 1, { origin: 2, bytes }).then(
      () => false,
      () => true,
    );
    const codes = await readCodes(new CrashStore(disk), UID, 1);
    if (codes !== null) expect([codes.origin, codes.bytes.length]).toEqual([2, bytes.length]);
    if (!cut) break;
  }
});
