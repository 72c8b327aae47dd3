// Scheduled data source runs, with a clock that the test sets: runs on time, after downtime and after the
// clock was wrong, and skipped runs.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FeedServer, startFeedServer } from "../world/feed-server.js";
import {
  ended,
  FROM_LOOPBACK,
  makeSource,
  type Run,
  runsOf,
  type Source,
  sync,
  syncNow,
} from "../world/feeds.js";
import { eventually, expectStatus, type TestServer } from "../world/harness.js";
import { sharedServer } from "../world/shared-server.js";
import { ServerClock } from "./server-clock.js";

const SCHEMA = { fields: [{ name: "title", type: "string" }] };
const FEED = { body: JSON.stringify([{ id: "p", title: "chair" }]) };
const HOURLY = "0 * * * *";

let feeds: FeedServer;

beforeAll(async () => {
  feeds = await startFeedServer();
});

afterAll(() => feeds.close());

async function shop(server: TestServer, index: string, body: object = {}): Promise<Source> {
  await server.createIndex(index, SCHEMA);
  feeds.route(`/${index}`, FEED);
  return makeSource(server, index, {
    url: feeds.url(`/${index}`),
    format: "json",
    schedule: HOURLY,
    ...body,
  });
}

/** Creates a describe block's clock before its server starts, and removes it at the end. */
function clockAt(time: string): ServerClock {
  const clock = new ServerClock();
  beforeAll(() => clock.set(time));
  afterAll(() => clock.remove());
  return clock;
}

const shown = async (server: TestServer, { path }: Source) => (await server.get(path)).json.data;

const nextRunAt = async (server: TestServer, source: Source) =>
  (await shown(server, source)).next_run_at as string;

/**
 * Waits until `count` runs exist and none is running. Returns the trigger and outcome of each run, newest
 * first.
 */
async function over(server: TestServer, source: Source, count: number): Promise<string[]> {
  let runs: Run[] = [];
  await eventually(async () => {
    runs = await runsOf(server, source);
    return runs.length >= count && runs.every(({ finished_at }) => finished_at !== null);
  }, `${count} runs are over`);
  return runs.map(({ trigger, status }) => `${trigger} ${status}`);
}

// Runs concurrently with the next describe block, which has its own server and clock. Both wait for
// schedules, which are checked every second.
describe.concurrent("a schedule", () => {
  const clock = clockAt("2026-03-10T07:30:00Z");
  const server = sharedServer({ shards: 1, config: FROM_LOOPBACK, env: clock.env, quiet: true });

  test.sequential("of every minute starts a run on the minute", async () => {
    clock.set("2026-03-10T07:44:00Z");
    const source = await shop(server, "minute", { schedule: "* * * * *" });
    const due = await nextRunAt(server, source);
    expect(due).toMatch(/^2026-03-10T07:4\d:00\.000Z$/);
    clock.set("2026-03-10T07:44:58Z");
    expect((await over(server, source, 1)).at(-1)).toBe("schedule completed");
    const first = (await runsOf(server, source)).at(-1)!;
    expect(Date.parse(first.started_at!)).toBeGreaterThanOrEqual(Date.parse(due));
    expect(Date.parse(await nextRunAt(server, source))).toBeGreaterThan(Date.parse(first.started_at!));
    await server.delete(source.path);
  });

  test.sequential("does nothing while its source is disabled or suspended, and does not catch up", async () => {
    clock.set("2026-03-10T08:30:00Z");
    const basic_auth = { username: "shop", password: "wrong" };
    const disabled = await shop(server, "disabled", { enabled: false });
    const manual = await shop(server, "manual", { schedule: "manual" });
    const suspended = await shop(server, "suspended", { basic_auth });
    feeds.route("/suspended", { ...FEED, basicAuth: { username: "shop", password: "right" } });
    // Schedules are checked in the order of their indexes. Once this one, the last, has run, all others have
    // been checked.
    const working = await shop(server, "working");

    clock.set("2026-03-10T08:59:59Z");
    expect(await over(server, working, 1)).toEqual(["schedule completed"]);
    expect(await over(server, suspended, 1)).toEqual(["schedule auth_failed"]);
    clock.set("2026-03-10T10:00:00Z");
    await over(server, working, 2);
    expect(await over(server, suspended, 1)).toEqual(["schedule auth_failed"]);
    for (const source of [disabled, manual]) expect(await runsOf(server, source)).toEqual([]);
    for (const source of [disabled, manual, suspended]) expect(await nextRunAt(server, source)).toBeNull();
    const incidents = async (status: string) =>
      (await server.get(`/v1/incidents?index=suspended&status=${status}`)).json.data as unknown as object[];
    expect(await incidents("open")).toEqual([expect.objectContaining({ code: "SK-DS-401" })]);

    clock.set("2026-03-10T10:30:00Z");
    const body = { basic_auth: { username: "shop", password: "right" } };
    expectStatus(await server.patch(suspended.path, body), 200);
    expectStatus(await server.patch(disabled.path, { enabled: true }), 200);
    for (const source of [disabled, suspended])
      expect(await nextRunAt(server, source)).toBe("2026-03-10T11:00:00.000Z");
    clock.set("2026-03-10T11:00:00Z");
    expect(await over(server, working, 3)).toEqual(Array(3).fill("schedule completed"));
    expect(await over(server, disabled, 1)).toEqual(["schedule completed"]);
    expect(await over(server, suspended, 2)).toEqual(["schedule completed", "schedule auth_failed"]);
    expect(await incidents("open")).toEqual([]);
    expect(await incidents("resolved")).toHaveLength(1);
  });

  test.sequential("rests until the credentials change, also in the url; a late refusal of old credentials changes nothing", async () => {
    clock.set("2026-03-10T11:30:00Z");
    const source = await shop(server, "key");
    feeds.route("/key", { status: 403 });
    expect((await sync(server, source)).status).toBe("auth_failed");
    expectStatus(await server.patch(source.path, { field_map: { name: "title" } }), 200);
    expect(await nextRunAt(server, source)).toBeNull();
    let refuse = (): void => undefined;
    const waiting = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    const refusal = async function* () {
      await waiting;
      yield Buffer.from("no");
    };
    feeds.route("/key", { status: 403, body: refusal }, FEED);
    expectStatus(await server.patch(source.path, { url: feeds.url("/key?key=2") }), 200);
    expect(await nextRunAt(server, source)).toBe("2026-03-10T12:00:00.000Z");
    const asked = feeds.requests.length;
    const id = await syncNow(server, source);
    await eventually(async () => feeds.requests.length > asked, "the feed is requested");
    expectStatus(await server.patch(source.path, { url: feeds.url("/key?key=3") }), 200);
    refuse();
    expect((await ended(server, source, id)).status).toBe("auth_failed");
    expect(await nextRunAt(server, source)).toBe("2026-03-10T12:00:00.000Z");
    expect((await sync(server, source)).status).toBe("completed");
  });

  test.sequential("that fails for three periods is overdue until a run completes", async () => {
    clock.set("2026-03-10T13:30:00Z");
    const failing = await shop(server, "failing");
    const unauthorised = await shop(server, "unauthorised");
    await shop(server, "daily", { schedule: "daily" });
    feeds.route("/failing", { status: 404 });
    feeds.route("/unauthorised", { status: 403 });
    await sync(server, unauthorised);
    const overdue = async () => {
      const { text } = await server.get("/metrics");
      const found = [...text.matchAll(/^skein_data_source_overdue\{index="(.*?)".*\} 1$/gm)];
      return found.map(([, index]) => index).filter((index) => index !== "working");
    };
    // Polls, because /metrics may be up to a second out of date.
    const becomesOverdue = (...indexes: string[]): Promise<void> =>
      eventually(async () => String(await overdue()) === String(indexes), `overdue: ${indexes}`);
    for (const [i, hour] of ["15", "16"].entries()) {
      clock.set(`2026-03-10T${hour}:00:00Z`);
      await over(server, failing, i + 1);
    }
    await becomesOverdue();
    clock.set("2026-03-10T16:31:00Z");
    await becomesOverdue("failing", "unauthorised");
    for (const index of ["failing", "unauthorised"]) feeds.route(`/${index}`, FEED);
    expect((await sync(server, failing)).status).toBe("completed");
    await becomesOverdue("unauthorised");
    expect((await sync(server, unauthorised)).status).toBe("completed");
    await becomesOverdue();
  });

  test.sequential("follows the corrected clock after a clock far ahead has misled it", async () => {
    clock.set("2026-03-11T09:30:00Z");
    const source = await shop(server, "ahead");
    clock.set("2029-01-01T00:30:00Z");
    expect(await over(server, source, 1)).toEqual(["schedule completed"]);
    expect(await nextRunAt(server, source)).toBe("2029-01-01T01:00:00.000Z");
    // The run in 2029 already made up for the run due at 10.
    clock.set("2026-03-11T09:30:00Z");
    await eventually(
      async () => (await nextRunAt(server, source)) === "2026-03-11T11:00:00.000Z",
      "the schedule follows the clock",
    );
    clock.set("2026-03-11T11:00:00Z");
    expect(await over(server, source, 2)).toEqual(Array(2).fill("schedule completed"));
  });
});

describe.concurrent("while the server is down", () => {
  const clock = clockAt("2026-05-01T09:30:00Z");
  const server = sharedServer({ shards: 1, config: FROM_LOOPBACK, env: clock.env, quiet: true });

  async function restartedAt(time: string, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    await server.stop(signal);
    clock.set(time);
    await server.launch();
  }

  test.sequential("missed runs start once at the next start, however often they were due", async () => {
    const cron = await shop(server, "cron");
    const hourly = await shop(server, "hourly", { schedule: "hourly" });
    const later = await shop(server, "later", { schedule: "0 0 * * *" });
    const disabled = await shop(server, "off", { enabled: false });
    const minute = new Date(await nextRunAt(server, hourly)).getUTCMinutes();
    await restartedAt("2026-05-01T14:59:00Z", "SIGKILL");
    expect(await over(server, cron, 1)).toEqual(["start completed"]);
    expect(await over(server, hourly, 1)).toEqual(["start completed"]);
    for (const source of [later, disabled]) expect(await runsOf(server, source)).toEqual([]);
    expect(await nextRunAt(server, later)).toBe("2026-05-02T00:00:00.000Z");
    expect(await nextRunAt(server, disabled)).toBeNull();
    const next = new Date(await nextRunAt(server, hourly));
    expect([next.getUTCHours(), next.getUTCMinutes()]).toEqual([15, minute]);
    await restartedAt("2026-05-01T15:00:00Z");
    expect((await over(server, cron, 2)).slice(0, 2)).toEqual(["start completed", "start completed"]);
    expect(await nextRunAt(server, cron)).toBe("2026-05-01T16:00:00.000Z");
  });

  test.sequential("the clock may be set back without repeating a run, and a clock far ahead is forgotten", async () => {
    clock.set("2026-06-01T09:59:00Z");
    const source = await shop(server, "back");
    clock.set("2026-06-01T10:00:00Z");
    expect(await over(server, source, 1)).toEqual(["schedule completed"]);
    await restartedAt("2026-06-01T09:20:00Z");
    expect(await nextRunAt(server, source)).toBe("2026-06-01T11:00:00.000Z");
    // Its index is newer, so its schedule is checked after the schedule of `source`. Once it has run, both
    // have been checked.
    const witness = await shop(server, "back-witness");
    clock.set("2026-06-01T10:00:00Z");
    expect(await over(server, witness, 1)).toEqual(["schedule completed"]);
    expect(await over(server, source, 1)).toEqual(["schedule completed"]);

    await restartedAt("2029-01-01T00:30:00Z");
    expect(await over(server, source, 2)).toEqual(["start completed", "schedule completed"]);
    expect(await nextRunAt(server, source)).toBe("2029-01-01T01:00:00.000Z");
    // The run in 2029 already made up for the run due at 11.
    await restartedAt("2026-06-01T10:30:00Z");
    expect(await nextRunAt(server, source)).toBe("2026-06-01T12:00:00.000Z");
    clock.set("2026-06-01T12:00:00Z");
    expect((await over(server, source, 3))[0]).toBe("schedule completed");
  });

  test.sequential.each(["SIGKILL", "SIGTERM"] as const)(
    "after %s, an interrupted scheduled run is repeated once",
    async (signal) => {
      clock.set(signal === "SIGKILL" ? "2026-07-01T09:30:00Z" : "2026-07-02T09:30:00Z");
      const index = signal.toLowerCase();
      const source = await shop(server, index, { schedule: "0 10 * * *" });
      feeds.route(`/${index}`, { stallAfter: "head" });
      const day = (await nextRunAt(server, source)).slice(0, 10);
      const asked = () => feeds.requests.filter(({ path }) => path === `/${index}`).length;
      clock.set(`${day}T10:00:00Z`);
      await eventually(async () => asked() === 1, "the schedule has begun a run");
      await restartedAt(`${day}T10:10:00Z`, signal);
      await eventually(async () => asked() === 2, "the run is repeated");
      await restartedAt(`${day}T10:20:00Z`, signal);
      const runs = await runsOf(server, source);
      expect(runs.map(({ trigger, status, error_code }) => [trigger, status, error_code])).toEqual([
        ["start", "failed", "SK-DS-503"],
        ["schedule", "failed", "SK-DS-503"],
      ]);
      expect(asked()).toBe(2);
      expect((await nextRunAt(server, source)).slice(11)).toBe("10:00:00.000Z");
      await server.delete(source.path);
    },
  );
});
