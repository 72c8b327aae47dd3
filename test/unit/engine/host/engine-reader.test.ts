// An engine whose memory another instance reads: the reader's results and refusals, and that nothing is freed
// while the reader may still see it.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Random } from "../../../../bench/random.js";
import { BOARD_BYTES, Board, READERS_MAX } from "../../../../engine-wasm/host/instance/board.js";
import { type Engine, liveBytes } from "../../../../engine-wasm/host/instance/engine.js";
import type { EngineReader } from "../../../../engine-wasm/host/instance/engine-reader.js";
import type { LentMemory } from "../../../../engine-wasm/host/instance/sharing.js";
import { encodeNearest } from "../../../../engine-wasm/host/programs/nearest-program.js";
import { decodeNearestResult } from "../../../../engine-wasm/host/programs/nearest-result.js";
import { EVERY_DOCUMENT, encodeSearch } from "../../../../engine-wasm/host/programs/search-program.js";
import { brokenAssertions } from "../../../broken-assertions.js";
import { effort } from "../../../effort.js";
import { decodeSearchResult } from "../../../oracle/decoded-result.js";
import { plainRecords } from "../../../oracle/vectors/codes.js";
import { loadEngine } from "../load-engine.js";
import { type Catalogue, groupsOf, makeCatalogue, picker, randomDocument } from "../segments/catalogue.js";
import { randomQuery, randomVector } from "../vectors/random-vectors.js";

const module = await loadEngine();
const bench = module.workbench();
const PROGRAM = encodeSearch(EVERY_DOCUMENT);
const NEVER = Number.POSITIVE_INFINITY;
const SCRATCH = 1 << 20;

function catalogue(count: number, seed = 1): Catalogue {
  const pick = picker(seed);
  const documents = Array.from({ length: count }, (_, i) => randomDocument(i, pick));
  return makeCatalogue(module, bench, groupsOf(documents, [Math.ceil(count / 2)]), (i) => i % 5 === 2);
}

/** Publishes the catalogue as generation 1 and lends the engine's memory to a reader. */
function lent(made: Catalogue, onEnd = (): void => undefined): { reader: EngineReader; lent: LentMemory } {
  made.engine.publish([{ generation: 1, address: made.snapshot }]);
  const memory = made.engine.lend(SCRATCH, onEnd)!;
  return { reader: module.reader(memory), lent: memory };
}

function found(answer: Uint8Array | null): number | null {
  return answer === null ? null : decodeSearchResult(answer, EVERY_DOCUMENT).found;
}

test("a reader answers like the engine, before and after the owner's own work", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.integer(), (count, seed) => {
      const made = catalogue(count, seed);
      const { reader } = lent(made);
      const expected = made.engine.search(made.snapshot, PROGRAM);
      expect(reader.answer("search", 1, 1, PROGRAM, NEVER)).toEqual(expected);
      for (let i = 0; i < 3; i++) made.engine.liveAll(100_000); // reserves memory, so that it grows
      made.engine.search(made.snapshot, PROGRAM);
      expect(reader.answer("search", 1, 1, PROGRAM, NEVER)).toEqual(expected);
    }),
    { numRuns: effort(20, 300) },
  );
});

test("a reader uses the snapshot's codes, and sees codes that rows receive later", () => {
  const random = new Random(1);
  const question = encodeNearest(randomQuery(random), 1000, PROGRAM);
  const { engine, entries } = catalogue(150);
  const rows = entries.map(({ segment }) => engine.rows(segment));
  const codes = rows.map((count) => engine.newCodes(count));
  const snapshot = engine.setSnapshot(entries.map((entry, i) => ({ ...entry, codes: codes[i]! })));
  engine.publish([{ generation: 1, address: snapshot }]);
  const reader = module.reader(engine.lend(SCRATCH, () => undefined)!);
  const compared: number[] = [];
  for (let row = 0; row < rows[0]!; row++) {
    const answer = reader.answer("nearest", 1, 1, question, NEVER)!;
    expect(answer).toEqual(engine.nearest(snapshot, question));
    compared.push(decodeNearestResult(answer).compared);
    engine.fillCodes(codes[0]!, row, plainRecords([row % 3 === 2 ? null : randomVector(random)]));
  }
  expect(compared[0]).toBe(0);
  expect(compared.at(-1)).toBeGreaterThan(rows[0]! / 3);
});

test("two readers and the owner each have their own scratch memory", () => {
  const made = catalogue(150);
  const first = lent(made).reader;
  const second = module.reader(made.engine.lend(SCRATCH, () => undefined)!);
  const expected = made.engine.search(made.snapshot, PROGRAM);
  for (let i = 0; i < 3; i++) {
    expect(first.answer("search", 1, 1, PROGRAM, NEVER)).toEqual(expected);
    expect(second.answer("search", 1, 1, PROGRAM, NEVER)).toEqual(expected);
    expect(made.engine.search(made.snapshot, PROGRAM)).toEqual(expected);
  }
});

test("a read gets the newest snapshot not newer than its generation, or null if the board has none", () => {
  const { engine, entries, snapshot } = catalogue(100);
  const half = engine.setSnapshot(entries.slice(0, 1));
  const none = engine.setSnapshot([]);
  engine.publish([
    { generation: 3, address: none },
    { generation: 5, address: half },
    { generation: 9, address: snapshot },
  ]);
  const reader = module.reader(engine.lend(SCRATCH, () => undefined)!);
  const at = (generation: number): number | null =>
    found(reader.answer("search", generation, 1, PROGRAM, NEVER));
  const [whole, part] = [80, 40];
  expect([1, 3, 4, 5, 8, 9, 10].map(at)).toEqual([0, 0, 0, part, part, whole, whole]);
  engine.publish(Array.from({ length: 20 }, (_, i) => ({ generation: i + 1, address: snapshot })));
  expect([1, 12, 13, 20].map(at)).toEqual([null, null, whole, whole]);
});

test("a read that no longer needs the oldest snapshots is left to the owner, which drops them", () => {
  const { engine, snapshot } = catalogue(10);
  const { reader } = lent({ engine, snapshot } as Catalogue);
  engine.publish([
    { generation: 1, address: snapshot },
    { generation: 2, address: snapshot },
  ]);
  expect(found(reader.answer("search", 2, 1, PROGRAM, NEVER))).toBe(8);
  expect(reader.answer("search", 2, 2, PROGRAM, NEVER)).toBeNull();
});

test("memory that a reader may see is freed when it leaves, all other memory at once", () => {
  const made = catalogue(400);
  const { engine } = made;
  const { lent: memory } = lent(made);
  const board = new Board(memory.memory.buffer, memory.board);
  const older = engine.setSnapshot(made.entries.slice(0, 1));
  engine.publish([{ generation: 1, address: older }]);
  const used = engine.usedBytes();
  expect(board.enter(memory.reader)).toBe(board.epoch);
  engine.publish([{ generation: 2, address: made.snapshot }]);
  engine.releaseSnapshot(older);
  expect(engine.usedBytes()).toBe(used);
  const unseen = engine.liveAll(64_000);
  engine.liveRelease(unseen); // not freed yet: the reader may have seen its address
  expect(engine.usedBytes()).toBeGreaterThanOrEqual(used + liveBytes(64_000));
  board.leave(memory.reader);
  expect(engine.usedBytes()).toBeLessThan(used);
  const again = engine.liveAll(64_000);
  engine.liveRelease(again);
  expect(engine.usedBytes()).toBeLessThan(used);
});

test("a reader that enters after a change does not keep the previous state alive", () => {
  const made = catalogue(50);
  const { engine } = made;
  const { lent: memory } = lent(made);
  const board = new Board(memory.memory.buffer, memory.board);
  const older = engine.setSnapshot([]);
  engine.publish([{ generation: 1, address: older }]);
  engine.publish([{ generation: 2, address: made.snapshot }]);
  const used = engine.usedBytes();
  board.enter(memory.reader);
  engine.releaseSnapshot(older);
  expect(engine.usedBytes()).toBeLessThan(used);
});

test("readers learn of the end, after a renewal or the engine's end, and read no more", () => {
  for (const end of [(engine: Engine) => engine.renew([]), (engine: Engine) => engine.end()]) {
    const made = catalogue(20);
    let ends = 0;
    const { reader, lent: memory } = lent(made, () => ends++);
    expect(reader.ended).toBe(false);
    end(made.engine);
    expect([reader.ended, ends]).toEqual([true, 1]);
    expect(reader.answer("search", 1, 1, PROGRAM, NEVER)).toBeNull();
    made.engine.takeBack(memory); // no effect: the end has already been reported
    made.engine.end();
    expect(ends).toBe(1);
  }
});

test("a reader's place on the board and its scratch are reused", () => {
  const made = catalogue(20);
  const { engine } = made;
  engine.publish([{ generation: 1, address: made.snapshot }]);
  const first = engine.lend(SCRATCH, () => undefined)!;
  const used = engine.usedBytes();
  const more = Array.from({ length: READERS_MAX - 1 }, () => engine.lend(64, () => undefined)!);
  expect(new Set([first, ...more].map(({ reader }) => reader)).size).toBe(READERS_MAX);
  expect(engine.lend(64, () => undefined)).toBeNull();
  for (const one of more) engine.takeBack(one);
  expect(engine.usedBytes()).toBe(used);
  engine.takeBack(first);
  expect(engine.usedBytes()).toBeLessThanOrEqual(used - SCRATCH);
  engine.takeBack(first);
  expect(engine.lend(64, () => undefined)!.reader).toBe(first.reader);
});

test("too little scratch fails the read, but ends neither the reader nor the engine", () => {
  const made = catalogue(200);
  made.engine.publish([{ generation: 1, address: made.snapshot }]);
  const small = module.reader(made.engine.lend(PROGRAM.length + 256, () => undefined)!);
  for (let i = 0; i < 2; i++)
    expect(() => small.answer("search", 1, 1, PROGRAM, NEVER)).toThrow(
      expect.objectContaining({ code: "memory" }),
    );
  expect(() => small.answer("search", 1, 1, PROGRAM, Date.now() - 1)).toThrow(
    expect.objectContaining({ code: "late" }),
  );
  expect(found(made.engine.search(made.snapshot, PROGRAM))).toBe(160);
});

test("a trap in a reader ends only that reader", async () => {
  const made = catalogue(20);
  const { reader } = lent(made);
  made.engine.publish([{ generation: 1, address: 0xfffffff0 }]);
  const printed = await brokenAssertions(() =>
    expect(() => reader.answer("search", 1, 1, PROGRAM, NEVER)).toThrow(
      expect.objectContaining({ code: "trap" }),
    ),
  );
  expect(printed).toMatch(/assertion failed: an address lies inside what the arena has given out/);
  expect(() => reader.answer("search", 1, 1, PROGRAM, NEVER)).toThrow(
    expect.objectContaining({ code: "unusable" }),
  );
  made.engine.publish([{ generation: 1, address: made.snapshot }]);
  expect(found(made.engine.search(made.snapshot, PROGRAM))).toBe(16);
  expect(
    found(module.reader(made.engine.lend(SCRATCH, () => undefined)!).answer("search", 1, 1, PROGRAM, NEVER)),
  ).toBe(16);
});

test("a table that changes during a read returns nothing", () => {
  const board = new Board(new SharedArrayBuffer(BOARD_BYTES), 0);
  board.clear();
  board.write([{ generation: 1, address: 16 }]);
  const entered = board.enter(0);
  expect(board.snapshotOf(1, 1, entered)).toBe(16);
  board.write([{ generation: 1, address: 32 }]);
  expect(board.snapshotOf(1, 1, entered)).toBeNull();
  const reads = board.reads;
  board.leave(0);
  expect(board.reads).toBe(reads + 1);
});

test("a board survives the wraparound of its epoch", () => {
  const words = new Int32Array(new SharedArrayBuffer(BOARD_BYTES));
  const board = new Board(words.buffer, 0);
  board.clear();
  words[0] = -4; // sets the epoch
  expect(board.enter(0)).toBe(-4);
  const before = board.epoch;
  for (let i = 0; i < 3; i++) board.write([{ generation: i, address: 16 }]);
  expect(board.epoch).not.toBe(0);
  expect([board.isUnseenSince(before), board.isUnseenSince(board.epoch)]).toEqual([true, false]);
  board.leave(0);
  expect(board.isUnseenSince(board.epoch)).toBe(true);
});
