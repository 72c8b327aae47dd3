// Enforces request limits on a request thread. All threads share the counts in memory and change them with
// atomic operations, so limits are exact across threads without a message per request.
import type { Plan } from "./plans.js";

/** Limits each name's requests per second. */
export interface RateLimiter {
  /**
   * Takes one token. Returns 0 on success, otherwise the number of whole seconds until a token is available.
   * All threads must take `nowMs` from the same clock.
   */
  take(name: string, perSecond: number, nowMs: number): number;
  /**
   * Takes `tokens` more tokens from a name that has just taken one, even if it does not have them. It then
   * gets none until the debt has been refilled.
   */
  charge(name: string, tokens: number, perSecond: number, nowMs: number): void;
  /** Returns what `take` would return, without taking a token. */
  wait(name: string, perSecond: number, nowMs: number): number;
}

/** Operations with a monthly limit in the plan. */
export type Metered = "searches" | "coach";

/** A tenant's usage in one month so far. */
export interface MonthUsage {
  readonly tenant: number;
  /** UTC, "2026-01". */
  readonly month: string;
  readonly searches: number;
  readonly coach: number;
}

/** A use that has begun but not ended. */
export interface UseUnderWay {
  readonly tenant: number;
  /** Number of months since January of the year 0. */
  readonly month: number;
}

export interface MonthlyCounter {
  /**
   * Reserves one use until `end` counts or releases it. Throws SK-SYS-429 for a search, or SK-AI-429 for an
   * analysis, if the uses counted this month and those in progress have reached the plan's limit.
   */
  begin(metered: Metered, tenant: number, plan: Plan, now: Date): UseUnderWay;
  /**
   * Counts the use if `counts` is true (the operation succeeded); otherwise releases it. Must be called on
   * the thread where the use began. A use from a month that is already over may be dropped.
   */
  end(metered: Metered, use: UseUnderWay, counts: boolean): void;
  /** The tenant's usage in the month that contains `now`. */
  used(tenant: number, now: Date): MonthUsage;
}
