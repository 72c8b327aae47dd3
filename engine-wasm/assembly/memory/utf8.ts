// Decodes and encodes UTF-8 in raw memory. The decoder is strict (Unicode 3.9, table 3-7: no overlong forms,
// no surrogates, nothing above U+10FFFF). Never reads at or after `end`.
import { Mem } from "./mem";

/**
 * Length in bytes of the last sequence that `pointAt` read; 1 after a malformed one. This is a second result
 * of `pointAt`, which the caller reads before the next call. Deriving it from the code point would make
 * reading text 5 to 30 % slower.
 */
export let pointBytes: u32 = 1;

function isTail(byte: u32): bool {
  return (byte & 0xc0) == 0x80;
}

/** The code point at p (p < end), or -1 if the sequence is malformed. Sets `pointBytes`. */
export function pointAt(p: usize, end: usize): i32 {
  const a = Mem.u8At(p);
  pointBytes = 1;
  if (a < 0x80) return a;
  if (a < 0xc2 || a > 0xf4 || p + 2 > end) return -1;
  const b = Mem.u8At(p + 1);
  if (!isTail(b)) return -1;
  if (a < 0xe0) {
    pointBytes = 2;
    return ((a & 0x1f) << 6) | (b & 0x3f);
  }
  if (p + 3 > end) return -1;
  const c = Mem.u8At(p + 2);
  if (!isTail(c)) return -1;
  if (a < 0xf0) {
    const point = ((a & 0x0f) << 12) | ((b & 0x3f) << 6) | (c & 0x3f);
    if (point < 0x800 || (point >= 0xd800 && point < 0xe000)) return -1;
    pointBytes = 3;
    return point;
  }
  if (p + 4 > end) return -1;
  const d = Mem.u8At(p + 3);
  if (!isTail(d)) return -1;
  const point = ((a & 0x07) << 18) | ((b & 0x3f) << 12) | ((c & 0x3f) << 6) | (d & 0x3f);
  if (point < 0x10000 || point > 0x10ffff) return -1;
  pointBytes = 4;
  return point;
}

/**
 * Writes a code point (not a surrogate) at `out`, which needs room for 4 bytes. Returns the number of bytes
 * written.
 */
export function putPoint(out: usize, point: u32): u32 {
  if (point < 0x80) {
    Mem.putU8(out, point);
    return 1;
  }
  if (point < 0x800) {
    Mem.putU8(out, 0xc0 | (point >> 6));
    Mem.putU8(out + 1, 0x80 | (point & 0x3f));
    return 2;
  }
  if (point < 0x10000) {
    Mem.putU8(out, 0xe0 | (point >> 12));
    Mem.putU8(out + 1, 0x80 | ((point >> 6) & 0x3f));
    Mem.putU8(out + 2, 0x80 | (point & 0x3f));
    return 3;
  }
  Mem.putU8(out, 0xf0 | (point >> 18));
  Mem.putU8(out + 1, 0x80 | ((point >> 12) & 0x3f));
  Mem.putU8(out + 2, 0x80 | ((point >> 6) & 0x3f));
  Mem.putU8(out + 3, 0x80 | (point & 0x3f));
  return 4;
}
