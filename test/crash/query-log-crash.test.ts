// Simulates a power failure at every query log sync in turn, with the batch being synced lost or kept. After
// reopening, reports must count every acknowledged row exactly once, and the chunk in progress completely or
// not at all. Covers typing, clicks by id and by text, retried and late events, blocks of several hours,
// rollups, merges, a forgotten person, and expiring rows.
import { describe, expect, test } from "vitest";
import { reportOf } from "../../server/query-log/reports/report.js";
import { Chunk, encodeAnswered, type JournalEvent, type Row } from "../../server/query-log/rows/journal.js";
import { forgetPerson } from "../../server/query-log/store/forget-person.js";
import { QueryLog } from "../../server/query-log/store/query-log.js";
import { CrashDisk, CrashStore, FrozenError } from "./crash-store.js";

const START_MS = Date.parse("2026-03-01T22:10:00Z");
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const CHUNK_BYTES = 64 * 1024;
const LOGS = [1, 2];
const ANN = 11;
const BOB = 12;

interface Step {
  readonly name: string;
  /** True if the step adds rows, so it must not be repeated. Any other step may be repeated. */
  readonly adds: boolean;
  /**
   * True if the step deletes. Deletions become durable with the next write; until then, each start repeats
   * them.
   */
  readonly deletes: boolean;
  run(log: QueryLog): Promise<unknown>;
}

let counter = 0;
const ids = new Map<string, { atMs: number; counter: number; frontEnd: number }>();

function search(minute: number, text: string, user: number, log = 1, found = 3): (chunk: Chunk) => void {
  const id = { atMs: START_MS + minute * MINUTE_MS, counter: ++counter, frontEnd: 7 };
  ids.set(text, id);
  const documents = found === 0 ? [] : [Buffer.from("a"), Buffer.from("b")];
  const answered = encodeAnswered({ text, mode: "keyword", filtered: false, found, page: 1 }, documents);
  return (chunk) => expect(chunk.addSearch(log, id, 100, { user, session: 0 }, answered)).toBe(true);
}

function click(minute: number, user: number, more: Partial<JournalEvent>): (chunk: Chunk) => void {
  return (chunk) => {
    const row: Extract<Row, { kind: "event" }>["row"] = {
      log: 1,
      type: "click",
      atMs: START_MS + minute * MINUTE_MS,
      search: null,
      query: "",
      document: "a",
      position: 1,
      value: 0,
      eventId: "",
      user,
      session: 0,
      ...more,
    };
    expect(chunk.addEvent(row)).toBe(true);
  };
}

function append(name: string, minute: number, ...rows: ((chunk: Chunk) => void)[]): Step {
  return {
    name,
    adds: true,
    deletes: false,
    run(log) {
      const chunk = new Chunk(CHUNK_BYTES);
      for (const row of rows) row(chunk);
      return log.append(chunk.take(), START_MS + minute * MINUTE_MS);
    },
  };
}

const step = (name: string, run: Step["run"]): Step => ({ name, adds: false, deletes: false, run });
const deletion = (name: string, run: Step["run"]): Step => ({ name, adds: false, deletes: true, run });
const upkeep = (minute: number): Step =>
  step(`upkeep after ${minute} minutes`, (log) => log.upkeep(START_MS + minute * MINUTE_MS));

const STORY: readonly Step[] = [
  append("typing", 0, search(0, "h", ANN), search(0.05, "he", ANN), search(0.1, "hea", ANN)),
  append("others", 1, search(1, "hat", BOB), search(1, "nothing", 0, 1, 0), search(1, "other log", ANN, 2)),
  append("a click by text", 2, click(2, BOB, { query: "hat" })),
  step("a checkpoint", (log) => log.checkpoint()),
  append("more of the hour", 20, search(20, "cap", ANN), search(20.01, "cape", ANN)),
  append(
    "clicks on blocks",
    21,
    click(21, ANN, { query: "hea" }),
    click(21, BOB, { eventId: "once", query: "hat" }),
  ),
  append("a retry", 22, click(22, BOB, { eventId: "once", query: "hat" })),
  step("another checkpoint", (log) => log.checkpoint()),
  append("the next hour", 70, search(70, "scarf", BOB)),
  append("a click by id", 71, (chunk) => click(71, ANN, { search: ids.get("cape") ?? null })(chunk)),
  upkeep(75),
  append("the next day", 1_500, search(1_500, "glove", ANN), search(1_501, "glove", BOB)),
  append("a late conversion", 1_502, click(3, ANN, { type: "conversion", value: 5_000, document: "b" })),
  upkeep(1_510),
  step("a person is forgotten", (log) => forgetPerson(log, 1, ANN)),
  upkeep(3_200),
  append("after two days", 3_300, search(3_300, "hat", ANN), click(3_300, ANN, { query: "hat" })),
  deletion("old rows go", (log) => log.sweep(START_MS + 91 * DAY_MS, Number.POSITIVE_INFINITY, () => true)),
  append("much later", 91 * 1_440, search(91 * 1_440, "glove", BOB)),
  deletion("a log is deleted", (log) => log.drop(2)),
  step("the last checkpoint", (log) => log.checkpoint()),
];

/** Returns all reports of both logs, for the whole time and for a part of it. */
async function counts(log: QueryLog): Promise<unknown> {
  const windows = [
    { fromMs: START_MS - DAY_MS, toMs: START_MS + 100 * DAY_MS },
    { fromMs: START_MS + 5 * MINUTE_MS, toMs: START_MS + 1_502 * MINUTE_MS },
  ];
  const reports: unknown[] = [];
  for (const one of LOGS)
    for (const window of windows) {
      for (const kind of ["queries", "no-results", "documents"] as const)
        reports.push(await reportOf(log, { log: one, window, kind, limit: 100 }));
      reports.push(await reportOf(log, { log: one, window, kind: "summary", interval: "day" }));
    }
  return reports;
}

/** A store that delays its first batch, so that later batches overtake it. */
class UnevenStore extends CrashStore {
  #ticks = 20;

  override async batch(...args: Parameters<CrashStore["batch"]>): Promise<void> {
    const ticks = this.#ticks;
    this.#ticks = 0;
    for (let left = ticks; left > 0; left--) await new Promise(setImmediate);
    await super.batch(...args);
  }
}

test("chunks appended at the same time are stored once, even with a checkpoint between them", async () => {
  const disk = new CrashDisk();
  const log = await QueryLog.on(new UnevenStore(disk));
  const appends = [0, 1].map((i) => append("one", 0, search(0, `text ${i}`, 0)).run(log));
  await appends[1];
  await log.checkpoint();
  await appends[0];
  await log.checkpoint();
  const opened = await QueryLog.on(new CrashStore(disk));
  const window = { fromMs: START_MS, toMs: START_MS + 1 };
  const queries = await reportOf(opened, { log: 1, window, kind: "queries", limit: 100 });
  expect(queries).toMatchObject([0, 1].map((i) => ({ query: `text ${i}`, count: 1 })));
});

describe("a query log that loses power", () => {
  for (const keepsLast of [false, true]) {
    test(`at any sync, with its batch ${keepsLast ? "kept" : "lost"}`, async () => {
      const calm = new CrashDisk();
      const known = await QueryLog.on(new CrashStore(calm));
      const states = [await counts(known)];
      const syncs: number[] = [];
      for (const { run } of STORY) {
        await run(known);
        states.push(await counts(known));
        syncs.push(calm.syncs);
      }
      expect(new Set(states.map((state) => JSON.stringify(state))).size).toBeGreaterThan(8);
      for (let freezeAt = 1; freezeAt <= calm.syncs; freezeAt++) {
        const disk = new CrashDisk();
        Object.assign(disk, { freezeAt, keepsLast });
        const broken = await QueryLog.on(new CrashStore(disk));
        const at = syncs.findIndex((sync) => sync >= freezeAt);
        for (const { run } of STORY.slice(0, at)) await run(broken);
        const { name, adds, run } = STORY[at]!;
        await expect(run(broken), name).rejects.toThrow(FrozenError);
        disk.freezeAt = 0;
        const opened = await QueryLog.on(new CrashStore(disk));
        expect(opened.damage).toEqual([]);
        for (const { deletes, run } of STORY.slice(0, at)) if (deletes) await run(opened);
        const isDone = adds && keepsLast;
        if (adds) expect(await counts(opened), name).toEqual(states[isDone ? at + 1 : at]);
        if (!isDone) await run(opened);
        expect(await counts(opened), `after ${name}`).toEqual(states[at + 1]);
        for (const one of STORY.slice(at + 1)) await one.run(opened);
        expect(await counts(opened), `the end after ${name}`).toEqual(states.at(-1));
      }
    });
  }
});
