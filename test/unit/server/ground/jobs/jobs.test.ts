// Jobs: order within a subject, independence between subjects, repetition, cancelling, and stopping all jobs.
import { afterEach, expect, test, vi } from "vitest";
import { Jobs } from "../../../../../server/ground/jobs/jobs.js";
import { createLogger } from "../../../../../server/ground/log.js";

const log = createLogger("silent");

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** Runs until it is cancelled. */
function untilCancelled(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
}

const A = { name: "work", subject: "a" };
const B = { name: "work", subject: "b" };

test("a subject's jobs run one after another, whether or not the previous one failed", async () => {
  const jobs = new Jobs(log);
  const story: string[] = [];
  const first = gate();
  const results = [
    jobs.run(A, async () => {
      story.push("first begins");
      await first.passed;
      story.push("first ends");
      throw new Error("it failed");
    }),
    jobs.run(A, async () => {
      story.push("second");
      return 2;
    }),
    jobs.run(A, async () => {
      story.push("third");
      return 3;
    }),
  ];
  const settled = Promise.allSettled(results);
  await jobs.run(B, async () => {
    story.push("another subject");
  });
  first.open();
  expect(await settled).toMatchObject([
    { status: "rejected", reason: { message: "it failed" } },
    { status: "fulfilled", value: 2 },
    { status: "fulfilled", value: 3 },
  ]);
  expect(story).toEqual(["first begins", "another subject", "first ends", "second", "third"]);
});

test("a job is known by its name until it ends", async () => {
  const jobs = new Jobs(log);
  const held = gate();
  const running = jobs.run(A, () => held.passed);
  expect([jobs.has(A), jobs.has(B), jobs.has({ ...A, name: "other work" })]).toEqual([true, false, false]);
  held.open();
  await running;
  await jobs.drain();
  expect(jobs.has(A)).toBe(false);
});

test("a job queued while its subject's last one ends is run", async () => {
  const jobs = new Jobs(log);
  let runs = 0;
  const again = async (): Promise<void> => {
    runs++;
    if (runs < 5) await Promise.resolve().then(() => void jobs.run(A, again));
  };
  await jobs.run(A, again);
  while (jobs.has(A)) await jobs.run(A, async () => undefined);
  expect(runs).toBe(5);
});

test("cancelling aborts the running job, keeps waiting ones from starting, and leaves other subjects alone", async () => {
  const jobs = new Jobs(log);
  let began = false;
  const held = gate();
  const other = jobs.run(B, () => held.passed.then(() => "done"));
  const cancelled = Promise.allSettled([
    jobs.run(A, untilCancelled),
    jobs.run(A, async () => {
      began = true;
    }),
  ]);
  await jobs.run({ ...A, subject: "c" }, async () => undefined); // by now the first job has started
  jobs.cancel("a");
  expect(await cancelled).toMatchObject([
    { status: "rejected", reason: { code: "SK-SYS-503" } },
    { status: "rejected", reason: { code: "SK-SYS-503" } },
  ]);
  expect(began).toBe(false);
  held.open();
  expect(await other).toBe("done");
  expect(await jobs.run(A, async () => "a new one")).toBe("a new one");
});

test("a waiting job is told of its cancellation at once, however long the job before it takes", async () => {
  const jobs = new Jobs(log);
  const held = gate();
  const stubborn = jobs.run(A, () => held.passed);
  const waiting = jobs.run(A, async () => undefined);
  jobs.cancel("a");
  await expect(waiting).rejects.toMatchObject({ code: "SK-SYS-503" });
  held.open();
  await stubborn;
});

test("draining aborts all jobs, waits for those that finish anyway, and accepts no more", async () => {
  const jobs = new Jobs(log);
  const held = gate();
  let finished = false;
  const stubborn = jobs.run(A, async () => {
    await held.passed;
    finished = true;
  });
  const obedient = jobs.run(B, untilCancelled).catch((error: unknown) => error);
  await jobs.run({ ...A, subject: "c" }, async () => undefined);
  const drained = jobs.drain().then(() => finished);
  await expect(jobs.run(A, async () => undefined)).rejects.toMatchObject({ code: "SK-SYS-503" });
  expect(await obedient).toMatchObject({ code: "SK-SYS-503" });
  held.open();
  expect(await drained).toBe(true);
  await stubborn;
});

test("a background job's failure is logged, its cancellation is not", async () => {
  const logged = vi.spyOn(log, "error");
  const jobs = new Jobs(log);
  const failure = new Error("it failed");
  const cancelled = [jobs.start(B, untilCancelled), jobs.start(B, async () => "never begun")];
  await jobs.start(A, () => Promise.reject(failure));
  jobs.cancel("b");
  await Promise.all(cancelled);
  await jobs.start(B, async () => "fine");
  expect(logged.mock.calls).toEqual([[{ err: failure, ...A }, "a background job failed"]]);
});

test("an abort by another component's signal is a failure like any other", async () => {
  const logged = vi.spyOn(log, "error");
  const jobs = new Jobs(log);
  const late = AbortSignal.abort();
  await jobs.start(A, async () => late.throwIfAborted());
  expect(logged).toHaveBeenCalledOnce();
});

test("a delayed job starts once, its delay counts from the last call, and it ends with its subject", async () => {
  vi.useFakeTimers();
  const jobs = new Jobs(log);
  const begun: string[] = [];
  const later = (what: string): void => jobs.after(1_000, A, async () => begun.push(what));
  later("first");
  await vi.advanceTimersByTimeAsync(999);
  later("second");
  await vi.advanceTimersByTimeAsync(999);
  expect(begun).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(begun).toEqual(["second"]);
  later("cancelled");
  jobs.cancel("a");
  later("at the stop");
  await jobs.drain();
  later("after the stop");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(begun).toEqual(["second"]);
});

test("a repeated job recurs even after failures, skips missed turns, and ends with its subject", async () => {
  vi.useFakeTimers();
  vi.spyOn(log, "error");
  const jobs = new Jobs(log);
  const held = gate();
  let turns = 0;
  jobs.every(1_000, A, async () => {
    turns++;
    if (turns === 1) throw new Error("it failed");
    if (turns === 2) await held.passed;
  });
  const after = async (ms: number): Promise<number> => {
    await vi.advanceTimersByTimeAsync(ms);
    return turns;
  };
  expect(await after(999)).toBe(0);
  expect(await after(1)).toBe(1);
  expect(await after(1_000)).toBe(2);
  expect(await after(10_000)).toBe(2);
  held.open();
  expect(await after(1_000)).toBe(3);
  jobs.cancel("a");
  expect(await after(10_000)).toBe(3);
  jobs.every(1_000, A, async () => {
    turns++;
  });
  await jobs.drain();
  expect(await after(10_000)).toBe(3);
});
