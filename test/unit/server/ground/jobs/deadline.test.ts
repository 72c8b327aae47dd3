// Waits that end when the work ends, at a time limit, or on a signal.
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { within } from "../../../../../server/ground/jobs/deadline.js";

const LATE = new Error("late");
const late = (): never => {
  throw LATE;
};
const HOUR_MS = 3_600_000;

test("work settles with its own result, as too late, or with the signal's reason, and leaves no listener", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const never = new Promise<string>(() => undefined);
  expect(await within(Promise.resolve("a"), HOUR_MS, late, signal)).toBe("a");
  await expect(within(Promise.reject(new Error("own")), HOUR_MS, late, signal)).rejects.toThrow("own");
  await expect(within(never, 1, late, signal)).rejects.toBe(LATE);
  expect(await within(never, 1, () => "b", signal)).toBe("b");
  expect(await within(never, 1, () => "b")).toBe("b");
  expect(getEventListeners(signal, "abort")).toEqual([]);
  const stopped = within(never, Number.MAX_SAFE_INTEGER, late, signal);
  controller.abort("reason");
  await expect(stopped).rejects.toBe("reason");
  await expect(within(Promise.resolve("a"), HOUR_MS, late, signal)).rejects.toBe("reason");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});
