// Rotates new term vectors as close as possible to an older model's term vectors, so that vectors from either
// model can be compared. The rotation is the orthonormal factor in the polar decomposition of N'O, where the
// rows of N and O are the new and old vectors of the terms in both models (Schoenemann, "A generalized
// solution of the orthogonal Procrustes problem", 1966).

import { VECTOR_SIZE } from "../layout";
import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";
import { Model, modelLowerBound } from "../model/model";
import { addInnerProducts, multiplyRows } from "./dense";
import { addDoublesTimes, Doubles, dotDoubles, productOf, productOfTransposed } from "./doubles";
import { eigen } from "./eigen";
import { dotFloats, FLOATS_BYTES } from "./floats";
import { Names } from "./names";
import { ROW_BYTES } from "./term-vectors";
import { Chosen, Vocabulary } from "./vocabulary";

const SIZE: u32 = VECTOR_SIZE;
const SHARED_LEAST: u32 = VECTOR_SIZE;
/** Above this number of shared terms, only every n-th is used. */
const SHARED_MOST: u32 = 16384;
const GATHERED: u32 = 1536;
/** Minimum `agreement` between the rotated new vectors and the old ones. Below it, models are not aligned. */
const AGREEMENT_LEAST: f64 = 0.5;
/**
 * Keeps the rotation defined in directions that no shared term covers: this fraction of N'O's norm, times the
 * identity, is added to N'O.
 */
const IDENTITY_SHARE: f64 = 1e-5;
const POLISHING_TURNS: u32 = 3;
const STRAY_MOST: f64 = 1e-6;
const MATRIX_BYTES: usize = VECTOR_SIZE * VECTOR_SIZE * 8;

@unmanaged
class Shared {
  previous: usize;
  vectors: usize;
  names: Names;
  chosen: Chosen;
  pairs: usize; // the terms in both models: {u32 new term, u32 old term} ...
  count: u32;
  products: usize; // f64[SIZE][SIZE]: N'O
  square: f64; // sum of the squares of N's elements
  oldSquare: f64;
}

/**
 * Rotates the rows of `vectors`. Returns false and changes nothing if the models share too few terms or the
 * vectors of shared terms do not agree.
 */
export function align(previous: usize, vectors: usize, names: Names, chosen: Chosen): bool {
  const shared = changetype<Shared>(reserve(offsetof<Shared>()));
  shared.previous = previous;
  shared.vectors = vectors;
  shared.names = names;
  shared.chosen = chosen;
  shared.pairs = reserve((<usize>min(names.count, Model.terms(previous))) << 3);
  findShared(shared);
  let isAligned = false;
  if (shared.count >= SHARED_LEAST) {
    shared.products = reserve(5 * MATRIX_BYTES);
    addUp(shared);
    const rotation = shared.products + MATRIX_BYTES;
    if (polarFactor(shared.products, rotation) && agreement(shared, rotation) >= AGREEMENT_LEAST) {
      multiplyRows(vectors, ROW_BYTES, names.count, SIZE, rotation, SIZE);
      isAligned = true;
    }
    release(shared.products);
  }
  release(shared.pairs);
  release(changetype<usize>(shared));
  return isAligned;
}

function findShared(shared: Shared): void {
  const previous = shared.previous;
  const names = shared.names;
  let count: u32 = 0;
  let place: u32 = 0;
  for (let i: u32 = 0; i < names.count; i++) {
    const at = names.at(i);
    const length = names.length(i);
    place = modelLowerBound(previous, place, at, length);
    if (place == Model.terms(previous)) break;
    if (compareBytes(Model.termAt(previous, place), Model.termLength(previous, place), at, length) != 0)
      continue;
    Mem.putU32(shared.pairs + ((<usize>count) << 3), i);
    Mem.putU32(shared.pairs + ((<usize>count) << 3) + 4, place);
    count++;
  }
  shared.count = count;
}

/**
 * Computes N'O, a batch of rows at a time. Each vector is multiplied by its term's weight, as in a document.
 */
function addUp(shared: Shared): void {
  const step = (shared.count + SHARED_MOST - 1) / SHARED_MOST;
  const fresh = reserve(2 * <usize>GATHERED * FLOATS_BYTES);
  const old = fresh + <usize>GATHERED * FLOATS_BYTES;
  Mem.fill(shared.products, 0, MATRIX_BYTES);
  shared.square = 0;
  shared.oldSquare = 0;
  for (let i: u32 = 0; i < shared.count; ) {
    let rows: u32 = 0;
    for (; rows < GATHERED && i < shared.count; i += step) {
      gather(shared, i, fresh + <usize>rows * FLOATS_BYTES, old + <usize>rows * FLOATS_BYTES);
      rows++;
    }
    addInnerProducts(shared.products, fresh, FLOATS_BYTES, old, FLOATS_BYTES, rows, SIZE);
  }
  release(fresh);
}

/** Copies pair `i`'s vectors to `fresh` and `old`. */
function gather(shared: Shared, i: u32, fresh: usize, old: usize): void {
  const term = Mem.u32At(shared.pairs + ((<usize>i) << 3));
  const oldTerm = Mem.u32At(shared.pairs + ((<usize>i) << 3) + 4);
  const weight = Vocabulary.weight(shared.chosen.entries, term);
  const vector = shared.vectors + <usize>term * ROW_BYTES;
  const numbers = Model.numbers(shared.previous, oldTerm);
  const factor = Model.factor(shared.previous, oldTerm);
  for (let j: usize = 0; j < <usize>VECTOR_SIZE; j++) {
    Mem.putF32(fresh + (j << 2), weight * Mem.f32At(vector + (j << 2)));
    Mem.putF32(old + (j << 2), factor * <f32>(<i8>Mem.u8At(numbers + j)));
  }
  shared.square += <f64>dotFloats(fresh, fresh);
  shared.oldSquare += <f64>dotFloats(old, old);
}

/** Cosine between the rotated new vectors and the old ones, treating each set as one long vector. */
function agreement(shared: Shared, rotation: usize): f64 {
  let sum: f64 = 0;
  for (let i: u32 = 0; i < SIZE; i++) {
    sum += dotDoubles(Doubles.row(shared.products, SIZE, i), Doubles.row(rotation, SIZE, i), 0, SIZE);
  }
  const lengths = Math.sqrt(shared.square * shared.oldSquare);
  return lengths > 0 ? sum / lengths : 0;
}

/**
 * Computes the orthonormal factor of M at `matrix`: M V S^-1 V' with M'M = V S^2 V', refined by Newton-Schulz
 * steps. Uses the three matrices after `rotation`. Returns false if M is 0 or contains NaN, or if the factor
 * does not become orthonormal.
 */
function polarFactor(matrix: usize, rotation: usize): bool {
  const inner = rotation + MATRIX_BYTES;
  const vectors = inner + MATRIX_BYTES;
  const scaled = vectors + MATRIX_BYTES;
  const share = Math.sqrt(dotDoubles(matrix, matrix, 0, SIZE * SIZE)) * IDENTITY_SHARE;
  if (!(share > 0)) return false;
  Mem.copy(scaled, matrix, MATRIX_BYTES);
  for (let i: u32 = 0; i < SIZE; i++) {
    const row = Doubles.row(scaled, SIZE, i);
    Doubles.put(row, i, Doubles.at(row, i) + share);
  }
  Mem.copy(rotation, scaled, MATRIX_BYTES);
  productOfTransposed(scaled, scaled, SIZE, inner);
  const values = reserve((<usize>SIZE) << 3);
  eigen(inner, SIZE, values, vectors);
  Mem.fill(scaled, 0, MATRIX_BYTES);
  for (let i: u32 = 0; i < SIZE; i++) {
    const value = Doubles.at(values, i);
    if (value > 0) {
      addDoublesTimes(
        Doubles.row(scaled, SIZE, i),
        Doubles.row(vectors, SIZE, i),
        1 / Math.sqrt(value),
        0,
        SIZE,
      );
    }
  }
  release(values);
  // V S^-1 V', because the eigenvectors are the rows of `vectors`.
  productOfTransposed(vectors, scaled, SIZE, inner);
  productOf(rotation, inner, SIZE, vectors);
  Mem.copy(rotation, vectors, MATRIX_BYTES);
  return polish(rotation, inner, vectors);
}

/** R <- R (3 I - R'R) / 2 until R'R is I. */
function polish(rotation: usize, inner: usize, product: usize): bool {
  for (let turn: u32 = 0; turn < POLISHING_TURNS; turn++) {
    productOfTransposed(rotation, rotation, SIZE, inner);
    let stray: f64 = 0;
    for (let i: u32 = 0; i < SIZE; i++) {
      const row = Doubles.row(inner, SIZE, i);
      for (let j: u32 = 0; j < SIZE; j++) {
        const own: f64 = i == j ? 1 : 0;
        stray = max(stray, abs<f64>(Doubles.at(row, j) - own));
        Doubles.put(row, j, 1.5 * own - 0.5 * Doubles.at(row, j));
      }
    }
    if (stray <= STRAY_MOST) return true;
    productOf(rotation, inner, SIZE, product);
    Mem.copy(rotation, product, MATRIX_BYTES);
  }
  return false;
}
