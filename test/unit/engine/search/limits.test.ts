// After a kernel runs out of memory or time, the instance still works.

import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { ALT_EXACT, FLAG_FACET, FLAG_INDEX, TYPE_STRING } from "../../../../engine-wasm/assembly/layout.js";
import type { Engine } from "../../../../engine-wasm/host/instance/engine.js";
import { EngineModule } from "../../../../engine-wasm/host/instance/engine-module.js";
import { PLAIN_ANALYSIS } from "../../../../engine-wasm/host/instance/workbench.js";
import {
  EVERY_DOCUMENT,
  encodeSearch,
  type SearchProgram,
  type SearchWord,
  type SortKey,
} from "../../../../engine-wasm/host/programs/search-program.js";
import type { WorkLeft } from "../../../../engine-wasm/host/wasm/memory.js";
import { filterOf } from "../../../oracle/filter-operations.js";
import { loadEngine } from "../load-engine.js";

const MIB = 1024 * 1024;
const ROWS = 20_000;
const BROWSE: SearchProgram = { ...EVERY_DOCUMENT, k: 10 };
const TEXT = { proximityWeight: 0.5, averageLength: 3, slots: [{ slot: 0, weight: 1, averageLength: 3 }] };
const RELEVANCE: SortKey = { by: "relevance", descending: true };
const FIELDS = [{ slot: 0, name: "title", type: TYPE_STRING, flags: FLAG_INDEX | FLAG_FACET, language: 0 }];

let unlimited: EngineModule;
let module: EngineModule;
/** `segment` has the first `ROWS` rows, and `later` has the next `ROWS` rows. */
let segment: Uint8Array;
let later: Uint8Array;

afterEach(() => void vi.restoreAllMocks());

beforeAll(async () => {
  unlimited = await loadEngine();
  module = new EngineModule({ ...unlimited.parts, memoryBytesMax: 8 * MIB });
  const titles = Array.from({ length: 2 * ROWS }, (_, i) => `word${i % 100}`);
  [segment, later] = [built(titles.slice(0, ROWS)), built(titles.slice(ROWS), ROWS)];
});

function built(titles: readonly string[], before = 0): Uint8Array {
  const documents = titles.map((title, i) => ({
    seq: before + i + 1,
    raw: Buffer.from(JSON.stringify({ id: `d${before + i}`, title })),
  }));
  return unlimited.workbench().build({ fields: FIELDS, analysis: PLAIN_ANALYSIS }, documents).segment!;
}

/** Returns an engine with the first segment attached, and a function that searches it. */
function opened(): {
  engine: Engine;
  snapshot: number;
  ask: (program: SearchProgram, deadline?: number) => Uint8Array;
} {
  const engine = module.engine();
  const snapshot = engine.setSnapshot([{ segment: engine.attach(segment), live: 0 }]);
  return {
    engine,
    snapshot,
    ask: (program, deadline) => engine.search(snapshot, encodeSearch(program), deadline),
  };
}

describe("running out of memory", () => {
  test("refuses a segment that does not fit and keeps what is there", () => {
    const { engine, ask } = opened();
    const before = ask(BROWSE);
    const attached: number[] = [];
    expect(() => {
      for (let i = 0; i < 100; i++) attached.push(engine.attach(segment));
    }).toThrow(expect.objectContaining({ code: "memory" }));
    expect(engine.usable).toBe(true);
    engine.detach(attached.pop()!); // makes room: a search needs memory too
    expect(ask(BROWSE)).toEqual(before);
    expect(engine.memoryBytes()).toBeLessThanOrEqual(8 * MIB);
  });

  test("refuses a search that needs too much, and the next one works", () => {
    const { engine, ask } = opened();
    const before = ask(BROWSE);
    expect(() => {
      for (;;) engine.reserveSegment(64 * 1024);
    }).toThrow(expect.objectContaining({ code: "memory" }));
    expect(() => ask({ ...BROWSE, k: ROWS })).toThrow(expect.objectContaining({ code: "memory" }));
    expect(engine.usable).toBe(true);
    expect(ask(BROWSE)).toEqual(before);
  });

  test("ends a merge, which frees its memory", () => {
    const engine = module.engine();
    const last = engine.attach(later);
    const handles: number[] = [];
    try {
      for (;;) handles.push(engine.attach(segment));
    } catch {
      engine.detach(handles.pop()!);
    }
    const used = engine.usedBytes();
    const both = [handles[0]!, last].map((handle) => ({ segment: handle, live: 0 }));
    expect(() => {
      const merge = engine.beginMerge(both);
      while (!merge.step(100_000));
    }).toThrow(expect.objectContaining({ code: "memory" }));
    expect(engine.usable).toBe(true);
    expect(engine.usedBytes() - used).toBeLessThan(MIB);
  });
});

describe("running out of time", () => {
  test("stops a search before it starts if its time is already up", () => {
    const { ask } = opened();
    expect(() => ask(BROWSE, Date.now() - 1)).toThrow(expect.objectContaining({ code: "late" }));
  });

  test("stops a search midway, and the next one works", () => {
    const { engine, ask } = opened();
    const before = ask(BROWSE);
    const filter = filterOf({ op: "all" }, ...Array.from({ length: 100 }, () => ({ op: "not" as const })));
    let clock = 0;
    vi.spyOn(Date, "now").mockImplementation(() => clock++);
    expect(() => ask({ ...BROWSE, filter }, 50)).toThrow(expect.objectContaining({ code: "late" }));
    expect(clock).toBe(52); // 51 clock reads within the time limit, plus one beyond it
    clock = 0;
    expect(ask({ ...BROWSE, filter }, 500)).toEqual(before);
    expect(clock).toBeGreaterThan(100);
    expect(engine.usable).toBe(true);
    expect(ask(BROWSE)).toEqual(before);
  });

  test("stops a reader after its amount of work, however long it waits in between", () => {
    const { engine, snapshot } = opened();
    engine.publish([{ generation: 1, address: snapshot }]);
    const reader = module.reader(engine.lend(MIB, () => undefined)!);
    const filter = filterOf({ op: "all" }, ...Array.from({ length: 100 }, () => ({ op: "not" as const })));
    const program = encodeSearch({ ...BROWSE, filter });
    const whole = engine.search(snapshot, program);
    const read = (work: WorkLeft) => reader.answer("search", 1, 1, program, 1_000_000, work);
    for (const waitedMs of [1, 1_000]) {
      let clock = 0;
      const looks = vi.spyOn(Date, "now").mockImplementation(() => (clock += waitedMs));
      looks.mockClear();
      expect(() => read({ leftMs: 50 })).toThrow(expect.objectContaining({ code: "late" }));
      expect(looks).toHaveBeenCalledTimes(52); // one at the start, 50 within the limit, one beyond it
      clock = 0;
      const work = { leftMs: 150 };
      expect(read(work)).toEqual(whole);
      expect(work.leftMs).toBeLessThan(50);
      clock = 0;
      // The first read has left too little time for a second.
      expect(() => read(work)).toThrow(expect.objectContaining({ code: "late" }));
    }
  });

  test("is noticed by a search of many words while it scores rows and while it measures proximity", () => {
    const titles = Array.from({ length: 4_000 }, (_, i) => `red shoe w${i}`);
    const engine = module.engine();
    const snapshot = engine.setSnapshot([{ segment: engine.attach(built(titles)), live: 0 }]);
    const word = (frequent: string, rare: number): SearchWord => ({
      weight: 1,
      alternatives: [frequent, ...titles.slice(0, rare).map((_, i) => `w${i}`)].map((term) => ({
        kind: ALT_EXACT,
        typos: 0,
        exact: true,
        sequence: false,
        useForProximity: true,
        boost: 1,
        terms: [{ term, prefix: false }],
      })),
    });
    const looks = (words: SearchWord[]): number => {
      let count = 0;
      vi.spyOn(Date, "now").mockImplementation(() => count++);
      const program = { ...EVERY_DOCUMENT, ...TEXT, sort: [RELEVANCE], k: 10, words };
      engine.search(snapshot, encodeSearch(program), Number.MAX_SAFE_INTEGER);
      return count;
    };
    const both = [word("red", 0), word("shoe", 0)];
    const many = Array.from({ length: 10 }, () => both).flat();
    expect(looks(many)).toBeGreaterThanOrEqual(78); // 20 lists are checked for each of 4,000 rows
    const alternatives = [word("red", 100), word("shoe", 100)];
    // Each of the 200 additional alternatives steps through all 4,000 rows.
    expect(looks(alternatives) - looks(both)).toBeGreaterThanOrEqual(40);
  });
});
