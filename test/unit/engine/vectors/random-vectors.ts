// Random vectors for the tests of codes and similarities; the same seed gives the same vectors.
import type { Random } from "../../../../bench/random.js";
import { VECTOR_SIZE } from "../../../../engine-wasm/assembly/layout.js";

/** Returns a query of length 1 with normally distributed numbers. */
export function randomQuery(random: Random): Float32Array {
  const numbers = Array.from({ length: VECTOR_SIZE }, () => {
    let sum = 0;
    for (let i = 0; i < 6; i++) sum += random.from(-1000, 1000);
    return sum;
  });
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
}

/** Returns integers from -127 to 127, at least one of them 127. */
export function randomVector(random: Random): number[] {
  const numbers = [...randomQuery(random)];
  const most = Math.max(...numbers.map(Math.abs));
  const sign = random.below(2) === 0 ? 1 : -1;
  return numbers.map((number) => sign * Math.round((number / most) * 127) + 0);
}
