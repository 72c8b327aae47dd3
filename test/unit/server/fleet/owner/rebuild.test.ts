// Watching an index until all shards have its schema and have re-indexed it: in the background, and with a
// time limit.

import { expect, test } from "vitest";
import { Locations } from "../../../../../server/catalog/schema/placement.js";
import { IndexState } from "../../../../../server/fleet/owner/index-state.js";
import {
  followRebuild,
  type Rebuild,
  rebuildSubject,
  rebuilt,
  repeatSchema,
} from "../../../../../server/fleet/owner/rebuild.js";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import { makeRecord } from "../../record.js";

const log = createLogger("silent");

/**
 * An index whose shards report the numbers of stale segments in `stale`, one after another; the last number
 * repeats.
 */
function changedIndex(stale: number[]) {
  const recorder = new Recorder();
  const answers = new AnswerCache(0, recorder.answerCache);
  const state = new IndexState(makeRecord(), [], 1, new Locations(1), {
    answers,
    words: new WordMemories(),
    recorder,
  });
  state.rebuilding = true;
  const jobs = new Jobs(log);
  let free: () => void = () => undefined;
  /** Resolves once the index may be unloaded again. */
  const freed = new Promise<void>((resolve) => (free = resolve));
  const rebuild: Rebuild = {
    staleSegments: async () => (stale.length > 1 ? stale.shift()! : stale[0]!),
    onReindexed: async () => true,
    wanted: () => true,
    keep: () => free,
    jobs,
    log,
  };
  return { state, jobs, rebuild, freed, subject: rebuildSubject(state.record.uid) };
}

test("an index counts as rebuilding and stays loaded until nothing is stale", async () => {
  const { state, jobs, rebuild, freed, subject } = changedIndex([2, 1, 0]);
  await followRebuild(state, rebuild);
  expect(state.rebuilding).toBe(true);
  expect(jobs.has({ name: "follow a rebuild", subject })).toBe(true);
  await freed;
  expect(state.rebuilding).toBe(false);
});

test("an index counts as rebuilding until the end of its re-indexing is recorded", async () => {
  const { state, rebuild, freed } = changedIndex([0]);
  const recorded = [false, true];
  await followRebuild(state, { ...rebuild, onReindexed: async () => recorded.shift()! });
  expect(state.rebuilding).toBe(true);
  await freed;
  expect([state.rebuilding, recorded]).toEqual([false, []]);
});

test("nothing is followed when nothing is stale", async () => {
  const { state, jobs, rebuild, subject } = changedIndex([0]);
  await followRebuild(state, rebuild);
  expect(state.rebuilding).toBe(false);
  expect(jobs.has({ name: "follow a rebuild", subject })).toBe(false);
});

test("a cancelled rebuild, of a dropped index or an outdated schema, is no longer followed", async () => {
  const { state, jobs, rebuild, freed, subject } = changedIndex([1]);
  await followRebuild(state, rebuild);
  jobs.cancel(subject);
  await freed;
  expect(state.rebuilding).toBe(true);
});

test("a schema is sent again until the shards have it, and its rebuild is followed", async () => {
  const { state, rebuild, freed } = changedIndex([1, 0]);
  let told = 0;
  repeatSchema(state, rebuild, async () => {
    told++;
    if (told === 1) throw new Error("a shard is being restarted");
  });
  await freed;
  expect([told, state.rebuilding]).toEqual([2, false]);
});

test("the server's stop does not wait for shards that fail to accept a schema", async () => {
  const { state, jobs, rebuild, freed } = changedIndex([1]);
  repeatSchema(state, rebuild, () => Promise.reject(new Error("a shard is being restarted")));
  await jobs.drain();
  await freed;
});

test("a deletion waits until nothing is stale", async () => {
  const { state, rebuild } = changedIndex([2, 1, 0]);
  await followRebuild(state, rebuild);
  await rebuilt(state, () => true, Number.POSITIVE_INFINITY);
  expect(state.rebuilding).toBe(false);
});

test("a deletion that waits too long is refused, and one whose index is gone does not wait", async () => {
  const { state } = changedIndex([1]);
  const refused = rebuilt(state, () => true, performance.now());
  await expect(refused).rejects.toMatchObject({ code: "SK-SYS-503", retryAfter: 5 });
  await rebuilt(state, () => false, Number.POSITIVE_INFINITY);
});
