// Counts and limits requests, as seen by a thread that answers them. Threads share the counts in memory and
// change them by compare-and-swap, so limits hold exactly over all threads, without a message per request.
import type { Plan } from "./plans.js";

/** Requests per second by name. */
export interface RateLimiter {
  /**
   * Takes one token. Returns 0, or the whole seconds until there is one again. `nowMs`: of one clock for all
   * threads.
   */
  take(name: string, perSecond: number, nowMs: number): number;
  /** The result that `take` would have, without taking. */
  wait(name: string, perSecond: number, nowMs: number): number;
}

/** What plans limit per month. */
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
   * To be called in the thread in which the use began. A failed use does not count. Nothing is kept for a
   * month that is over by then.
   */
  end(metered: Metered, use: UseUnderWay, counts: boolean): void;
  /** The tenant's use in the month of `now`. */
  used(tenant: number, now: Date): MonthUsage;
}
