// Computes a query's vector: the weighted sum of the model's vectors for those query terms that the model
// contains.

import { STATUS_BAD_PROGRAM, VECTOR_SIZE } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Result } from "../memory/result";
import { isModelNumber } from "./check-model";
import { COMBINATION_BYTES, combine, normaliseSums } from "./combine";
import { HEAVIEST_BYTES, Heaviest } from "./heaviest";
import { findModelTerm, Model, UNKNOWN_TERM } from "./model";

const TERM_HEAD: usize = 6;

/**
 * Input: consecutive terms {f32 weight, u16 bytes, UTF-8}. Result: f32[VECTOR_SIZE] of length 1, or 0 bytes
 * if the model contains none of the terms. Returns -STATUS_BAD_PROGRAM if the input is malformed.
 */
export function queryVector(model: usize, input: usize, bytes: usize): i32 {
  const heaviest = scratch(HEAVIEST_BYTES);
  const sums = scratch(COMBINATION_BYTES);
  Heaviest.clear(heaviest);
  const end = input + bytes;
  for (let at = input; at < end; ) {
    if (end - at < TERM_HEAD) return -STATUS_BAD_PROGRAM;
    const weight = Mem.f32At(at);
    const length = Mem.u16At(at + 4);
    at += TERM_HEAD;
    if (!isModelNumber(weight) || <usize>length > end - at) return -STATUS_BAD_PROGRAM;
    const term = findModelTerm(model, at, length);
    if (term != UNKNOWN_TERM) Heaviest.offer(heaviest, term, weight * Model.factor(model, term));
    at += <usize>length;
  }
  combine(model, heaviest, sums);
  const result = Result.open();
  if (normaliseSums(sums)) result.putBytes(sums, VECTOR_SIZE * 4);
  return <i32>result.close();
}
