// Positions of the posting a cursor stands on. A list's positions are one run of varints, `tf` for each
// posting; a block knows where its first ones are, the rest is skipped by counting final bytes.

import { STATUS_DAMAGED } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { fail } from "../status";
import { Cursor } from "./postings";

/** Address behind `count` varints at `at`, or 0 when `end` comes first. */
function skipVarints(at: usize, end: usize, count: u32): usize {
  while (count >= 16 && at + 16 <= end) {
    const finals = popcnt(~i8x16.bitmask(Mem.v128At(at)) & 0xffff);
    count -= finals; // at most 16, so never below 0
    at += 16;
  }
  while (count > 0) {
    if (at >= end) return 0;
    if (Mem.u8At(at++) < 0x80) count--;
  }
  return at;
}

/** Moves the cursor's position pointer to the first position of the current posting. */
function findPositions(cursor: Cursor): bool {
  if (cursor.positionIndex > cursor.at) return fail(STATUS_DAMAGED);
  let skipped: u64 = 0;
  for (let i = cursor.positionIndex; i < cursor.at; i++) skipped += <u64>cursor.tfAt(i);
  if (skipped > <u64>(cursor.positionsEnd - cursor.positionAt)) return fail(STATUS_DAMAGED);
  const at = skipVarints(cursor.positionAt, cursor.positionsEnd, <u32>skipped);
  if (at == 0) return fail(STATUS_DAMAGED);
  cursor.positionAt = at;
  cursor.positionIndex = cursor.at;
  return true;
}

let buffer: usize = 0;
let capacity: u32 = 0;
let used: u32 = 0;

/** Empties the position buffer; must be called before the first use in a kernel call, with `fresh`. */
export function positionsReset(fresh: bool): void {
  if (fresh) {
    buffer = 0;
    capacity = 0;
  }
  used = 0;
}

/** Address of position number `index` (u32 each) in the buffer; moves when more are added. */
export function positionsAt(index: u32): usize {
  return buffer + ((<usize>index) << 2);
}

/** Positions in the buffer. */
export function positionsUsed(): u32 {
  return used;
}

function needRoom(count: u32): void {
  if (used + count <= capacity) return;
  const grown = max(used + count, max(256, capacity * 2));
  const moved = scratch((<usize>grown) << 2);
  Mem.copy(moved, buffer, (<usize>used) << 2);
  buffer = moved;
  capacity = grown;
}

/**
 * Appends the ascending positions of the current posting to the buffer. Returns how many: its frequency, or 0
 * after noting damage. Takes scratch when the buffer is full.
 */
export function positionsRead(cursor: Cursor): u32 {
  const tf = cursor.tf();
  if (!findPositions(cursor)) return 0;
  const end = cursor.positionsEnd;
  let at = cursor.positionAt;
  if (<usize>tf > end - at) {
    fail(STATUS_DAMAGED);
    return 0;
  }
  needRoom(tf);
  let position: u32 = 0;
  let to = positionsAt(used);
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
  used += tf;
  return tf;
}
