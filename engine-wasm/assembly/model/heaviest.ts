// Keeps the heaviest terms in one document, which are the DOCUMENT_TERMS_MAX terms with the largest
// coefficients. Of terms with equal coefficients, the one with the smaller term number is kept. The result
// does not depend on the order in which terms are offered.
//
//   | u32 count | u32 0 | count x u64: bits of the coefficient (f32, positive) << 32 | ~term |

import { DOCUMENT_TERMS_MAX } from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";

const ENTRIES: usize = 8;
export const HEAVIEST_BYTES: usize = ENTRIES + DOCUMENT_TERMS_MAX * 8;

export abstract class Heaviest {
  @inline static clear(heaviest: usize): void {
    Mem.putU64(heaviest, 0);
  }
  @inline static count(heaviest: usize): u32 {
    return Mem.u32At(heaviest);
  }
  @inline static coefficient(heaviest: usize, i: u32): f32 {
    return Mem.f32At(heaviest + ENTRIES + ((<usize>i) << 3) + 4);
  }
  @inline static term(heaviest: usize, i: u32): u32 {
    return ~Mem.u32At(heaviest + ENTRIES + ((<usize>i) << 3));
  }

  /** Adds a term unless the list is full and all its terms are heavier. Ignores a coefficient of 0. */
  @inline static offer(heaviest: usize, term: u32, coefficient: f32): void {
    if (CHECKED) assert(coefficient >= 0, "a coefficient is positive, so that its bits order like itself");
    if (coefficient == 0) return;
    const entry = ((<u64>reinterpret<u32>(coefficient)) << 32) | <u64>~term;
    const count = Heaviest.count(heaviest);
    if (count == DOCUMENT_TERMS_MAX) return replaceLightest(heaviest, entry);
    Mem.putU64(heaviest + ENTRIES + ((<usize>count) << 3), entry);
    Mem.putU32(heaviest, count + 1);
    if (count + 1 == DOCUMENT_TERMS_MAX) makeHeap(heaviest + ENTRIES);
  }
}

/**
 * Replaces the lightest term if `entry` is heavier. A full list's entries are a binary heap with the lightest
 * on top.
 */
function replaceLightest(heaviest: usize, entry: u64): void {
  if (entry > Mem.u64At(heaviest + ENTRIES)) sink(heaviest + ENTRIES, 0, entry);
}

function makeHeap(entries: usize): void {
  for (let i = DOCUMENT_TERMS_MAX / 2; i > 0; i--) {
    sink(entries, i - 1, Mem.u64At(entries + ((<usize>(i - 1)) << 3)));
  }
}

function sink(entries: usize, from: u32, held: u64): void {
  let i = from;
  while (true) {
    let child: u32 = 2 * i + 1;
    if (child >= <u32>DOCUMENT_TERMS_MAX) break;
    let entry = Mem.u64At(entries + ((<usize>child) << 3));
    if (child + 1 < <u32>DOCUMENT_TERMS_MAX) {
      const other = Mem.u64At(entries + ((<usize>child) << 3) + 8);
      if (other < entry) {
        entry = other;
        child++;
      }
    }
    if (held <= entry) break;
    Mem.putU64(entries + ((<usize>i) << 3), entry);
    i = child;
  }
  Mem.putU64(entries + ((<usize>i) << 3), held);
}
