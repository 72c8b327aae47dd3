// Which shards contain an index's documents. While the index is small, its home shard has all of them. From
// some generation on, they are spread over all shards by their ids.

import fc from "fast-check";
import { expect, test, vi } from "vitest";
import {
  dataNumbers,
  homeData,
  Locations,
  startsAtHome,
  uidOfData,
} from "../../../../../server/catalog/schema/placement.js";
import { divided, type PreparedWrite, prepareLines } from "../../../../../server/documents/ingest/prepare.js";
import { IndexState } from "../../../../../server/fleet/owner/index-state.js";
import { AnswerCache } from "../../../../../server/fleet/reads/answer-cache.js";
import { DEFAULT_LIMITS } from "../../../../../server/ground/limits.js";
import { Recorder } from "../../../../../server/ground/metrics/recorder.js";
import { WordMemories } from "../../../../../server/question/words/word-memory.js";
import { Action } from "../../../../../shards/protocol/ops.js";
import { loadEngine } from "../../../engine/load-engine.js";
import { makeRecord } from "../../record.js";

const STANDING = { liveDocs: 7, maxSeq: 9, generation: 4, staleSegments: 0 };

function stateOf(shards: number, uid: number): IndexState {
  const recorder = new Recorder();
  const answers = new AnswerCache(1_000_000, recorder.answerCache);
  const record = { ...makeRecord(), uid, isHome: true as const };
  return new IndexState(record, [STANDING], 1, new Locations(shards), {
    answers,
    words: new WordMemories(),
    recorder,
  });
}

test("indexes have their homes spread evenly over all shards", () => {
  const locations = new Locations(5);
  const homes = Array.from({ length: 100 }, (_, uid) => locations.home(uid).places[0]!);
  for (const shard of locations.all) expect(homes.filter((home) => home === shard).length).toBe(20);
  expect(locations.of({ uid: 7, isHome: true })).toEqual({ data: homeData(7), places: [2] });
  expect(locations.of({ uid: 7 })).toEqual({ data: 7, places: [0, 1, 2, 3, 4] });
});

test("an index's data has one number at home and another once spread", () => {
  for (const uid of [1, 2, 1_000_000]) {
    const [spread, home] = dataNumbers({ uid });
    expect([spread, home]).toEqual([uid, homeData(uid)]);
    expect(home).toBeLessThan(2 ** 32);
    expect([uidOfData(spread!), uidOfData(home!)]).toEqual([uid, uid]);
    expect(dataNumbers({ uid: home! })).toEqual([home]);
  }
});

test("an index starts in one shard if there are several and the limit allows more than one document", () => {
  expect(startsAtHome(2, { homeDocumentsMax: 2 })).toBe(true);
  expect(startsAtHome(1, { homeDocumentsMax: 2 })).toBe(false);
  expect(startsAtHome(2, { homeDocumentsMax: 1 })).toBe(false);
});

test("a read goes where its generation is, a write where the newest one is", () => {
  const state = stateOf(3, 5);
  const { home, spread, generations } = state;
  expect([home.places, spread.places]).toEqual([[2], [0, 1, 2]]);
  expect([state.isHome, state.location, state.newest, state.documents]).toEqual([true, home, home, 7]);
  const before = state.rememberedAt(generations.published);
  const generation = generations.begin();
  const { isHome: _, ...record } = state.record;
  state.spreadFrom(
    generation,
    record,
    [1, 2, 4].map((liveDocs) => ({ ...STANDING, liveDocs })),
  );
  expect([state.isHome, state.location, state.newest, state.documents]).toEqual([false, home, spread, 7]);
  expect(state.locationAt(generation)).toBe(spread);
  expect(state.rememberedAt(generations.published)).toBe(before);
  generations.finish(generation);
  expect([state.location, state.locationAt(generation - 1)]).toEqual([spread, home]);
  expect(state.rememberedAt(generation)).not.toBe(before);
  expect(new Locations(3).of(state.record)).toEqual(spread);
});

test("other threads see all documents of an index while it is being spread", () => {
  const state = stateOf(3, 5);
  const shown = vi.spyOn(state.shared, "documents", "set");
  const told = [1, 2, 4].map((liveDocs) => ({ ...STANDING, liveDocs }));
  state.spreadFrom(state.generations.begin(), state.record, told);
  expect(shown.mock.calls).toEqual([[7]]);
});

test("property: a write prepared for one shard is divided as if it had been prepared for all", async () => {
  const workbench = (await loadEngine("checked")).workbench();
  const actions = fc.constantFrom(Action.UPSERT, Action.CREATE, Action.UPDATE, Action.DELETE);
  const line = fc.record(
    { id: fc.string({ minLength: 1, maxLength: 6 }), n: fc.nat() },
    { requiredKeys: [] },
  );
  const plain = ({ messages, ...write }: PreparedWrite) => ({
    ...write,
    messages: messages.map(({ shard, message }) => ({
      shard,
      message: Buffer.from(message).toString("hex"),
    })),
  });
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1 }),
      actions,
      fc.constantFrom(2, 3, 8),
      (lines, action, shards) => {
        const body = Buffer.from(lines.map((one) => JSON.stringify(one)).join("\n"));
        const prepare = (count: number) => prepareLines(body, action, count, workbench, DEFAULT_LIMITS);
        expect(plain(divided(prepare(1), shards))).toEqual(plain(prepare(shards)));
      },
    ),
  );
});
