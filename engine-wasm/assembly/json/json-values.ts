// Converts the text of a JSON scalar to its value: strings to UTF-8, integers exactly to i64, numbers to the
// nearest f64. A scan must already have found the text well formed.
import { parseNumber } from "../env";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { putPoint } from "../memory/utf8";
import { hexAt } from "./json";

/**
 * Decodes the string literal [start, end), quotes included, into `out`, which needs end - start - 2 bytes and
 * may overlap the literal, because the result is never longer. The literal must not contain lone surrogates.
 * Returns the number of bytes written.
 */
export function unescape(start: usize, end: usize, out: usize): u32 {
  const stop = end - 1;
  const first = out;
  let p = start + 1;
  while (p < stop) {
    const c = Mem.u8At(p);
    if (c != 0x5c) {
      Mem.putU8(out++, c);
      p++;
      continue;
    }
    const e = Mem.u8At(p + 1);
    p += 2;
    if (e == 0x75) {
      let point: u32 = hexAt(p, stop);
      p += 4;
      if ((point & 0xfc00) == 0xd800) {
        point = 0x10000 + ((point & 0x3ff) << 10) + (<u32>hexAt(p + 2, stop) & 0x3ff);
        p += 6;
      }
      out += putPoint(out, point);
    } else {
      Mem.putU8(out++, escaped(e));
    }
  }
  return <u32>(out - first);
}

/** The byte encoded by a backslash and `letter`. */
function escaped(letter: u32): u32 {
  switch (letter) {
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return letter; // after the backslash: a quote, backslash or slash
  }
}

export const INTEGER_OK: i32 = 0;
export const INTEGER_FRACTION: i32 = 1; // the number is not an integer
const INTEGER_OVERFLOW: i32 = 2; // the number is an integer that does not fit in an i64

/** A JSON number as mantissa x 10^exponent. Allocated in scratch memory. */
@unmanaged
export class Decimal {
  negative: bool;
  mantissa: u64; // the number's digits, without leading and trailing zeros; exact if `digits` <= 19
  digits: i64;
  exponent: i64;
  /** The integer read by `readInteger`; valid only if it returned INTEGER_OK. */
  integer: i64;

  static make(): Decimal {
    return changetype<Decimal>(scratch(offsetof<Decimal>()));
  }

  /**
   * Reads the exact integer value of the number [start, end); `2.0` and `1e3` are whole numbers. Returns
   * INTEGER_*.
   */
  readInteger(start: usize, end: usize): i32 {
    this.read(start, end);
    this.integer = 0;
    if (this.digits == 0) return INTEGER_OK;
    if (this.exponent < 0) return INTEGER_FRACTION;
    if (this.digits + this.exponent > 19) return INTEGER_OVERFLOW;
    let value = this.mantissa;
    for (let i: i64 = 0; i < this.exponent; i++) value *= 10; // stays below 10^19, so it fits in a u64
    const limit: u64 = this.negative ? 0x8000000000000000 : 0x7fffffffffffffff;
    if (value > limit) return INTEGER_OVERFLOW;
    this.integer = this.negative ? 0 - <i64>value : <i64>value;
    return INTEGER_OK;
  }

  /** Nearest f64 to the number [start, end), ties to even; infinite if the number is too large. */
  readFloat64(start: usize, end: usize): f64 {
    this.read(start, end);
    if (this.digits == 0) return this.negative ? -0.0 : 0.0;
    // Clinger's fast path: both operands are exact, so one multiplication or division rounds correctly.
    const exact = this.digits <= 19 && this.mantissa <= 0x1fffffffffffff && abs(this.exponent) <= 22;
    if (!exact) return parseNumber(start, end - start);
    let value = <f64>this.mantissa;
    const power = exactPower(<i32>abs(this.exponent));
    value = this.exponent < 0 ? value / power : value * power;
    return this.negative ? -value : value;
  }

  private read(p: usize, end: usize): void {
    const negative = Mem.u8At(p) == 0x2d;
    if (negative) p++;
    let mantissa: u64 = 0;
    let digits: i64 = 0;
    let zeros: i64 = 0; // number of zeros since the last non-zero digit
    let exponent: i64 = 0;
    let fraction = false;
    for (; p < end; p++) {
      const c = Mem.u8At(p);
      if (c == 0x2e) {
        fraction = true;
        continue;
      }
      if (c - 0x30 >= 10) break;
      if (fraction) exponent--;
      if (c == 0x30) {
        if (digits > 0) zeros++;
        continue;
      }
      digits += zeros + 1;
      if (digits <= 19) {
        for (; zeros > 0; zeros--) mantissa *= 10;
        mantissa = mantissa * 10 + <u64>(c - 0x30);
      }
      zeros = 0;
    }
    exponent += zeros;
    if (p < end) exponent += exponentAt(p + 1, end);
    this.negative = negative;
    this.mantissa = mantissa;
    this.digits = digits;
    this.exponent = exponent;
  }
}

/** Value of the exponent [p, end), which follows the letter e. */
function exponentAt(p: usize, end: usize): i64 {
  const negative = Mem.u8At(p) == 0x2d;
  if (negative || Mem.u8At(p) == 0x2b) p++;
  let value: i64 = 0;
  for (; p < end; p++) {
    // Capped to avoid overflow. No text has enough digits to bring such an exponent back into range.
    if (value < 1000000000000) value = value * 10 + <i64>(Mem.u8At(p) - 0x30);
  }
  return negative ? -value : value;
}

function exactPower(exponent: i32): f64 {
  let power: f64 = 1;
  for (let i = 0; i < exponent; i++) power *= 10; // powers of ten are exact up to 10^22
  return power;
}
