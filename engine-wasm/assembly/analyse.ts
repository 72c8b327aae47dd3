// Kernels of the workbench around the analyser: a text's tokens, a value's folding, an id's hash.
import { scratch, scratchRewind } from "./arena";
import { hash64 } from "./hash";
import { TOKEN_END, TOKEN_START, TOKEN_TERM, TOKEN_TERM_BYTES } from "./layout";
import { Mem } from "./mem";
import {
  foldValue, tokenAt, tokenBytes, tokenEnd, tokenizeNext, tokenizeStart, tokenStart,
} from "./tokenize";
import { foldBound } from "./unicode";

/** Tokens of the text of `bytes` bytes at p, in scratch: layout TOKEN_*, one after the other. */
export function analyse(p: usize, bytes: usize): usize {
  const result = scratch(4);
  let out = result + 4;
  tokenizeStart(p, bytes);
  while (tokenizeNext()) {
    const size = (TOKEN_TERM + tokenBytes + 3) & ~3;
    scratchRewind(out);
    scratch(size);
    Mem.putU32(out + TOKEN_START, tokenStart);
    Mem.putU32(out + TOKEN_END, tokenEnd);
    Mem.putU32(out + TOKEN_TERM_BYTES, tokenBytes);
    Mem.copy(out + TOKEN_TERM, tokenAt, tokenBytes);
    out += size;
  }
  Mem.putU32(result, <u32>(out - result - 4));
  return result;
}

/** Folded value of the text of `bytes` bytes at p, in scratch. */
export function fold(p: usize, bytes: usize): usize {
  const result = scratch(4 + foldBound(bytes));
  Mem.putU32(result, foldValue(p, bytes, result + 4));
  return result;
}

/** Hash of the `bytes` bytes at p, in scratch. */
export function hash(p: usize, bytes: usize): u64 {
  return hash64(p, bytes);
}
