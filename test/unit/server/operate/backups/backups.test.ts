// Backups as jobs: one at a time, and a cancelled backup leaves nothing behind.

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadEngine } from "../../../../../engine-wasm/host/instance/engine-files.js";
import { Catalog } from "../../../../../server/catalog/catalog.js";
import { type Fleet, openFleet } from "../../../../../server/fleet/fleet.js";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { QueryLoad } from "../../../../../server/fleet/threads/query-load.js";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { Backups } from "../../../../../server/operate/backups/backups.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";

const dataDir = mkdtempSync(join(tmpdir(), "skein-test-backups-"));
const directory = join(dataDir, "backups");
const log = createLogger("silent");
const jobs = new Jobs(log);
let fleet: Fleet;
let catalog: Catalog;
let backups: Backups;

beforeAll(async () => {
  catalog = await Catalog.open(dataDir);
  const recorder = new Recorder();
  const answers = new AnswerCache(0, recorder.answerCache);
  const engine = await loadEngine("checked");
  const parts = {
    engine,
    workbench: engine.workbench(),
    jobs,
    answers,
    words: new WordMemories(),
    queries: new QueryLoad(QueryLoad.memory(1), 0),
    limits: DEFAULT_LIMITS,
    log,
    recorder,
  };
  fleet = await openFleet({ dataDir, shards: 2, threads: 1, durability: "os", ...parts });
  const { indexes, writes, moments } = fleet;
  const analytics = { backup: async () => null }; // nothing was ever logged
  backups = new Backups({ directory, catalog, indexes, writes, moments, analytics, jobs, log });
});

afterAll(async () => {
  await fleet.stop();
  await catalog.close();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Resolves once no backup is being written. */
async function over(): Promise<void> {
  await jobs.run({ name: "wait for the backup", subject: "backups" }, async () => undefined);
}

test("a second backup is refused while the first is being written", async () => {
  const { id } = await backups.create();
  await expect(backups.create()).rejects.toMatchObject({ code: "SK-SYS-409" });
  await over();
  expect(await backups.get(id)).toMatchObject({ id, status: "complete" });
});

test("the next backup can begin as soon as the previous one is reported complete", async () => {
  const { id } = await backups.create();
  while ((await backups.get(id)).status === "running");
  const next = await backups.create();
  await over();
  expect(await backups.get(next.id)).toMatchObject({ status: "complete" });
});

test("a cancelled backup leaves nothing on the disk, and the next one is whole", async () => {
  const before = readdirSync(directory);
  const cancelled = await backups.create();
  jobs.cancel("backups");
  await over();
  expect(await backups.get(cancelled.id)).toMatchObject({ status: "failed" });
  expect(readdirSync(directory)).toEqual(before);
  const { id } = await backups.create();
  await over();
  expect(await backups.get(id)).toMatchObject({ status: "complete" });
});

test("a stopping server aborts its running backup, and starts none", async () => {
  const before = readdirSync(directory);
  await backups.create();
  await jobs.drain();
  expect(readdirSync(directory)).toEqual(before);
  await expect(backups.create()).rejects.toMatchObject({ code: "SK-SYS-503" });
});
