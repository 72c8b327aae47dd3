// The clock and the pauses between attempts. Tests replace them.
import { setTimeout as timeout } from "node:timers/promises";
import { TIMER_MS_MAX } from "../jobs/deadline.js";

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Waits for `ms` milliseconds. Rejects if the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  pause: (ms, signal) => timeout(Math.min(ms, TIMER_MS_MAX), undefined, { signal }),
};

/**
 * The delay (ms) requested by a Retry-After header, which contains seconds or a date. Null if it contains
 * neither.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
