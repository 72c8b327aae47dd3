// Writes a kernel's result: u32 length of what follows, then values without padding. The result is the last
// thing in scratch, so it grows in place: no other scratch may be taken between `resultOpen` and `resultClose`.
import { scratch } from "./arena";
import { Mem } from "./mem";

const STEP: usize = 0x4000;

let start: usize = 0;
let at: usize = 0;
let end: usize = 0;

export function resultOpen(): void {
  start = scratch(STEP);
  at = start + 4;
  end = start + STEP;
}

/** Address of the result. */
export function resultClose(): usize {
  Mem.putU32(start, <u32>(at - start - 4));
  return start;
}

/** Room for `bytes` more; returns where they go. */
function room(bytes: usize): usize {
  if (end - at < bytes) {
    const more = (max(bytes, (end - start) >> 1) + 15) & ~15;
    scratch(more);
    end += more;
  }
  const place = at;
  at += bytes;
  return place;
}

export function putResultU8(value: u32): void {
  Mem.putU8(room(1), value);
}
export function putResultU16(value: u32): void {
  Mem.putU16(room(2), value);
}
export function putResultU32(value: u32): void {
  Mem.putU32(room(4), value);
}
export function putResultU64(value: u64): void {
  Mem.putU64(room(8), value);
}
export function putResultF64(value: f64): void {
  Mem.putF64(room(8), value);
}
export function putResultBytes(from: usize, bytes: usize): void {
  Mem.copy(room(bytes), from, bytes);
}
