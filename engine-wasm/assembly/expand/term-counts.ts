// Counts the live documents that contain a term, by queried slot.
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { NOT_QUERIED, Slots } from "../program/slots";
import {
  BLOCK_BUFFER_BYTES,
  CURSOR_BYTES,
  Cursor,
  cursorCountIn,
  cursorUseBuffer,
  listOpen,
} from "../segment/postings";
import { Seg } from "../segment/segment";

/** Counts one term at a time. Allocated in scratch memory. */
@unmanaged
export class TermCounts {
  slots: Slots;
  cursor: Cursor;
  blockBuffer: usize;
  counts: usize; // u32 by slot: document counts of the last term that was counted

  static make(slots: Slots): TermCounts {
    const made = changetype<TermCounts>(scratch(offsetof<TermCounts>()));
    made.slots = slots;
    made.cursor = changetype<Cursor>(scratch(CURSOR_BYTES));
    made.blockBuffer = scratch(BLOCK_BUFFER_BYTES);
    made.counts = scratchZeroed((<usize>slots.count) << 2);
    return made;
  }

  /**
   * Sets `counts` for one term of one segment. Returns false if no live document contains it. `live`: 0 = all
   * rows.
   */
  count(segment: usize, term: u32, live: usize): bool {
    const counts = this.counts;
    const end = counts + ((<usize>this.slots.count) << 2);
    for (let at = counts; at < end; at += 4) Mem.putU32(at, 0); // for a few counts, faster than memory.fill
    return this.addTo(counts, segment, term, live);
  }

  /** Adds a term's counts to u32[slots] at `to`. Returns true if any count is not 0. */
  addTo(to: usize, segment: usize, term: u32, live: usize): bool {
    const cursor = this.cursor;
    const slots = this.slots;
    const end = Seg.listsAt(segment, term + 1);
    const rows = Seg.rows(segment);
    let at = Seg.listsAt(segment, term);
    let found = false;
    while (at < end) {
      at = listOpen(cursor, at, end, rows);
      if (at == 0) return false;
      const index = slots.indexOf(cursor.slot);
      if (index == NOT_QUERIED) continue;
      let count = cursor.count;
      if (live != 0) {
        cursorUseBuffer(cursor, this.blockBuffer);
        count = cursorCountIn(cursor, live);
      }
      const sum = to + ((<usize>index) << 2);
      Mem.putU32(sum, Mem.u32At(sum) + count);
      found = found || count > 0;
    }
    return found;
  }
}
