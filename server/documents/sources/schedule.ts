// Determines when data sources are due. Schedules are `hourly`, `daily` or five cron fields; hourly and daily
// sources are spread over the hour and the day so that they do not all start at once. All times are UTC. Only
// this file uses node-cron.
import cron from "node-cron";
import type { DataSource } from "../../catalog/records/data-source.js";

const HOURS = 24;
const MINUTES = 60;
/**
 * Each source is due this many minutes later than the one with the previous id. The number has no common
 * divisor with the number of minutes in an hour or in a day, so all minutes are used.
 */
const SPREAD = 37;
/**
 * If the clock is set back by less than this (ms), no due time is repeated. If it is set back further, it is
 * assumed to have been wrong before.
 */
const CLOCK_BACK_MS_MAX = 48 * 3_600_000;

export const SCHEDULE_TAKES = "manual, hourly, daily or a five-field cron expression such as 0 */2 * * *";

/** Why the text is not a valid schedule, or null if it is. */
export function scheduleProblem(schedule: string): string | null {
  if (schedule === "manual" || schedule === "hourly" || schedule === "daily") return null;
  const expected = `must be ${SCHEDULE_TAKES}`;
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) return expected;
  const [wrong] = cron.validateDetailed(schedule).errors;
  if (wrong !== undefined) return `${expected}; the ${wrong.field} is wrong`;
  return cron.validate(schedule) ? null : `${expected}; there is no such day`;
}

/**
 * When the source is due next, or null if never. `lastDue` is the due time of the last run. If the clock has
 * been set back since then, the next due time is still later than `lastDue`.
 */
function nextDue(schedule: string, source: number, lastDue: Date | null): Date | null {
  const nowMs = Date.now();
  const lastMs = lastDue?.getTime() ?? nowMs;
  const afterMs = lastMs > nowMs && lastMs - nowMs < CLOCK_BACK_MS_MAX ? lastMs : nowMs;
  for (let count = 1; ; count *= 2) {
    const moments = momentsOf(schedule, source, count);
    const found = moments.find((moment) => moment.getTime() > afterMs);
    if (found !== undefined) return found;
    if (moments.length < count) return null;
  }
}

/**
 * Sets the source's next due time, after its schedule was changed or paused or has started a run. Due times
 * that have already passed are skipped.
 */
export function scheduledAnew(source: DataSource): DataSource {
  return { ...source, next_due: nextDueText(source) };
}

/** Milliseconds between two due times. Null before the first due time, or if there is none. */
export function periodMs(source: DataSource): number | null {
  const { schedule, id, last_due, next_due } = source;
  if (next_due === null) return null;
  if (last_due !== null && last_due < next_due) return Date.parse(next_due) - Date.parse(last_due);
  if (Date.parse(next_due) > Date.now()) return null;
  const [first, second] = momentsOf(schedule, id, 2) as [Date, Date];
  return second.getTime() - first.getTime();
}

/**
 * Corrects a next due time that was computed while the clock was far ahead. Returns null if no correction is
 * needed.
 */
export function scheduledNearer(source: DataSource): DataSource | null {
  const { next_due } = source;
  if (next_due === null || Date.parse(next_due) - Date.now() <= CLOCK_BACK_MS_MAX) return null;
  const anew = scheduledAnew(source);
  return anew.next_due === next_due ? null : anew;
}

/** `nextDue` in the form stored in the record. */
function nextDueText({ schedule, id, last_due }: Pick<DataSource, "schedule" | "id" | "last_due">) {
  return nextDue(schedule, id, last_due === null ? null : new Date(last_due))?.toISOString() ?? null;
}

/** The next `count` due times from now on. */
function momentsOf(schedule: string, source: number, count: number): Date[] {
  const expression = cronOf(schedule, source);
  if (expression === null) return [];
  const task = cron.createTask(expression, () => undefined, { timezone: "UTC" });
  try {
    return task.getNextRuns(count);
  } finally {
    void task.destroy();
  }
}

function cronOf(schedule: string, source: number): string | null {
  if (schedule === "manual") return null;
  const minute = (source * SPREAD) % MINUTES;
  if (schedule === "hourly") return `${minute} * * * *`;
  if (schedule !== "daily") return schedule;
  const minuteOfDay = (source * SPREAD) % (HOURS * MINUTES);
  return `${minuteOfDay % MINUTES} ${Math.floor(minuteOfDay / MINUTES)} * * *`;
}
