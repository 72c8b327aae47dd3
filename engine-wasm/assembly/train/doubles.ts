// Rows of f64, and small square matrices built from them. All loops run along rows, two numbers at a time, so
// every row has an even number of values.

import { Mem } from "../memory/mem";

export abstract class Doubles {
  @inline static at(row: usize, i: u32): f64 {
    return Mem.f64At(row + ((<usize>i) << 3));
  }
  @inline static put(row: usize, i: u32, value: f64): void {
    Mem.putF64(row + ((<usize>i) << 3), value);
  }
  @inline static row(matrix: usize, width: u32, i: u32): usize {
    return matrix + ((<usize>(i * width)) << 3);
  }
}

/** Dot product of the numbers in [from, to), both even. */
export function dotDoubles(a: usize, b: usize, from: u32, to: u32): f64 {
  let even: v128 = f64x2.splat(0);
  let odd: v128 = f64x2.splat(0);
  let at: usize = (<usize>from) << 3;
  const end = (<usize>to) << 3;
  for (; at + 32 <= end; at += 32) {
    even = f64x2.add(even, f64x2.mul(Mem.v128At(a + at), Mem.v128At(b + at)));
    odd = f64x2.add(odd, f64x2.mul(Mem.v128At(a + at + 16), Mem.v128At(b + at + 16)));
  }
  if (at < end) even = f64x2.add(even, f64x2.mul(Mem.v128At(a + at), Mem.v128At(b + at)));
  const sums = f64x2.add(even, odd);
  return f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
}

/** Adds `factor` times b to a, for the numbers in [from, to), both even. */
export function addDoublesTimes(a: usize, b: usize, factor: f64, from: u32, to: u32): void {
  const by = f64x2.splat(factor);
  const end = (<usize>to) << 3;
  for (let at: usize = (<usize>from) << 3; at < end; at += 16) {
    Mem.putV128(a + at, f64x2.add(Mem.v128At(a + at), f64x2.mul(by, Mem.v128At(b + at))));
  }
}

/** Rotates two rows: (a, b) -> (c a - s b, s a + c b). */
export function rotateDoubles(a: usize, b: usize, c: f64, s: f64, width: u32): void {
  const cosine = f64x2.splat(c);
  const sine = f64x2.splat(s);
  const end = (<usize>width) << 3;
  for (let at: usize = 0; at < end; at += 16) {
    const x = Mem.v128At(a + at);
    const y = Mem.v128At(b + at);
    Mem.putV128(a + at, f64x2.sub(f64x2.mul(cosine, x), f64x2.mul(sine, y)));
    Mem.putV128(b + at, f64x2.add(f64x2.mul(sine, x), f64x2.mul(cosine, y)));
  }
}

/** C = AB for square matrices. C must not overlap A or B. */
export function productOf(a: usize, b: usize, width: u32, c: usize): void {
  Mem.fill(c, 0, (<usize>(width * width)) << 3);
  for (let i: u32 = 0; i < width; i++) {
    const to = Doubles.row(c, width, i);
    const row = Doubles.row(a, width, i);
    for (let k: u32 = 0; k < width; k++)
      addDoublesTimes(to, Doubles.row(b, width, k), Doubles.at(row, k), 0, width);
  }
}

/** C = A'B for square matrices. C must not overlap A or B. */
export function productOfTransposed(a: usize, b: usize, width: u32, c: usize): void {
  Mem.fill(c, 0, (<usize>(width * width)) << 3);
  for (let k: u32 = 0; k < width; k++) {
    const row = Doubles.row(a, width, k);
    const other = Doubles.row(b, width, k);
    for (let i: u32 = 0; i < width; i++)
      addDoublesTimes(Doubles.row(c, width, i), other, Doubles.at(row, i), 0, width);
  }
}
