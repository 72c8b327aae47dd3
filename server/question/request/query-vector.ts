// Reads and validates a vector that the client sends as part of a query, and normalises it to length 1,
// because only its direction matters. Knows nothing about how vectors are compared.

import { EMBEDDER_SOURCES, sourcesThat } from "../../catalog/definition/embedder-sources.js";
import type { IndexSettings } from "../../catalog/definition/settings.js";
import { refuse, type ValueReader, wrongType } from "../../ground/input/readers.js";
import { FIXED_LIMITS } from "../../ground/limits.js";
import { invalid } from "./query-lists.js";

const { vectorNumbers: NUMBERS } = FIXED_LIMITS;

export const VECTOR: ValueReader<Float32Array> = {
  takes: `an array of ${NUMBERS} finite numbers`,
  schema: { type: "array", items: { type: "number" }, minItems: NUMBERS, maxItems: NUMBERS },
  read(value, path, rules) {
    if (!Array.isArray(value)) return wrongType(path, VECTOR.takes, value, rules);
    if (value.length !== NUMBERS) refuse(path, `has ${value.length} numbers; expected ${NUMBERS}`, rules);
    let largest = 0;
    value.forEach((number: unknown, i) => {
      if (typeof number !== "number" || !Number.isFinite(number))
        wrongType(`${path}[${i}]`, "a finite number", number, rules);
      else largest = Math.max(largest, Math.abs(number));
    });
    if (largest === 0) refuse(path, "must not be all zeros", rules);
    return unitVector(value as number[], largest);
  },
};

/**
 * Throws SK-SE-400 unless the index's vectors are supplied from outside. Vectors of the index's own model
 * cannot be compared with the client's vector.
 */
export function checkVectorFits({ embedder: { source } }: IndexSettings): void {
  if (EMBEDDER_SOURCES[source].vectors === "outside") return;
  const able = sourcesThat(({ vectors }) => vectors === "outside");
  throw invalid(`vector needs the setting embedder.source to be ${able}; it is ${source}`);
}

/**
 * Returns the numbers scaled to length 1. Divides by the largest number first, so that no square overflows or
 * underflows.
 */
function unitVector(numbers: readonly number[], largest: number): Float32Array {
  const scaled = Float64Array.from(numbers, (number) => number / largest);
  const length = Math.sqrt(scaled.reduce((sum, number) => sum + number * number, 0));
  return Float32Array.from(scaled, (number) => number / length);
}
