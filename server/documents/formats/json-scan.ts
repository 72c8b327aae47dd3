// Finds a JSON object's members in its bytes without parsing it, so that numbers keep their exact digits and
// documents reach the server unchanged. Checks the structure (nesting, strings, commas), but not the contents
// of nested values or the spelling of literals, which the server checks.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Receives one member. All offsets are into the scanned bytes. The name's offsets exclude its quotes, and the
 * name may contain escapes.
 */
export type MemberVisitor = (
  nameStart: number,
  nameEnd: number,
  valueStart: number,
  valueEnd: number,
) => void;

/**
 * Calls `visit` for each member of the object in `bytes`. Returns false if `bytes` is not exactly one JSON
 * object.
 */
export function scanObject(bytes: Uint8Array, visit: MemberVisitor): boolean {
  const end = bytes.length;
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return false;
  at = skipSpace(bytes, at + 1);
  if (bytes[at] === CLOSE_BRACE) return skipSpace(bytes, at + 1) === end;
  for (;;) {
    if (bytes[at] !== QUOTE) return false;
    const nameStart = at + 1;
    at = skipString(bytes, at);
    if (at < 0) return false;
    const nameEnd = at - 1;
    at = skipSpace(bytes, at);
    if (bytes[at] !== COLON) return false;
    const valueStart = skipSpace(bytes, at + 1);
    at = skipValue(bytes, valueStart);
    if (at <= valueStart) return false;
    visit(nameStart, nameEnd, valueStart, at);
    at = skipSpace(bytes, at);
    const next = bytes[at];
    if (next === CLOSE_BRACE) return skipSpace(bytes, at + 1) === end;
    if (next !== COMMA) return false;
    at = skipSpace(bytes, at + 1);
  }
}

/**
 * Returns the first position at or after `at` that is not JSON white space, or the length of `bytes` if there
 * is none.
 */
function skipSpace(bytes: Uint8Array, at: number): number {
  while (at < bytes.length) {
    const byte = bytes[at]!;
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    at++;
  }
  return at;
}

/**
 * Returns the position after the closing quote of the string that opens at `at`, or -1 if the string does not
 * end.
 */
function skipString(bytes: Uint8Array, at: number): number {
  for (let i = at + 1; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === BACKSLASH) i++;
    else if (byte === QUOTE) return i + 1;
  }
  return -1;
}

/**
 * Returns the end of the value that starts at `at`. Returns -1 if the value does not end, and `at` if it is
 * missing.
 */
function skipValue(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, at);
  let i = at;
  while (i < bytes.length && !endsLiteral(bytes[i]!)) i++;
  return i;
}

function skipNested(bytes: Uint8Array, at: number): number {
  let depth = 0;
  for (let i = at; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte === QUOTE) {
      i = skipString(bytes, i) - 1;
      if (i < 0) return -1;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      if (--depth === 0) return i + 1;
    }
  }
  return -1;
}

function endsLiteral(byte: number): boolean {
  return (
    byte === COMMA ||
    byte === CLOSE_BRACE ||
    byte === CLOSE_BRACKET ||
    byte <= 0x20 ||
    byte === QUOTE ||
    byte === COLON
  );
}
