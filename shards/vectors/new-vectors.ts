// Determines the vectors for documents that are being written: a model computes them, or they came with the
// documents. Vectors from an endpoint are added later.
import { VECTOR_BYTES } from "../../engine-wasm/assembly/layout.js";
import type { IndexVectors } from "./index-vectors.js";
import type { NewVectors, Vectors } from "./vector-record.js";
import type { Pauses } from "./vectors-home.js";

export interface WrittenDocument {
  seq: number;
  /** True if the document is visible in at least one generation and therefore has to be stored. */
  shown: boolean;
  /** False if the same commit also replaces or deletes the document. */
  lives: boolean;
}

/**
 * Returns the vectors for a segment's rows; null if they cannot be made yet. `documents` has one element per
 * row. `pushed` contains the vectors that came with the documents, by row.
 */
export async function newVectors(
  index: IndexVectors,
  segment: Uint8Array,
  documents: readonly WrittenDocument[],
  pushed: Uint8Array | null,
  slices: Pauses,
): Promise<NewVectors | null> {
  const { space, policy } = index;
  if (space === null) return null;
  const { origin } = space;
  if (policy.source === "endpoint") {
    const waiting = new Set(documents.flatMap(({ seq, lives }) => (lives ? [seq] : [])));
    const nothing = new Uint8Array(0);
    return { origin, vectors: nothing, waiting, shown: { origin, seqs: [], vectors: nothing } };
  }
  const vectors =
    policy.source === "pushed"
      ? (pushed ?? new Uint8Array(documents.length * VECTOR_BYTES))
      : await index.embedding?.embedAll(segment, slices);
  return vectors === null || vectors === undefined
    ? null
    : { origin, vectors, waiting: new Set(), shown: shownOf(origin, documents, vectors) };
}

function shownOf(origin: number, documents: readonly WrittenDocument[], vectors: Uint8Array): Vectors {
  const rows: number[] = [];
  const seqs: number[] = [];
  for (const [row, { seq, shown }] of documents.entries()) {
    if (!shown) continue;
    rows.push(row);
    seqs.push(seq);
  }
  if (rows.length === documents.length) return { origin, seqs, vectors };
  const some = new Uint8Array(rows.length * VECTOR_BYTES);
  for (const [i, row] of rows.entries())
    some.set(vectors.subarray(row * VECTOR_BYTES, (row + 1) * VECTOR_BYTES), i * VECTOR_BYTES);
  return { origin, seqs, vectors: some };
}
