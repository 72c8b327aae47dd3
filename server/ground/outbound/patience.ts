// How long one waits: for a piece of work that may never end, and between two tries.
// Must not know what is waited for.
import { setTimeout as timeout } from "node:timers/promises";

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

/** A timer of Node.js that is set for longer fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Settles as `work` does, or rejects with the signal's reason, or with `late()` after `msMax`. Leaves neither timer nor
 * listener behind. The work itself goes on: whoever began it ends it.
 */
export function within<T>(
  work: Promise<T>,
  msMax: number,
  late: () => Error,
  signal: AbortSignal,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => fail(signal.reason);
    const timer = setTimeout(() => fail(late()), Math.min(msMax, TIMER_MS_MAX));
    const release = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    };
    const fail = (error: unknown): void => {
      release();
      reject(error);
    };
    signal.addEventListener("abort", stop);
    work.then((value) => {
      release();
      resolve(value);
    }, fail);
    if (signal.aborted) stop();
  });
}

/** Milliseconds of a Retry-After header, which holds seconds or a date; null when it says neither. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  if (header === null) return null;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}
