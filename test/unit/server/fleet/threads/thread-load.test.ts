// When a thread is so busy that it leaves reads to the shards' threads, judged by its event loop and by the
// number of queries that it is answering.
import { beforeEach, expect, test } from "vitest";
import { QueryLoad } from "../../../../../server/fleet/threads/query-load.js";
import { ThreadLoad } from "../../../../../server/fleet/threads/thread-load.js";

const queries = new QueryLoad(QueryLoad.memory(2), 1);
const other = new QueryLoad(queries.shared, 0);
const load = new ThreadLoad(queries, false);

async function until(wantsHelp: boolean, turn: () => void): Promise<void> {
  while (load.wantsHelp !== wantsHelp) {
    turn();
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
