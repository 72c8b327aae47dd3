// When a warm-up sends its queries and when it ends, with a sender that only pretends to search.
import { describe, expect, it, vi } from "vitest";
import { type Clients, WarmUpRun } from "../../../../server/http/warm-up-run.js";
import { makeRecord } from "../record.js";

const SAMPLE_QUERIES = 8;
const WANTED = { uid: 1, documents: 1_000, queriesMax: 60, msMax: 10_000 };
const PAGE = {
  hits: Array.from({ length: 10 }, (_, i) => ({ document: { title: `leather boots number${i}` } })),
};

/**
 * A thread on which a warm-up may run. `statusOf` returns the reply's status for the query with that number
 * in the run; the first ones fetch the sample.
 */
class Thread {
  clients: { -readonly [K in keyof Clients]: Clients[K] } = {
    isServing: false,
    isStopping: false,
    isQuiet: () => true,
  };
  statusOf: (n: number) => number = () => 200;
  onSent: () => void = () => undefined;
  sent = 0;

  run(wanted: Partial<typeof WANTED> = {}): Promise<number> {
    const run = new WarmUpRun({ ...WANTED, ...wanted }, this.clients, async (_, read) => {
      const status = this.statusOf(this.sent++);
      if (status === 200) read(Buffer.from(JSON.stringify(PAGE)));
      this.onSent();
      return status;
    });
    return run.run(makeRecord());
  }
}

/** Runs `work` with a clock that only the test moves. Pauses take real time. */
async function withClock(work: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ["performance"] });
  try {
    await work();
  } finally {
    vi.useRealTimers();
  }
}

describe("a warm-up", () => {
  it("sends as many queries as wanted, with those for the sample", async () => {
    const thread = new Thread();
    expect(await thread.run()).toBe(60 - SAMPLE_QUERIES);
    expect(thread.sent).toBe(60);
  });

  it("sends at most one query per turn of the event loop", async () => {
    const thread = new Thread();
    let sentInTurn = 0;
    let most = 0;
    thread.onSent = () => {
      most = Math.max(most, ++sentInTurn);
      setImmediate(() => {
        sentInTurn = 0;
      });
    };
    await thread.run();
    expect(most).toBe(1);
  });

  it("waits for a quiet moment before each query", async () => {
    const thread = new Thread();
    let looks = 0;
    let isQuiet = false;
    let sentTooEarly = 0;
    thread.clients = { isServing: true, isStopping: false, isQuiet: () => (isQuiet = ++looks % 2 === 0) };
    thread.onSent = () => {
      if (!isQuiet) sentTooEarly++;
      isQuiet = false;
    };
    expect(await thread.run({ queriesMax: SAMPLE_QUERIES + 2 })).toBe(2);
    expect(sentTooEarly).toBe(0);
  });

  it("sends nothing if clients leave no quiet moment", async () => {
    await withClock(async () => {
      const thread = new Thread();
      const isQuiet = (): boolean => {
        vi.advanceTimersByTime(11_000);
        return false;
      };
      thread.clients = { isServing: true, isStopping: false, isQuiet };
      expect(await thread.run()).toBe(0);
      expect(thread.sent).toBe(0);
    });
  });

  it.each([0, 3, 20])("ends when the thread stops after %i queries", async (count) => {
    const thread = new Thread();
    thread.clients.isStopping = count === 0;
    thread.onSent = () => {
      thread.clients.isStopping = thread.sent === count;
    };
    await thread.run();
    expect(thread.sent).toBe(count);
  });

  it("counts the time of all queries, but answers a few of them anyway", async () => {
    await withClock(async () => {
      const thread = new Thread();
      thread.onSent = () => void (thread.sent === 1 && vi.advanceTimersByTime(WANTED.msMax));
      expect(await thread.run()).toBe(20);
    });
  });

  it.each([0, 30])("skips an invalid query, number %i", async (invalid) => {
    const thread = new Thread();
    thread.statusOf = (n) => (n === invalid ? 400 : 200);
    await thread.run();
    expect(thread.sent).toBe(60);
  });

  it("ends although all queries are invalid", async () => {
    const thread = new Thread();
    thread.statusOf = (n) => (n < SAMPLE_QUERIES ? 200 : 400);
    expect(await thread.run()).toBe(0);
    expect(thread.sent).toBe(60);
  });

  it.each([0, 30])("ends when a query fails, number %i", async (failing) => {
    const thread = new Thread();
    thread.statusOf = (n) => (n === failing ? 503 : 200);
    await thread.run();
    expect(thread.sent).toBe(failing + 1);
  });
});
