// Generates pseudo-random numbers by their index in a fixed sequence: SplitMix64 (Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", 2014) with seed 0. ON DISK: the rotation of all stored vectors
// depends on it, so it must never change.

const STEP: u64 = 0x9e3779b97f4a7c15;

/** Number `n` (0, 1, 2 ...) in the sequence. */
export function splitMix64(n: u64): u64 {
  let mixed = (n + 1) * STEP;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}
