// A reader of times sent by clients. It does not know the name of the member that it reads.
import { text, type ValueReader, wrongType } from "./readers.js";

const BYTES_MAX = 100;
const ISO_TIME = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2}))?$/;
/** Latest accepted time. Later years have more than four digits, which many ISO 8601 parsers reject. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");
const TEXT = text(BYTES_MAX, "an ISO 8601 time such as 2031-01-01T00:00:00Z");

/** Accepts a day, or a time with a time zone. Returns it as ISO 8601 in UTC. */
export function isoTime(): ValueReader<string> {
  return {
    ...TEXT,
    read(value, path, rules) {
      const given = TEXT.read(value, path, rules);
      const time = new Date(given);
      const day = ISO_TIME.exec(given)?.[1];
      const known = day !== undefined && isDay(day) && time.getTime() <= LAST_MS;
      return known ? time.toISOString() : wrongType(path, TEXT.takes, given, rules);
    },
  };
}

/** True if the calendar has this day. `Date` would accept 31 February as 3 March. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
