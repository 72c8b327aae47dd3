// A strict RFC 8259 scanner over raw memory. It finds where a value ends and proves that everything in it
// is well formed; it keeps no tree and knows nothing of documents.
//
// Two kinds of bad news. Broken syntax ends the scan: 0 is returned and `scanFailedAt` is the place. A fault
// (bad UTF-8, a lone surrogate, nesting over JSON_DEPTH_MAX) leaves the syntax readable: the scan goes on and
// the first fault is kept in `scanFault` until `scanClear`, so that one document's fault stays its own.
import { DOC_BAD_UTF8, DOC_LONE_SURROGATE, DOC_OK, DOC_TOO_DEEP, JSON_DEPTH_MAX } from "../layout";
import { Mem } from "../memory/mem";
import { pointAt, pointBytes } from "../memory/utf8";

export const JSON_NULL: i32 = 0;
export const JSON_FALSE: i32 = 1;
export const JSON_TRUE: i32 = 2;
export const JSON_NUMBER: i32 = 3;
export const JSON_STRING: i32 = 4;
export const JSON_ARRAY: i32 = 5;
const JSON_OBJECT: i32 = 6;

const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;
const NESTING_MAX: i32 = 8192; // containers whose kind is remembered; deeper ones are stepped over
const NESTING: usize = memory.data(1024); // bit per open container, set = object

/** JSON_* of the value scanned last. */
export let scanKind: i32 = JSON_NULL;
/** The string scanned last holds at least one escape. Only meaningful when `scanKind` is JSON_STRING. */
export let scanEscaped: bool = false;
/** Where the syntax broke, after a scan returned 0. */
export let scanFailedAt: usize = 0;
/** First fault since `scanClear`: DOC_OK, DOC_BAD_UTF8, DOC_LONE_SURROGATE or DOC_TOO_DEEP. */
export let scanFault: i32 = DOC_OK;
/** Where the first fault is. */
export let scanFaultAt: usize = 0;

/** Forgets the fault kept so far. */
export function scanClear(): void {
  scanFault = DOC_OK;
  scanFaultAt = 0;
}

/** Ends a scan: remembers the place and returns 0. */
export function broken(p: usize): usize {
  scanFailedAt = p;
  return 0;
}

/** Whether the string literal [p, end), scanned before, has a fault of its own. Leaves the fault kept so far. */
export function stringIsFaulty(p: usize, end: usize): bool {
  const kept = scanFault;
  const keptAt = scanFaultAt;
  scanClear();
  scanString(p, end);
  const faulty = scanFault != DOC_OK;
  scanFault = kept;
  scanFaultAt = keptAt;
  return faulty;
}

function fault(code: i32, p: usize): void {
  if (scanFault != DOC_OK) return;
  scanFault = code;
  scanFaultAt = p;
}

/** First address >= p that is no JSON white space, at most `end`. */
export function skipSpace(p: usize, end: usize): usize {
  while (p < end) {
    const c = Mem.u8At(p);
    if (c > 0x20 || (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09)) break;
    p++;
  }
  return p;
}

/**
 * Scans the value that begins at p (white space already skipped) and sets `scanKind`, for strings also
 * `scanEscaped`. `outer` is the number of containers around it, for the depth limit.
 * Returns the address after the value, 0 when the syntax is broken.
 */
export function scanValue(p: usize, end: usize, outer: i32): usize {
  if (p >= end) return broken(p);
  const c = Mem.u8At(p);
  if (c == QUOTE) {
    scanKind = JSON_STRING;
    return scanString(p, end);
  }
  if (c != 0x7b && c != 0x5b) return scanScalar(p, end);
  const after = scanNested(p, end, outer);
  scanKind = c == 0x7b ? JSON_OBJECT : JSON_ARRAY;
  return after;
}

/**
 * Scans `"name" :` and the white space after it; p is at the opening quote. Sets `scanEscaped`.
 * Returns the address of the value (< end), 0 when broken; `scanKeyEnd` is the address after the name.
 */
export function scanKey(p: usize, end: usize): usize {
  if (p >= end || Mem.u8At(p) != QUOTE) return broken(p);
  const after = scanString(p, end);
  if (after == 0) return 0;
  scanKeyEnd = after;
  p = skipSpace(after, end);
  if (p >= end || Mem.u8At(p) != 0x3a) return broken(p);
  p = skipSpace(p + 1, end);
  return p < end ? p : broken(p);
}

/** Address after the closing quote of the name that `scanKey` read last. */
export let scanKeyEnd: usize = 0;

/** Scans a string whose opening quote is at p; sets `scanEscaped`. Returns the address after it or 0. */
export function scanString(p: usize, end: usize): usize {
  let escaped = false;
  p++;
  while (true) {
    if (p + 16 <= end) {
      const chunk = Mem.v128At(p);
      const special = v128.or(
        v128.or(i8x16.eq(chunk, i8x16.splat(<i8>QUOTE)), i8x16.eq(chunk, i8x16.splat(<i8>BACKSLASH))),
        i8x16.lt_s(chunk, i8x16.splat(0x20)), // signed: control characters and all bytes >= 0x80
      );
      const mask = i8x16.bitmask(special);
      if (mask == 0) {
        p += 16;
        continue;
      }
      p += <usize>ctz(mask);
    }
    if (p >= end) return broken(p);
    const c = Mem.u8At(p);
    if (c == QUOTE) {
      scanEscaped = escaped;
      return p + 1;
    }
    if (c == BACKSLASH) {
      escaped = true;
      p = scanEscape(p, end);
      if (p == 0) return 0;
    } else if (c < 0x20) {
      return broken(p);
    } else if (c < 0x80) {
      p++;
    } else {
      do {
        if (pointAt(p, end) < 0) fault(DOC_BAD_UTF8, p);
        p += pointBytes;
      } while (p < end && Mem.u8At(p) >= 0x80);
    }
  }
}

/** Value of the four hex digits at p, -1 when they are not. */
export function hexAt(p: usize, end: usize): i32 {
  if (p + 4 > end) return -1;
  let value: i32 = 0;
  for (let i: usize = 0; i < 4; i++) {
    const c = <i32>Mem.u8At(p + i);
    const letter = (c | 0x20) - 0x61;
    if (c >= 0x30 && c <= 0x39) value = (value << 4) | (c - 0x30);
    else if (letter >= 0 && letter < 6) value = (value << 4) | (letter + 10);
    else return -1;
  }
  return value;
}

function scanEscape(p: usize, end: usize): usize {
  if (p + 2 > end) return broken(p);
  const c = Mem.u8At(p + 1);
  if (c != 0x75) {
    const itself = c == QUOTE || c == BACKSLASH || c == 0x2f;
    const control = c == 0x62 || c == 0x66 || c == 0x6e || c == 0x72 || c == 0x74; // b f n r t
    return itself || control ? p + 2 : broken(p);
  }
  const unit = hexAt(p + 2, end);
  if (unit < 0) return broken(p);
  if ((unit & 0xf800) != 0xd800) return p + 6;
  if (unit < 0xdc00 && p + 8 <= end && Mem.u16At(p + 6) == 0x755c) {
    const low = hexAt(p + 8, end);
    if ((low & 0xfc00) == 0xdc00 && low >= 0) return p + 12;
  }
  fault(DOC_LONE_SURROGATE, p);
  return p + 6;
}

function digitsFrom(p: usize, end: usize): usize {
  while (p < end && Mem.u8At(p) - 0x30 < 10) p++;
  return p;
}

function scanScalar(p: usize, end: usize): usize {
  const c = Mem.u8At(p);
  if (c == 0x2d || c - 0x30 < 10) return scanNumber(p, end);
  if (p + 4 <= end) {
    const word = Mem.u32At(p);
    if (word == 0x65757274) {
      scanKind = JSON_TRUE;
      return p + 4;
    }
    if (word == 0x6c6c756e) {
      scanKind = JSON_NULL;
      return p + 4;
    }
    if (word == 0x736c6166 && p + 5 <= end && Mem.u8At(p + 4) == 0x65) {
      scanKind = JSON_FALSE;
      return p + 5;
    }
  }
  return c == 0x7b || c == 0x5b ? stepOver(p, end) : broken(p);
}

/**
 * Steps over the container that opens at p inside NESTING_MAX others. Only its strings are checked, and any bracket
 * closes any other: the text is at fault as too deep already, and nobody reads it.
 */
function stepOver(p: usize, end: usize): usize {
  let depth: i32 = 0;
  while (p < end) {
    const c = Mem.u8At(p);
    if (c == QUOTE) {
      p = scanString(p, end);
      if (p == 0) return 0;
      continue;
    }
    p++;
    if (c == 0x7b || c == 0x5b) depth++;
    else if ((c == 0x7d || c == 0x5d) && --depth == 0) return p;
  }
  return broken(p);
}

function scanNumber(p: usize, end: usize): usize {
  scanKind = JSON_NUMBER;
  if (Mem.u8At(p) == 0x2d) p++;
  const whole = p;
  p = digitsFrom(p, end);
  if (p == whole) return broken(p);
  if (Mem.u8At(whole) == 0x30 && p - whole > 1) return broken(whole + 1);
  if (p < end && Mem.u8At(p) == 0x2e) {
    const fraction = p + 1;
    p = digitsFrom(fraction, end);
    if (p == fraction) return broken(p);
  }
  if (p < end && (Mem.u8At(p) | 0x20) == 0x65) {
    p++;
    if (p < end && (Mem.u8At(p) == 0x2b || Mem.u8At(p) == 0x2d)) p++;
    const exponent = p;
    p = digitsFrom(exponent, end);
    if (p == exponent) return broken(p);
  }
  return p;
}

function nestingSet(depth: i32, object: bool): void {
  const cell = NESTING + (depth >> 3);
  const bit: u32 = 1 << (depth & 7);
  Mem.putU8(cell, object ? Mem.u8At(cell) | bit : Mem.u8At(cell) & ~bit);
}

function nestingIsObject(depth: i32): bool {
  return ((Mem.u8At(NESTING + (depth >> 3)) >> (depth & 7)) & 1) != 0;
}

/** Scans the container that opens at p, without recursion. */
function scanNested(p: usize, end: usize, outer: i32): usize {
  let depth: i32 = 0;
  let inObject: bool = false;
  while (true) {
    // p is at the first byte of a value, p < end
    const c = Mem.u8At(p);
    let closed = false;
    if ((c == 0x7b || c == 0x5b) && depth < NESTING_MAX) {
      inObject = c == 0x7b;
      nestingSet(depth, inObject);
      depth++;
      if (outer + depth > JSON_DEPTH_MAX) fault(DOC_TOO_DEEP, p);
      p = skipSpace(p + 1, end);
      if (p >= end) return broken(p);
      closed = Mem.u8At(p) == (inObject ? 0x7d : 0x5d);
      if (!closed) {
        if (inObject) p = scanKey(p, end);
        if (p == 0) return 0;
        continue;
      }
    } else {
      p = c == QUOTE ? scanString(p, end) : scanScalar(p, end);
      if (p == 0) return 0;
    }
    while (true) {
      // p is after a value, or at the bracket that closes an empty container
      if (!closed) {
        p = skipSpace(p, end);
        if (p >= end) return broken(p);
        const next = Mem.u8At(p);
        if (next == 0x2c) {
          p = skipSpace(p + 1, end);
          if (inObject) p = scanKey(p, end);
          else if (p >= end) return broken(p);
          if (p == 0) return 0;
          break;
        }
        if (next != (inObject ? 0x7d : 0x5d)) return broken(p);
      }
      closed = false;
      p++;
      depth--;
      if (depth == 0) return p;
      inObject = nestingIsObject(depth - 1);
    }
  }
}
