// Reads a report's parameters: the period and the number of rows.
import { SkeinError } from "../../ground/errors.js";
import { describe } from "../../ground/input/json-value.js";
import { type InputRules, text } from "../../ground/input/readers.js";
import { isoTime } from "../../ground/input/time-reader.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { Interval } from "../reports/summary.js";
import type { Window } from "../reports/window.js";
import { DAY_MS, DAYS_KEPT } from "../rows/time.js";
import type { NamedPerson } from "./people.js";

const DAYS = 7;
const LIMIT = 20;

/** Reads the period. Throws SK-AN-400. */
export function readReportWindow(query: URLSearchParams, nowMs: number, limits: Limits): Window {
  const rules: InputRules = { limits, code: "SK-AN-400" };
  const days = whole(query, "days", DAYS_KEPT) ?? DAYS;
  const toMs = time(query, "to", rules) ?? nowMs + 1; // `to` is exclusive
  const fromMs = time(query, "from", rules) ?? toMs - days * DAY_MS;
  if (fromMs >= toMs) throw new SkeinError("SK-AN-400", "from must be before to");
  if (toMs - fromMs > DAYS_KEPT * DAY_MS)
    throw new SkeinError("SK-AN-400", `from and to must be at most ${DAYS_KEPT} days apart`);
  return { fromMs, toMs };
}

/** Reads the number of rows. Throws SK-AN-400. */
export function readReportLimit(query: URLSearchParams, limits: Limits): number {
  return whole(query, "limit", limits.reportRowsMax) ?? LIMIT;
}

/** Reads the length of the series' steps. Throws SK-AN-400. */
export function readInterval(query: URLSearchParams): Interval {
  const interval = query.get("interval") ?? "day";
  if (interval === "hour" || interval === "day") return interval;
  throw new SkeinError("SK-AN-400", `interval must be hour or day, not ${describe(interval)}`);
}

/** The person to forget: `user_id` or `session_id`. Throws SK-AN-400. */
export function readNamedPerson(query: URLSearchParams, limits: Limits): NamedPerson {
  const [user, session] = [query.get("user_id"), query.get("session_id")];
  const name = user ?? session;
  if ((user === null) === (session === null) || name === null || name === "")
    throw new SkeinError("SK-AN-400", "either user_id or session_id must be given");
  const kind = user === null ? "session" : "user";
  return {
    kind,
    name: text(FIXED_LIMITS.personBytesMax).read(name, `${kind}_id`, { limits, code: "SK-AN-400" }),
  };
}

function whole(query: URLSearchParams, name: string, max: number): number | null {
  const given = query.get(name);
  if (given === null) return null;
  const value = /^\d{1,9}$/.test(given) ? Number(given) : 0;
  if (value >= 1 && value <= max) return value;
  throw new SkeinError("SK-AN-400", `${name} must be an integer from 1 to ${max}, not ${describe(given)}`);
}

function time(query: URLSearchParams, name: string, rules: InputRules): number | null {
  const given = query.get(name);
  return given === null ? null : Date.parse(isoTime().read(given, name, rules));
}
