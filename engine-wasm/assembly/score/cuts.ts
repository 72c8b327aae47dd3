// Compares many scores with one cut (a minimum score). Works on plain arrays of scores and does not know
// which rows they belong to.
import { Mem } from "../memory/mem";

/** True if all numbers are below the cut. */
export function allBelow(numbers: usize, count: u32, cut: f64): bool {
  const cuts = f64x2.splat(cut);
  const end = numbers + ((<usize>count) << 3);
  let below = i64x2.splat(-1);
  let at = numbers;
  for (; at + 16 <= end; at += 16) below = v128.and(below, f64x2.lt(Mem.v128At(at), cuts));
  return i64x2.all_true(below) && (at == end || Mem.f64At(at) < cut);
}

/** Number of scores that are at least the cut. */
export function countFrom(scores: usize, scored: u32, cut: f64): u32 {
  let count: u32 = 0;
  for (let i: usize = 0; i < <usize>scored; i++) count += Mem.f64At(scores + (i << 3)) < cut ? 0 : 1;
  return count;
}
