// Rollups that are computed while the log changes, on a real query log.
import { expect, test } from "vitest";
import { Chunk, encodeAnswered } from "../../../../server/query-log/rows/journal.js";
import { dayOf } from "../../../../server/query-log/rows/time.js";
import { QueryLog } from "../../../../server/query-log/store/query-log.js";
import { rollUpDay } from "../../../../server/query-log/store/roll-up.js";
import { CrashDisk, CrashStore } from "../../../crash/crash-store.js";

const LOG = 7;
const HOUR_MS = 3_600_000;
const START_MS = Date.parse("2026-03-01T00:00:00Z");
const NOW_MS = START_MS + 48 * HOUR_MS;

/** Returns a search in the middle of an hour of the day. */
function searchIn(hour: number): Uint8Array {
  const made = new Chunk(4096);
  const id = { atMs: START_MS + (hour + 0.5) * HOUR_MS, counter: 1, frontEnd: 1 };
  const answer = { text: "hat", mode: "keyword", filtered: false, found: 0, page: 1 } as const;
  made.addSearch(LOG, id, 5, { user: 0, session: 0 }, encodeAnswered(answer, []));
  return made.take();
}

test("a day's rollup is out of date if searches of another hour were added while it was computed", async () => {
  const log = await QueryLog.on(new CrashStore(new CrashDisk()));
  await log.append(searchIn(3), NOW_MS);
  await log.checkpoint();
  await log.upkeep(START_MS + 12 * HOUR_MS); // rolls up the hour; the day is not over yet
  const state = await log.state(LOG);
  const day = dayOf(START_MS);

  const computing = rollUpDay(state, log.store, day);
  await log.append(searchIn(5), NOW_MS);
  await log.checkpoint();
  expect((await computing).isCurrent()).toBe(false);
  await log.close();
});
