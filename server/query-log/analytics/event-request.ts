// Reads the body of POST .../events, which contains one event or several. Events are validated one at a time,
// so that an invalid event does not affect the others.
import { SkeinError } from "../../ground/errors.js";
import { isObject } from "../../ground/input/json-value.js";
import { object, optional, required } from "../../ground/input/object-reader.js";
import {
  checked,
  type InputRules,
  integer,
  oneOf,
  text,
  type ValueReader,
  wrongType,
} from "../../ground/input/readers.js";
import { isoTime } from "../../ground/input/time-reader.js";
import { FIXED_LIMITS, type Limits } from "../../ground/limits.js";
import { EVENT_TYPES, type JournalEvent, VALUE_UNITS } from "../rows/journal.js";
import { parseQueryId } from "../rows/query-ids.js";
import { FIRST_MS, LATE_MS_MAX } from "../rows/time.js";
import type { People } from "./people.js";

/**
 * Events dated further in the future (ms) than this are rejected. Less is accepted, because a client's clock
 * may be a little fast.
 */
const AHEAD_MS_MAX = 5 * 60_000;
const VALUE_MAX = 1_000_000_000;
const POSITION_MAX = 0xffffffff;

const ISO_TIME = isoTime();
const TIME: ValueReader<number> = {
  takes: "an ISO 8601 time or a number of milliseconds since 1970",
  schema: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
  read(value, path, rules) {
    if (typeof value === "number" && Number.isSafeInteger(value)) return value;
    if (typeof value !== "string") return wrongType(path, TIME.takes, value, rules);
    return Date.parse(ISO_TIME.read(value, path, rules));
  },
};
const VALUE: ValueReader<number> = {
  takes: `a number from 0 to ${VALUE_MAX}`,
  schema: { type: "number", minimum: 0, maximum: VALUE_MAX },
  read: (value, path, rules) =>
    typeof value === "number" && value >= 0 && value <= VALUE_MAX
      ? value
      : wrongType(path, VALUE.takes, value, rules),
};
const notEmpty = (reader: ValueReader<string>): ValueReader<string> =>
  checked(reader, (value) => (value === "" ? "must not be empty" : null), { minLength: 1 });

export const EVENT = object(
  {
    type: required(oneOf(EVENT_TYPES)),
    document_id: required(
      notEmpty(text(FIXED_LIMITS.eventDocumentBytesMax)),
      "Id of the document that was clicked or bought.",
    ),
    query_id: optional(
      checked(text(), (id) => (parseQueryId(id) === null ? "must be the query_id of an answer" : null)),
      "Of the answer that showed the document.",
    ),
    query: optional(
      text("queryTextBytesMax"),
      "The text that was searched, where the query_id is not known.",
    ),
    position: optional(integer(1, POSITION_MAX), "Place of the document among the hits, 1 for the first."),
    user_id: optional(text(FIXED_LIMITS.personBytesMax), "Kept as a keyed hash."),
    session_id: optional(text(FIXED_LIMITS.personBytesMax), "Kept as a keyed hash."),
    timestamp: optional(TIME, "When it happened, at most 3 days ago. Default: now."),
    event_id: optional(
      notEmpty(text(FIXED_LIMITS.personBytesMax)),
      "Several events with the same id count once.",
    ),
    value: optional(VALUE, "What a conversion is worth."),
  },
  { unknown: "ignored" },
);

/** The tenant, log, users and time that apply to all events in a request. */
export interface EventContext {
  readonly tenant: number;
  readonly log: number;
  /** The user to whom all events are attributed. If null, each event names its own user. */
  readonly userId: string | null;
  readonly people: People;
  /** As logNowMs returns it. */
  readonly nowMs: number;
}

export interface ReadEvents {
  readonly accepted: readonly JournalEvent[];
  readonly rejected: readonly { readonly index: number; readonly error: string }[];
}

/**
 * Reads the body's events. Invalid events go to `rejected`. Throws SK-AN-400 if the body is neither an event
 * nor a list.
 */
export function readEvents(body: unknown, context: EventContext, limits: Limits): ReadEvents {
  const rules: InputRules = { limits, code: "SK-AN-400" };
  const list = Array.isArray(body) ? body : [body];
  if (!Array.isArray(body) && !isObject(body))
    wrongType("the body", "an event or an array of events", body, rules);
  if (list.length > limits.eventsPerRequestMax) {
    throw new SkeinError(
      "SK-AN-400",
      `the body has ${list.length} events; at most ${limits.eventsPerRequestMax} are allowed`,
    );
  }
  const accepted: JournalEvent[] = [];
  const rejected: { index: number; error: string }[] = [];
  for (const [index, event] of list.entries()) {
    try {
      accepted.push(readEvent(event, context, rules));
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      rejected.push({ index, error: error.message });
    }
  }
  return { accepted, rejected };
}

function readEvent(
  event: unknown,
  { tenant, log, userId, people, nowMs }: EventContext,
  rules: InputRules,
): JournalEvent {
  const given = EVENT.read(event, "", rules);
  const { user_id: named = "", session_id: session = "", query_id: queryId, timestamp: atMs = nowMs } = given;
  if (atMs < nowMs - LATE_MS_MAX || atMs > nowMs + AHEAD_MS_MAX)
    throw new SkeinError("SK-AN-400", "timestamp must be within the last 3 days");
  return {
    log,
    type: given.type,
    atMs: Math.max(FIRST_MS, Math.min(atMs, nowMs)),
    ...people.asker(tenant, { user: userId ?? named, session }),
    search: queryId === undefined ? null : parseQueryId(queryId),
    query: given.query ?? "",
    document: given.document_id,
    position: given.position ?? 0,
    value: Math.round((given.value ?? 0) * VALUE_UNITS),
    eventId: given.event_id ?? "",
  };
}
