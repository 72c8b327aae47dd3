// Parses dates as feeds write them, ISO 8601 and RFC 822, to seconds since 1970. Dates without a time zone
// are in UTC.

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;
const RFC_822 =
  /^(?:[A-Za-z]{3},\s*)?\d{1,2} [A-Za-z]{3} \d{4} \d\d:\d\d(?::\d\d)? (?:[A-Za-z]{1,5}|[+-]\d{4})$/;

/** Returns seconds since 1970, or null if the text is not a date. A range `from/to` yields its start. */
export function parseDate(text: string): number | null {
  const [begin = ""] = text.trim().split("/");
  const ms = RFC_822.test(begin) ? Date.parse(begin) : isoMs(begin);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1_000);
}

function isoMs(text: string): number {
  const match = ISO.exec(text);
  if (match === null) return Number.NaN;
  const [, day, time = "00:00", zone = "Z"] = match;
  return isDay(day!) ? Date.parse(`${day}T${time}${zoneText(zone)}`) : Number.NaN;
}

/** False for days such as February 30, which Date would read as a day in March. */
function isDay(day: string): boolean {
  const date = new Date(`${day}T00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

/** Normalises a zone: `-08`, `-0800` and `-08:00` are equivalent, but Date accepts only the last form. */
function zoneText(zone: string): string {
  if (zone.toUpperCase() === "Z") return "Z";
  const digits = zone.slice(1).replace(":", "").padEnd(4, "0");
  return `${zone[0]}${digits.slice(0, 2)}:${digits.slice(2)}`;
}
