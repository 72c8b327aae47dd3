// Computes, for each term in a segment, the first byte that differs from the previous term. With these bytes
// and the shared-prefix lengths, a walk over the sorted terms (levenshtein.ts) can skip sibling prefixes
// without reading the terms.
import { SEG_TERM_LCP } from "../layout";
import { Mem } from "../memory/mem";
import { Seg } from "../segment/segment";

/** Writes the branch bytes for the terms [from, to) to `branches`, u8 by term. */
export function branchesAdd(segment: usize, branches: usize, from: u32, to: u32): void {
  const lcps = Seg.at(segment, SEG_TERM_LCP);
  for (let term = from; term < to; term++) {
    const shared = Mem.u8At(lcps + term);
    const ends = shared >= Seg.termLength(segment, term); // can be true only in a damaged segment
    Mem.putU8(branches + <usize>term, ends ? 0 : Mem.u8At(Seg.termAt(segment, term) + shared));
  }
}
