// Cosines and estimates equal to the product's to the last bit: single-precision floats, added in the same
// order. Documents that are equally near except for rounding therefore come out in the product's order. The
// definitions are in codes.ts.

const SIZE = 512;
const CODE_BYTES = 64;
/** Number of partial sums per cosine. */
const SUMS = 8;

const single = Math.fround;

/** The factor that scales integers to a vector of length 1. */
export function scaleOf(numbers: readonly number[]): number {
  return single(1 / Math.sqrt(numbers.reduce((sum, number) => sum + number * number, 0)));
}

/** The cosine of a vector and a query of length 1. */
export function singleCosine(query: Float32Array, numbers: readonly number[]): number {
  const sums = new Float32Array(SUMS);
  for (const [i, number] of numbers.entries()) sums[i % SUMS]! += single(number * query[i]!);
  const [a, b, c, d] = [0, 1, 2, 3].map((i) => single(sums[i]! + sums[i + SUMS / 2]!));
  return single(scaleOf(numbers) * single(single(a! + b!) + single(c! + d!)));
}

/** Estimates the cosine from only a vector's signs: one partial sum per byte of its code, then their sum. */
export function singleEstimate(query: Float32Array, numbers: readonly number[]): number {
  const scale = Math.sqrt(Math.PI / (2 * SIZE));
  let sum = 0;
  for (let byte = 0; byte < CODE_BYTES; byte++) {
    const bits = [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => 8 * byte + bit);
    let signed = single(bits.reduce((negative, i) => negative - query[i]!, 0) * scale);
    for (const i of bits.reverse())
      if (numbers[i]! >= 0) signed = single(signed + single(2 * scale * query[i]!));
    sum = single(sum + signed);
  }
  return sum;
}
