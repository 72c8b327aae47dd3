// When a data source is due: `hourly` and `daily`, spread over the hour and the day so that the sources of a server do not
// all begin at once, or five fields of cron. All times are UTC. The only file that knows node-cron.
import cron from "node-cron";
import type { DataSource } from "../../catalog/types.js";

const HOURS = 24;
const MINUTES = 60;
/** Shares no divisor with the minutes of an hour or a day, so that sources that were made one after the other lie apart. */
const SPREAD = 37;
/** How far a clock may be set back without runs being repeated. A clock that is further off was wrong before. */
const CLOCK_BACK_MS_MAX = 48 * 3_600_000;

export const SCHEDULE_TAKES = "manual, hourly, daily or five fields of cron such as 0 */2 * * *";

/** Why the text is no schedule; null when it is one. */
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
 * The first moment after now at which the source is due, null for one that never is. `lastDue` is the moment for which it
 * last ran: when the clock has been set back since, that moment and those before it do not come again.
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

/** Where a schedule goes on that has changed or rested: what was due meanwhile is left out. */
export function scheduledAnew(source: DataSource): DataSource {
  return { ...source, next_due: nextDueText(source) };
}

/** Milliseconds between two moments at which the source is due; null before the first of them. */
export function periodMs(source: DataSource): number | null {
  const { schedule, id, last_due, next_due } = source;
  if (next_due === null) return null;
  if (last_due !== null && last_due < next_due) return Date.parse(next_due) - Date.parse(last_due);
  if (Date.parse(next_due) > Date.now()) return null;
  const [first, second] = momentsOf(schedule, id, 2) as [Date, Date];
  return second.getTime() - first.getTime();
}

/** Where a schedule goes on that was made when the clock was far ahead; null for any other. */
export function scheduledNearer(source: DataSource): DataSource | null {
  const { next_due } = source;
  if (next_due === null || Date.parse(next_due) - Date.now() <= CLOCK_BACK_MS_MAX) return null;
  const anew = scheduledAnew(source);
  return anew.next_due === next_due ? null : anew;
}

/** `nextDue` as the record keeps it. */
function nextDueText({ schedule, id, last_due }: Pick<DataSource, "schedule" | "id" | "last_due">) {
  return nextDue(schedule, id, last_due === null ? null : new Date(last_due))?.toISOString() ?? null;
}

/** The next `count` moments. */
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
