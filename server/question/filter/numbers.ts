// Reads the numeric literals in filters exactly. int64 values beyond 2^53, and decimals compared with integer
// fields, must not be converted to a float. Handles only text and numbers.
import { FIXED_LIMITS } from "../../ground/limits.js";

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const WHOLE = /^[+-]?\d+$/;
const PARTS = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;
/** Longer literals are refused: nobody needs them, and parsing a BigInt takes more than linear time. */
const LITERAL_LENGTH_MAX = FIXED_LIMITS.filterNumberCharactersMax;
/**
 * Literals with a larger exponent are outside int64 unless they are 0, because they have at most
 * LITERAL_LENGTH_MAX characters.
 */
const EXPONENT_MAX = 2 * LITERAL_LENGTH_MAX;

/**
 * Returns the integer denoted by a decimal literal in any notation (`10`, `10.0`, `1e1`), or null if it is
 * not an integer.
 */
export function readInteger(text: string): bigint | null {
  const bounds = readBounds(text);
  return bounds === null || bounds.floor !== bounds.ceil ? null : bounds.floor;
}

/** Returns a decimal literal's value if it is a finite double, otherwise null. */
export function readDouble(text: string): number | null {
  if (text.length > LITERAL_LENGTH_MAX || !DECIMAL.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

/**
 * Returns the largest integer <= the literal's value and the smallest integer >= it, both exact. Null if the
 * text is not a number.
 */
export function readBounds(text: string): { floor: bigint; ceil: bigint } | null {
  if (text.length > LITERAL_LENGTH_MAX || !DECIMAL.test(text)) return null;
  if (WHOLE.test(text)) {
    const value = BigInt(text);
    return { floor: value, ceil: value };
  }
  const [, sign, whole = "", fraction = "", exponentText = "0"] = PARTS.exec(text) as RegExpExecArray;
  const exponent = Math.max(-EXPONENT_MAX, Math.min(EXPONENT_MAX, Number(exponentText))) - fraction.length;
  const digits = BigInt(whole + fraction) * (sign === "-" ? -1n : 1n);
  if (exponent >= 0) {
    const value = digits * 10n ** BigInt(exponent);
    return { floor: value, ceil: value };
  }
  const divisor = 10n ** BigInt(-exponent);
  const quotient = digits / divisor; // rounds towards zero
  const rest = digits % divisor;
  return { floor: rest < 0n ? quotient - 1n : quotient, ceil: rest > 0n ? quotient + 1n : quotient };
}
