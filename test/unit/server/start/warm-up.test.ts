// When the threads are warmed up, with which indexes, and that a start does not depend on it.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { IndexRecord } from "../../../../server/catalog/records/index-record.js";
import { Jobs } from "../../../../server/ground/jobs/jobs.js";
import { createLogger } from "../../../../server/ground/log.js";
import type { WarmUpWanted } from "../../../../server/http/warm-up-run.js";
import { WarmUps } from "../../../../server/start/warm-up.js";
import { makeRecord } from "../record.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server with one index for each number of documents, whose uids are 1, 2 and so on. */
function world(
  sizes: number[],
  threads: (wanted: WarmUpWanted) => Promise<number> = async () => 1,
  openIndexesMax = 100,
) {
  const logged: unknown[] = [];
  const log = { ...createLogger("fatal"), info: (line: unknown) => logged.push(line) } as never;
  const records = sizes.map((_, i): [number, IndexRecord] => [i + 1, { ...makeRecord(), uid: i + 1 }]);
  const damaged = new Set<number>();
  const resting = new Set<number>();
  const open = new Set<number>();
  const asked: WarmUpWanted[] = [];
  const parts = {
    catalog: { state: { indexes: new Map(records) } },
    indexes: {
      documents: (uid: number) => sizes[uid - 1] ?? 0,
      use: async (uid: number) => {
        if (damaged.has(uid)) throw new Error("damaged");
        open.add(uid);
        return { end: () => open.delete(uid) };
      },
      useLoaded: async (uid: number) => (resting.has(uid) ? undefined : parts.indexes.use(uid)),
    },
    jobs: new Jobs(log),
    limits: { openIndexesMax },
    log,
  };
  const warmUps = new WarmUps(parts as never, (wanted) => {
    expect(open.has(wanted.uid)).toBe(true);
    asked.push(wanted);
    return threads(wanted);
  });
  const present = parts.catalog.state.indexes;
  return {
    warmUps,
    asked,
    logged,
    open,
    resting,
    damaged,
    sizes,
    records,
    present,
    uids: () => asked.map(({ uid }) => uid),
  };
}

describe("a start", () => {
  it("uses the largest indexes, the first one most, and leaves none in use", async () => {
    const { warmUps, asked, open, uids } = world([1_000, 999, 5_000, 2_000, 3_000]);
    await warmUps.begin();
    expect(uids()).toEqual([3, 5, 4]);
    expect(asked[0]!.queriesMax).toBeGreaterThan(asked[1]!.queriesMax);
    expect(open.size).toBe(0);
  });

  it("opens no more indexes than may be open", async () => {
    const { warmUps, uids } = world([1_000, 2_000, 3_000], async () => 1, 2);
    await warmUps.begin();
    expect(uids()).toEqual([3, 2]);
  });

  it("goes on without damaged indexes", async () => {
    const { warmUps, asked, damaged, uids } = world([2_000, 1_000]);
    damaged.add(1);
    await warmUps.begin();
    expect(uids()).toEqual([2]);
    expect(asked[0]!.queriesMax).toBe(500);
  });

  it("does not wait longer than half a second", async () => {
    const { warmUps, uids } = world([1_000], () => new Promise(() => undefined));
    const begun = warmUps.begin();
    await vi.advanceTimersByTimeAsync(500);
    await begun;
    expect(uids()).toEqual([1]);
  });

  it("logs only warm-ups with queries", async () => {
    const { warmUps, logged } = world([2_000, 1_000], async ({ uid }) => (uid === 1 ? 0 : 7));
    await warmUps.begin();
    expect(logged).toMatchObject([{ queries: 7 }]);
  });

  it("succeeds although the threads fail", async () => {
    const { warmUps, open } = world([1_000], () => Promise.reject(new Error("ended")));
    await warmUps.begin();
    expect(open.size).toBe(0);
  });
});

describe("an import", () => {
  it("warms up once it has been quiet for a moment, and only the first time", async () => {
    const { warmUps, sizes, uids } = world([0]);
    await warmUps.begin();
    sizes[0] = 999;
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(uids()).toEqual([]);
    sizes[0] = 1_000;
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(200);
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(200);
    expect(uids()).toEqual([]);
    await vi.advanceTimersByTimeAsync(50);
    expect(uids()).toEqual([1]);
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(uids()).toEqual([1]);
  });

  it("does not wake up an index that has been put to rest", async () => {
    const { warmUps, sizes, resting, uids } = world([0]);
    await warmUps.begin();
    sizes[0] = 1_000;
    resting.add(1);
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(uids()).toEqual([]);
  });

  it("into another index forgets indexes that have been deleted", async () => {
    const { warmUps, sizes, records, present, uids } = world([1_000, 0]);
    await warmUps.begin();
    present.delete(1);
    sizes[1] = 1_000;
    warmUps.written(2);
    await vi.advanceTimersByTimeAsync(1_000);
    present.set(...records[0]!);
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(uids()).toEqual([1, 2, 1]);
  });

  it("into an index that was there at the start does not", async () => {
    const { warmUps, uids } = world([1_000]);
    await warmUps.begin();
    warmUps.written(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(uids()).toEqual([1]);
  });
});
