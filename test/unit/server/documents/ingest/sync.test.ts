// Feeds over real shards while other clients write and delete. Once a feed has been read completely, the
// index keeps the documents in the feed (also those whose items failed) and those that other clients have
// written since the run began; the rest are deleted.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadEngine } from "../../../../../engine-wasm/host/instance/engine-files.js";
import { ByteQuotas } from "../../../../../server/access/tenants/byte-quota.js";
import { DocumentQuotas } from "../../../../../server/access/tenants/document-quota.js";
import { getDocument } from "../../../../../server/documents/ingest/documents.js";
import { Intake } from "../../../../../server/documents/ingest/intake-pool.js";
import { prepareSynced, type SyncedDocument } from "../../../../../server/documents/ingest/prepare.js";
import { type Ingest, writeBatch, writePrepared } from "../../../../../server/documents/ingest/write.js";
import { type Fleet, openFleet } from "../../../../../server/fleet/fleet.js";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { QueryLoad } from "../../../../../server/fleet/threads/query-load.js";
import { Headroom } from "../../../../../server/ground/data-dir/headroom.js";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import { SeqSet } from "../../../../../shards/protocol/unseen.js";
import { effort } from "../../../../effort.js";
import { makeRecord } from "../../record.js";

const IDS = Array.from({ length: 8 }, (_, i) => `d${i}`);

/**
 * A feed item: a document, a document that the engine refuses, a document that is too large, or an item that
 * failed earlier (`mark`).
 */
type Item = { id: string; kind: "document" | "refused" | "large" | "mark"; stock: number; spaced: boolean };

type Step =
  | { kind: "upsert"; id: string; stock: number }
  | { kind: "delete"; id: string }
  | { kind: "sync"; items: Item[] }
  | { kind: "begin" }
  | { kind: "end" };

const anyId = fc.constantFrom(...IDS);
const anyStock = fc.nat(2);
const anyItem: fc.Arbitrary<Item> = fc.record({
  id: anyId,
  kind: fc.constantFrom("document", "document", "document", "refused", "large", "mark"),
  stock: anyStock,
  spaced: fc.boolean(),
});
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("upsert"), id: anyId, stock: anyStock }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete"), id: anyId }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("sync"), items: fc.array(anyItem, { maxLength: 8 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("begin") }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end") }) },
);

function synced({ id, kind, stock, spaced }: Item): SyncedDocument {
  if (kind === "mark") return { id, json: null };
  const value = kind === "document" ? stock : kind === "refused" ? "none" : "x".repeat(2_000);
  return {
    id,
    json: Buffer.from(
      JSON.stringify(spaced ? { stock: value, id } : { id, stock: value }, null, spaced ? 1 : 0),
    ),
  };
}

/** The naive model: stored documents by id, ids written since the run began, and ids in the feed. */
class Model {
  readonly stored = new Map<string, number>();
  written = new Set<string>();
  seen = new Set<string>();

  put(id: string, stock: number): void {
    this.stored.set(id, stock);
    this.written.add(id);
  }

  /** Returns the refused items' positions, and the number of unchanged items. */
  sync(items: readonly Item[]): { refused: number[]; unchanged: number } {
    const refused: number[] = [];
    let unchanged = 0;
    for (const [i, { id, kind, stock }] of items.entries()) {
      this.seen.add(id);
      if (kind === "refused" || kind === "large") refused.push(i);
      if (kind !== "document") continue;
      if (this.stored.get(id) === stock) unchanged++;
      else this.put(id, stock);
    }
    return { refused, unchanged };
  }

  begin(): void {
    this.written = new Set();
    this.seen = new Set();
  }

  /** Returns the number of deleted documents. */
  end(): number {
    const unseen = [...this.stored.keys()].filter((id) => !this.seen.has(id) && !this.written.has(id));
    for (const id of unseen) this.stored.delete(id);
    return unseen.length;
  }
}

describe.each([1, 2, 3, 8])("%i shards", (shards) => {
  const dataDir = mkdtempSync(join(tmpdir(), "skein-test-sync-"));
  const limits = { ...DEFAULT_LIMITS, documentBytesMax: 1_000 };
  let fleet: Fleet;
  let ingest: Ingest;
  let uid = 0;
  /** The plan's byte limit; null if unlimited. */
  let bytesMax: number | null = null;

  beforeAll(async () => {
    const log = createLogger("silent");
    const recorder = new Recorder();
    const engine = await loadEngine("checked");
    const workbench = engine.workbench();
    fleet = await openFleet({
      dataDir,
      shards,
      threads: 1,
      durability: "os",
      engine,
      workbench,
      jobs: new Jobs(log),
      answers: new AnswerCache(0, recorder.answerCache),
      words: new WordMemories(),
      queries: new QueryLoad(QueryLoad.memory(1), 0),
      limits,
      log,
      recorder,
    });
    const { reads, writes } = fleet;
    const intake = new Intake({ engine, workbench, limits, log });
    const headroom = new Headroom(dataDir, limits);
    const byteQuotas = new ByteQuotas({
      limitsOf: () => ({ diskBytes: bytesMax, memoryBytes: null }),
      measure: async () => [{ diskBytes: 1, memoryBytes: 0 }],
      nowMs: () => 0,
      log,
    });
    ingest = { workbench, intake, headroom, byteQuotas, reads, writes, limits, log, recorder };
  });

  afterAll(async () => {
    await ingest.intake.stop();
    await fleet.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  async function newIndex() {
    uid++;
    const record = { ...makeRecord(), uid, id: uid };
    await fleet.indexes.create(record);
    return record;
  }

  const prepare = (items: readonly Item[]) =>
    prepareSynced(items.map(synced), shards, ingest.workbench, limits);

  test("any story of a feed and other clients ends as the model predicts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
        const record = await newIndex();
        const model = new Model();
        let kept = new SeqSet();
        let beforeSeq = fleet.indexes.state(uid).nextSeq;
        const send = (body: object) => writeBatch(ingest, record, Buffer.from(JSON.stringify(body)), null);
        for (const step of [...steps, { kind: "end" as const }]) {
          if (step.kind === "upsert") {
            await send({ documents: [{ id: step.id, stock: step.stock }] });
            model.put(step.id, step.stock);
          } else if (step.kind === "delete") {
            await send({ action: "delete", documents: [step.id] });
            model.stored.delete(step.id);
          } else if (step.kind === "sync") {
            const prepared = prepare(step.items);
            expect(prepared.received).toBe(step.items.filter(({ kind }) => kind !== "mark").length);
            const written = await writePrepared(ingest, record, prepared, null);
            for (const seq of written.kept) kept.add(seq);
            const { refused, unchanged } = model.sync(step.items);
            expect(written.errors.map(({ index }) => index)).toEqual(refused);
            expect(written).toMatchObject({ unchanged, partial: false });
          } else if (step.kind === "begin") {
            kept = new SeqSet();
            beforeSeq = fleet.indexes.state(uid).nextSeq;
            model.begin();
          } else {
            const count = await ingest.writes.countUnseen(uid, beforeSeq, kept);
            const deleted = await ingest.writes.deleteUnseen(uid, beforeSeq, kept);
            expect([count, deleted]).toEqual([deleted, model.end()]);
          }
          expect(ingest.reads.documents(uid)).toBe(model.stored.size);
        }
        for (const id of IDS) {
          const bytes = await getDocument(ingest, record, id);
          const stock = bytes === null ? undefined : JSON.parse(Buffer.from(bytes).toString()).stock;
          expect(stock).toBe(model.stored.get(id));
        }
        await fleet.indexes.drop(uid);
      }),
      { numRuns: effort(10, 300) },
    );
  });

  test("when a feed exceeds the quota, only new documents are refused", async () => {
    const record = await newIndex();
    const item = (id: string, stock: number, kind: Item["kind"] = "document"): Item => {
      return { id, kind, stock, spaced: false };
    };
    await writePrepared(ingest, record, prepare([item("a", 1), item("b", 1)]), null);
    const quota = new DocumentQuotas(
      () => ingest.reads.documents(uid),
      () => 3,
    ).of(1);
    const items = [
      item("a", 1),
      item("c", 1),
      item("x", 1, "mark"),
      item("d", 1, "mark"),
      item("d", 1),
      item("b", 2),
      item("b", 2, "mark"),
    ];
    const written = await writePrepared(ingest, record, prepare(items), quota);
    expect(written.errors.map(({ index, code }) => [index, code])).toEqual([[4, "SK-SYS-429"]]);
    expect(written).toMatchObject({ unchanged: 1 });
    expect(ingest.reads.documents(uid)).toBe(3);
  });

  test("when a feed exceeds the byte limit, nothing is written and its stored documents stay", async () => {
    const record = await newIndex();
    const item = (id: string, stock: number, kind: Item["kind"] = "document"): Item => {
      return { id, kind, stock, spaced: false };
    };
    await writePrepared(ingest, record, prepare([item("a", 1), item("b", 1), item("c", 1)]), null);
    bytesMax = 1;
    onTestFinished(() => {
      bytesMax = null;
    });
    const items = [item("a", 2), item("b", 1), item("c", 1, "mark"), item("d", 1)];
    const { errors, unchanged, kept } = await writePrepared(ingest, record, prepare(items), null);
    expect(errors.map(({ index, code }) => [index, code])).toEqual(
      [0, 1, 3].map((index) => [index, "SK-SYS-429"]),
    );
    expect([unchanged, kept.length]).toEqual([0, 3]);
    expect(String(await getDocument(ingest, record, "a"))).toContain('"stock":1');
    expect(ingest.reads.documents(uid)).toBe(3);
  });
});

test("impossible ids are refused, and their marks are ignored", async () => {
  const workbench = (await loadEngine("checked")).workbench();
  const long = "x".repeat(70_000);
  const prepared = prepareSynced(
    [
      { id: "", json: Buffer.from('{"id":""}') },
      { id: long, json: Buffer.from(`{"id":"${long}"}`) },
      { id: long, json: null },
    ],
    2,
    workbench,
    DEFAULT_LIMITS,
  );
  expect(prepared).toMatchObject({ received: 2, seqs: 0, messages: [] });
  expect(prepared.refusals.map(({ index }) => index)).toEqual([0, 1]);
});
