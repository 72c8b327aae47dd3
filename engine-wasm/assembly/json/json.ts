// A strict RFC 8259 scanner over raw memory. It finds the end of a value and verifies that everything in it
// is well formed. It builds no tree and knows nothing about documents.
//
// There are two kinds of errors. Broken syntax ends the scan: it returns 0 and sets `failedAt`. A fault (bad
// UTF-8, a lone surrogate, nesting over JSON_DEPTH_MAX) leaves the syntax readable: the scan continues and
// keeps the first fault in `fault` until `clearFault`, so that a fault in one document does not affect the
// others.
import { DOC_BAD_UTF8, DOC_LONE_SURROGATE, DOC_OK, DOC_TOO_DEEP, JSON_DEPTH_MAX } from "../layout";
import { scratchZeroed } from "../memory/arena";
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
// Whether a container is an object is recorded up to this depth; deeper containers are skipped.
const NESTING_MAX: i32 = 8192;
const NESTING: usize = memory.data(1024); // one bit per open container: 1 = object, 0 = array

/** The first address >= p that is not JSON white space, or `end`. */
export function skipSpace(p: usize, end: usize): usize {
  while (p < end) {
    const c = Mem.u8At(p);
    if (c > 0x20 || (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09)) break;
    p++;
  }
  return p;
}

/** Value of the four hex digits at p, or -1 if they are not all hex digits. */
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

function digitsFrom(p: usize, end: usize): usize {
  while (p < end && Mem.u8At(p) - 0x30 < 10) p++;
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

/** A scan of one text. Allocated in scratch memory. */
@unmanaged
export class Scan {
  /** Kind (JSON_*) of the last scanned value. */
  kind: i32;
  /** True if the last scanned string, which may be a name, contains an escape. */
  escaped: bool;
  /** Address of the syntax error. Valid only if a scan returned 0. */
  failedAt: usize;
  /** First fault since `clearFault`: DOC_OK, DOC_BAD_UTF8, DOC_LONE_SURROGATE or DOC_TOO_DEEP. */
  fault: i32;
  /** Address of the first fault. */
  faultAt: usize;
  /** Address after the closing quote of the last name that `key` read. */
  keyEnd: usize;

  static make(): Scan {
    return changetype<Scan>(scratchZeroed(offsetof<Scan>()));
  }

  /** Clears the recorded fault. */
  clearFault(): void {
    this.fault = DOC_OK;
    this.faultAt = 0;
  }

  /** Ends a scan: records where the syntax broke and returns 0. */
  broken(p: usize): usize {
    this.failedAt = p;
    return 0;
  }

  private keepFault(code: i32, p: usize): void {
    if (this.fault != DOC_OK) return;
    this.fault = code;
    this.faultAt = p;
  }

  /**
   * True if the string literal [p, end), already scanned, contains a fault. Does not change the recorded
   * fault.
   */
  stringIsFaulty(p: usize, end: usize): bool {
    const kept = this.fault;
    const keptAt = this.faultAt;
    this.clearFault();
    this.string(p, end);
    const faulty = this.fault != DOC_OK;
    this.fault = kept;
    this.faultAt = keptAt;
    return faulty;
  }

  /**
   * Scans the value at p (white space already skipped). Sets `kind`, and `escaped` for a string. `outer` is
   * the number of enclosing containers, for the depth limit. Returns the address after the value, or 0 if the
   * syntax is broken.
   */
  value(p: usize, end: usize, outer: i32): usize {
    if (p >= end) return this.broken(p);
    const c = Mem.u8At(p);
    if (c == QUOTE) {
      this.kind = JSON_STRING;
      return this.string(p, end);
    }
    if (c != 0x7b && c != 0x5b) return this.scalar(p, end);
    const after = this.nested(p, end, outer);
    this.kind = c == 0x7b ? JSON_OBJECT : JSON_ARRAY;
    return after;
  }

  /**
   * Scans `"name" :` and the white space after it; p is at the opening quote. Sets `escaped`, and `keyEnd` to
   * the address after the name. Returns the address of the value (< end), or 0 if the syntax is broken.
   */
  key(p: usize, end: usize): usize {
    if (p >= end || Mem.u8At(p) != QUOTE) return this.broken(p);
    const after = this.string(p, end);
    if (after == 0) return 0;
    this.keyEnd = after;
    p = skipSpace(after, end);
    if (p >= end || Mem.u8At(p) != 0x3a) return this.broken(p);
    p = skipSpace(p + 1, end);
    return p < end ? p : this.broken(p);
  }

  /**
   * Scans the string whose opening quote is at p and sets `escaped`. Returns the address after the string, or
   * 0.
   */
  string(p: usize, end: usize): usize {
    let escaped = false;
    p++;
    while (true) {
      if (p + 16 <= end) {
        const chunk = Mem.v128At(p);
        const special = v128.or(
          v128.or(i8x16.eq(chunk, i8x16.splat(<i8>QUOTE)), i8x16.eq(chunk, i8x16.splat(<i8>BACKSLASH))),
          // A signed comparison, so that it is also true for all bytes >= 0x80.
          i8x16.lt_s(chunk, i8x16.splat(0x20)),
        );
        const mask = i8x16.bitmask(special);
        if (mask == 0) {
          p += 16;
          continue;
        }
        p += <usize>ctz(mask);
      }
      if (p >= end) return this.broken(p);
      const c = Mem.u8At(p);
      if (c == QUOTE) {
        this.escaped = escaped;
        return p + 1;
      }
      if (c == BACKSLASH) {
        escaped = true;
        p = this.escape(p, end);
        if (p == 0) return 0;
      } else if (c < 0x20) {
        return this.broken(p);
      } else if (c < 0x80) {
        p++;
      } else {
        do {
          if (pointAt(p, end) < 0) this.keepFault(DOC_BAD_UTF8, p);
          p += pointBytes;
        } while (p < end && Mem.u8At(p) >= 0x80);
      }
    }
  }

  private escape(p: usize, end: usize): usize {
    if (p + 2 > end) return this.broken(p);
    const c = Mem.u8At(p + 1);
    if (c != 0x75) {
      const itself = c == QUOTE || c == BACKSLASH || c == 0x2f;
      const control = c == 0x62 || c == 0x66 || c == 0x6e || c == 0x72 || c == 0x74; // the letters b f n r t
      return itself || control ? p + 2 : this.broken(p);
    }
    const unit = hexAt(p + 2, end);
    if (unit < 0) return this.broken(p);
    if ((unit & 0xf800) != 0xd800) return p + 6;
    if (unit < 0xdc00 && p + 8 <= end && Mem.u16At(p + 6) == 0x755c) {
      const low = hexAt(p + 8, end);
      if ((low & 0xfc00) == 0xdc00 && low >= 0) return p + 12;
    }
    this.keepFault(DOC_LONE_SURROGATE, p);
    return p + 6;
  }

  private scalar(p: usize, end: usize): usize {
    const c = Mem.u8At(p);
    if (c == 0x2d || c - 0x30 < 10) return this.number(p, end);
    if (p + 4 <= end) {
      const word = Mem.u32At(p);
      if (word == 0x65757274) {
        this.kind = JSON_TRUE;
        return p + 4;
      }
      if (word == 0x6c6c756e) {
        this.kind = JSON_NULL;
        return p + 4;
      }
      if (word == 0x736c6166 && p + 5 <= end && Mem.u8At(p + 4) == 0x65) {
        this.kind = JSON_FALSE;
        return p + 5;
      }
    }
    return c == 0x7b || c == 0x5b ? this.stepOver(p, end) : this.broken(p);
  }

  /**
   * Skips the container that opens at p inside NESTING_MAX others. Checks only its strings, and accepts any
   * closing bracket for any opening bracket: the text is already known to be too deep, so its contents will
   * not be used.
   */
  private stepOver(p: usize, end: usize): usize {
    let depth: i32 = 0;
    while (p < end) {
      const c = Mem.u8At(p);
      if (c == QUOTE) {
        p = this.string(p, end);
        if (p == 0) return 0;
        continue;
      }
      p++;
      if (c == 0x7b || c == 0x5b) depth++;
      else if ((c == 0x7d || c == 0x5d) && --depth == 0) return p;
    }
    return this.broken(p);
  }

  private number(p: usize, end: usize): usize {
    this.kind = JSON_NUMBER;
    if (Mem.u8At(p) == 0x2d) p++;
    const whole = p;
    p = digitsFrom(p, end);
    if (p == whole) return this.broken(p);
    if (Mem.u8At(whole) == 0x30 && p - whole > 1) return this.broken(whole + 1);
    if (p < end && Mem.u8At(p) == 0x2e) {
      const fraction = p + 1;
      p = digitsFrom(fraction, end);
      if (p == fraction) return this.broken(p);
    }
    if (p < end && (Mem.u8At(p) | 0x20) == 0x65) {
      p++;
      if (p < end && (Mem.u8At(p) == 0x2b || Mem.u8At(p) == 0x2d)) p++;
      const exponent = p;
      p = digitsFrom(exponent, end);
      if (p == exponent) return this.broken(p);
    }
    return p;
  }

  /** Scans the container that opens at p, without recursion. */
  private nested(p: usize, end: usize, outer: i32): usize {
    let depth: i32 = 0;
    let inObject: bool = false;
    while (true) {
      // Here, p is at the first byte of a value, and p < end.
      const c = Mem.u8At(p);
      let closed = false;
      if ((c == 0x7b || c == 0x5b) && depth < NESTING_MAX) {
        inObject = c == 0x7b;
        nestingSet(depth, inObject);
        depth++;
        if (outer + depth > JSON_DEPTH_MAX) this.keepFault(DOC_TOO_DEEP, p);
        p = skipSpace(p + 1, end);
        if (p >= end) return this.broken(p);
        closed = Mem.u8At(p) == (inObject ? 0x7d : 0x5d);
        if (!closed) {
          if (inObject) p = this.key(p, end);
          if (p == 0) return 0;
          continue;
        }
      } else {
        p = c == QUOTE ? this.string(p, end) : this.scalar(p, end);
        if (p == 0) return 0;
      }
      while (true) {
        // p is after a value, or at the bracket that closes an empty container.
        if (!closed) {
          p = skipSpace(p, end);
          if (p >= end) return this.broken(p);
          const next = Mem.u8At(p);
          if (next == 0x2c) {
            p = skipSpace(p + 1, end);
            if (inObject) p = this.key(p, end);
            else if (p >= end) return this.broken(p);
            if (p == 0) return 0;
            break;
          }
          if (next != (inObject ? 0x7d : 0x5d)) return this.broken(p);
        }
        closed = false;
        p++;
        depth--;
        if (depth == 0) return p;
        inObject = nestingIsObject(depth - 1);
      }
    }
  }
}
