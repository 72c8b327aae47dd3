// Determines a query's vector: its words embedded by the index's own model, or a given vector. Either is
// moved towards the best documents found by words (pseudo-relevance feedback; Rocchio 1971).
import { VECTOR_BYTES, VECTOR_SIZE } from "../../../engine-wasm/assembly/layout.js";
import type { WeightedTerm } from "../../../shards/protocol/vectors.js";
import type { IndexSnapshot } from "../../fleet/reads/index-snapshot.js";
import { settled, together, type Work } from "../../ground/jobs/work.js";
import { stemTerms } from "../../question/words/variants.js";
import type { ExpandedWords } from "../matching/expand.js";
import type { QueryPlan } from "../matching/plan.js";
import type { PlacedDocument } from "./nearest.js";

/** Number of documents towards which the query's vector is moved. */
export const FEEDBACK_DOCUMENTS = 3;
/** Any shard can embed words. Always using the same shard keeps its model warm. */
const MODEL_SHARD = 0;

/**
 * Returns a query's words in the forms that the model may know. An apparently misspelt word is replaced by
 * its best spelling.
 */
export function queryTerms({ text, fields }: QueryPlan, words: ExpandedWords | null): WeightedTerm[] {
  const terms = new Map<string, number>();
  const add = (term: string, weight: number): void => {
    terms.set(term, (terms.get(term) ?? 0) + weight);
  };
  for (const [i, word] of text.words.entries()) {
    const corrected = words?.corrections.get(i);
    const weight = Math.log1p(word.count);
    for (const term of corrected === undefined ? word.terms : [corrected]) {
      add(term, weight);
      for (const stem of stemTerms(term, fields.languages)) add(stem, weight);
    }
  }
  return Array.from(terms, ([term, weight]) => ({ term, weight }));
}

/**
 * Returns the vector for a query: `given`, or the terms' vector if `given` is null, moved towards the
 * documents. It has length 1. Returns null if `given` is null and the model knows none of the terms.
 */
export function* vectorOfQuery(
  snapshot: IndexSnapshot,
  terms: readonly WeightedTerm[],
  given: Float32Array | null,
  documents: readonly PlacedDocument[],
): Work<Float32Array | null> {
  const seqs = new Map<number, number[]>([[MODEL_SHARD, []]]);
  for (const { shard, seq } of documents) seqs.set(shard, [...(seqs.get(shard) ?? []), seq]);
  const replies = yield* together(
    ...Array.from(seqs, ([shard, wanted]) =>
      settled(snapshot.embed(shard, given === null && shard === MODEL_SHARD ? terms : [], wanted)),
    ),
  );
  const query = given ?? replies[0]?.query ?? null;
  if (query === null) return null;
  const mean = new Float64Array(VECTOR_SIZE);
  for (const { vectors } of replies) addVectors(mean, vectors);
  return sumOf(query, mean);
}

/** Returns a document's vector, or null if it has none. */
export function* documentVector(
  snapshot: IndexSnapshot,
  { shard, seq }: PlacedDocument,
): Work<Float32Array | null> {
  const sum = new Float64Array(VECTOR_SIZE);
  addVectors(sum, (yield* settled(snapshot.embed(shard, [], [seq]))).vectors);
  return lengthOf(sum) === 0 ? null : Float32Array.from(sum);
}

/**
 * Adds the vectors. Each component is a float32 times an int8, so a few of them add up in a float64 without
 * rounding, and the sum does not depend on the order of the shards.
 */
function addVectors(sum: Float64Array, vectors: Uint8Array): void {
  const view = new DataView(vectors.buffer, vectors.byteOffset, vectors.byteLength);
  for (let at = 0; at < vectors.length; at += VECTOR_BYTES) {
    const scale = view.getFloat32(at, true);
    if (scale === 0) continue;
    for (let i = 0; i < VECTOR_SIZE; i++) sum[i]! += scale * view.getInt8(at + 4 + i);
  }
}

/** Adds the query's vector and the documents' normalised mean, and normalises the sum to length 1. */
function sumOf(query: Float32Array, mean: Float64Array): Float32Array {
  const length = lengthOf(mean);
  if (length > 0) for (let i = 0; i < VECTOR_SIZE; i++) mean[i]! /= length;
  for (let i = 0; i < VECTOR_SIZE; i++) mean[i]! += query[i]!;
  const whole = lengthOf(mean);
  if (whole === 0) return query;
  const sum = new Float32Array(VECTOR_SIZE);
  for (let i = 0; i < VECTOR_SIZE; i++) sum[i] = mean[i]! / whole;
  return sum;
}

function lengthOf(vector: Float64Array): number {
  let squares = 0;
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!;
  return Math.sqrt(squares);
}
