// Imports on the HTTP thread: whatever the lines contain, the thread answers other requests in between.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadEngine } from "../../../../../engine-wasm/host/instance/engine-files.js";
import { ByteQuotas } from "../../../../../server/access/tenants/byte-quota.js";
import { importDocuments } from "../../../../../server/documents/ingest/import-stream.js";
import { Intake } from "../../../../../server/documents/ingest/intake-pool.js";
import type { Ingest } from "../../../../../server/documents/ingest/write.js";
import { type Fleet, openFleet } from "../../../../../server/fleet/fleet.js";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { QueryLoad } from "../../../../../server/fleet/threads/query-load.js";
import { Headroom } from "../../../../../server/ground/data-dir/headroom.js";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import { makeRecord } from "../../record.js";

const TARGET = { exists: () => true, quota: null };
const LINES = 50_000;
const BATCHES = LINES / 1_000;

describe("import of lines without documents", () => {
  const dataDir = mkdtempSync(join(tmpdir(), "skein-test-import-"));
  const record = makeRecord();
  let fleet: Fleet;
  let ingest: Ingest;

  beforeAll(async () => {
    const log = createLogger("silent");
    const recorder = new Recorder();
    const limits = DEFAULT_LIMITS;
    const engine = await loadEngine("checked");
    const workbench = engine.workbench();
    fleet = await openFleet({
      dataDir,
      shards: 1,
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
      limitsOf: () => ({ diskBytes: null, memoryBytes: null }),
      measure: async () => [],
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

  async function importOf(body: string): Promise<string[]> {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(body);
    }
    const pieces: Uint8Array[] = [];
    for await (const piece of importDocuments(ingest, record, "upsert", chunks(), TARGET)) pieces.push(piece);
    return Buffer.concat(pieces).toString().trim().split("\n");
  }

  it("lets the event loop turn between batches", async () => {
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    setImmediate(count);
    const lines = await importOf("x\n".repeat(LINES));
    counting = false;
    expect(turns).toBeGreaterThanOrEqual(BATCHES);
    expect(lines).toHaveLength(LINES + 1);
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({
      received: LINES,
      succeeded: 0,
      failed: LINES,
    });
  });

  it("refuses more consecutive blank lines than the limit", async () => {
    const allowed = await importOf(`x\n${"\n".repeat(100_000)}x\n${" \r\n".repeat(100_000)}x`);
    expect(allowed.map((line) => JSON.parse(line) as object)).toMatchObject([
      { line: 1 },
      { line: 100_002 },
      { line: 200_003 },
      { received: 3, failed: 3 },
    ]);
    await expect(importOf("\n".repeat(100_001))).rejects.toMatchObject({
      code: "SK-DOC-413",
      message: expect.stringContaining("blank lines"),
    });
  });
});
