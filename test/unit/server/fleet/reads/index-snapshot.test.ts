// A read view (IndexSnapshot) as its callers see it; test/unit/shards tests the shards' side.

import { expect, test } from "vitest";
import type { CompanyProgram } from "../../../../../engine-wasm/host/programs/company-program.js";
import type { ExpandProgram } from "../../../../../engine-wasm/host/programs/expand-program.js";
import { Locations } from "../../../../../server/catalog/schema/placement.js";
import { LocalDocuments } from "../../../../../server/fleet/local/local-documents.js";
import { LocalReader } from "../../../../../server/fleet/local/local-reader.js";
import { LocalVectors } from "../../../../../server/fleet/local/local-vectors.js";
import { TurnBudget } from "../../../../../server/fleet/local/turn-budget.js";
import { IndexState } from "../../../../../server/fleet/owner/index-state.js";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { IndexSnapshot } from "../../../../../server/fleet/reads/index-snapshot.js";
import { type ShardChannels, ThreadReader } from "../../../../../server/fleet/reads/thread-reader.js";
import type { Isolation } from "../../../../../server/fleet/threads/isolation.js";
import { RequestLife } from "../../../../../server/ground/jobs/request-life.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import { encodeOk } from "../../../../../shards/protocol/reply.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { makeRecord } from "../../record.js";

const NOTHING_ASKED: ExpandProgram & CompanyProgram = { slots: [], words: [], candidates: [] };
/**
 * The reply of an empty dictionary: no live rows, slots or words. Expand and company programs both yield
 * these bytes.
 */
const EMPTY_DICTIONARY = encodeOk(new Uint8Array(8));

const workbench = (await loadEngine("checked")).workbench();
const CHANNELS: ShardChannels = { read: async () => EMPTY_DICTIONARY };
const NO_SUSPECTS: Isolation = {
  enter: () => false,
  sendApart: () => Promise.reject(new Error("there are no suspects")),
  leave: () => undefined,
};
const threads = new ThreadReader(CHANNELS, NO_SUSPECTS, () => undefined);
const local = new LocalReader(
  threads,
  { reader: () => null, readerFailed: () => undefined, readerUnused: () => undefined },
  new LocalDocuments(workbench, new TurnBudget(1), 0),
  new LocalVectors(() => workbench.vectorTable(), 0),
  new TurnBudget(1),
  { wantsHelp: false },
  DEFAULT_LIMITS,
  new Recorder().localReads,
);

/** Returns a view of an empty index in one shard. Its searches have the given deadline. */
function viewUntil(deadline: number): IndexSnapshot {
  const recorder = new Recorder();
  const answers = new AnswerCache(1, recorder.answerCache);
  const standing = [{ liveDocs: 0, maxSeq: 0, generation: 0, staleSegments: 0 }];
  const state = new IndexState(makeRecord(), standing, 1, new Locations(1), {
    answers,
    words: new WordMemories(),
    recorder,
  });
  return new IndexSnapshot(
    state,
    { threads, local },
    new RequestLife(),
    { next: async () => undefined },
    deadline,
    () => undefined,
  );
}

test("an answer in time is decoded, one after the deadline is not", async () => {
  for (const ask of ["expand", "company"] as const) {
    await expect(viewUntil(Date.now() + 60_000)[ask](NOTHING_ASKED)).resolves.toMatchObject([
      { liveRows: 0 },
    ]);
    await expect(viewUntil(Date.now() - 1)[ask](NOTHING_ASKED)).rejects.toMatchObject({
      code: "SK-SE-503",
      retryAfter: 1,
    });
  }
});
