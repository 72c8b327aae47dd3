// Arithmetic on vectors of VECTOR_SIZE f32 values.

import { VECTOR_SIZE } from "../layout";
import { Mem } from "../memory/mem";

export const FLOATS_BYTES: usize = VECTOR_SIZE * 4;

export function dotFloats(a: usize, b: usize): f32 {
  let even: v128 = f32x4.splat(0);
  let odd: v128 = f32x4.splat(0);
  for (let at: usize = 0; at < FLOATS_BYTES; at += 32) {
    even = f32x4.add(even, f32x4.mul(Mem.v128At(a + at), Mem.v128At(b + at)));
    odd = f32x4.add(odd, f32x4.mul(Mem.v128At(a + at + 16), Mem.v128At(b + at + 16)));
  }
  const sums = f32x4.add(even, odd);
  const low = f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1);
  return low + (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3));
}

/** Adds `factor` * b to a. */
export function addFloatsTimes(a: usize, b: usize, factor: f32): void {
  const by = f32x4.splat(factor);
  for (let at: usize = 0; at < FLOATS_BYTES; at += 16) {
    Mem.putV128(a + at, f32x4.add(Mem.v128At(a + at), f32x4.mul(by, Mem.v128At(b + at))));
  }
}

export function scaleFloats(a: usize, factor: f32): void {
  const by = f32x4.splat(factor);
  for (let at: usize = 0; at < FLOATS_BYTES; at += 16) Mem.putV128(a + at, f32x4.mul(by, Mem.v128At(a + at)));
}

/** Largest absolute value in the vector. */
export function largestFloat(a: usize): f32 {
  let most: v128 = f32x4.splat(0);
  for (let at: usize = 0; at < FLOATS_BYTES; at += 16) most = f32x4.max(most, f32x4.abs(Mem.v128At(a + at)));
  const low = max(f32x4.extract_lane(most, 0), f32x4.extract_lane(most, 1));
  return max(low, max(f32x4.extract_lane(most, 2), f32x4.extract_lane(most, 3)));
}
