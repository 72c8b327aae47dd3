// Tables of how a field's length affects scoring: f64 values indexed by norm byte, so that scoring a posting
// needs no division.

import { Mem } from "../memory/mem";
import { decodeNorm } from "../memory/norm";

export const NORMS: u32 = 256;
export const TABLE_BYTES: usize = NORMS << 3;
// Within each group of this many consecutive norm bytes, lengths are evenly spaced.
const NORMS_A_STEP: u32 = 8;

/** A queried slot. */
@unmanaged
export class SlotWeights {
  weight: f64;
  averageLength: f64;
  occurrences: usize; // table from `putOccurrences`; 0 = not computed yet
  lengths: usize; // table from `putLengths`
}

export const SLOT_BYTES: usize = (offsetof<SlotWeights>() + 7) & ~7;

/**
 * Writes, for each norm byte, what one occurrence of a term in a field of that length adds to a row's sum.
 * `average` is the field's average length.
 */
export function putOccurrences(to: usize, weight: f64, lengthShare: f64, average: f64): void {
  const share = f64x2.splat(lengthShare);
  const averages = f64x2.splat(average);
  const fixed = f64x2.splat(1 - lengthShare);
  const weights = f64x2.splat(weight);
  for (let norm: u32 = 0; norm < NORMS; norm += NORMS_A_STEP) {
    const step = stepAt(norm);
    let lengths = lengthsAt(norm, step);
    for (let end = to + ((<usize>NORMS_A_STEP) << 3); to < end; to += 16) {
      const ratios = average == 0 ? share : f64x2.div(f64x2.mul(share, lengths), averages);
      Mem.putV128(to, f64x2.div(weights, f64x2.add(fixed, ratios)));
      lengths = f64x2.add(lengths, f64x2.splat(2 * step));
    }
  }
}

/** Writes, for each norm byte, how much a field of that length adds to its document's length. */
export function putLengths(to: usize, weight: f64): void {
  const weights = f64x2.splat(weight);
  for (let norm: u32 = 0; norm < NORMS; norm += NORMS_A_STEP) {
    const step = stepAt(norm);
    let lengths = lengthsAt(norm, step);
    for (let end = to + ((<usize>NORMS_A_STEP) << 3); to < end; to += 16) {
      Mem.putV128(to, f64x2.mul(weights, lengths));
      lengths = f64x2.add(lengths, f64x2.splat(2 * step));
    }
  }
}

/** The distance between consecutive lengths from a norm byte that is a multiple of NORMS_A_STEP. */
function stepAt(norm: u32): f64 {
  return <f64>(decodeNorm(norm + 1) - decodeNorm(norm));
}

/** The lengths that a norm byte and the next one represent. */
function lengthsAt(norm: u32, step: f64): v128 {
  const length = <f64>decodeNorm(norm);
  return f64x2.replace_lane(f64x2.splat(length), 1, length + step);
}
