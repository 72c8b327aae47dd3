// Digits in folded terms: decimal digits and other number characters of any script.
import { CLASS_DIGIT } from "../layout";
import { pointAt, pointBytes } from "../memory/utf8";
import { entryClass, tableEntry } from "./unicode";

/** Reads the character at p, sets `pointBytes`. */
function isDigitAt(p: usize, end: usize): bool {
  const point = pointAt(p, end);
  return point >= 0 && entryClass(tableEntry(point)) == CLASS_DIGIT;
}

/** True when a digit is among the `bytes` bytes at p. */
export function hasDigit(p: usize, bytes: u32): bool {
  const end = p + bytes;
  for (; p < end; p += pointBytes) {
    if (isDigitAt(p, end)) return true;
  }
  return false;
}

/** True when the `bytes` bytes at p are nothing but digits. */
export function allDigits(p: usize, bytes: u32): bool {
  const end = p + bytes;
  for (; p < end; p += pointBytes) {
    if (!isDigitAt(p, end)) return false;
  }
  return true;
}
