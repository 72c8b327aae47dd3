// The limits on requests, as a request thread sees them. All threads share the counts in memory and change
// them with atomic operations, so limits hold exactly across threads, without a message per request.
import type { Plan } from "./plans.js";

/** Limits the requests per second of each name. */
export interface RateLimiter {
  /**
   * Takes one token. Returns 0 on success, otherwise the number of whole seconds until a token is available.
   * `nowMs` must come from one clock for all threads.
   */
  take(name: string, perSecond: number, nowMs: number): number;
  /** Returns what `take` would return, without taking a token. */
  wait(name: string, perSecond: number, nowMs: number): number;
}

/** Operations that plans limit per month. */
export type Metered = "searches" | "coach";

/** A tenant's use in one month so far. */
export interface MonthUsage {
  readonly tenant: number;
  /** UTC, "2026-01". */
  readonly month: string;
  readonly searches: number;
  readonly coach: number;
}

/** A use that has begun. */
export interface UseUnderWay {
  readonly tenant: number;
  /** Months since the year 0. */
  readonly month: number;
}

export interface MonthlyCounter {
  /**
   * Reserves one use, which `end` releases or counts. Throws SK-SYS-429 for a search and SK-AI-429 for an
   * analysis if the plan's month is used up, including uses in progress.
   */
  begin(metered: Metered, tenant: number, plan: Plan, now: Date): UseUnderWay;
  /**
   * Must be called in the thread in which the use began. A failed use does not count. If the month is already
   * over, the use may be dropped.
   */
  end(metered: Metered, use: UseUnderWay, counts: boolean): void;
  /** The tenant's use in the month of `now`. */
  used(tenant: number, now: Date): MonthUsage;
}
