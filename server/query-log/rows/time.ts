// Hours and days of the log, numbered from 1970 in UTC. The log is divided into hours.

export const HOUR_MS = 3_600_000;
export const HOURS_PER_DAY = 24;
export const DAY_MS = HOURS_PER_DAY * HOUR_MS;

/**
 * Maximum time (ms) between two searches by the same person for the second to count as a continuation of the
 * first.
 */
export const TYPING_MS = 5_000;
/**
 * An event that names only a text belongs to the person's last search for that text, which must be at most
 * this long (ms) before the event.
 */
export const ATTRIBUTION_MS = 30 * 60_000;
/** Number of days for which rows are kept. Also the maximum length of a report's period. */
export const DAYS_KEPT = 90;
/** Maximum age (ms) of an event when it arrives. */
export const LATE_MS_MAX = 3 * DAY_MS;

/** Start of the log's time: the first millisecond of 1970, since a query id of time 0 means none. */
export const FIRST_MS = 1;

/** The time in the log, which is FIRST_MS for a clock that is set to an earlier time. */
export function logNowMs(): number {
  return Math.max(FIRST_MS, Date.now());
}

export function hourOf(ms: number): number {
  return Math.floor(ms / HOUR_MS);
}

export function dayOf(ms: number): number {
  return Math.floor(ms / DAY_MS);
}

export function dayOfHour(hour: number): number {
  return Math.floor(hour / HOURS_PER_DAY);
}
