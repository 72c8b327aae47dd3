// Simulates a power failure at every sync in turn. Pass 1 counts a run's syncs. Pass 2 freezes the disk at
// each sync (with the batch being synced lost or kept), reopens the shard and expects every acknowledged
// write, and the write in progress completely or not at all.
import { describe, expect, test } from "vitest";
import { FLAG_INDEX, TYPE_FLOAT } from "../../engine-wasm/assembly/layout.js";
import { encodeAdopt } from "../../shards/protocol/move.js";
import { Action } from "../../shards/protocol/ops.js";
import { decodeEmptyReply } from "../../shards/protocol/reply.js";
import { NO_VECTORS, SCHEMA, type TestDocument, TestShard, UID } from "../unit/shards/harness.js";
import { Model } from "../unit/shards/index/model.js";
import { CrashDisk, CrashStore } from "./crash-store.js";

type Step =
  | { action: Action; documents: TestDocument[] }
  | { settle: true }
  | { reopen: true }
  | { schema: typeof SCHEMA };

const doc = (i: number, price: number): TestDocument => {
  return { id: `d${i}`, body: { id: `d${i}`, title: `number ${i}`, price, weight: i / 2 } };
};

const NEXT_SCHEMA = {
  ...SCHEMA,
  version: 2,
  fields: [...SCHEMA.fields, { slot: 2, name: "weight", type: TYPE_FLOAT, flags: FLAG_INDEX, language: 0 }],
};

/** Writes, replacements, deletes, merges, a reopen and a re-index. */
function script(): Step[] {
  const steps: Step[] = [];
  for (let i = 0; i < 6; i++) {
    steps.push({ action: Action.UPSERT, documents: [doc(i, i), doc(i + 3, 9), doc(i + 6, 1)] });
    if (i % 2 === 1) steps.push({ action: Action.DELETE, documents: [{ id: `d${i + 2}` }] });
  }
  steps.push({ settle: true }, { action: Action.UPDATE, documents: [{ id: "d1", body: { price: 7 } }] });
  steps.push({ reopen: true }, { schema: NEXT_SCHEMA });
  steps.push({ action: Action.EMPLACE, documents: [doc(1, 2), doc(20, 2)] }, { settle: true });
  return steps;
}

interface Outcome {
  /** The acknowledged state (`certain`), and the state if the write in progress survived (`possible`). */
  certain: Model;
  possible: Model;
  schema: typeof SCHEMA;
  frozen: boolean;
}

function copyOf(model: Model): Model {
  const copy = new Model();
  for (const [id, body] of model.documents) copy.documents.set(id, body);
  return copy;
}

async function run(disk: CrashDisk): Promise<Outcome> {
  const outcome: Outcome = { certain: new Model(), possible: new Model(), schema: SCHEMA, frozen: false };
  let shard: TestShard | null = null;
  try {
    shard = await TestShard.open(new CrashStore(disk));
    for (const step of script()) {
      if ("settle" in step) {
        await shard.settled();
      } else if ("reopen" in step) {
        await shard.close();
        shard = await TestShard.open(new CrashStore(disk));
      } else if ("schema" in step) {
        outcome.schema = step.schema;
        await shard.changeSchema(step.schema);
      } else {
        outcome.possible.apply(step.action, step.documents);
        await shard.write(step.action, step.documents);
        outcome.certain = copyOf(outcome.possible);
      }
    }
  } catch {
    outcome.frozen = true;
  }
  await shard?.close().catch(() => undefined);
  return outcome;
}

async function expectRecovered(disk: CrashDisk, outcome: Outcome): Promise<void> {
  disk.freezeAt = 0;
  const shard = await TestShard.open(new CrashStore(disk), outcome.schema);
  const plain = (documents: ReadonlyMap<string, unknown>) => JSON.stringify([...documents].sort());
  const found = await shard.documents();
  expect([plain(outcome.certain.documents), plain(outcome.possible.documents)]).toContain(plain(found));
  expect((await shard.search()).length).toBe(found.size);
  expect((await shard.stats()).liveDocs).toBe(found.size);
  // The recovered shard still accepts writes, merges and re-indexes.
  await shard.write(Action.UPSERT, [doc(50, 5)]);
  await shard.settled();
  const after = await shard.documents();
  expect(after.size).toBe(found.size + 1);
  for (const [id, body] of after) expect(await shard.get(id)).toEqual(body);
  expect((await shard.stats()).staleSegments).toBe(0);
  expect(shard.reports).toEqual([]);
  await shard.close();
}

describe("a shard that loses power", () => {
  for (const keepsLast of [false, true]) {
    test(`at any sync, with its batch ${keepsLast ? "kept" : "lost"}`, async () => {
      const calm = new CrashDisk();
      expect((await run(calm)).frozen).toBe(false);
      expect(calm.syncs).toBeGreaterThan(12);
      for (let freezeAt = 1; freezeAt <= calm.syncs; freezeAt++) {
        const disk = new CrashDisk();
        disk.freezeAt = freezeAt;
        disk.keepsLast = keepsLast;
        await expectRecovered(disk, await run(disk));
      }
    });
  }

  test("keeps the documents moved to it, even if writes are not durable", async () => {
    const disk = new CrashDisk();
    const shard = await TestShard.open(new CrashStore(disk), SCHEMA, NO_VECTORS, undefined, false);
    const moved = [1, 2, 3].map((seq) => {
      const { id, body } = doc(seq, seq);
      return { seq, id, raw: Buffer.from(JSON.stringify(body)), vector: null };
    });
    const request = encodeAdopt({ uid: UID, generation: 4, maxSeq: 3, documents: moved });
    decodeEmptyReply(await shard.ask(request));
    shard.generation = 4;
    shard.nextSeq = 4;
    await shard.write(Action.UPSERT, [doc(9, 9)]); // not durable
    const after = await TestShard.open(new CrashStore(disk));
    expect([...(await after.documents()).keys()].sort()).toEqual(["d1", "d2", "d3"]);
    await after.close();
  });
});
