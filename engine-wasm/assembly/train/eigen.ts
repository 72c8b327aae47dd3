// Computes the eigenvalues and eigenvectors of a symmetric f64 matrix: reduction to tridiagonal form by
// Householder reflections, then implicit QL (EISPACK's tred2 and tql2; Golub and Van Loan, "Matrix
// Computations", chapter 8). Eigenvectors are rows, so that every step runs over contiguous numbers.

import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { addDoublesTimes, Doubles, dotDoubles, rotateDoubles } from "./doubles";

const EPSILON: f64 = 2.220446049250313e-16;
const ITERATIONS_MAX: u32 = 60; // maximum number of QL steps per eigenvalue; about two are typical

/**
 * Decomposes the symmetric f64[width][width] at `matrix` (width even), which is overwritten. `values`
 * receives the eigenvalues, largest first; `vectors`, f64[width][width], receives the eigenvectors as rows of
 * length 1.
 */
export function eigen(matrix: usize, width: u32, values: usize, vectors: usize): void {
  const rowBytes = (<usize>width) << 3;
  const diagonal = reserve(3 * rowBytes);
  const beside = diagonal + rowBytes; // the off-diagonal elements: beside[i] is at (i, i + 1)
  const scales = beside + rowBytes; // scale of the reflection in each row
  Mem.fill(beside, 0, rowBytes);
  tridiagonalise(matrix, width, diagonal, beside, scales);
  identity(vectors, width);
  qlSteps(diagonal, beside, vectors, width);
  reflectBack(matrix, width, scales, vectors);
  sortDescending(diagonal, vectors, width);
  Mem.copy(values, diagonal, rowBytes);
  release(diagonal);
}

function identity(matrix: usize, width: u32): void {
  Mem.fill(matrix, 0, (<usize>(width * width)) << 3);
  for (let i: u32 = 0; i < width; i++) Doubles.put(Doubles.row(matrix, width, i), i, 1);
}

/**
 * Reduces the matrix to tridiagonal form. Row k is replaced by the reflection that reduced it; the
 * reflection's scale goes into `scales`.
 */
function tridiagonalise(matrix: usize, width: u32, diagonal: usize, beside: usize, scales: usize): void {
  const products = reserve((<usize>width) << 3);
  for (let k: u32 = 0; k < width; k++) {
    const row = Doubles.row(matrix, width, k);
    Doubles.put(diagonal, k, Doubles.at(row, k));
    Doubles.put(scales, k, 0);
    if (k + 1 == width) break;
    // Start at an even index, because numbers are processed in pairs; those up to k are set to 0.
    const first = k & ~1;
    for (let i = first; i <= k; i++) Doubles.put(row, i, 0);
    const head = Doubles.at(row, k + 1);
    const square = dotDoubles(row, row, first, width);
    const length = Math.sqrt(square);
    const isReduced = square == head * head;
    Doubles.put(beside, k, isReduced ? head : head > 0 ? -length : length);
    if (isReduced) continue;
    const reflected = head > 0 ? head + length : head - length;
    Doubles.put(row, k + 1, reflected);
    const scale = 1 / (length * abs<f64>(reflected)); // 2 / (squared length of the reflection)
    Doubles.put(scales, k, scale);
    reflectBoth(matrix, width, k, row, scale, products);
  }
  release(products);
}

/** Applies the reflection H = I - scale v v' to the rest of the matrix from both sides: H A H. */
function reflectBoth(matrix: usize, width: u32, k: u32, v: usize, scale: f64, products: usize): void {
  const first = (k + 1) & ~1;
  Doubles.put(products, first, 0);
  for (let i = k + 1; i < width; i++) {
    Doubles.put(products, i, scale * dotDoubles(Doubles.row(matrix, width, i), v, first, width));
  }
  const half = 0.5 * scale * dotDoubles(products, v, first, width);
  addDoublesTimes(products, v, -half, first, width);
  for (let i = k + 1; i < width; i++) {
    const row = Doubles.row(matrix, width, i);
    addDoublesTimes(row, products, -Doubles.at(v, i), first, width);
    addDoublesTimes(row, v, -Doubles.at(products, i), first, width);
  }
}

/** Turns eigenvectors of the tridiagonal form into eigenvectors of the original matrix. */
function reflectBack(matrix: usize, width: u32, scales: usize, vectors: usize): void {
  for (let k = width; k > 0; k--) {
    const scale = Doubles.at(scales, k - 1);
    if (scale == 0) continue;
    const v = Doubles.row(matrix, width, k - 1);
    const first = k & ~1;
    if (first < k) Doubles.put(v, first, 0);
    for (let i: u32 = 0; i < width; i++) {
      const row = Doubles.row(vectors, width, i);
      addDoublesTimes(row, v, -scale * dotDoubles(row, v, first, width), first, width);
    }
  }
}

/** Implicit QL with shifts on the tridiagonal matrix, whose diagonal becomes the eigenvalues. */
function qlSteps(diagonal: usize, beside: usize, vectors: usize, width: u32): void {
  let norm: f64 = 0;
  for (let i: u32 = 0; i < width; i++)
    norm = max(norm, abs<f64>(Doubles.at(diagonal, i)) + abs<f64>(Doubles.at(beside, i)));
  const small = EPSILON * norm;
  for (let low: u32 = 0; low < width; low++) {
    for (let turn: u32 = 0; turn < ITERATIONS_MAX; turn++) {
      let high = low;
      while (high + 1 < width && abs<f64>(Doubles.at(beside, high)) > small) high++;
      if (high == low) break;
      sweep(diagonal, beside, vectors, width, low, high);
    }
  }
}

/** Runs one QL step on rows `low` to `high`. */
function sweep(diagonal: usize, beside: usize, vectors: usize, width: u32, low: u32, high: u32): void {
  const corner = Doubles.at(diagonal, low);
  const coupling = Doubles.at(beside, low);
  let g = (Doubles.at(diagonal, low + 1) - corner) / (2 * coupling);
  const root = Math.sqrt(g * g + 1);
  g = Doubles.at(diagonal, high) - corner + coupling / (g < 0 ? g - root : g + root);
  let s: f64 = 1;
  let c: f64 = 1;
  let p: f64 = 0;
  for (let i = high; i-- > low; ) {
    const f = s * Doubles.at(beside, i);
    const b = c * Doubles.at(beside, i);
    const r = Math.sqrt(f * f + g * g);
    Doubles.put(beside, i + 1, r);
    if (r == 0) {
      Doubles.put(diagonal, i + 1, Doubles.at(diagonal, i + 1) - p);
      Doubles.put(beside, high, 0);
      return;
    }
    s = f / r;
    c = g / r;
    g = Doubles.at(diagonal, i + 1) - p;
    const t = (Doubles.at(diagonal, i) - g) * s + 2 * c * b;
    p = s * t;
    Doubles.put(diagonal, i + 1, g + p);
    g = c * t - b;
    rotateDoubles(Doubles.row(vectors, width, i), Doubles.row(vectors, width, i + 1), c, s, width);
  }
  Doubles.put(diagonal, low, Doubles.at(diagonal, low) - p);
  Doubles.put(beside, low, g);
  Doubles.put(beside, high, 0);
}

function sortDescending(values: usize, vectors: usize, width: u32): void {
  for (let i: u32 = 0; i < width; i++) {
    let best = i;
    for (let j = i + 1; j < width; j++) if (Doubles.at(values, j) > Doubles.at(values, best)) best = j;
    if (best == i) continue;
    const value = Doubles.at(values, i);
    Doubles.put(values, i, Doubles.at(values, best));
    Doubles.put(values, best, value);
    rotateDoubles(Doubles.row(vectors, width, i), Doubles.row(vectors, width, best), 0, 1, width);
  }
}
