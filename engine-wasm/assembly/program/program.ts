// Reads a program from first byte to last. Every read is checked against the end; a read beyond it returns
// zeros and marks the program as malformed. This file decodes values without knowing what they mean.
import { PROGRAM_VERSION, STATUS_BAD_PROGRAM } from "../layout";
import { scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { fail } from "../status";

const WEIGHT_LEAST: f64 = 1e-30;
const WEIGHT_MOST: f64 = 1e30;

/** Marks the program as malformed. */
export function programBad(): void {
  fail(STATUS_BAD_PROGRAM);
}

/** Read position in one program. Allocated in scratch memory. */
@unmanaged
export class ProgramReader {
  at: usize;
  end: usize;
  /** Length of the last string read. */
  length: u32;
  /** Number of terms that the last `readTerms` read. */
  termsRead: u32;

  /**
   * Opens the `bytes` bytes at `program`. Marks the program as malformed unless it has this kind and the
   * current version.
   */
  static open(program: usize, bytes: usize, kind: u32): ProgramReader {
    const reader = changetype<ProgramReader>(scratchZeroed(offsetof<ProgramReader>()));
    reader.at = program;
    reader.end = program + bytes;
    if (reader.u16() != PROGRAM_VERSION || reader.u8() != kind) programBad();
    return reader;
  }

  /** Marks the program as malformed unless it ends here. */
  mustEnd(): void {
    if (this.at != this.end) programBad();
  }

  /**
   * Checks that `count` items of at least `least` bytes each can follow. Returns the count, or 0 after
   * marking the program as malformed.
   */
  countWithin(count: u32, least: usize): u32 {
    if (<u64>count * <u64>least <= <u64>(this.end - this.at)) return count;
    programBad();
    return 0;
  }

  /** Skips `bytes` bytes and returns their address, or 0 if not enough are left. */
  bytes(bytes: usize): usize {
    if (this.end - this.at < bytes) {
      programBad();
      this.at = this.end;
      return 0;
    }
    const start = this.at;
    this.at += bytes;
    return start;
  }

  u8(): u32 {
    const p = this.bytes(1);
    return p == 0 ? 0 : Mem.u8At(p);
  }

  u16(): u32 {
    const p = this.bytes(2);
    return p == 0 ? 0 : Mem.u16At(p);
  }

  u32(): u32 {
    const p = this.bytes(4);
    return p == 0 ? 0 : Mem.u32At(p);
  }

  i64(): i64 {
    const p = this.bytes(8);
    return p == 0 ? 0 : Mem.i64At(p);
  }

  f64(): f64 {
    const p = this.bytes(8);
    return p == 0 ? 0 : Mem.f64At(p);
  }

  /**
   * Reads a number from 0 to WEIGHT_MOST; a number below WEIGHT_LEAST becomes 0. Products of a few such
   * numbers neither overflow nor lose precision.
   */
  weight(): f64 {
    const value = this.f64();
    if (!(value >= 0 && value <= WEIGHT_MOST)) programBad();
    return value < WEIGHT_LEAST ? 0 : value;
  }

  private string(): usize {
    this.length = this.u16();
    const p = this.bytes(this.length);
    if (p == 0) this.length = 0;
    return p;
  }

  /**
   * Reads a string with a u16 length, sets `length`, and returns the string's address. An empty string is
   * malformed: the dictionary's empty term is not a word.
   */
  term(): usize {
    const p = this.string();
    if (this.length == 0) programBad();
    return p;
  }
}
