// One term's rows within a range of rows, with their weighted frequencies, summed over the term's lists in
// all fields.
//
//   | TermRows | f32 frequency by row of the range, 0 for rows without the term | u32 rows of the term, from the range's first |

import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Cursor, cursorNextBlock, cursorSeek, TERMINATED } from "../segment/postings";
import { Features } from "./features";

@unmanaged
export class TermRows {
  from: u32;
  to: u32;
  /** Number of rows that contain the term that was read last. */
  count: u32;
  private frequencies: usize;
  private rows: usize;

  static bytes(rows: u32): usize {
    return TERM_ROWS_HEAD + 2 * Mem.aligned((<usize>rows) << 2);
  }

  /** Creates the table at `at` for ranges of up to `rows` rows. The table occupies `bytes(rows)` bytes. */
  static make(at: usize, rows: u32): TermRows {
    const made = changetype<TermRows>(at);
    made.from = 0;
    made.to = 0;
    made.count = 0;
    made.frequencies = at + TERM_ROWS_HEAD;
    made.rows = made.frequencies + Mem.aligned((<usize>rows) << 2);
    Mem.fill(made.frequencies, 0, made.rows - made.frequencies);
    return made;
  }

  /** The i-th row that contains the term, relative to the first row of the range. */
  @inline row(i: u32): u32 {
    if (CHECKED) assert(i < this.count, "only rows of the term are asked for");
    return Mem.u32At(this.rows + ((<usize>i) << 2));
  }
  @inline frequency(row: u32): f32 {
    return Mem.f32At(this.frequencies + ((<usize>row) << 2));
  }

  /**
   * Reads the rows of the term open in `features`. Stops at a damaged list, whose status is recorded. `clear`
   * must be called before the next term.
   */
  read(features: Features): void {
    if (CHECKED) assert(this.count == 0, "the rows of the term before were cleared");
    while (features.nextList()) this.add(features.cursor, features.weight);
  }

  private add(cursor: Cursor, weight: f32): void {
    const from = this.from;
    const to = this.to;
    if (cursorSeek(cursor, from) == TERMINATED) return;
    let count = this.count;
    do {
      for (let i = cursor.at; i < cursor.held; i++) {
        const row = cursor.rowAt(i);
        if (row >= to) break;
        const place = this.frequencies + ((<usize>(row - from)) << 2);
        const before = Mem.f32At(place);
        Mem.putF32(place, before + weight * <f32>cursor.tfAt(i));
        if (before != 0) continue;
        Mem.putU32(this.rows + ((<usize>count) << 2), row - from);
        count++;
      }
      if (cursor.held > 0 && cursor.rowAt(cursor.held - 1) >= to) break;
    } while (cursorNextBlock(cursor));
    this.count = count;
  }

  /** Discards the term's rows. */
  clear(): void {
    const count = this.count;
    for (let i: u32 = 0; i < count; i++) Mem.putF32(this.frequencies + ((<usize>this.row(i)) << 2), 0);
    this.count = 0;
  }
}

const TERM_ROWS_HEAD: usize = (offsetof<TermRows>() + 15) & ~15;
