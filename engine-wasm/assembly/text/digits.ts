// Recognises digits in folded terms: decimal digits and other number characters in any script.
import { CLASS_DIGIT } from "../layout";
import { pointAt, pointBytes } from "../memory/utf8";
import { entryClass, tableEntry } from "./unicode";

/** True if the character at p is a digit. Sets `pointBytes`. */
function isDigitAt(p: usize, end: usize): bool {
  const point = pointAt(p, end);
  return point >= 0 && entryClass(tableEntry(point)) == CLASS_DIGIT;
}

/** True if the `bytes` bytes at p contain a digit. */
export function hasDigit(p: usize, bytes: u32): bool {
  const end = p + bytes;
  for (; p < end; p += pointBytes) {
    if (isDigitAt(p, end)) return true;
  }
  return false;
}

/** True if the `bytes` bytes at p are all digits. */
export function allDigits(p: usize, bytes: u32): bool {
  const end = p + bytes;
  for (; p < end; p += pointBytes) {
    if (!isDigitAt(p, end)) return false;
  }
  return true;
}
