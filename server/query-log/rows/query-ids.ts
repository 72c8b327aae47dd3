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
export const QUERY_ID_TEXT_BYTES = 36;
const DASH = 0x2d;
const HEX = "0123456789abcdef";
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

export function queryIdText(id: QueryId): string {
  const bytes = Buffer.allocUnsafe(QUERY_ID_TEXT_BYTES);
  writeQueryIdText(id, bytes, 0);
  return bytes.toString("latin1");
}

/** Writes the id's text into `bytes`, from position `at`. */
export function writeQueryIdText({ atMs, counter, frontEnd }: QueryId, bytes: Uint8Array, at: number): void {
  const upper = Math.floor(atMs / 2 ** 16);
  writeHex(upper, 8, bytes, at);
  bytes[at + 8] = DASH;
  writeHex(atMs - upper * 2 ** 16, 4, bytes, at + 9);
  bytes[at + 13] = DASH;
  writeHex(0x7000 + (counter >> 12), 4, bytes, at + 14);
  bytes[at + 18] = DASH;
  writeHex(0x8000 + (counter & 0xfff), 4, bytes, at + 19);
  bytes[at + 23] = DASH;
  const high = Math.floor(frontEnd / 2 ** 24);
  writeHex(high, 6, bytes, at + 24);
  writeHex(frontEnd - high * 2 ** 24, 6, bytes, at + 30);
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

/** Writes the last `digits` hexadecimal digits of a number below 2^32. */
function writeHex(value: number, digits: number, bytes: Uint8Array, at: number): void {
  let left = value;
  for (let i = at + digits - 1; i >= at; i--) {
    bytes[i] = HEX.charCodeAt(left & 0xf);
    left >>>= 4;
  }
}
