// Kernels through which a workbench uses the analyser: they return a text's tokens, a value's folding, or an
// id's hash.

import { TOKEN_END, TOKEN_PARTS, TOKEN_POSITION, TOKEN_START, TOKEN_TERM, TOKEN_TERM_BYTES } from "../layout";
import { scratch, scratchRewind } from "../memory/arena";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import { JoinedTokens } from "./join";
import { foldValue, Tokenizer } from "./tokenize";
import { foldBound } from "./unicode";

/**
 * Returns the tokens of the text at p (`bytes` bytes, in scratch memory) as consecutive TOKEN_* structures.
 */
export function analyse(p: usize, bytes: usize): usize {
  const tokens = Tokenizer.make();
  const joined = JoinedTokens.make(tokens);
  const result = scratch(4);
  let out = result + 4;
  let position: u32 = 0;
  tokens.begin(p, bytes);
  while (tokens.next()) {
    out = putToken(out, tokens.at, tokens.bytes, tokens.start, tokens.end, position, 1);
    if (joined.endsHere()) {
      const first = position + 1 - joined.parts;
      out = putToken(out, joined.at, joined.bytes, joined.start, tokens.end, first, joined.parts);
    }
    position++;
  }
  Mem.putU32(result, <u32>(out - result - 4));
  return result;
}

/** Writes a token at `out`, the end of scratch. Returns the end of the token. */
function putToken(
  out: usize,
  term: usize,
  bytes: u32,
  start: u32,
  end: u32,
  position: u32,
  parts: u32,
): usize {
  const size = (TOKEN_TERM + bytes + 3) & ~3;
  scratchRewind(out);
  scratch(size);
  Mem.putU32(out + TOKEN_START, start);
  Mem.putU32(out + TOKEN_END, end);
  Mem.putU32(out + TOKEN_POSITION, position);
  Mem.putU32(out + TOKEN_PARTS, parts);
  Mem.putU32(out + TOKEN_TERM_BYTES, bytes);
  Mem.copy(out + TOKEN_TERM, term, bytes);
  return out + size;
}

/** Returns the folded form of the text at p (`bytes` bytes, in scratch memory). */
export function fold(p: usize, bytes: usize): usize {
  const result = scratch(4 + foldBound(bytes));
  Mem.putU32(result, foldValue(p, bytes, result + 4));
  return result;
}

/** Returns the hash of the `bytes` bytes at p, which are in scratch memory. */
export function hash(p: usize, bytes: usize): u64 {
  return hash64(p, bytes);
}
