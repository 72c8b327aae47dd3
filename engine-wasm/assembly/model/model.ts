// Addresses within an embedded model, and lookup of its terms by their bytes. check-model.ts has already
// checked the model, so nothing is checked here.

import {
  MODEL_FACTORS,
  MODEL_SLOT_TABLE,
  MODEL_SLOTS,
  MODEL_TERM_BYTES,
  MODEL_TERM_OFFSETS,
  MODEL_TERMS,
  MODEL_VECTORS,
  VECTOR_SIZE,
} from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";

/** Returned by `findModelTerm` if the model does not contain the term. */
export const UNKNOWN_TERM: u32 = 0xffffffff;

export abstract class Model {
  @inline static at(model: usize, section: usize): usize {
    return model + <usize>Mem.u32At(model + section);
  }
  @inline static terms(model: usize): u32 {
    return Mem.u32At(model + MODEL_TERMS);
  }
  @inline static slots(model: usize): u32 {
    return Mem.u32At(model + MODEL_SLOTS);
  }
  @inline static slotTable(model: usize): usize {
    return Model.at(model, MODEL_SLOT_TABLE);
  }

  @inline static termAt(model: usize, term: u32): usize {
    if (CHECKED) assert(term < Model.terms(model), "a term is one of its model's");
    const offsets = Model.at(model, MODEL_TERM_OFFSETS);
    return Model.at(model, MODEL_TERM_BYTES) + <usize>Mem.u32At(offsets + ((<usize>term) << 2));
  }

  @inline static termLength(model: usize, term: u32): u32 {
    if (CHECKED) assert(term < Model.terms(model), "a term is one of its model's");
    const offset = Model.at(model, MODEL_TERM_OFFSETS) + ((<usize>term) << 2);
    return Mem.u32At(offset + 4) - Mem.u32At(offset);
  }

  @inline static factor(model: usize, term: u32): f32 {
    if (CHECKED) assert(term < Model.terms(model), "a term is one of its model's");
    return Mem.f32At(Model.at(model, MODEL_FACTORS) + ((<usize>term) << 2));
  }

  /** The term's vector, i8[VECTOR_SIZE]. */
  @inline static numbers(model: usize, term: u32): usize {
    if (CHECKED) assert(term < Model.terms(model), "a term is one of its model's");
    return Model.at(model, MODEL_VECTORS) + <usize>term * VECTOR_SIZE;
  }
}

function compareTerm(model: usize, term: u32, at: usize, length: u32): i32 {
  return compareBytes(Model.termAt(model, term), Model.termLength(model, term), at, length);
}

/**
 * The first term >= the bytes, searching from term `from`, or the number of terms if there is none. The
 * search doubles its steps from `from`, so lookups in sorted order stay near the previous result.
 */
export function modelLowerBound(model: usize, from: u32, at: usize, length: u32): u32 {
  const terms = Model.terms(model);
  let low = from;
  let step: u32 = 1;
  while (low + step <= terms && compareTerm(model, low + step - 1, at, length) < 0) {
    low += step;
    step <<= 1;
  }
  let high = min(terms, low + step - 1);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTerm(model, middle, at, length) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The term with exactly these bytes, or UNKNOWN_TERM. */
export function findModelTerm(model: usize, at: usize, length: u32): u32 {
  let low: u32 = 0;
  let high = Model.terms(model);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareTerm(model, middle, at, length) < 0) low = middle + 1;
    else high = middle;
  }
  return low < Model.terms(model) && compareTerm(model, low, at, length) == 0 ? low : UNKNOWN_TERM;
}
