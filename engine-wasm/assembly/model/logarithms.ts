// Computes ln(1 + frequency). Caches recent results, because a few frequencies account for nearly all
// postings.

import { Mem } from "../memory/mem";

const ENTRIES: usize = 512;
const MIXER: u32 = 0x9e3779b1; // multiplier that mixes all bits of a number into its upper bits
const SHIFT: u32 = 23;

export const LOGARITHMS_BYTES: usize = ENTRIES * 8;

/**
 * A cache with entries {f32 frequency, f32 logarithm}, indexed by the upper 9 bits of the mixed frequency.
 * Occupies LOGARITHMS_BYTES.
 */
@unmanaged
export class Logarithms {
  clear(): void {
    Mem.fill(changetype<usize>(this), 0, LOGARITHMS_BYTES); // 0 is the correct entry for ln(1 + 0)
  }

  /** Returns ln(1 + frequency). The frequency must be >= 0. */
  @inline onePlus(frequency: f32): f32 {
    const slot = (reinterpret<u32>(frequency) * MIXER) >> SHIFT;
    const entry = changetype<usize>(this) + ((<usize>slot) << 3);
    if (Mem.f32At(entry) == frequency) return Mem.f32At(entry + 4);
    const logarithm = <f32>Math.log(1.0 + <f64>frequency);
    Mem.putF32(entry, frequency);
    Mem.putF32(entry + 4, logarithm);
    return logarithm;
  }
}
