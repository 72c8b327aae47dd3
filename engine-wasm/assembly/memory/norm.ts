// Encodes field lengths in one byte, as Lucene's SmallFloat.intToByte4 does: exact up to 39, then four
// significant bits.

const FREE_VALUES: u32 = 24; // a length below this is its own norm byte

/** Norm byte for a field of `length` tokens. It never decreases as `length` grows. */
export function encodeNorm(length: u32): u32 {
  if (length < FREE_VALUES) return length;
  const rest = length - FREE_VALUES;
  const bits: u32 = 32 - clz(rest);
  if (bits < 4) return FREE_VALUES + rest;
  const shift = bits - 4;
  return FREE_VALUES + (((rest >> shift) & 7) | ((shift + 1) << 3));
}

/** The smallest length that a norm byte represents. */
export function decodeNorm(norm: u32): u32 {
  if (norm < FREE_VALUES) return norm;
  const code = norm - FREE_VALUES;
  if (code < 8) return FREE_VALUES + code;
  return FREE_VALUES + (((code & 7) | 8) << ((code >> 3) - 1));
}
