// Packs the 128 numbers of one posting block into bits. There are 4 lanes; value i is in lane i % 4. Each
// lane is a separate stream of 32 values of `bits` bits, least significant bit first. unpack.ts is the
// reader. Knows nothing about rows and lists.
//
//   | word 0: lane 0 1 2 3 | word 1: lane 0 1 2 3 | ... |   16 bytes per word, `bits` words
import { Mem } from "./mem";

/** Number of bits needed for `largest` (or for the bitwise OR of all values): 0..32. */
export function bitsFor(largest: u32): u32 {
  return 32 - clz(largest);
}

/** Packs 128 u32 at `values`, each below 2^bits, into 16 * bits bytes at `to`. */
export function packBlock(values: usize, bits: u32, to: usize): void {
  if (bits == 0) return;
  let word = i32x4.splat(0);
  let filled: u32 = 0;
  for (let i: usize = 0; i < 32; i++) {
    const value = Mem.v128At(values + (i << 4));
    word = v128.or(word, i32x4.shl(value, filled));
    filled += bits;
    if (filled >= 32) {
      Mem.putV128(to, word);
      to += 16;
      filled -= 32;
      word = filled > 0 ? i32x4.shr_u(value, bits - filled) : i32x4.splat(0);
    }
  }
}
