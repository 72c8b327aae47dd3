// Monthly plan limits counted by several threads: plans, months, the end of a thread, and stored counts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { UseUnderWay } from "../../../../../server/access/tenants/limiter.js";
import { MonthCounts } from "../../../../../server/access/tenants/month-counts.js";
import { DEFAULT_PLAN } from "../../../../../server/access/tenants/plans.js";
import { Usage } from "../../../../../server/access/tenants/usage.js";
import { Catalog } from "../../../../../server/catalog/catalog.js";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { createLogger } from "../../../../../server/ground/log.js";
import { effort } from "../../../../effort.js";
import { endlessThread, inThreads } from "./together.js";

const MODULE = "server/access/tenants/month-counts.js";
const JUNE = new Date("2030-06-15T12:00:00Z");
const JULY = new Date("2030-07-01T00:00:00Z");
const planOf = (searches: number | null) => ({ ...DEFAULT_PLAN, searches_per_month: searches });

/** Returns the same counts as seen by each thread. */
function countsOf(threads: number): [MonthCounts, ...MonthCounts[]] {
  const tables = MonthCounts.tables(threads);
  const all = Array.from({ length: threads }, (_, thread) => new MonthCounts(tables, thread));
  return all as [MonthCounts, ...MonthCounts[]];
}

const usedOf = (counts: MonthCounts, tenant: number, now = JUNE): number => counts.used(tenant, now).searches;

describe("a month's plan", () => {
  test("counts answered requests, and includes running ones when it refuses", () => {
    const [a, b] = countsOf(2) as [MonthCounts, MonthCounts];
    const first = a.begin("searches", 7, planOf(2), JUNE);
    const second = b.begin("searches", 7, planOf(2), JUNE);
    expect(() => a.begin("searches", 7, planOf(2), JUNE)).toThrow(
      expect.objectContaining({ code: "SK-SYS-429", details: { limit: 2, month: "2030-06" } }),
    );
    expect(usedOf(a, 7)).toBe(0);
    b.end("searches", second, false);
    a.end("searches", first, true);
    expect([usedOf(a, 7), usedOf(b, 7)]).toEqual([1, 1]);
    a.begin("coach", 7, { ...DEFAULT_PLAN, coach_per_month: 1 }, JUNE);
    expect(() => b.begin("coach", 7, { ...DEFAULT_PLAN, coach_per_month: 1 }, JUNE)).toThrow("1 analyses");
    b.end("searches", b.begin("searches", 7, planOf(2), JUNE), true);
    expect(b.used(7, JUNE)).toEqual({ tenant: 7, month: "2030-06", searches: 2, coach: 0 });
  });

  test("counts on beyond what half a word holds", () => {
    const [a, b] = countsOf(2) as [MonthCounts, MonthCounts];
    const running = a.begin("searches", 3, planOf(null), JUNE);
    for (let i = 1; i <= 9_000; i++) {
      a.end("searches", a.begin("searches", 3, planOf(null), JUNE), true);
      if (i % 1_024 < 2) expect(usedOf(b, 3)).toBe(i);
    }
    a.end("searches", running, false);
    expect(usedOf(b, 3)).toBe(9_000);
    expect(() => b.begin("searches", 3, planOf(9_000), JUNE)).toThrow("9000 searches");
  });

  test("starts from zero each month, without requests that began before", () => {
    const [a, b] = countsOf(2) as [MonthCounts, MonthCounts];
    const late = a.begin("searches", 1, planOf(1), JUNE);
    const july = b.begin("searches", 1, planOf(1), JULY);
    a.end("searches", late, true);
    b.end("searches", july, true);
    expect([usedOf(a, 1), usedOf(a, 1, JULY)]).toEqual([1, 1]);
    const august = new Date("2030-08-01T00:00:00Z"); // counting in August overwrites June's counts
    const older = a.begin("searches", 2, planOf(null), JUNE);
    b.end("searches", b.begin("searches", 2, planOf(null), august), true);
    a.end("searches", older, false);
    expect([usedOf(a, 2, august), usedOf(a, 2)]).toEqual([1, 0]);
    b.forget(0);
    expect(usedOf(b, 2, august)).toBe(1);
  });

  test("stores the counts of a tenant with a distant id in a separate row", () => {
    const [a, b] = countsOf(2) as [MonthCounts, MonthCounts];
    a.end("searches", a.begin("searches", 1_000_000, planOf(1), JUNE), true);
    expect([usedOf(b, 1_000_000), usedOf(b, 999_999), usedOf(b, 4_000_000)]).toEqual([1, 0, 0]);
    b.end("searches", b.begin("searches", 999_999, planOf(1), JUNE), true);
    expect(b.takeChanged()).toEqual([999_999, 1_000_000]);
    expect(a.takeChanged()).toEqual([]);
  });

  test("behaves like the naive twin, with dying threads", () => {
    const step = fc.record({
      act: fc.constantFrom("begin", "begin", "answered", "failed", "die"),
      thread: fc.integer({ min: 0, max: 2 }),
      tenant: fc.integer({ min: 0, max: 1 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const tables = MonthCounts.tables(3);
        const threads = [0, 1, 2].map((thread) => new MonthCounts(tables, thread));
        const underWay: UseUnderWay[][] = [[], [], []];
        const used = [0, 0];
        for (const { act, thread, tenant } of steps) {
          const own = threads[thread]!;
          const open = underWay.flat().filter((use) => use.tenant === tenant).length;
          if (act === "begin") {
            if (used[tenant]! + open < 5)
              underWay[thread]!.push(own.begin("searches", tenant, planOf(5), JUNE));
            else expect(() => own.begin("searches", tenant, planOf(5), JUNE)).toThrow("used up");
          } else if (act === "die") {
            underWay[thread] = [];
            threads[(thread + 1) % 3]!.forget(thread);
            threads[thread] = new MonthCounts(tables, thread);
          } else {
            const use = underWay[thread]!.pop();
            if (use === undefined) continue;
            own.end("searches", use, act === "answered");
            if (act === "answered") used[use.tenant]!++;
          }
          for (const counts of threads) expect([usedOf(counts, 0), usedOf(counts, 1)]).toEqual(used);
        }
      }),
      { numRuns: effort(100, 1_000) },
    );
  });
});

describe("several threads", () => {
  test("together admit exactly what the plan allows", async () => {
    const tables = MonthCounts.tables(5);
    const given = { tables, plan: planOf(50), now: JUNE };
    const admitted = await inThreads<number>(
      4,
      MODULE,
      given,
      `const counts = new built.MonthCounts(given.tables, thread);
       let admitted = 0;
       for (let i = 0; i < 64; i++) {
         try {
           counts.end("searches", counts.begin("searches", 3, given.plan, given.now), true);
           admitted++;
         } catch {}
       }
       return admitted;`,
    );
    // If two threads compete for the last request at the same moment, both may be refused; the next request
    // is then admitted.
    let all = admitted.reduce((sum, each) => sum + each, 0);
    const owner = new MonthCounts(tables, 4);
    for (; all < 50; all++) owner.end("searches", owner.begin("searches", 3, given.plan, JUNE), true);
    expect(() => owner.begin("searches", 3, given.plan, JUNE)).toThrow("used up");
    expect([all, usedOf(owner, 3)]).toEqual([50, 50]);
  });

  test("count everything, in rows that grow concurrently, and drop unfinished requests when they end", async () => {
    const tables = MonthCounts.tables(5);
    const given = { tables, plan: planOf(null), now: JUNE, rounds: effort(2_000, 20_000) };
    const counted = await inThreads<number>(
      4,
      MODULE,
      given,
      `const counts = new built.MonthCounts(given.tables, thread);
       let counted = 0;
       for (let i = 0; i < given.rounds; i++) {
         const tenant = i % 7 === 0 ? i : 0;
         const use = counts.begin("searches", tenant, given.plan, given.now);
         if (i % 5 === 4) continue; // it is under way until the thread ends
         const answered = i % 3 !== 0;
         counts.end("searches", use, answered);
         if (answered && tenant === 0) counted++;
       }
       return counted;`,
    );
    const owner = new MonthCounts(tables, 4);
    const sum = counted.reduce((all, each) => all + each, 0);
    expect(usedOf(owner, 0)).toBe(sum);
    for (let thread = 0; thread < 4; thread++) owner.forget(thread);
    expect(usedOf(owner, 0)).toBe(sum);
    const left = planOf(sum + 1); // room for one, because unfinished requests were forgotten
    owner.begin("searches", 0, left, JUNE);
    expect(() => owner.begin("searches", 0, left, JUNE)).toThrow("used up");
  });
});

test("a thread terminated anywhere leaves exactly what it has counted", async () => {
  const tables = MonthCounts.tables(2);
  const owner = new MonthCounts(tables, 0);
  const done = new Int32Array(new SharedArrayBuffer(4));
  for (let round = 0; round < effort(20, 300); round++) {
    const given = { tables, done, plan: planOf(null), now: JUNE };
    const worker = await endlessThread(
      MODULE,
      given,
      `const counts = new built.MonthCounts(given.tables, 1);
       for (let i = 0; ; i++) {
         const use = counts.begin("searches", 1, given.plan, given.now);
         const answered = i % 2 === 0;
         counts.end("searches", use, answered);
         if (answered) Atomics.add(given.done, 0, 1);
       }`,
    );
    for (let before = done[0]!; Atomics.load(done, 0) < before + round * 50; )
      owner.end("searches", owner.begin("searches", 1, planOf(null), JUNE), false);
    await worker.terminate();
    owner.forget(1);
    const used = usedOf(owner, 1);
    expect([0, 1]).toContain(used - done[0]!); // the thread may have ended before it could update `done`
    if (used > 0) expect(owner.takeChanged()).toEqual([1]);
    done[0] = used;
    owner.end("searches", owner.begin("searches", 1, planOf(used + 1), JUNE), false);
    expect(() => owner.begin("searches", 1, planOf(used), JUNE)).toThrow("used up");
  }
});

test("counts are kept in the catalog and continued from there", async () => {
  const directory = mkdtempSync(join(tmpdir(), "skein-usage-"));
  const catalog = await Catalog.open(directory);
  const jobs = new Jobs(createLogger("silent"));
  const tenant = { id: 1, name: "one", plan: "default", createdAt: "2030-01-01T00:00:00Z" };
  await catalog.change(() => ({ type: "tenant.put", tenant }));
  const now = new Date();
  const tables = MonthCounts.tables(2);
  const other = new MonthCounts(tables, 1);
  const usage = new Usage(catalog, jobs, new MonthCounts(tables, 0));
  for (const id of [1, 1, 2]) other.end("searches", other.begin("searches", id, DEFAULT_PLAN, now), true);
  other.begin("searches", 1, DEFAULT_PLAN, now); // stays in progress
  other.end("coach", other.begin("coach", 1, DEFAULT_PLAN, now), true);
  await usage.store();
  const month = now.toISOString().slice(0, 7);
  expect([...catalog.state.usage.values()]).toEqual([{ tenant: 1, month, searches: 2, coach: 1 }]);

  const [again] = countsOf(1);
  new Usage(catalog, jobs, again);
  expect(again.used(1, now)).toEqual({ tenant: 1, month, searches: 2, coach: 1 });
  await jobs.drain();
  await catalog.close();
  rmSync(directory, { recursive: true });
});
