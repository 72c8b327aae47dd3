// Computes term vectors by latent semantic analysis of the document-term matrix. Its largest singular values
// s and their right singular vectors V are computed with a randomised range finder and one power iteration
// (Halko, Martinsson and Tropp, "Finding structure with randomness", 2011). A term's vector is its row of V
// sqrt(s), divided by the square root of its length. Then the component that all documents share is removed
// (Mu and Viswanath, "All-but-the-top", 2018), and all vectors are rotated into the space in which they are
// stored (vector/rotation.ts).

import { VECTOR_SIZE } from "../layout";
import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { rotate } from "../vector/rotation";
import { splitMix64 } from "../vector/splitmix";
import { addInnerProducts, multiplyRows } from "./dense";
import { Doubles } from "./doubles";
import { eigen } from "./eigen";
import { addFloatsTimes, dotFloats, FLOATS_BYTES, scaleFloats } from "./floats";
import { orthonormalise } from "./orthonormal";
import { documentRows, Sparse, termRows } from "./sparse";

/**
 * Number of directions computed. Computing more directions than are kept makes the kept ones more accurate.
 */
const WIDTH_MAX: u32 = VECTOR_SIZE + 32;
/**
 * Size in bytes of a row of a dense matrix. Depending on the matrix, its first VECTOR_SIZE or all WIDTH_MAX
 * numbers are used.
 */
export const ROW_BYTES: usize = WIDTH_MAX * 4;
/** Squared singular values below this fraction of the largest are regarded as rounding errors. */
const VALUE_LEAST: f64 = 1e-7;
const DIRECTION_TURNS: u32 = 12;
/** A vector is dropped if removing the common direction leaves less than this fraction of its length. */
const OWN_LEAST: f32 = 1e-4;

/**
 * Returns a region with the term vectors in rows of ROW_BYTES. A term without a vector has a row of zeros.
 */
export function termVectors(sparse: Sparse): usize {
  const terms = reserve(<usize>sparse.terms * ROW_BYTES);
  const documents = reserve(<usize>sparse.documents * ROW_BYTES);
  decompose(sparse, terms, documents);
  for (let term: usize = 0; term < <usize>sparse.terms; term++) shorten(terms + term * ROW_BYTES);
  const common = commonDirection(sparse, terms, documents);
  for (let term: usize = 0; term < <usize>sparse.terms; term++) {
    const vector = terms + term * ROW_BYTES;
    takeOut(vector, common);
    rotate(vector);
  }
  release(common);
  release(documents);
  return terms;
}

/** Replaces the rows of `terms` with the rows of V sqrt(s). */
function decompose(sparse: Sparse, terms: usize, documents: usize): void {
  const width = min(WIDTH_MAX, (min(sparse.documents, sparse.terms) + 7) & ~7);
  putSigns(terms, sparse.terms, width);
  documentRows(sparse, terms, ROW_BYTES, width, documents);
  for (let turn = 0; turn < 2; turn++) {
    orthonormalise(documents, ROW_BYTES, sparse.documents, width);
    termRows(sparse, documents, ROW_BYTES, width, terms);
    if (turn == 0) documentRows(sparse, terms, ROW_BYTES, width, documents);
  }
  const bytes = (<usize>(width * width)) << 3;
  const inner = reserve(2 * bytes);
  const values = reserve((<usize>width) << 3);
  Mem.fill(inner, 0, bytes);
  addInnerProducts(inner, terms, ROW_BYTES, terms, ROW_BYTES, sparse.terms, width);
  eigen(inner, width, values, inner + bytes);
  const by = reserve((<usize>(width * VECTOR_SIZE)) << 3);
  putProjection(by, inner + bytes, values, width);
  multiplyRows(terms, ROW_BYTES, sparse.terms, width, by, VECTOR_SIZE);
  release(by);
  release(values);
  release(inner);
}

/** Fills a row of `width` random signs for each term. */
function putSigns(rows: usize, count: u32, width: u32): void {
  const words = (width + 63) >> 6;
  for (let row: u32 = 0; row < count; row++) {
    const at = rows + <usize>row * ROW_BYTES;
    let signs: u64 = 0;
    for (let i: u32 = 0; i < width; i++) {
      if ((i & 63) == 0) signs = splitMix64(<u64>row * <u64>words + <u64>(i >> 6));
      Mem.putF32(at + ((<usize>i) << 2), (signs & 1) != 0 ? -1 : 1);
      signs >>= 1;
    }
  }
}

/**
 * Writes f64[width][VECTOR_SIZE]: the eigenvectors as columns, each divided by the fourth root of its
 * eigenvalue. Columns whose eigenvalue is missing or too small (VALUE_LEAST) are 0.
 */
function putProjection(by: usize, vectors: usize, values: usize, width: u32): void {
  Mem.fill(by, 0, (<usize>(width * VECTOR_SIZE)) << 3);
  const least = Doubles.at(values, 0) * VALUE_LEAST;
  for (let j: u32 = 0; j < min(width, <u32>VECTOR_SIZE); j++) {
    const value = Doubles.at(values, j);
    if (!(value > least)) return;
    const scale = 1 / Math.sqrt(Math.sqrt(value));
    const vector = Doubles.row(vectors, width, j);
    for (let i: u32 = 0; i < width; i++) {
      Doubles.put(Doubles.row(by, VECTOR_SIZE, i), j, Doubles.at(vector, i) * scale);
    }
  }
}

/** Divides a vector by the square root of its length. */
function shorten(vector: usize): void {
  const square = dotFloats(vector, vector);
  if (square > 0) scaleFloats(vector, <f32>(1 / Math.sqrt(Math.sqrt(<f64>square))));
}

/**
 * Returns a region with a unit vector in the direction that the documents' vectors share most; all zeros if
 * they have no common direction.
 */
function commonDirection(sparse: Sparse, terms: usize, documents: usize): usize {
  const direction = reserve(2 * FLOATS_BYTES);
  const sum = direction + FLOATS_BYTES;
  Mem.fill(direction, 0, FLOATS_BYTES);
  documentRows(sparse, terms, ROW_BYTES, VECTOR_SIZE, documents);
  for (let row: usize = 0; row < <usize>sparse.documents; row++) {
    const vector = documents + row * ROW_BYTES;
    normalise(vector);
    addFloatsTimes(direction, vector, 1);
  }
  normalise(direction);
  for (let turn: u32 = 0; turn < DIRECTION_TURNS; turn++) {
    Mem.fill(sum, 0, FLOATS_BYTES);
    for (let row: usize = 0; row < <usize>sparse.documents; row++) {
      const vector = documents + row * ROW_BYTES;
      addFloatsTimes(sum, vector, dotFloats(vector, direction));
    }
    normalise(sum);
    Mem.copy(direction, sum, FLOATS_BYTES);
  }
  return direction;
}

function normalise(vector: usize): void {
  const square = dotFloats(vector, vector);
  if (square > 0) scaleFloats(vector, <f32>(1 / Math.sqrt(<f64>square)));
}

/** Removes the component along `direction` from a vector. */
function takeOut(vector: usize, direction: usize): void {
  const before = dotFloats(vector, vector);
  addFloatsTimes(vector, direction, -dotFloats(vector, direction));
  if (dotFloats(vector, vector) <= before * OWN_LEAST * OWN_LEAST) Mem.fill(vector, 0, FLOATS_BYTES);
}
