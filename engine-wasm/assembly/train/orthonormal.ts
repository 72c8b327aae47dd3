// Replaces columns with orthonormal columns that have the same span. Uses Cholesky QR (Fukaya et al.,
// "CholeskyQR2", 2014) with pivoting, so that columns already spanned by the others come last and are
// dropped. Columns are first scaled to length 1. If some were nearly dependent, the whole step runs a second
// time.

import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { addInnerProducts, multiplyRows } from "./dense";
import { addDoublesTimes, Doubles } from "./doubles";

/**
 * Columns are scaled to length 1. If a column's squared length falls below this once the earlier columns'
 * directions are removed, the column counts as spanned by them. Larger than f32 rounding errors.
 */
const PIVOT_LEAST: f64 = 4e-6;
const PIVOT_SAFE: f64 = 1e-2;

/**
 * Makes the columns of f32[rows][width] orthonormal. Returns the number of orthonormal columns; the columns
 * after them are 0.
 */
export function orthonormalise(matrix: usize, stride: usize, rows: u32, width: u32): u32 {
  const bytes = (<usize>(width * width)) << 3;
  const inner = reserve(2 * bytes);
  let rank = width;
  for (let turn = 0; turn < 2; turn++) {
    Mem.fill(inner, 0, bytes);
    addInnerProducts(inner, matrix, stride, matrix, stride, rows, width);
    const factor = changetype<Factor>(reserve(FACTOR_BYTES + ((<usize>width) << 4)));
    factor.decompose(inner, width);
    factor.putInverse(inner + bytes);
    rank = factor.rank;
    const isSafe = factor.leastPivot > PIVOT_SAFE;
    release(changetype<usize>(factor));
    multiplyRows(matrix, stride, rows, width, inner + bytes, width);
    if (isSafe) break;
  }
  release(inner);
  return rank;
}

/** A pivoted Cholesky factor L of D^-1 G D^-1. Its rows overwrite G, in pivot order. */
@unmanaged
class Factor {
  rank: u32;
  leastPivot: f64;
  private inner: usize;
  private width: u32;

  /** f64 per column: 1 / its length, 0 for an empty column. */
  @inline private get scales(): usize {
    return changetype<usize>(this) + FACTOR_BYTES;
  }

  /** u32 per pivot position: the column chosen for it. */
  @inline private get order(): usize {
    return changetype<usize>(this) + FACTOR_BYTES + ((<usize>this.width) << 3);
  }

  @inline private column(place: u32): u32 {
    return Mem.u32At(this.order + ((<usize>place) << 2));
  }

  decompose(inner: usize, width: u32): void {
    this.inner = inner;
    this.width = width;
    this.rank = 0;
    this.leastPivot = 1;
    this.scale();
    for (let place: u32 = 0; place < width; place++) {
      this.choose(place);
      const row = Doubles.row(inner, width, place);
      const pivot = Doubles.at(row, place);
      if (!(pivot > PIVOT_LEAST)) return;
      this.leastPivot = min(this.leastPivot, pivot);
      this.rank = place + 1;
      this.eliminate(place, row, pivot);
    }
  }

  private scale(): void {
    const width = this.width;
    const scales = this.scales;
    for (let i: u32 = 0; i < width; i++) {
      const square = Doubles.at(Doubles.row(this.inner, width, i), i);
      Doubles.put(scales, i, square > 0 ? 1 / Math.sqrt(square) : 0);
      Mem.putU32(this.order + ((<usize>i) << 2), i);
    }
    for (let i: u32 = 0; i < width; i++) {
      const row = Doubles.row(this.inner, width, i);
      for (let j: u32 = 0; j < width; j++) {
        Doubles.put(row, j, Doubles.at(row, j) * Doubles.at(scales, i) * Doubles.at(scales, j));
      }
    }
  }

  /**
   * Moves the column with the largest remainder to `place`. The part of the matrix starting at `place` stays
   * symmetric.
   */
  private choose(place: u32): void {
    const width = this.width;
    let best = place;
    let most: f64 = -1;
    for (let i = place; i < width; i++) {
      const rest = Doubles.at(Doubles.row(this.inner, width, i), i);
      if (rest > most) {
        most = rest;
        best = i;
      }
    }
    if (best == place) return;
    const a = Doubles.row(this.inner, width, place);
    const b = Doubles.row(this.inner, width, best);
    for (let j: u32 = 0; j < width; j++) {
      const x = Doubles.at(a, j);
      Doubles.put(a, j, Doubles.at(b, j));
      Doubles.put(b, j, x);
    }
    for (let i: u32 = 0; i < width; i++) {
      const row = Doubles.row(this.inner, width, i);
      const x = Doubles.at(row, place);
      Doubles.put(row, place, Doubles.at(row, best));
      Doubles.put(row, best, x);
    }
    const column = this.column(place);
    Mem.putU32(this.order + ((<usize>place) << 2), this.column(best));
    Mem.putU32(this.order + ((<usize>best) << 2), column);
  }

  /** Turns row `place` into a row of L' and subtracts its contribution from the rows below. */
  private eliminate(place: u32, row: usize, pivot: f64): void {
    const width = this.width;
    const by = 1 / Math.sqrt(pivot);
    for (let j = place; j < width; j++) Doubles.put(row, j, Doubles.at(row, j) * by);
    const first = (place + 1) & ~1;
    for (let i = place + 1; i < width; i++) {
      const below = Doubles.row(this.inner, width, i);
      const kept = Doubles.at(below, place);
      addDoublesTimes(below, row, -Doubles.at(row, i), first, width);
      if (first == place) Doubles.put(below, place, kept);
    }
  }

  /**
   * Writes the matrix that orthonormalises the columns to f64[width][width] at `out`: D^-1 P R^-1 with R =
   * L'. Computes the inverse of R row by row, from the last row up.
   */
  putInverse(out: usize): void {
    const width = this.width;
    const rank = this.rank;
    Mem.fill(out, 0, (<usize>(width * width)) << 3);
    for (let i = rank; i-- > 0; ) {
      const to = Doubles.row(out, width, this.column(i));
      const row = Doubles.row(this.inner, width, i);
      const by = 1 / Doubles.at(row, i);
      Doubles.put(to, i, by);
      for (let k = i + 1; k < rank; k++) {
        addDoublesTimes(to, Doubles.row(out, width, this.column(k)), -by * Doubles.at(row, k), k & ~1, width);
      }
    }
    for (let i: u32 = 0; i < rank; i++) {
      const to = Doubles.row(out, width, this.column(i));
      const scale = Doubles.at(this.scales, this.column(i));
      for (let j: u32 = i; j < rank; j++) Doubles.put(to, j, Doubles.at(to, j) * scale);
    }
  }
}

const FACTOR_BYTES: usize = (offsetof<Factor>() + 15) & ~15;
