// The rotation into the space in which all vectors are stored and compared: two rounds of fixed sign flips,
// each followed by a Walsh-Hadamard transform (Ailon and Chazelle, "The fast Johnson-Lindenstrauss
// transform", 2009). It is orthonormal, so lengths and cosines are preserved. Afterwards no single number of
// a vector dominates, so its signs make a good code. ON DISK: it must never change.
//
//   round r of 0, 1:  x[i] = -x[i] where bit i & 63 of splitMix64(8 r + (i >> 6)) is 1
//                     then butterflies (a, b) -> (a + b, a - b) over distances 1, 2, 4 ... 256
//   at the end        x[i] = x[i] / 512: each round makes a vector sqrt(512) times as long

import { VECTOR_SIZE } from "../layout";
import { Mem } from "../memory/mem";
import { splitMix64 } from "./splitmix";

const BYTES: usize = VECTOR_SIZE * 4;
const WORDS_A_ROUND: u64 = VECTOR_SIZE / 64;

/** Rotates f32[512], 16-aligned, in place. The result is bit-identical on every engine. */
export function rotate(vector: usize): void {
  round(vector, 0);
  round(vector, WORDS_A_ROUND);
  const end = vector + BYTES;
  const scale = f32x4.splat(1.0 / <f32>VECTOR_SIZE);
  for (let at = vector; at < end; at += 16) Mem.putV128(at, f32x4.mul(Mem.v128At(at), scale));
}

function round(vector: usize, firstWord: u64): void {
  within4(vector, firstWord);
  for (let distance: usize = 16; distance < BYTES; distance <<= 1) butterflies(vector, distance);
}

/** Flips the signs and applies the butterflies over distances 1 and 2, which stay within 4 neighbours. */
function within4(vector: usize, firstWord: u64): void {
  const lanes = i32x4(1, 2, 4, 8);
  const odd = i32x4(0, 0x80000000, 0, 0x80000000);
  const high = i32x4(0, 0, 0x80000000, 0x80000000);
  for (let word: usize = 0; word < <usize>WORDS_A_ROUND; word++) {
    let signs = splitMix64(firstWord + <u64>word);
    const end = vector + ((word + 1) << 8);
    for (let at = vector + (word << 8); at < end; at += 16) {
      const negative = i32x4.eq(v128.and(i32x4.splat(<i32>signs), lanes), lanes);
      let x = v128.xor(Mem.v128At(at), i32x4.shl(negative, 31));
      x = f32x4.add(v128.shuffle<f32>(x, x, 0, 0, 2, 2), v128.xor(v128.shuffle<f32>(x, x, 1, 1, 3, 3), odd));
      x = f32x4.add(v128.shuffle<f32>(x, x, 0, 1, 0, 1), v128.xor(v128.shuffle<f32>(x, x, 2, 3, 2, 3), high));
      Mem.putV128(at, x);
      signs >>= 4;
    }
  }
}

/** Applies the butterflies over a distance given in bytes, at least 16. */
function butterflies(vector: usize, distance: usize): void {
  const end = vector + BYTES;
  for (let block = vector; block < end; block += distance << 1) {
    const middle = block + distance;
    for (let at = block; at < middle; at += 16) {
      const a = Mem.v128At(at);
      const b = Mem.v128At(at + distance);
      Mem.putV128(at, f32x4.add(a, b));
      Mem.putV128(at + distance, f32x4.sub(a, b));
    }
  }
}
