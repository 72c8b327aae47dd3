// Query ids, by which an event names the search that it belongs to. They are version 7 UUIDs (RFC 9562) that
// encode where the log stores the search:
//
//   ms of the search, 48 bits | version | counter, 12 bits | variant | counter, 12 bits | front-end, 48 bits
import { randomBytes } from "node:crypto";

export interface QueryId {
  /** Start of the search, in milliseconds since 1970. */
  readonly atMs: number;
  /** Incremented with each search on the front-end. Wraps around at 2^24. */
  readonly counter: number;
  /** The front-end's random number, chosen when it starts. */
  readonly frontEnd: number;
}

const COUNTERS = 2 ** 24;
const PATTERN = /^([0-9a-f]{8})-([0-9a-f]{4})-7([0-9a-f]{3})-8([0-9a-f]{3})-([0-9a-f]{12})$/i;

/** Generates query ids for one front-end. */
export class QueryIds {
  readonly frontEnd = randomBytes(6).readUIntBE(0, 6);
  #counter = 0;

  next(atMs: number): QueryId {
    this.#counter = (this.#counter + 1) % COUNTERS;
    return { atMs, counter: this.#counter, frontEnd: this.frontEnd };
  }
}

export function queryIdText({ atMs, counter, frontEnd }: QueryId): string {
  const time = hex48(atMs);
  const count = hex24(counter);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.slice(0, 3)}-8${count.slice(3)}-${hex48(frontEnd)}`;
}

/** Parses a query id. Returns null if the text is not a query id. */
export function parseQueryId(text: string): QueryId | null {
  const parts = PATTERN.exec(text);
  if (parts === null) return null;
  const [, high, low, upper, lower, frontEnd] = parts as unknown as string[];
  return {
    atMs: Number.parseInt(high! + low!, 16),
    counter: Number.parseInt(upper! + lower!, 16),
    frontEnd: Number.parseInt(frontEnd!, 16),
  };
}

function hex48(value: number): string {
  return hex24(Math.floor(value / 2 ** 24)) + hex24(value % 2 ** 24);
}

/** Formats 24 bits at a time, because V8 prints small whole numbers many times faster than large ones. */
function hex24(value: number): string {
  return (2 ** 24 + value).toString(16).slice(1);
}
