// What counts and limits requests, as a thread that answers them sees it. Threads share the counts in memory and change them by
// compare-and-swap, so that limits hold over all threads together, exactly and without a message for each request.
import type { Plan } from "./plans.js";

/** Requests per second by name. */
export interface RateLimiter {
  /** Takes one. Returns 0, or the whole seconds after which there will be one again. `nowMs`: of one clock for all threads. */
  take(name: string, perSecond: number, nowMs: number): number;
  /** As `take` would answer, without taking. */
  wait(name: string, perSecond: number, nowMs: number): number;
}

/** What plans limit by the month. */
export type Metered = "searches" | "coach";

/** What a tenant has used in one month, at one moment. */
export interface MonthUsage {
  readonly tenant: number;
  /** UTC, "2026-01". */
  readonly month: string;
  readonly searches: number;
  readonly coach: number;
}

/** One use that has begun, for its end. */
export interface UseUnderWay {
  readonly tenant: number;
  /** Months since the year 0. */
  readonly month: number;
}

export interface MonthlyCounter {
  /**
   * Takes room for one use, which `end` gives back or counts. Throws SK-SYS-429 for a search and SK-AI-429 for an analysis when
   * the plan's month is used up, with what is under way.
   */
  begin(metered: Metered, tenant: number, plan: Plan, now: Date): UseUnderWay;
  /** To be called in the thread in which the use began. A use that failed does not count. Of a month that is over meanwhile nothing is kept. */
  end(metered: Metered, use: UseUnderWay, counts: boolean): void;
  /** What the tenant has used in the month of `now`. */
  used(tenant: number, now: Date): MonthUsage;
}
