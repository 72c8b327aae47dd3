// The slots a program queries, and the way back from a slot to its place in the program.
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { programBad } from "./program";

/** `slotIndex` of a slot that is not queried. */
export const NOT_QUERIED: u32 = 0xffffffff;

let slots: usize = 0; // u16 by index
let indexes: usize = 0; // u16 by slot: index + 1, 0 = not queried
let largest: u32 = 0;

/** Makes room for the program's `count` slots, to be set with `slotPut`. */
export function slotsBegin(count: u32): void {
  slots = scratch((<usize>count) << 1);
}

export function slotPut(index: u32, slot: u32): void {
  Mem.putU16(slots + ((<usize>index) << 1), slot);
}
export function slotAt(index: u32): u32 {
  return Mem.u16At(slots + ((<usize>index) << 1));
}

/** Prepares `slotIndex` for the `count` slots that were put; a slot that occurs twice makes the program bad. */
export function slotsEnd(count: u32): void {
  largest = 0;
  for (let i: u32 = 0; i < count; i++) largest = max(largest, slotAt(i));
  indexes = scratchZeroed((<usize>largest + 1) << 1);
  for (let i: u32 = 0; i < count; i++) {
    const entry = indexes + ((<usize>slotAt(i)) << 1);
    if (Mem.u16At(entry) != 0) programBad();
    Mem.putU16(entry, i + 1);
  }
}

/** Place of a slot in the program, or NOT_QUERIED. */
export function slotIndex(slot: u32): u32 {
  return slot > largest ? NOT_QUERIED : Mem.u16At(indexes + ((<usize>slot) << 1)) - 1;
}
