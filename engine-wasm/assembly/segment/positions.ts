// Reads the positions of a cursor's current posting. A list's positions are one sequence of varints, `tf`
// varints per posting. A block records where its first positions start; the positions before the current
// posting are skipped by counting the varints' final bytes.

import { STATUS_DAMAGED } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { fail } from "../status";
import { Cursor } from "./postings";

/** Address after `count` varints at `at`, or 0 if `end` is reached first. */
function skipVarints(at: usize, end: usize, count: u32): usize {
  for (; count > 0 && at + 16 <= end; at += 16) {
    let finals: u32 = ~i8x16.bitmask(Mem.v128At(at)) & 0xffff;
    const ended = <u32>popcnt(finals);
    if (ended >= count) {
      while (--count > 0) finals &= finals - 1;
      return at + <usize>ctz(finals) + 1;
    }
    count -= ended;
  }
  while (count > 0) {
    if (at >= end) return 0;
    if (Mem.u8At(at++) < 0x80) count--;
  }
  return at;
}

/** Sum of the frequencies of the postings [from, to) of the cursor's block. It is below 2^31. */
function frequencies(cursor: Cursor, from: u32, to: u32): u32 {
  const tfs = cursor.tfBuffer;
  let sums = i32x4.splat(0);
  let i = from;
  for (; i + 4 <= to; i += 4) sums = i32x4.add(sums, Mem.v128At(tfs + ((<usize>i) << 2)));
  let sum = i32x4.extract_lane(sums, 0) + i32x4.extract_lane(sums, 1);
  sum += i32x4.extract_lane(sums, 2) + i32x4.extract_lane(sums, 3);
  for (; i < to; i++) sum += cursor.tfAt(i);
  return sum;
}

/** Moves the cursor's position pointer to the current posting's first position. */
function findPositions(cursor: Cursor): bool {
  if (cursor.positionIndex > cursor.at) return fail(STATUS_DAMAGED);
  const skipped = frequencies(cursor, cursor.positionIndex, cursor.at);
  if (<usize>skipped > cursor.positionsEnd - cursor.positionAt) return fail(STATUS_DAMAGED);
  const at = skipVarints(cursor.positionAt, cursor.positionsEnd, skipped);
  if (at == 0) return fail(STATUS_DAMAGED);
  cursor.positionAt = at;
  cursor.positionIndex = cursor.at;
  return true;
}

/** The positions read so far (u32 each), posting by posting. Allocated in scratch memory; grows as needed. */
@unmanaged
export class Positions {
  buffer: usize;
  capacity: u32;
  used: u32;

  static make(): Positions {
    return changetype<Positions>(scratchZeroed(offsetof<Positions>()));
  }

  clear(): void {
    this.used = 0;
  }

  /** Address of position number `index` in the buffer. It may change when positions are added. */
  at(index: u32): usize {
    return this.buffer + ((<usize>index) << 2);
  }

  private needRoom(count: u32): void {
    if (this.used + count <= this.capacity) return;
    const grown = max(this.used + count, max(256, this.capacity * 2));
    const moved = scratch((<usize>grown) << 2);
    Mem.copy(moved, this.buffer, (<usize>this.used) << 2);
    this.buffer = moved;
    this.capacity = grown;
  }

  /**
   * Appends the current posting's ascending positions to the buffer. Returns the number of positions, which
   * is the posting's frequency, or 0 after reporting damage. Allocates scratch memory if the buffer is full.
   */
  read(cursor: Cursor): u32 {
    const tf = cursor.tf();
    if (!findPositions(cursor)) return 0;
    const end = cursor.positionsEnd;
    let at = cursor.positionAt;
    if (<usize>tf > end - at) {
      fail(STATUS_DAMAGED);
      return 0;
    }
    this.needRoom(tf);
    let position: u32 = 0;
    let to = this.at(this.used);
    for (let i: u32 = 0; i < tf; i++) {
      let shift: u32 = 0;
      let value: u32 = 0;
      let byte: u32 = 0x80;
      while (byte >= 0x80) {
        if (at >= end || shift > 28) {
          fail(STATUS_DAMAGED);
          return 0;
        }
        byte = Mem.u8At(at++);
        value |= (byte & 0x7f) << shift;
        shift += 7;
      }
      if (i > 0 && (value == 0 || position + value < position)) {
        fail(STATUS_DAMAGED);
        return 0;
      }
      position += value;
      Mem.putU32(to, position);
      to += 4;
    }
    this.used += tf;
    if (CHECKED)
      assert(to == this.at(this.used) && this.used <= this.capacity, "positions lie inside their buffer");
    return tf;
  }
}
