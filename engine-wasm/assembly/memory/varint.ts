// LEB128: unsigned integers, 7 bits a byte, low bits first, high bit = more follows. Readers move a
// module-global cursor, so nothing is allocated; callers own the bounds.
import { Mem } from "./mem";

/** Address after the integer read last. Set it with `varintAt` before a run of reads. */
export let varintCursor: usize = 0;

/** Puts the read cursor at p. */
export function varintAt(p: usize): void {
  varintCursor = p;
}

/** Reads a u32 (at most 5 bytes) at the cursor. */
export function varintU32(): u32 {
  let p = varintCursor;
  let byte = Mem.u8At(p++);
  let value = byte & 0x7f;
  let shift: u32 = 7;
  while (byte >= 0x80 && shift < 35) {
    byte = Mem.u8At(p++);
    value |= (byte & 0x7f) << shift;
    shift += 7;
  }
  varintCursor = p;
  return value;
}

/** Reads a u64 (at most 10 bytes) at the cursor. */
export function varintU64(): u64 {
  let p = varintCursor;
  let byte = Mem.u8At(p++);
  let value: u64 = byte & 0x7f;
  let shift: u64 = 7;
  while (byte >= 0x80 && shift < 70) {
    byte = Mem.u8At(p++);
    value |= (<u64>(byte & 0x7f)) << shift;
    shift += 7;
  }
  varintCursor = p;
  return value;
}

/** Writes a u32 at p (up to 5 bytes); returns the address after it. */
export function putVarintU32(p: usize, value: u32): usize {
  while (value >= 0x80) {
    Mem.putU8(p++, (value & 0x7f) | 0x80);
    value >>= 7;
  }
  Mem.putU8(p, value);
  return p + 1;
}

/** Writes a u64 at p (up to 10 bytes); returns the address after it. */
export function putVarintU64(p: usize, value: u64): usize {
  while (value >= 0x80) {
    Mem.putU8(p++, <u32>(value & 0x7f) | 0x80);
    value >>= 7;
  }
  Mem.putU8(p, <u32>value);
  return p + 1;
}
