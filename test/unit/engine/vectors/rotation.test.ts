// Vector rotation compared with plain arithmetic and with golden values. The rotation must never change,
// because stored vectors have been rotated by it.
import { beforeAll, expect, test } from "vitest";
import { VECTOR_SIZE } from "../../../../engine-wasm/assembly/layout.js";
import { plainRotation, plainSplitMix64 } from "../../../oracle/vectors/rotation.js";
import { compileParts, type Parts } from "../parts/compile-parts.js";

const AT = 0x10000;
/** First numbers of the rotated vectors (1, 0, 0 ...) and (0, 1, 2 ...), times 512. */
const GOLDEN_UNIT = [0, -12, -4, 32, 16, 20, -20, -16, 40, 4, 20, 32];
const GOLDEN_RAMP = [
  -52128, 17200, 88672, 76592, 336608, -44720, -151424, -320592, -172144, -119904, 211312, 52288,
];

let parts: Parts;

beforeAll(async () => {
  parts = await compileParts(`
    export { rotate } from "./vector/rotation";
    export { splitMix64 } from "./vector/splitmix";
  `);
});

function rotated(values: Iterable<number>): Float32Array {
  const vector = new Float32Array(parts.memory.buffer, AT, VECTOR_SIZE);
  vector.set([...values]);
  parts.exports.rotate!(AT);
  return vector.slice();
}

/** Returns numbers between -1 and 1; the same seed gives the same numbers. */
function numbers(seed: number): number[] {
  return Array.from({ length: VECTOR_SIZE }, (_, i) =>
    Math.fround(Number(BigInt.asIntN(32, plainSplitMix64(BigInt(seed * VECTOR_SIZE + i)))) / 2 ** 31),
  );
}

const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((sum, x, i) => sum + x * b[i]!, 0);

test("the generator is SplitMix64 with seed 0", () => {
  const first = [0n, 1n, 2n].map((n) => BigInt.asUintN(64, BigInt(parts.exports.splitMix64!(n))));
  expect(first).toEqual([0xe220a8397b1dcdafn, 0x6e789e6aa1b965f4n, 0x06c45d188009454fn]);
  for (let n = 0n; n < 100n; n++) {
    expect(BigInt.asUintN(64, BigInt(parts.exports.splitMix64!(n)))).toBe(plainSplitMix64(n));
  }
});

test("equals the golden values", () => {
  const unit = rotated([1, ...new Array<number>(VECTOR_SIZE - 1).fill(0)]);
  expect([...unit.subarray(0, 12)].map((x) => x * VECTOR_SIZE)).toEqual(GOLDEN_UNIT);
  const ramp = rotated(Array.from({ length: VECTOR_SIZE }, (_, i) => i));
  expect([...ramp.subarray(0, 12)].map((x) => x * VECTOR_SIZE)).toEqual(GOLDEN_RAMP);
});

test("equals plain arithmetic", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const expected = plainRotation(numbers(seed));
    const got = rotated(numbers(seed));
    for (const [i, x] of got.entries()) expect(Math.abs(x - expected[i]!)).toBeLessThan(1e-5);
  }
});

test("preserves lengths and cosines", () => {
  const [a, b] = [numbers(101), numbers(102)];
  const [ra, rb] = [rotated(a), rotated(b)];
  expect(dot(ra, ra)).toBeCloseTo(dot(a, a), 3);
  expect(dot(ra, rb)).toBeCloseTo(dot(a, b), 3);
});
