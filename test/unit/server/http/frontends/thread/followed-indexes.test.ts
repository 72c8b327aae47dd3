// A front-end's use of indexes that the owner opens, unloads, swaps and drops. The test plays the owner, at
// the other end of a channel.

import { MessageChannel } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import type { IndexRecord } from "../../../../../../server/catalog/records/index-record.js";
import { Locations } from "../../../../../../server/catalog/schema/placement.js";
import { type Command, EMPTY_STATE } from "../../../../../../server/catalog/state.js";
import { AnswerCache } from "../../../../../../server/fleet/reads/answer-cache.js";
import { IndexStanding } from "../../../../../../server/fleet/reads/index-standing.js";
import { SkeinError } from "../../../../../../server/ground/errors.js";
import { Recorder } from "../../../../../../server/ground/metrics/recorder.js";
import { type Calls, ThreadChannel } from "../../../../../../server/http/frontends/channel.js";
import type { OwnerCalls } from "../../../../../../server/http/frontends/messages.js";
import { FollowedCatalog } from "../../../../../../server/http/frontends/thread/followed-catalog.js";
import { FollowedIndexes } from "../../../../../../server/http/frontends/thread/followed-indexes.js";
import { WordMemories } from "../../../../../../server/question/words/word-memory.js";
import { makeRecord } from "../../../record.js";

const PLACE = 1;

function record(uid: number, name: string): IndexRecord {
  return { ...makeRecord(), uid, id: uid, name };
}

function openIndex(standing: IndexStanding): void {
  standing.isOpen = true;
}

/** A front-end with the indexes 1 (live) and 2 (fresh), and its requests to the owner. */
function frontEnd(open = openIndex) {
  const standings = new Map([1, 2, 3].map((uid) => [uid, IndexStanding.make(2, uid)]));
  const asked: string[] = [];
  const owner: Partial<OwnerCalls> = {
    attach(uid) {
      asked.push(`attach ${uid}`);
      const standing = standings.get(uid);
      if (standing === undefined) throw new SkeinError("SK-SE-503", "damaged", { retryAfter: 60 });
      standing.beginUse(PLACE);
      return standing.shared;
    },
    async open(uid) {
      asked.push(`open ${uid}`);
      open(standings.get(uid)!);
    },
  };
  const { port1, port2 } = new MessageChannel();
  const channel = new ThreadChannel<OwnerCalls>(port1, {});
  const other = new ThreadChannel<Calls>(port2, owner as Calls);
  onTestFinished(() => {
    for (const end of [channel, other]) end.close(new Error("the test is over"));
  });
  const recorder = new Recorder();
  const catalog = new FollowedCatalog({ state: EMPTY_STATE, damagedIndexes: 0 });
  const memories = {
    answers: new AnswerCache(1_000_000, recorder.answerCache),
    words: new WordMemories(),
    recorder,
  };
  const indexes = new FollowedIndexes({
    place: PLACE,
    locations: new Locations(2),
    catalog,
    owner: channel,
    memories,
  });
  const apply = (...commands: Command[]): void => {
    for (const command of commands) catalog.apply(command);
  };
  apply({ type: "index.put", record: record(1, "live") }, { type: "index.put", record: record(2, "fresh") });
  return { indexes, apply, asked, standing: (uid: number) => standings.get(uid)! };
}

/**
 * Waits for the next event loop iteration, in which the owner ends the use that it began on the front-end's
 * behalf.
 */
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("the owner is asked once for an index's shared state, and again whenever it is not open", async () => {
  const { indexes, asked, standing } = frontEnd();
  expect(indexes.useOpen(1)).toBeUndefined();
  const [one, other, begun] = await Promise.all([indexes.use(1), indexes.use(1), indexes.begin(1)]);
  expect(asked).toEqual(["attach 1", "open 1", "open 1"]);
  await nextTurn();
  for (const end of [one.end, other.end]) end();
  expect(standing(1).isUsedElsewhere).toBe(true);
  begun();
  begun();
  expect(standing(1).isUsedElsewhere).toBe(false);
  indexes.useOpen(1)!.end();
  standing(1).isOpen = false; // as if unloaded
  expect(indexes.useOpen(1)).toBeUndefined();
  expect(standing(1).isUsedElsewhere).toBe(false);
  (await indexes.use(1)).end();
  expect(asked.slice(3)).toEqual(["open 1"]);
});

test("an index stays in use between the owner's answer and the first use", async () => {
  const { indexes, standing } = frontEnd();
  const used: boolean[] = [];
  const end = await indexes.begin(1);
  used.push(standing(1).isUsedElsewhere);
  await nextTurn();
  used.push(standing(1).isUsedElsewhere);
  end();
  used.push(standing(1).isUsedElsewhere);
  expect(used).toEqual([true, true, false]);
});

test("an index that cannot be opened is refused with the owner's error, and is not left in use", async () => {
  const { indexes, apply, standing } = frontEnd(() => {
    throw new SkeinError("SK-SE-503", "no memory", { retryAfter: 3 });
  });
  await expect(indexes.use(1)).rejects.toMatchObject({
    code: "SK-SE-503",
    message: "no memory",
    retryAfter: 3,
  });
  await nextTurn();
  expect(standing(1).isUsedElsewhere).toBe(false);
  apply({ type: "index.put", record: record(9, "damaged") });
  for (let time = 0; time < 2; time++)
    await expect(indexes.use(9)).rejects.toMatchObject({ message: "damaged", retryAfter: 60 });
  expect(() => indexes.state(9)).toThrow("the index is not open");
});

test("an index dropped during a request stays until the request ends", async () => {
  const { indexes, apply, asked, standing } = frontEnd();
  const [one, other] = await Promise.all([indexes.use(1), indexes.use(1)]);
  await nextTurn();
  apply({ type: "index.delete", uid: 1 });
  expect(indexes.state(1)).toBe(one.state);
  one.end();
  expect(indexes.state(1)).toBe(other.state);
  other.end();
  expect(() => indexes.state(1)).toThrow("the index is not open");
  expect(standing(1).isUsedElsewhere).toBe(false);
  await expect(indexes.use(1)).rejects.toThrow("no longer exists");
  expect(asked.filter((what) => what === "attach 1")).toHaveLength(1);
});

test("an unused index is forgotten with its record, and one still being requested after its use", async () => {
  const { indexes, apply } = frontEnd();
  (await indexes.use(1)).end();
  const asking = indexes.use(2);
  apply({ type: "index.delete", uid: 1 }, { type: "index.delete", uid: 2 });
  expect(() => indexes.state(1)).toThrow("the index is not open");
  const { end } = await asking;
  end();
  expect(() => indexes.state(2)).toThrow("the index is not open");
});

test("a swap that drops leaves a running request its documents, and gives others the name at once", async () => {
  const { indexes, apply, standing } = frontEnd();
  const [before, fresh] = await Promise.all([indexes.use(1), indexes.use(2)]);
  await nextTurn();
  apply({ type: "index.swap", uid: 1, target: 2, drop: true });
  expect(fresh.state.record.name).toBe("live");
  expect(indexes.state(1)).toBe(before.state);
  expect(standing(1).isUsedElsewhere).toBe(true);
  before.end();
  expect(standing(1).isUsedElsewhere).toBe(false);
  expect(() => indexes.state(1)).toThrow("the index is not open");
  fresh.end();
  expect(indexes.state(2).record.name).toBe("live");
});

test("an index requested before its record arrived is found afterwards", async () => {
  const { indexes, apply } = frontEnd();
  await expect(indexes.use(3)).rejects.toThrow("no longer exists");
  apply({ type: "index.put", record: record(3, "new") });
  const { state, end } = await indexes.use(3);
  expect(state.record.name).toBe("new");
  end();
});
