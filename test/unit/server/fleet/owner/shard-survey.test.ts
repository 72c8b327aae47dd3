// Collecting the shards' state: it finishes within the time limit whatever the shards do, and never sends a
// shard two requests at once.
import { describe, expect, test } from "vitest";
import { ShardSurvey } from "../../../../../server/fleet/owner/shard-survey.js";
import { MessageReader } from "../../../../../shards/protocol/bytes.js";
import { encodeStatsReply } from "../../../../../shards/protocol/control.js";
import { SHARD_NOT_OPEN, ShardError } from "../../../../../shards/protocol/errors.js";
import { Op } from "../../../../../shards/protocol/ops.js";
import { encodeEmptyReply, encodeError } from "../../../../../shards/protocol/reply.js";
import { decodeTogether, encodeTogetherReply } from "../../../../../shards/protocol/together.js";

const STATS = {
  liveDocs: 1,
  deletedRows: 0,
  segments: 2,
  segmentBytes: 30,
  memoryBytes: 400,
  terms: 5,
  staleSegments: 0,
  merging: false,
  maintenanceDue: false,
  queuedBytes: 0,
  vectors: 0,
  pending: 0,
  codesBytes: 0,
  modelNumber: 0,
  modelBytes: 0,
  modelDocuments: 0,
  modelFields: 0,
  modelTrainedAt: 0,
  modelTookMs: 0,
};

/** Answers like a shard in which uid 404 is not open. */
function answer(message: Uint8Array): Uint8Array {
  const reader = new MessageReader(message);
  if (reader.u8() === Op.PING) return encodeEmptyReply();
  const closed = encodeError(new ShardError(SHARD_NOT_OPEN, "not open"));
  const parts = decodeTogether(reader);
  return encodeTogetherReply(
    parts.map((part) =>
      Buffer.from(part).includes(Buffer.from([0x01, 0x94])) ? closed : encodeStatsReply(STATS),
    ),
  );
}

/** Places every index in the shards `places`. */
const at = (places: number[]) => (uid: number) => ({ data: uid, places });

describe("a survey", () => {
  test("adds up the shards' answers and leaves out indexes not open everywhere", async () => {
    const survey = new ShardSurvey(3, at([0, 1, 2]), async (_, message) => answer(message));
    const { answerMs, stats } = await survey.take([1, 404, 2], 1_000);
    expect(answerMs.every((ms) => ms !== null && ms >= 0)).toBe(true);
    expect([...stats.keys()]).toEqual([1, 2]);
    expect(stats.get(2)).toMatchObject({ segments: 6, memoryBytes: 1200, merging: false });
  });

  test("asks about many indexes in few messages, in sequence", async () => {
    let messages = 0;
    let inside = 0;
    const survey = new ShardSurvey(1, at([0]), async (_, message) => {
      messages++;
      expect(++inside).toBe(1);
      await new Promise(setImmediate);
      inside--;
      return answer(message);
    });
    const uids = Array.from({ length: 100 }, (_, i) => i + 1);
    expect((await survey.take(uids, 1_000)).stats.size).toBe(100);
    expect(messages).toBe(1 + 4);
  });

  test("does not wait for a hanging shard, and does not ask it again in the meantime", async () => {
    let asked = 0;
    let wake: () => void = () => undefined;
    const survey = new ShardSurvey(2, at([0, 1]), async (shard, message) => {
      if (shard === 1 && asked++ === 0) await new Promise<void>((resolve) => (wake = resolve));
      return answer(message);
    });
    const first = await survey.take([1], 60);
    const second = await survey.take([1], 60);
    for (const { answerMs, stats } of [first, second]) {
      expect([answerMs[0] === null, answerMs[1] === null, stats.size]).toEqual([false, true, 0]);
    }
    expect(asked).toBe(1);
    wake();
    await new Promise(setImmediate);
    const third = await survey.take([1], 1_000);
    expect([third.answerMs[1] === null, third.stats.size]).toEqual([false, 1]);
  });

  test("counts a refusing shard as down, but not the others", async () => {
    const survey = new ShardSurvey(2, at([0, 1]), async (shard, message) => {
      if (shard === 0) throw new Error("restarting");
      return answer(message);
    });
    const { answerMs, stats } = await survey.take([1], 1_000);
    expect([answerMs[0], answerMs[1] === null, stats.size]).toEqual([null, false, 0]);
  });
});
