// Computes xxHash64 (Yann Collet, XXH64 of the xxHash specification) with seed 0 over raw memory. ON DISK:
// these hashes of document ids and folded values are stored, so the function must never change.
import { Mem } from "./mem";

const PRIME1: u64 = 0x9e3779b185ebca87;
const PRIME2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME3: u64 = 0x165667b19e3779f9;
const PRIME4: u64 = 0x85ebca77c2b2ae63;
const PRIME5: u64 = 0x27d4eb2f165667c5;

function round(lane: u64, input: u64): u64 {
  return rotl<u64>(lane + input * PRIME2, 31) * PRIME1;
}

function mergeRound(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * PRIME1 + PRIME4;
}

/** Hash of `bytes` bytes at p. */
export function hash64(p: usize, bytes: usize): u64 {
  const end = p + bytes;
  let hash: u64 = PRIME5;
  if (bytes >= 32) {
    let a: u64 = PRIME1 + PRIME2;
    let b: u64 = PRIME2;
    let c: u64 = 0;
    let d: u64 = 0 - PRIME1;
    while (p + 32 <= end) {
      a = round(a, Mem.u64At(p));
      b = round(b, Mem.u64At(p + 8));
      c = round(c, Mem.u64At(p + 16));
      d = round(d, Mem.u64At(p + 24));
      p += 32;
    }
    hash = rotl<u64>(a, 1) + rotl<u64>(b, 7) + rotl<u64>(c, 12) + rotl<u64>(d, 18);
    hash = mergeRound(hash, a);
    hash = mergeRound(hash, b);
    hash = mergeRound(hash, c);
    hash = mergeRound(hash, d);
  }
  hash += <u64>bytes;
  while (p + 8 <= end) {
    hash = rotl<u64>(hash ^ round(0, Mem.u64At(p)), 27) * PRIME1 + PRIME4;
    p += 8;
  }
  if (p + 4 <= end) {
    hash = rotl<u64>(hash ^ (<u64>Mem.u32At(p) * PRIME1), 23) * PRIME2 + PRIME3;
    p += 4;
  }
  while (p < end) {
    hash = rotl<u64>(hash ^ (<u64>Mem.u8At(p) * PRIME5), 11) * PRIME1;
    p += 1;
  }
  hash = (hash ^ (hash >> 33)) * PRIME2;
  hash = (hash ^ (hash >> 29)) * PRIME3;
  return hash ^ (hash >> 32);
}
