// Encodes a request to explain why rows rank where they do. It contains the rows' sequence numbers and a
// search program. docs/FORMATS.md shows the layout.
import { ByteWriter } from "../bytes.js";
import { encodeSearch, type SearchProgram } from "./search-program.js";

/** `seqs` may be in any order. Throws a RangeError if the program cannot be encoded. */
export function encodeExplain(program: SearchProgram, seqs: readonly number[]): Uint8Array {
  const out = new ByteWriter();
  const asked = ascendingSeqs(seqs);
  out.u32(asked.length);
  for (const seq of asked) out.f64(seq);
  out.bytes(encodeSearch(program));
  return out.finish();
}

/** Sorts the seqs and removes duplicates. Requests and answers use this order. */
export function ascendingSeqs(seqs: readonly number[]): number[] {
  return [...new Set(seqs)].sort((a, b) => a - b);
}
