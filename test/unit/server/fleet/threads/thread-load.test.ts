// When a thread is so busy that it leaves reads to the shards' threads, or so quiet that it does more of them
// itself, judged by its event loop and by the number of queries that it is answering.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { QueryLoad } from "../../../../../server/fleet/threads/query-load.js";
import { ThreadLoad } from "../../../../../server/fleet/threads/thread-load.js";

const queries = new QueryLoad(QueryLoad.memory(2), 1);
const other = new QueryLoad(queries.shared, 0);
const load = new ThreadLoad(queries, false);

async function until(wantsHelp: boolean, between: () => void): Promise<void> {
  while (load.wantsHelp !== wantsHelp) {
    between();
    await new Promise((resolve) => setTimeout(resolve, wantsHelp ? 0 : 20));
  }
}

function work(): void {
  for (const end = performance.now() + 50; performance.now() < end; );
}

beforeEach(() => {
  for (const thread of [0, 1]) queries.forget(thread);
});

test("a constantly busy thread wants help for its queued queries until it is idle again", async () => {
  queries.begin();
  await until(false, () => undefined);
  await until(true, work);
  await until(false, () => undefined);
  await until(true, work);
});

test("a thread needs no help for one query at a time, whatever other threads answer", async () => {
  queries.begin();
  other.begin();
  await until(true, work);
  queries.end();
  expect([load.wantsHelp, queries.here]).toEqual([false, 0]);
  queries.begin();
  expect([load.wantsHelp, queries.here]).toEqual([true, 1]);
});

test("one of several front-ends never wants help", async () => {
  const several = new ThreadLoad(queries, true);
  queries.begin();
  await until(true, work);
  for (let turns = 0; turns < 8; turns++) {
    work();
    expect(several.wantsHelp).toBe(false);
  }
});

test("a thread is quiet if its event loop waits before each query", async () => {
  const load = new ThreadLoad(queries, false);
  while (!load.begins()) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(load.begins()).toBe(false);
});

/** Replaces the event loop's times, so that tests decide how long it waits and works. */
class MadeLoop {
  #idle = 0;
  #active = 0;

  constructor() {
    vi.spyOn(performance, "eventLoopUtilization").mockImplementation(() => ({
      idle: this.#idle,
      active: this.#active,
      utilization: 0,
    }));
  }

  waits(ms: number): void {
    this.#idle += ms;
  }

  works(ms: number): void {
    this.#active += ms;
  }
}

describe("on a loop that waits and works as told, a thread", () => {
  let loop: MadeLoop;
  let made: ThreadLoad;

  /** Begins queries one at a time. Returns how many find the thread not quiet, until one finds it quiet. */
  function queriesBeforeQuiet(): number {
    for (let before = 0; ; before++) {
      loop.waits(1);
      if (made.begins()) return before;
    }
  }

  beforeEach(() => {
    loop = new MadeLoop();
    made = new ThreadLoad(queries, true);
    expect(queriesBeforeQuiet()).toBe(7);
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("is quiet for queries that come one at a time, however short it waits between them", () => {
    for (let i = 0; i < 100; i++) {
      loop.works(10);
      loop.waits(0.1);
      expect(made.begins()).toBe(true);
    }
  });

  test("is not quiet for the next queries once one has arrived during work for another", () => {
    loop.works(5);
    expect(made.begins()).toBe(false);
    expect(queriesBeforeQuiet()).toBe(7);
  });

  test("is not quiet for the next queries once two have been in progress", () => {
    queries.begin();
    loop.waits(1);
    expect(made.begins()).toBe(false);
    queries.end();
    other.begin();
    expect(queriesBeforeQuiet()).toBe(7);
  });

  test("is not quiet after long work, even if it has waited since the last query", () => {
    loop.waits(50);
    loop.works(500);
    expect(made.begins()).toBe(false);
    expect(queriesBeforeQuiet()).toBe(0);
  });
});
