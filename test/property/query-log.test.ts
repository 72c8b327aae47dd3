// Compares random logs with the naive model (test/oracle/query-log.ts): searches typed letter by letter,
// clicks by id and by text, retries and late events, over hours and days, interrupted by checkpoints, rollups
// and crashes, and reported over windows of any length. SKEIN_PROPERTY_SEED repeats a run.
import fc from "fast-check";
import { expect, test } from "vitest";
import { reportOf } from "../../server/query-log/reports/report.js";
import { Chunk, encodeAnswered, type JournalEvent } from "../../server/query-log/rows/journal.js";
import { QueryLog } from "../../server/query-log/store/query-log.js";
import { CrashDisk, CrashStore } from "../crash/crash-store.js";
import { effort } from "../effort.js";
import { QueryLogTwin, type TwinSearch, type TwinWindow } from "../oracle/query-log.js";
import { SEED } from "./seed.js";

const STORIES = effort(150, 10_000);
const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const START_MS = Date.parse("2026-03-01T21:30:00Z");
const CHUNK_BYTES = 1024 * 1024;
const FRONT_ENDS = [7, 2 ** 48 - 1];

/** Texts that are prefixes of one another, other spellings of the same text, and unrelated ones. */
const TEXTS = [
  "h",
  "He",
  "hea",
  "headphones ",
  "headphones",
  "HEADPHONES",
  "cable",
  "ca",
  "ﬁlm",
  "film",
  "😀",
  "ﬀ",
];
const PEOPLE = [
  { user: 0, session: 0 },
  { user: 11, session: 0 },
  { user: 0, session: 21 },
  { user: 12, session: 21 },
  { user: 12, session: 22 },
];
const DOCUMENTS = ["a", "b", "é", "😀"];
const LOGS = [1, 2];

type Step =
  | {
      does: "search";
      log: number;
      text: string;
      person: number;
      found: number;
      took: number;
      frontEnd: number;
      early: number;
    }
  | {
      does: "click";
      log: number;
      person: number;
      of: number;
      by: "id" | "text" | "nothing";
      document: string;
      id: number;
      agoMs: number;
      buys: boolean;
    }
  | { does: "wait"; ms: number }
  | { does: "checkpoint" | "upkeep" | "crash" | "sweep" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      does: fc.constant("search" as const),
      log: fc.constantFrom(...LOGS),
      text: fc.constantFrom(...TEXTS),
      person: fc.nat(PEOPLE.length - 1),
      found: fc.constantFrom(0, 0, 1, 17),
      took: fc.nat(900),
      frontEnd: fc.nat(1),
      early: fc.constantFrom(0, 0, 0, 40, 900),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant("click" as const),
      log: fc.constantFrom(...LOGS),
      person: fc.nat(PEOPLE.length - 1),
      of: fc.nat(30),
      by: fc.constantFrom("id" as const, "text" as const, "nothing" as const),
      document: fc.constantFrom(...DOCUMENTS),
      id: fc.nat(6),
      agoMs: fc.constantFrom(0, 0, 1_000, 20 * MINUTE_MS, 50 * 60 * MINUTE_MS),
      buys: fc.boolean(),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      ms: fc.constantFrom(
        1,
        900,
        3_000,
        4_999,
        5_000,
        5_001,
        10 * MINUTE_MS,
        29 * MINUTE_MS,
        61 * MINUTE_MS,
        1_500 * MINUTE_MS,
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom(
        "checkpoint" as const,
        "upkeep" as const,
        "upkeep" as const,
        "crash" as const,
        "sweep" as const,
      ),
    }),
  },
);

class Story {
  readonly twin = new QueryLogTwin();
  readonly #disk = new CrashDisk();
  readonly #chunk = new Chunk(CHUNK_BYTES);
  readonly #made: TwinSearch[] = [];
  #log!: QueryLog;
  nowMs = START_MS;
  #counter = 0;

  async open(): Promise<void> {
    this.#log = await QueryLog.on(new CrashStore(this.#disk));
  }

  async take(step: Step): Promise<void> {
    if (step.does === "wait") this.nowMs += step.ms;
    else if (step.does === "search") await this.#search(step);
    else if (step.does === "click") await this.#click(step);
    else if (step.does === "checkpoint") await this.#log.checkpoint();
    else if (step.does === "upkeep") await this.#log.upkeep(this.nowMs);
    else if (step.does === "sweep") await this.#log.sweep(this.nowMs, Number.POSITIVE_INFINITY, () => true);
    else await this.open();
  }

  async #search({
    log,
    text,
    person,
    found,
    took,
    frontEnd,
    early,
  }: Extract<Step, { does: "search" }>): Promise<void> {
    const row: TwinSearch = {
      log,
      id: { atMs: this.nowMs - early, counter: ++this.#counter, frontEnd: FRONT_ENDS[frontEnd]! },
      took,
      ...PEOPLE[person]!,
      text,
      mode: "keyword",
      filtered: false,
      found,
      page: 1,
      documents: found === 0 ? [] : ["a", "b"],
    };
    const ids = row.documents.map((id) => Buffer.from(id));
    expect(this.#chunk.addSearch(log, row.id, took, row, encodeAnswered(row, ids))).toBe(true);
    await this.#append();
    this.twin.addSearch(row);
    this.#made.push(row);
  }

  async #click({
    log,
    person,
    of,
    by,
    document,
    id,
    agoMs,
    buys,
  }: Extract<Step, { does: "click" }>): Promise<void> {
    const search = this.#made.at(-1 - of);
    const row: JournalEvent = {
      log,
      type: buys ? "conversion" : "click",
      atMs: this.nowMs - agoMs,
      search: by === "id" && search !== undefined ? search.id : null,
      query: by === "text" ? (search?.text ?? "never searched") : "",
      document,
      position: 0,
      value: buys ? 12_345 : 0,
      eventId: id === 0 ? `event ${document}` : "",
      ...PEOPLE[person]!,
    };
    expect(this.#chunk.addEvent(row)).toBe(true);
    await this.#append();
    this.twin.addEvent(row);
  }

  #append(): Promise<void> {
    return this.#log.append(this.#chunk.take(), this.nowMs);
  }

  async check(log: number, window: TwinWindow, limit: number): Promise<void> {
    const { twin } = this;
    const report = (request: object) => reportOf(this.#log, { log, window, ...request } as never);
    expect(await report({ kind: "queries", limit })).toEqual(twin.queries(log, window, limit));
    expect(await report({ kind: "no-results", limit })).toEqual(twin.noResults(log, window, limit));
    expect(await report({ kind: "documents", limit })).toEqual(twin.documents(log, window, limit));
    for (const interval of ["hour", "day"] as const)
      expect(await report({ kind: "summary", interval })).toEqual(twin.summary(log, window, interval));
  }
}

/** Returns the window from the beginning of the story's first day to the end of the current day. */
function wholeDays(nowMs: number): TwinWindow {
  const dayOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
  return { fromMs: dayOf(START_MS), toMs: dayOf(nowMs) + DAY_MS };
}

test("reports equal the twin's counts", async () => {
  const story = fc.record({
    steps: fc.array(step, { minLength: 5, maxLength: 120 }),
    windows: fc.array(fc.tuple(fc.nat(6_000), fc.nat(6_000), fc.constantFrom(1, 2, 3, 100)), {
      minLength: 1,
      maxLength: 3,
    }),
  });
  await fc.assert(
    fc.asyncProperty(story, async ({ steps, windows }) => {
      const told = new Story();
      await told.open();
      for (const [i, one] of steps.entries()) {
        await told.take(one);
        if (i % 20 === 19) await told.check(1, wholeDays(told.nowMs), 100);
      }
      for (const [before, length, limit] of windows) {
        const fromMs = Math.floor(told.nowMs / MINUTE_MS) * MINUTE_MS - before * MINUTE_MS;
        for (const log of LOGS) await told.check(log, { fromMs, toMs: fromMs + length * MINUTE_MS }, limit);
      }
    }),
    { seed: SEED, numRuns: STORIES },
  );
});
