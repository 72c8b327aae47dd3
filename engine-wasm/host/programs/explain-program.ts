// The request that asks why rows have their places: plain objects in, bytes out. The picture of the bytes is in
// docs/FORMATS.md.
import { ByteWriter } from "../bytes.js";
import { encodeSearch, type SearchProgram } from "./search-program.js";

/** `seqs` in any order. Throws a RangeError when the program cannot be encoded. */
export function encodeExplain(program: SearchProgram, seqs: readonly number[]): Uint8Array {
  const out = new ByteWriter();
  const asked = ascendingSeqs(seqs);
  out.u32(asked.length);
  for (const seq of asked) out.f64(seq);
  out.bytes(encodeSearch(program));
  return out.finish();
}

/** Each seq once, in the order in which they are asked for and answered. */
export function ascendingSeqs(seqs: readonly number[]): number[] {
  return [...new Set(seqs)].sort((a, b) => a - b);
}
