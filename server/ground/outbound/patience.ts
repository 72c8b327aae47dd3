// The clock, and how long to wait between two tries.
import { setTimeout as timeout } from "node:timers/promises";
import { TIMER_MS_MAX } from "../jobs/deadline.js";

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits; rejects when the signal ends the wait. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  pause: (ms, signal) => timeout(Math.min(ms, TIMER_MS_MAX), undefined, { signal }),
};

/** Milliseconds of a Retry-After header, which holds seconds or a date; null when it says neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
