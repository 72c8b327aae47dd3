// Reads and writes unsigned integers as LEB128: 7 bits per byte, low bits first; a set high bit means that
// more bytes follow. Nothing here checks bounds; callers must.
import { scratch } from "./arena";
import { Mem } from "./mem";

/** Reads consecutive integers. Allocated in scratch memory. */
@unmanaged
export class Varints {
  /** Address of the next integer. */
  at: usize;

  static make(): Varints {
    return changetype<Varints>(scratch(offsetof<Varints>()));
  }

  /** Reads a u64 (at most 10 bytes). */
  u64(): u64 {
    let p = this.at;
    let byte = Mem.u8At(p++);
    let value: u64 = byte & 0x7f;
    let shift: u64 = 7;
    while (byte >= 0x80 && shift < 70) {
      byte = Mem.u8At(p++);
      value |= (<u64>(byte & 0x7f)) << shift;
      shift += 7;
    }
    this.at = p;
    return value;
  }
}

/** The u32 (at most 5 bytes) at p. */
export function varintU32(p: usize): u32 {
  let byte = Mem.u8At(p++);
  let value = byte & 0x7f;
  let shift: u32 = 7;
  while (byte >= 0x80 && shift < 35) {
    byte = Mem.u8At(p++);
    value |= (byte & 0x7f) << shift;
    shift += 7;
  }
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
