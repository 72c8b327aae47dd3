// The dense matrices used in training: products compared with plain loops, orthonormal columns, eigenvectors,
// including those of rank-deficient matrices.
import { beforeAll, describe, expect, test } from "vitest";
import { plainSplitMix64 } from "../../../oracle/vectors/rotation.js";
import { compileParts, type Parts } from "../parts/compile-parts.js";

let parts: Parts;

beforeAll(async () => {
  parts = await compileParts(`
    export { addInnerProducts, multiplyRows } from "./train/dense";
    export { eigen } from "./train/eigen";
    export { orthonormalise } from "./train/orthonormal";
    export { release, reserve } from "./memory/arena";
  `);
});

/** Returns a generator of numbers between -1 and 1; the same seed gives the same numbers. */
function numbers(seed: number): () => number {
  let n = BigInt(seed) * 1_000_000n;
  return () => Number(BigInt.asIntN(32, plainSplitMix64(n++))) / 2 ** 31;
}

type Matrix = number[][];

function random(rows: number, width: number, seed: number): Matrix {
  const next = numbers(seed);
  return Array.from({ length: rows }, () => Array.from({ length: width }, () => Math.fround(next())));
}

const transposed = (a: Matrix): Matrix => a[0]!.map((_, j) => a.map((row) => row[j]!));
const product = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) => b[0]!.map((_, j) => row.reduce((sum, x, k) => sum + x * b[k]![j]!, 0)));

function furthest(a: Matrix, b: Matrix): number {
  return Math.max(...a.map((row, i) => Math.max(...row.map((x, j) => Math.abs(x - b[i]![j]!)))));
}

function identity(width: number): Matrix {
  return Array.from({ length: width }, (_, i) => Array.from({ length: width }, (__, j) => (i === j ? 1 : 0)));
}

/** Writes the matrix to a region of f32 rows that start `stride` numbers apart. */
function putFloats(matrix: Matrix, stride: number): number {
  const at = parts.exports.reserve!(matrix.length * stride * 4);
  const view = new Float32Array(parts.memory.buffer, at, matrix.length * stride).fill(7);
  for (const [i, row] of matrix.entries()) view.set(row, i * stride);
  return at;
}

function getFloats(at: number, rows: number, width: number, stride: number): Matrix {
  const view = new Float32Array(parts.memory.buffer, at, rows * stride);
  return Array.from({ length: rows }, (_, i) => [...view.subarray(i * stride, i * stride + width)]);
}

function putDoubles(matrix: Matrix): number {
  const at = parts.exports.reserve!(matrix.length * matrix[0]!.length * 8);
  new Float64Array(parts.memory.buffer, at, matrix.length * matrix[0]!.length).set(matrix.flat());
  return at;
}

function getDoubles(at: number, rows: number, width: number): Matrix {
  const view = new Float64Array(parts.memory.buffer, at, rows * width);
  return Array.from({ length: rows }, (_, i) => [...view.subarray(i * width, (i + 1) * width)]);
}

describe("products", () => {
  test.each([1, 3, 191, 192, 200, 385])("of columns, of %i rows", (rows) => {
    const [a, b] = [random(rows, 24, rows), random(rows, 24, rows + 1)];
    const [p, q] = [putFloats(a, 32), putFloats(b, 24)];
    for (const [other, at, stride] of [
      [a, p, 32],
      [b, q, 24],
    ] as const) {
      const sums = putDoubles(identity(24));
      parts.exports.addInnerProducts!(sums, p, 128, at, stride * 4, rows, 24);
      const expected = product(transposed(a), other).map((row, i) =>
        row.map((x, j) => x + (i === j ? 1 : 0)),
      );
      expect(furthest(getDoubles(sums, 24, 24), expected)).toBeLessThan(1e-4);
    }
  });

  test.each([1, 4, 63, 66, 130])("of %i rows with a matrix", (rows) => {
    for (const [width, across] of [
      [16, 40],
      [40, 16],
      [24, 24],
    ] as const) {
      const a = random(rows, width, rows);
      const by = random(width, across, 5);
      const at = putFloats(a, 48);
      parts.exports.multiplyRows!(at, 48 * 4, rows, width, putDoubles(by), across);
      expect(furthest(getFloats(at, rows, across, 48), product(a, by))).toBeLessThan(1e-5);
      expect(
        getFloats(at, rows, 48, 48).every((row) => row.slice(Math.max(width, across)).every((x) => x === 7)),
      ).toBe(true);
    }
  });
});

/**
 * Returns a matrix whose columns are combinations of `rank` vectors. The columns have very different lengths,
 * and some are 0.
 */
function ofRank(rows: number, width: number, rank: number): Matrix {
  const mixed = product(random(rows, rank, 3), random(rank, width, 4));
  return mixed.map((row) => row.map((x, j) => (j % 7 === 3 ? 0 : Math.fround(x * 10 ** -(j % 5)))));
}

describe("orthonormalisation", () => {
  test.each([
    ["of full rank", random(300, 24, 1), 24],
    ["that depend on others", ofRank(300, 24, 9), 9],
    ["of fewer rows than columns", random(10, 24, 2), 10],
    ["that are all 0", random(40, 16, 1).map((row) => row.map(() => 0)), 0],
    ["that are all the same", random(50, 16, 6).map((row) => row.map(() => row[0]!)), 1],
  ])("for columns %s", (_, matrix, rank) => {
    const width = matrix[0]!.length;
    const at = putFloats(matrix, width);
    expect(parts.exports.orthonormalise!(at, width * 4, matrix.length, width)).toBe(rank);
    const columns = getFloats(at, matrix.length, width, width);
    const inner = product(transposed(columns), columns);
    const expected = identity(width).map((row, i) => row.map((x) => (i < rank ? x : 0)));
    expect(furthest(inner, expected)).toBeLessThan(1e-4);
    // The matrix equals its projection onto the span.
    const spanned = product(columns, product(transposed(columns), matrix));
    expect(furthest(spanned, matrix)).toBeLessThan(1e-4);
  });
});

describe("eigenvectors", () => {
  const symmetric = random(40, 40, 8).map((row, i, all) => row.map((x, j) => x + all[j]![i]!));
  const basis = (() => {
    const at: Matrix = random(12, 12, 9);
    for (const [i, row] of at.entries()) {
      for (const before of at.slice(0, i)) {
        const along = row.reduce((sum, x, k) => sum + x * before[k]!, 0);
        for (const [k, x] of before.entries()) row[k]! -= along * x;
      }
      const length = Math.hypot(...row);
      for (const k of row.keys()) row[k]! /= length;
    }
    return at;
  })();
  const ofValues = (values: number[]): Matrix =>
    product(
      transposed(basis),
      basis.map((row, i) => row.map((x) => x * values[i]!)),
    );

  test.each([
    ["a random matrix", symmetric],
    ["repeated values", ofValues([5, 5, 5, 5, 2, 2, 2, -1, -1, 0, 0, 0])],
    ["values far apart", ofValues([1e8, 1e6, 1e4, 1e2, 1, 1e-2, 1e-4, 1e-6, 0, 0, 0, 0])],
    ["rank one", random(20, 1, 3).map(([x], _i, all) => all.map(([y]) => x! * y!))],
    ["a diagonal", identity(10).map((row, i) => row.map((x) => x * ((i * 7) % 10)))],
    ["zeros", identity(6).map((row) => row.map(() => 0))],
    [
      "two rows",
      [
        [2, 1],
        [1, -3],
      ],
    ],
  ])("of %s", (_, matrix) => {
    const width = matrix.length;
    const at = putDoubles(matrix);
    const [values, vectors] = [putDoubles([matrix[0]!]), putDoubles(matrix)];
    parts.exports.eigen!(at, width, values, vectors);
    const found = getDoubles(values, 1, width)[0]!;
    const rows = getDoubles(vectors, width, width);
    expect(found).toEqual([...found].sort((a, b) => b - a));
    expect(furthest(product(rows, transposed(rows)), identity(width))).toBeLessThan(1e-12);
    const size = Math.max(1e-300, ...found.map(Math.abs));
    const images = product(rows, matrix);
    expect(
      furthest(
        images,
        rows.map((row, i) => row.map((x) => x * found[i]!)),
      ) / size,
    ).toBeLessThan(1e-12);
  });
});
