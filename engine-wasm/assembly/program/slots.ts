// Lists the slots that a program queries, and maps a slot to its index in that list.
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { ProgramReader, programBad } from "./program";

/** Returned by `indexOf` for a slot that the program does not query. */
export const NOT_QUERIED: u32 = 0xffffffff;

/** One program's slots, in scratch memory. */
@unmanaged
export class Slots {
  count: u32;
  slots: usize; // u16 by index: the slot
  indexes: usize; // u16 by slot: index of the slot + 1; 0 = not queried
  largest: u32;

  /** Reads a count and that many slots. A repeated slot marks the program as malformed. */
  static read(reader: ProgramReader): Slots {
    const made = Slots.make(reader.countWithin(reader.u16(), 2));
    for (let i: u32 = 0; i < made.count; i++) made.put(i, reader.u16());
    made.finish();
    return made;
  }

  /** Allocates room for `count` slots, which the caller then adds with `put`. */
  static make(count: u32): Slots {
    const made = changetype<Slots>(scratchZeroed(offsetof<Slots>()));
    made.count = count;
    made.slots = scratch((<usize>count) << 1);
    return made;
  }

  put(index: u32, slot: u32): void {
    Mem.putU16(this.slots + ((<usize>index) << 1), slot);
  }

  at(index: u32): u32 {
    return Mem.u16At(this.slots + ((<usize>index) << 1));
  }

  /**
   * Builds the table for `indexOf` once all slots have been put. A repeated slot marks the program as
   * malformed.
   */
  finish(): void {
    this.largest = 0;
    for (let i: u32 = 0; i < this.count; i++) this.largest = max(this.largest, this.at(i));
    this.indexes = scratchZeroed((<usize>this.largest + 1) << 1);
    for (let i: u32 = 0; i < this.count; i++) {
      const entry = this.indexes + ((<usize>this.at(i)) << 1);
      if (Mem.u16At(entry) != 0) programBad();
      Mem.putU16(entry, i + 1);
    }
  }

  /** Index of a slot in the program, or NOT_QUERIED. */
  indexOf(slot: u32): u32 {
    return slot > this.largest ? NOT_QUERIED : Mem.u16At(this.indexes + ((<usize>slot) << 1)) - 1;
  }
}
