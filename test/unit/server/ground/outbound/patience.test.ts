// The pauses between retries, and how Retry-After is interpreted.
import { expect, test } from "vitest";
import { retryAfterMs, SYSTEM_CLOCK } from "../../../../../server/ground/outbound/patience.js";

test("a pause ends on its own, or with its signal, however long it is", async () => {
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
