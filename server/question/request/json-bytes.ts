// Locates JSON values in bytes without parsing them. Finds where a value ends, assuming it is valid JSON; the
// caller must check that it is. Positions are byte offsets.

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;
const BRACKET_OPEN = 0x5b;
const BACKSLASH = 0x5c;
const BRACKET_CLOSE = 0x5d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
/** Values nested more deeply are treated as unterminated. */
const DEPTH_MAX = 16;
/** Larger numbers may be clamped or rounded, which is not decided here. */
const DIGITS_MAX = 9;
const LONG_DIGITS = 16;

/** True if these bytes are `expected`. */
export function isAt(bytes: Uint8Array, start: number, end: number, expected: Uint8Array): boolean {
  if (end - start !== expected.length) return false;
  for (let i = 0; i < expected.length; i++) if (bytes[start + i] !== expected[i]) return false;
  return true;
}

/** True for a number in digits only that is small enough to be exact. */
export function isWholeNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > DIGITS_MAX || (bytes[start] === ZERO && end - start > 1)) return false;
  for (let at = start; at < end; at++) if (bytes[at]! < ZERO || bytes[at]! > NINE) return false;
  return true;
}

/** The value of what isWholeNumber accepts. */
export function valueOfDigits(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + bytes[at]! - ZERO;
  return value;
}

/** Position of the first byte from `at` on that is not white space. */
export function afterSpace(bytes: Uint8Array, at: number): number {
  while (isSpace(bytes[at])) at++;
  return at;
}

function isSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Position after the value, or -1 if it does not end. */
export function valueEnd(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start);
  if (first === BRACE_OPEN || first === BRACKET_OPEN) return nestedEnd(bytes, start);
  let at = start;
  while (at < bytes.length && !endsWord(bytes[at]!)) at++;
  return at === start ? -1 : at;
}

function endsWord(byte: number): boolean {
  return byte === COMMA || byte === BRACE_CLOSE || isSpace(byte);
}

/** Position after the string that begins at `start`; -1 if there is none, or if it has control characters. */
export function stringEnd(bytes: Uint8Array, start: number): number {
  if (bytes[start] !== QUOTE) return -1;
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    if (byte < SPACE) return -1;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}

/** Position after the object or array; -1 if it does not end or is nested deeply. */
function nestedEnd(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at >= 0 && at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at) - 1;
      if (at < 0) return -1;
    } else if (byte === BRACE_OPEN || byte === BRACKET_OPEN) {
      if (++depth > DEPTH_MAX) return -1;
    } else if ((byte === BRACE_CLOSE || byte === BRACKET_CLOSE) && --depth === 0) return at + 1;
  }
  return -1;
}

export function hasEscapes(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === BACKSLASH) return true;
  return false;
}

/**
 * True if the bytes may contain an integer that the parser does not read as a number (see parseJson). Then it
 * also reads some strings differently.
 */
export function hasLongInteger(bytes: Uint8Array, start: number, end: number): boolean {
  let digits = 0;
  for (let at = start; at < end && digits < LONG_DIGITS; at++)
    digits = bytes[at]! >= ZERO && bytes[at]! <= NINE ? digits + 1 : 0;
  return digits >= LONG_DIGITS;
}

/** The value of an object in valid UTF-8. Null if it is not JSON, or if parseJson would look into it. */
export function objectOf(bytes: Uint8Array, start: number, end: number): object | null {
  if (hasEscapes(bytes, start, end) || hasLongInteger(bytes, start, end)) return null;
  try {
    return JSON.parse(utf8(bytes, start, end)) as object;
  } catch {
    return null;
  }
}

/** The text of a string with these contents, which are valid UTF-8. Null if an escape is invalid. */
export function textOf(bytes: Uint8Array, start: number, end: number): string | null {
  if (!hasEscapes(bytes, start, end)) return utf8(bytes, start, end);
  try {
    const text = JSON.parse(utf8(bytes, start - 1, end + 1)) as string;
    return /\p{Surrogate}/u.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Decodes valid UTF-8. */
export function utf8(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.prototype.utf8Slice.call(bytes, start, end);
}

/** FNV-1a hash of no bytes. */
export const EMPTY_HASH = 0x811c9dc5 | 0;

/** Continues `hash` with these bytes. */
export function hashedOn(hash: number, bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
  return hash;
}
