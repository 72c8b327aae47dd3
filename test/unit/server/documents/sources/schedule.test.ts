// When data sources are due, with a clock set by the test.
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { DataSource } from "../../../../../server/catalog/records/data-source.js";
import {
  periodMs,
  scheduledAnew,
  scheduledNearer,
  scheduleProblem,
} from "../../../../../server/documents/sources/schedule.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  vi.setSystemTime("2026-03-10T09:30:20.000Z");
});

afterEach(() => {
  vi.useRealTimers();
});

function due(schedule: string, id = 1, last_due: string | null = null): string | null {
  return scheduledAnew({ schedule, id, last_due } as DataSource).next_due;
}

describe("a schedule", () => {
  test.each(["manual", "hourly", "daily", "0 */2 * * *", "*/5 8-18 * * mon-fri", "0 0 29 2 *"])(
    "can be %s",
    (schedule) => {
      expect(scheduleProblem(schedule)).toBeNull();
    },
  );

  test.each([
    ["", "must be manual, hourly"],
    ["weekly", "must be manual, hourly"],
    ["* * * *", "must be manual, hourly"],
    ["0 0 0 * * *", "must be manual, hourly"],
    ["@daily", "must be manual, hourly"],
    ["61 * * * *", "the minute is wrong"],
    ["0 24 * * *", "the hour is wrong"],
    ["0 0 31 2 *", "wrong"],
    ["a b c d e", "wrong"],
    ["0 0 * * 9", "wrong"],
  ])("cannot be %j", (schedule, why) => {
    expect(scheduleProblem(schedule)).toContain(why);
  });
});

describe("the next due time", () => {
  test("of a cron schedule is in UTC and after now", () => {
    expect(due("0 */2 * * *")).toBe("2026-03-10T10:00:00.000Z");
    expect(due("30 9 * * *")).toBe("2026-03-11T09:30:00.000Z");
    expect(due("0 0 29 2 *")).toBe("2028-02-29T00:00:00.000Z");
    expect(due("manual")).toBeNull();
  });

  test("of hourly and daily schedules is staggered by source", () => {
    const minutes = Array.from({ length: 60 }, (_, id) => new Date(due("hourly", id)!).getUTCMinutes());
    expect(new Set(minutes).size).toBe(60);
    const moments = Array.from({ length: 1440 }, (_, id) => due("daily", id));
    expect(new Set(moments).size).toBe(1440);
    for (const moment of moments) {
      const ms = Date.parse(moment!) - Date.now();
      expect(ms > 0 && ms <= 86_400_000).toBe(true);
    }
  });

  test("does not repeat when the clock is set back, by minutes or by a day", () => {
    expect(due("0 * * * *", 1, "2026-03-10T10:00:00.000Z")).toBe("2026-03-10T11:00:00.000Z");
    expect(due("* * * * *", 1, "2026-03-11T09:00:00.000Z")).toBe("2026-03-11T09:01:00.000Z");
  });

  test("is corrected after the clock was once far ahead", () => {
    expect(due("0 * * * *", 1, "2027-03-10T10:00:00.000Z")).toBe("2026-03-10T10:00:00.000Z");
  });

  test("skips what a suspended schedule has missed", () => {
    const source = {
      schedule: "0 * * * *",
      id: 1,
      last_due: "2026-03-01T10:00:00.000Z",
      next_due: "2026-03-01T11:00:00.000Z",
    };
    expect(scheduledAnew(source as DataSource).next_due).toBe("2026-03-10T10:00:00.000Z");
  });

  test("is moved earlier only if no correct clock can have produced it", () => {
    const nearer = (schedule: string, next_due: string | null, last_due: string | null = null) =>
      scheduledNearer({ schedule, id: 1, last_due, next_due } as DataSource)?.next_due;
    expect(nearer("0 * * * *", "2029-01-01T01:00:00.000Z")).toBe("2026-03-10T10:00:00.000Z");
    expect(nearer("0 * * * *", "2029-01-01T01:00:00.000Z", "2029-01-01T00:00:00.000Z")).toBe(
      "2026-03-10T10:00:00.000Z",
    );
    expect(nearer("0 0 29 2 *", "2028-02-29T00:00:00.000Z")).toBeUndefined();
    expect(nearer("0 * * * *", "2026-03-11T11:00:00.000Z", "2026-03-11T10:00:00.000Z")).toBeUndefined();
    expect(nearer("0 * * * *", "2026-03-01T11:00:00.000Z")).toBeUndefined();
    expect(nearer("manual", null)).toBeUndefined();
  });
});

describe("the schedule's period", () => {
  const period = (last_due: string | null, next_due: string | null) =>
    periodMs({ schedule: "0 * * * *", id: 1, last_due, next_due } as DataSource);

  test("is the time from the last due time to the next", () => {
    expect(period("2026-03-10T09:00:00.000Z", "2026-03-10T10:00:00.000Z")).toBe(3_600_000);
  });

  test("is computed from the schedule if the first due time has passed or a clock was far ahead", () => {
    expect(period(null, "2026-03-10T09:00:00.000Z")).toBe(3_600_000);
    expect(period("2029-01-01T01:00:00.000Z", "2026-03-10T09:00:00.000Z")).toBe(3_600_000);
  });

  test("is unknown before the first due time and without one", () => {
    expect(period(null, "2026-03-10T10:00:00.000Z")).toBeNull();
    expect(period("2029-01-01T01:00:00.000Z", "2026-03-10T10:00:00.000Z")).toBeNull();
    expect(period("2026-03-10T09:00:00.000Z", null)).toBeNull();
  });
});
