// Waiting with an end: by the work itself, by time, or by a signal.
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { retryAfterMs, SYSTEM_CLOCK, within } from "../../../../../server/ground/outbound/patience.js";

const LATE = new Error("late");
const HOUR_MS = 3_600_000;

test("work settles as it does alone, too late, or with the signal's reason, and leaves no listener", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const never = new Promise<string>(() => undefined);
  expect(await within(Promise.resolve("a"), HOUR_MS, () => LATE, signal)).toBe("a");
  await expect(within(Promise.reject(new Error("own")), HOUR_MS, () => LATE, signal)).rejects.toThrow("own");
  await expect(within(never, 1, () => LATE, signal)).rejects.toBe(LATE);
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const stopped = within(never, Number.MAX_SAFE_INTEGER, () => LATE, signal);
  controller.abort("reason");
  await expect(stopped).rejects.toBe("reason");
  await expect(within(Promise.resolve("a"), HOUR_MS, () => LATE, signal)).rejects.toBe("reason");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("a pause ends by itself, or with its signal however long it is", async () => {
  const controller = new AbortController();
  await SYSTEM_CLOCK.pause(1, controller.signal);
  const paused = SYSTEM_CLOCK.pause(Number.MAX_SAFE_INTEGER, controller.signal);
  controller.abort();
  await expect(paused).rejects.toThrow();
});

test("Retry-After is read as seconds or as a date", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  expect(retryAfterMs(null, nowMs)).toBeNull();
  expect(retryAfterMs("", nowMs)).toBeNull();
  expect(retryAfterMs("soon", nowMs)).toBeNull();
  expect(retryAfterMs("120", nowMs)).toBe(120_000);
  expect(retryAfterMs("Thu, 01 Jan 2026 00:00:05 GMT", nowMs)).toBe(5_000);
  expect(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", nowMs)).toBe(0);
});
