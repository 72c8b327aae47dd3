// Reads the members of a query body that name the user and control logging. They do not affect the answer, so
// they are taken out of the body before it is looked up in the answer cache.
import { isObject } from "../../ground/input/json-value.js";
import { defaultsTo, object, optional } from "../../ground/input/object-reader.js";
import { flag, text } from "../../ground/input/readers.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import type { AskedBy } from "../../query-log/analytics/people.js";
import { queryRules } from "./query-lists.js";

export const ASKER_MEMBERS = {
  user_id: optional(text(FIXED_LIMITS.personBytesMax), "Who asks; the query log keeps a keyed hash."),
  session_id: optional(text(FIXED_LIMITS.personBytesMax), "The visit; the query log keeps a keyed hash."),
  analytics: defaultsTo(true, flag(), "Whether the query is logged."),
};
const ASKER = object(ASKER_MEMBERS, { unknown: "ignored", nulls: "refused" });

export const NOT_NAMED: AskedBy = { user: "", session: "", logged: true };

/**
 * If a body contains one of these members, it contains one of these substrings. `\u` is included because JSON
 * may use it to escape any letter of a name.
 */
const TRACES = ["_id", "analytics", "\\u"];

/** False if the JSON certainly contains none of the members. */
export function mayNameAsker(json: Buffer): boolean {
  return TRACES.some((trace) => json.includes(trace));
}

/**
 * Takes the members out of a body. `rest` is the body without them, or the body itself if it has none. Throws
 * SK-SE-400.
 */
export function splitAsker(body: unknown, limits: Limits): { askedBy: AskedBy; rest: unknown } {
  const names = Object.keys(ASKER_MEMBERS);
  if (!isObject(body) || !names.some((name) => Object.hasOwn(body, name)))
    return { askedBy: NOT_NAMED, rest: body };
  const {
    user_id: user = "",
    session_id: session = "",
    analytics: logged,
  } = ASKER.read(body, "", queryRules(limits));
  const { user_id: _user, session_id: _session, analytics: _analytics, ...rest } = body;
  return { askedBy: { user, session, logged }, rest };
}
