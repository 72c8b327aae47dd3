// Writes a kernel's result, which is the u32 length of the rest, then values without padding. The result is
// the last allocation in scratch, so it grows in place: nothing else may allocate scratch between `open` and
// `close`.
import { scratch } from "./arena";
import { Mem } from "./mem";

const STEP: usize = 0x4000;

/** A result being written. The struct is in scratch memory, just before the result's bytes. */
@unmanaged
export class Result {
  private start: usize;
  private at: usize;
  private end: usize;

  static open(): Result {
    const made = changetype<Result>(scratch(offsetof<Result>()));
    made.start = scratch(STEP);
    made.at = made.start + 4;
    made.end = made.start + STEP;
    return made;
  }

  /** Completes the result and returns its address. */
  close(): usize {
    Mem.putU32(this.start, <u32>(this.at - this.start - 4));
    return this.start;
  }

  /** Reserves `bytes` more bytes and returns their address. */
  private room(bytes: usize): usize {
    if (this.end - this.at < bytes) {
      const more = (max(bytes, (this.end - this.start) >> 1) + 15) & ~15;
      scratch(more);
      this.end += more;
    }
    const place = this.at;
    this.at += bytes;
    return place;
  }

  putU8(value: u32): void {
    Mem.putU8(this.room(1), value);
  }
  putU16(value: u32): void {
    Mem.putU16(this.room(2), value);
  }
  putU32(value: u32): void {
    Mem.putU32(this.room(4), value);
  }
  putU64(value: u64): void {
    Mem.putU64(this.room(8), value);
  }
  putF64(value: f64): void {
    Mem.putF64(this.room(8), value);
  }
  putBytes(from: usize, bytes: usize): void {
    Mem.copy(this.room(bytes), from, bytes);
  }
}
