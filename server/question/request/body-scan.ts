// Finds the parts of a query's body that differ between the queries of one client, without parsing the JSON:
// the text, the filter, the page, the user. These are the body's holes; the bytes around them are its frame.
//
//   {"q":"red shoe","per_page":10,"sort":"price:asc","page":2}
//         ~~~~~~~~             ~~                           ~     holes; everything else is the frame
//
// The scanner gives up on anything unusual, but it also accepts bytes that are not JSON. It promises only
// this: if two bodies have the same frame, one is valid JSON and the other's holes can be read, then the
// other is also valid JSON and differs only in the values of its holes.
import { isUtf8 } from "node:buffer";
import { FIXED_LIMITS } from "../../ground/limits.js";
import type { AskedBy } from "../../query-log/analytics/people.js";
import { NOT_NAMED } from "./asker.js";
import {
  afterSpace,
  EMPTY_HASH,
  hasEscapes,
  hashedOn,
  isAt,
  isWholeNumber,
  objectOf,
  stringEnd,
  textOf,
  utf8,
  valueEnd,
  valueOfDigits,
} from "./json-bytes.js";

/** Holes that are the contents of a string, without its quotes. */
export const Q = 0;
export const FILTER_BY = 1;
const USER = 2;
const SESSION = 3;
/** A hole that is a JSON object. */
export const FILTERS = 4;
/** Holes that are whole numbers. */
export const PAGE = 5;
export const PER_PAGE = 6;
/** Read by the scanner, but not a hole: its bytes stay in the frame. */
const ANALYTICS = 7;
const BOTH_FILTERS = (1 << FILTER_BY) | (1 << FILTERS);
const OTHER = -1;
const UNKNOWABLE = -2;

const NAMES = ["q", "filter_by", "user_id", "session_id", "filters", "page", "per_page", "analytics"].map(
  (name) => Buffer.from(name),
);
const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");

/** Longer bodies are not scanned, because reading them takes time slices. */
const BODY_BYTES_MAX = 16 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;

export class BodyScan {
  readonly bytes: Uint8Array;
  /** For each hole, in the order of the body: which one it is, its first byte, the byte after its last. */
  readonly holes: readonly number[];
  readonly frameHash: number;
  readonly #logged: boolean;

  constructor(bytes: Uint8Array, holes: readonly number[], logged: boolean) {
    this.bytes = bytes;
    this.holes = holes;
    this.frameHash = hashOfFrame(bytes, holes);
    this.#logged = logged;
  }

  /** Index in `holes`; -1 if the body does not have the hole. */
  indexOf(hole: number): number {
    for (let at = 0; at < this.holes.length; at += 3) if (this.holes[at] === hole) return at;
    return -1;
  }

  /** Number of bytes in the hole at this index of `holes`. */
  length(at: number): number {
    return this.holes[at + 2]! - this.holes[at + 1]!;
  }

  /** The bytes of the hole at this index of `holes`, as a view. */
  view(at: number): Uint8Array {
    return this.bytes.subarray(this.holes[at + 1], this.holes[at + 2]);
  }

  hash(at: number): number {
    return hashedOn(EMPTY_HASH, this.bytes, this.holes[at + 1]!, this.holes[at + 2]!);
  }

  /** True if the hole at this index of `holes` has these bytes. */
  equals(at: number, bytes: Uint8Array): boolean {
    return isAt(this.bytes, this.holes[at + 1]!, this.holes[at + 2]!, bytes);
  }

  /** The text of the string at this index of `holes`. Null if its escapes are invalid. */
  text(at: number): string | null {
    return textOf(this.bytes, this.holes[at + 1]!, this.holes[at + 2]!);
  }

  /** The object at this index of `holes`. Null if it is not valid JSON or is unusual. */
  object(at: number): object | null {
    return objectOf(this.bytes, this.holes[at + 1]!, this.holes[at + 2]!);
  }

  /** The whole number at this index of `holes`. */
  number(at: number): number {
    return valueOfDigits(this.bytes, this.holes[at + 1]!, this.holes[at + 2]!);
  }

  get askedBy(): AskedBy {
    const [user, session] = [this.indexOf(USER), this.indexOf(SESSION)];
    if (user < 0 && session < 0 && this.#logged) return NOT_NAMED;
    return { user: this.#person(user), session: this.#person(session), logged: this.#logged };
  }

  /** The body with an empty user and visit. */
  get anonymous(): Uint8Array {
    const { bytes, holes } = this;
    const persons = this.#length(USER) + this.#length(SESSION);
    if (persons === 0) return bytes;
    const out = new Uint8Array(bytes.length - persons);
    let from = 0;
    let to = 0;
    for (let at = 0; at < holes.length; at += 3) {
      if (holes[at] !== USER && holes[at] !== SESSION) continue;
      while (from < holes[at + 1]!) out[to++] = bytes[from++]!;
      from = holes[at + 2]!;
    }
    while (from < bytes.length) out[to++] = bytes[from++]!;
    return out;
  }

  /** Number of bytes in the hole; 0 if the body does not have it. */
  #length(hole: number): number {
    const at = this.indexOf(hole);
    return at < 0 ? 0 : this.length(at);
  }

  #person(at: number): string {
    return at < 0 ? "" : utf8(this.bytes, this.holes[at + 1]!, this.holes[at + 2]!);
  }
}

/** Returns null if the body is unusual in any way; it must then be parsed. */
export function scanBody(bytes: Uint8Array): BodyScan | null {
  if (bytes.length > BODY_BYTES_MAX || !isUtf8(bytes)) return null;
  let at = afterSpace(bytes, 0);
  if (bytes[at] !== BRACE_OPEN) return null;
  const holes: number[] = [];
  let seen = 0;
  let logged = true;
  do {
    const name = afterSpace(bytes, at + 1);
    const nameEnd = stringEnd(bytes, name);
    if (nameEnd < 0) return null;
    const member = memberOf(bytes, name + 1, nameEnd - 1);
    at = afterSpace(bytes, nameEnd);
    if (bytes[at] !== COLON || member === UNKNOWABLE) return null;
    const value = afterSpace(bytes, at + 1);
    const end = valueEnd(bytes, value);
    if (end < 0) return null;
    if (member !== OTHER) {
      if ((seen & (1 << member)) !== 0 || !isSimple(bytes, member, value, end)) return null;
      seen |= 1 << member;
      if (member === ANALYTICS) logged = end - value === TRUE.length;
      else if (member < FILTERS) holes.push(member, value + 1, end - 1);
      else holes.push(member, value, end);
    }
    at = afterSpace(bytes, end);
  } while (bytes[at] === COMMA);
  if (bytes[at] !== BRACE_CLOSE || afterSpace(bytes, at + 1) !== bytes.length) return null;
  if ((seen & BOTH_FILTERS) === BOTH_FILTERS) return null;
  return new BodyScan(bytes, holes, logged);
}

/** Which member has this name: `OTHER` for any that is not scanned, `UNKNOWABLE` if it has escapes. */
function memberOf(bytes: Uint8Array, start: number, end: number): number {
  for (let member = 0; member < NAMES.length; member++)
    if (isAt(bytes, start, end, NAMES[member]!)) return member;
  return hasEscapes(bytes, start, end) ? UNKNOWABLE : OTHER;
}

/** True if the value is of the member's usual type and needs no interpretation. */
function isSimple(bytes: Uint8Array, member: number, start: number, end: number): boolean {
  switch (member) {
    case Q:
    case FILTER_BY:
      return bytes[start] === QUOTE;
    case USER:
    case SESSION:
      if (bytes[start] !== QUOTE || end - start - 2 > FIXED_LIMITS.personBytesMax) return false;
      return !hasEscapes(bytes, start, end);
    case FILTERS:
      return bytes[start] === BRACE_OPEN;
    case ANALYTICS:
      return isAt(bytes, start, end, TRUE) || isAt(bytes, start, end, FALSE);
    default:
      return isWholeNumber(bytes, start, end);
  }
}

function hashOfFrame(bytes: Uint8Array, holes: readonly number[]): number {
  let hash = EMPTY_HASH;
  let from = 0;
  for (let i = 0; i < holes.length; i += 3) {
    hash = hashedOn(hash, bytes, from, holes[i + 1]!);
    from = holes[i + 2]!;
  }
  return hashedOn(hash, bytes, from, bytes.length);
}
