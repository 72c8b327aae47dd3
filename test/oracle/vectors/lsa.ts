// Latent semantic analysis of a small segment in plain arithmetic: an exact decomposition by Jacobi rotations
// instead of a randomised one, with no blocks, no 8-bit numbers and no rotation of the result.
import { DOCUMENT_TERMS_MAX } from "../../../engine-wasm/assembly/layout.js";
import type { ReadSegment } from "../segments/segment-reader.js";
import { dot, normalised, type PlainSlot, rowFeatures } from "./model.js";

export interface PlainTermVector {
  term: string;
  /** Log-entropy weight. */
  weight: number;
  vector: number[];
}

interface VocabularyTerm {
  term: string;
  documents: number;
  weight: number;
}

const compareTerms = (a: { term: string }, b: { term: string }): number =>
  Buffer.compare(Buffer.from(a.term), Buffer.from(b.term));

/**
 * Returns the terms that occur in at least two documents, in ascending order. If there are more than `most`,
 * returns the `most` terms that occur in the most documents.
 */
export function vocabulary(rows: Map<string, number>[], most: number): VocabularyTerm[] {
  const frequencies = new Map<string, number[]>();
  for (const row of rows)
    for (const [term, tf] of row) frequencies.set(term, [...(frequencies.get(term) ?? []), tf]);
  return [...frequencies]
    .filter(([, tfs]) => tfs.length >= 2)
    .map(([term, tfs]) => {
      const all = tfs.reduce((sum, tf) => sum + tf, 0);
      const entropy = tfs.reduce((sum, tf) => sum + (tf / all) * Math.log(tf / all), 0);
      return { term, documents: tfs.length, weight: Math.max(0, 1 + entropy / Math.log(rows.length)) };
    })
    .sort((a, b) => b.documents - a.documents || compareTerms(a, b))
    .slice(0, most)
    .sort(compareTerms);
}

/** Eigenvalues and eigenvectors (as rows) of a symmetric matrix, in no particular order. */
export function jacobi(matrix: readonly number[][]): { values: number[]; vectors: number[][] } {
  const a = matrix.map((row) => [...row]);
  const n = a.length;
  const vectors = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
  for (let turn = 0; turn < 60; turn++) {
    let rest = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        rest += a[p]![q]! ** 2;
        if (Math.abs(a[p]![q]!) < 1e-300) continue;
        const theta = (a[q]![q]! - a[p]![p]!) / (2 * a[p]![q]!);
        const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k++) {
          const [x, y] = [a[k]![p]!, a[k]![q]!];
          a[k]![p] = c * x - s * y;
          a[k]![q] = s * x + c * y;
        }
        for (const rows of [a, vectors]) {
          for (let k = 0; k < n; k++) {
            const [x, y] = [rows[p]![k]!, rows[q]![k]!];
            rows[p]![k] = c * x - s * y;
            rows[q]![k] = s * x + c * y;
          }
        }
      }
    }
    if (rest < 1e-26) break;
  }
  return { values: a.map((row, i) => row[i]!), vectors };
}

/** Each document's heaviest terms, as a vector scaled to length 1. */
function documentTerms(rows: Map<string, number>[], terms: VocabularyTerm[]): number[][] {
  return rows.map((row) => {
    const weights = terms.map(({ term, weight }) => Math.log(1 + (row.get(term) ?? 0)) * weight);
    const kept = new Set(
      [...weights.keys()].sort((a, b) => weights[b]! - weights[a]!).slice(0, DOCUMENT_TERMS_MAX),
    );
    const heaviest = weights.map((weight, i) => (kept.has(i) ? weight : 0));
    return normalised(heaviest) ?? heaviest;
  });
}

/**
 * The rows of V sqrt(s) for the matrix X with rows `matrix`, computed from the eigenvectors U of XX' as V =
 * X'U / s.
 */
function latent(matrix: number[][], width: number): number[][] {
  const inner = matrix.map((a) => matrix.map((b) => dot(a, b)));
  const { values, vectors } = jacobi(inner);
  const largest = Math.max(...values);
  const kept = [...values.keys()]
    .filter((i) => values[i]! > 1e-7 * largest)
    .sort((a, b) => values[b]! - values[a]!)
    .slice(0, 512);
  return Array.from({ length: width }, (_, term) =>
    kept.map((i) => {
      const projected = matrix.reduce((sum, row, document) => sum + row[term]! * vectors[i]![document]!, 0);
      return projected / values[i]! ** 0.25;
    }),
  );
}

/**
 * Approximates, by power iteration, the dominant direction of vectors of length 1: the one along which the
 * sum of their squared components is largest. All zeros if the vectors add up to zero.
 */
function commonDirection(rows: number[][]): number[] {
  const sum = (weights: number[]): number[] =>
    rows[0]!.map((_, i) => rows.reduce((total, row, j) => total + weights[j]! * row[i]!, 0));
  let direction = normalised(sum(rows.map(() => 1)));
  for (let turn = 0; turn < 12 && direction !== null; turn++) {
    const before = direction;
    direction = normalised(sum(rows.map((row) => dot(row, before))));
  }
  return direction ?? rows[0]!.map(() => 0);
}

/** A model's term vectors before they are rotated and quantised to 8 bits. */
export function plainTermVectors(segment: ReadSegment, slots: PlainSlot[], most: number): PlainTermVector[] {
  const rows = rowFeatures(segment, slots);
  const terms = vocabulary(rows, most);
  const matrix = documentTerms(rows, terms);
  const vectors = latent(matrix, terms.length).map((vector) => {
    const length = Math.sqrt(dot(vector, vector));
    return vector.map((x) => (length === 0 ? 0 : x / Math.sqrt(length)));
  });
  const documents = matrix.map((row) => {
    const sum = (vectors[0] ?? []).map((_, i) =>
      row.reduce((total, x, term) => total + x * vectors[term]![i]!, 0),
    );
    return normalised(sum) ?? sum;
  });
  const common = commonDirection(documents);
  return terms.map(({ term, weight }, i) => {
    const along = dot(vectors[i]!, common);
    return { term, weight, vector: vectors[i]!.map((x, j) => x - along * common[j]!) };
  });
}
