// The rotation of vectors in plain arithmetic: signs from SplitMix64, then a Walsh-Hadamard transform
// computed from its definition.

const MASK = (1n << 64n) - 1n;

export function plainSplitMix64(n: bigint): bigint {
  let mixed = ((n + 1n) * 0x9e3779b97f4a7c15n) & MASK;
  mixed = ((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK;
  return mixed ^ (mixed >> 31n);
}

const SIGNS = [0, 1].map((round) =>
  Array.from({ length: 512 }, (_, i) =>
    (plainSplitMix64(BigInt(8 * round + (i >> 6))) >> BigInt(i & 63)) & 1n ? -1 : 1,
  ),
);

/** The sign (+1 or -1) of an entry of a Walsh-Hadamard matrix. */
function walsh(i: number, j: number): number {
  let odd = 0;
  for (let both = i & j; both !== 0; both &= both - 1) odd ^= 1;
  return odd === 1 ? -1 : 1;
}

/** Rotates a vector of 512 numbers. */
export function plainRotation(vector: readonly number[]): number[] {
  return SIGNS.reduce<number[]>((x, signs) => {
    const signed = x.map((value, i) => value * signs[i]!);
    return signed.map(
      (_, i) => signed.reduce((sum, value, j) => sum + value * walsh(i, j), 0) / Math.sqrt(512),
    );
  }, Array.from(vector));
}
