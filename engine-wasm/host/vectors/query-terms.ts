// Computes a query's vector from its terms, with a model in an instance's memory.
import { MODEL_NUMBER_LIMIT, VECTOR_SIZE } from "../../assembly/layout.js";
import type { EngineInstance } from "../wasm/memory.js";

/** A dictionary term (a stem with its marker) and its weight, from 0 to 1,000,000. */
export interface QueryTerm {
  term: string;
  weight: number;
}

const TERM_HEAD_BYTES = 6;

/**
 * Returns a vector of length 1: the weighted sum of the term vectors, normalised. Terms unknown to the model
 * are ignored. Null if the model knows none of them.
 */
export function vectorOfTerms(
  instance: EngineInstance,
  model: number,
  terms: readonly QueryTerm[],
): Float32Array | null {
  const bytes = terms.map(({ term }) => Buffer.from(term));
  const input = Buffer.alloc(bytes.reduce((sum, term) => sum + TERM_HEAD_BYTES + term.length, 0));
  let at = 0;
  for (const [i, { weight }] of terms.entries()) {
    if (!(weight >= 0 && weight <= MODEL_NUMBER_LIMIT))
      throw new RangeError(
        `the weight of a term must be a number from 0 to ${MODEL_NUMBER_LIMIT}, not ${weight}`,
      );
    at = input.writeFloatLE(weight, at);
    at = input.writeUInt16LE(bytes[i]!.length, at);
    at += bytes[i]!.copy(input, at);
  }
  const result = instance.exchange(input, (kernels, p, length) => kernels.queryVector(model, p, length));
  return result.length === 0 ? null : new Float32Array(result.buffer, 0, VECTOR_SIZE);
}
