// The stored query log stays readable: the fixture gives the same reports as when it was written. Its bytes
// are not compared with current ones, because compressed columns may differ between Node.js releases.
import { expect, test } from "vitest";
import { LogKind } from "../../server/query-log/rows/keys.js";
import { QueryLog } from "../../server/query-log/store/query-log.js";
import { DamagedBytesError } from "../../shards/storage/envelope.js";
import { readFixture } from "./fixture-files.js";
import { QUERY_LOG_FILE, QUERY_LOG_SAYS, queryLogFile, reportsOf, restored } from "./query-log.js";

test("a stored query log still decodes to its original values", async () => {
  const log = await QueryLog.on(await restored(readFixture(QUERY_LOG_FILE)));
  expect(log.damage).toEqual([]);
  expect(await reportsOf(log)).toBe(readFixture(QUERY_LOG_SAYS).toString());
});

test("the fixture has every kind of record, and today's log reports the same", async () => {
  const kinds = new Set<number>();
  const store = await restored(readFixture(QUERY_LOG_FILE), (kind, value) => {
    kinds.add(kind);
    return value;
  });
  expect([...kinds].sort()).toEqual(Object.values(LogKind).sort());
  await store.close();
  const log = await QueryLog.on(await restored(await queryLogFile()));
  expect(await reportsOf(log)).toBe(readFixture(QUERY_LOG_SAYS).toString());
});

const READ = ["counters", "searches", "marks", "events", "dayRollup"] as const;

test.each(READ)("a damaged %s record is refused", async (name) => {
  const store = await restored(readFixture(QUERY_LOG_FILE), (kind, value) => {
    if (kind === LogKind[name]) value[value.length - 1]! ^= 1;
    return value;
  });
  const says = QueryLog.on(store).then(reportsOf);
  await expect(says).rejects.toThrow(DamagedBytesError);
});
