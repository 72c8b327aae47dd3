// Reads a program from its first byte to its last. Every step is checked against the end; a step beyond it
// yields zeros and makes the program bad. Knows the encoding of values, not their meaning.
import { PROGRAM_VERSION, STATUS_BAD_PROGRAM } from "../layout";
import { Mem } from "../memory/mem";
import { fail } from "../status";

let at: usize = 0;
let end: usize = 0;

/** Opens the `bytes` bytes at `program`; bad when they are not of this kind and version. */
export function programOpen(program: usize, bytes: usize, kind: u32): void {
  at = program;
  end = program + bytes;
  if (readU16() != PROGRAM_VERSION || readU8() != kind) programBad();
}

/** Notes that the program makes no sense. */
export function programBad(): void {
  fail(STATUS_BAD_PROGRAM);
}

/** The program must end here. */
export function programEnd(): void {
  if (at != end) programBad();
}

/** A count of things of at least `least` bytes each; 0 and a bad program when they cannot all follow. */
export function countWithin(count: u32, least: usize): u32 {
  if (<u64>count * <u64>least <= <u64>(end - at)) return count;
  programBad();
  return 0;
}

/** Address of the next `bytes` bytes, or 0 when they are not there; moves behind them. */
export function readBytes(bytes: usize): usize {
  if (end - at < bytes) {
    programBad();
    at = end;
    return 0;
  }
  const start = at;
  at += bytes;
  return start;
}

export function readU8(): u32 {
  const p = readBytes(1);
  return p == 0 ? 0 : Mem.u8At(p);
}

export function readU16(): u32 {
  const p = readBytes(2);
  return p == 0 ? 0 : Mem.u16At(p);
}

export function readU32(): u32 {
  const p = readBytes(4);
  return p == 0 ? 0 : Mem.u32At(p);
}

export function readI64(): i64 {
  const p = readBytes(8);
  return p == 0 ? 0 : Mem.i64At(p);
}

export function readF64(): f64 {
  const p = readBytes(8);
  return p == 0 ? 0 : Mem.f64At(p);
}

/** A number that must be finite and not negative. */
export function readWeight(): f64 {
  const value = readF64();
  if (!(value >= 0) || value == Infinity) programBad();
  return value == 0 ? 0 : value; // -0 becomes 0
}

let stringLength: u32 = 0;

function readString(): usize {
  stringLength = readU16();
  const p = readBytes(stringLength);
  if (p == 0) stringLength = 0;
  return p;
}

/** Length of the string read last. */
export function readLength(): u32 {
  return stringLength;
}

/**
 * Address of a string with a u16 length; its length is then `readLength()`. An empty string is bad: the empty
 * term of the dictionary is not a word.
 */
export function readTerm(): usize {
  const p = readString();
  if (stringLength == 0) programBad();
  return p;
}
