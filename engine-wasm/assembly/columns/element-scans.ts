// Scans a multi-valued column into a bitset. The elements of all rows are contiguous, so several are compared
// at a time, and rows are looked up only for the elements that match.
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Range } from "./columns";

const SKIPPED: u32 = 64; // `addRowOf` first moves forward in steps of this many rows

/**
 * Scans one column's elements and adds the rows of matching elements to the bitset `to`. In scratch memory.
 */
@unmanaged
export class Elements {
  offsets: usize; // u32[rows + 1]: each row's first element
  rows: u32;
  row: u32; // row of the last matching element
  to: usize;

  static make(offsets: usize, rows: u32, to: usize): Elements {
    const made = changetype<Elements>(scratch(offsetof<Elements>()));
    made.offsets = offsets;
    made.rows = rows;
    made.row = 0;
    made.to = to;
    return made;
  }

  /** Index of the column's first element. */
  private first(): u32 {
    return Mem.u32At(this.offsets);
  }

  /** Index after the column's last element. */
  private end(): u32 {
    return Mem.u32At(this.offsets + ((<usize>this.rows) << 2));
  }

  /** Adds the row that contains element `i`. Calls must be in element order. */
  private addRowOf(i: u32): void {
    while (
      this.row + SKIPPED < this.rows &&
      Mem.u32At(this.offsets + ((<usize>(this.row + SKIPPED)) << 2)) <= i
    )
      this.row += SKIPPED;
    while (Mem.u32At(this.offsets + ((<usize>this.row) << 2) + 4) <= i) this.row++;
    Bits.add(this.to, this.row);
  }

  /** Adds the rows containing the elements whose bits are set in `mask`; bit 0 represents element `i`. */
  private addRowsOf(mask: u32, i: u32): void {
    for (; mask != 0; mask &= mask - 1) this.addRowOf(i + <u32>ctz(mask));
  }

  /** Adds the rows with an i32, i64 or f64 in [low, high]. The range is empty if either bound is NaN. */
  scanRange<T>(values: usize, low: T, high: T): void {
    const lows = v128.splat<T>(low);
    const highs = v128.splat<T>(high);
    const count = <u32>(16 / sizeof<T>());
    const end = this.end();
    let i = this.first();
    for (; i + count <= end; i += count)
      this.addRowsOf(Range.lanes<T>(values + <usize>i * sizeof<T>(), lows, highs), i);
    for (; i < end; i++) if (Range.has<T>(values + <usize>i * sizeof<T>(), low, high)) this.addRowOf(i);
  }

  /** Adds the rows with a u32 in [first, limit). */
  scanOrdinals(ordinals: usize, first: u32, limit: u32): void {
    const firsts = i32x4.splat(first);
    const spans = i32x4.splat(limit - first);
    const end = this.end();
    let i = this.first();
    for (; i + 4 <= end; i += 4) {
      const lanes = i32x4.sub(Mem.v128At(ordinals + ((<usize>i) << 2)), firsts);
      this.addRowsOf(i32x4.bitmask(i32x4.lt_u(lanes, spans)), i);
    }
    for (; i < end; i++)
      if (Mem.u32At(ordinals + ((<usize>i) << 2)) - first < limit - first) this.addRowOf(i);
  }

  /** Adds the rows with a u64 equal to `hash`. */
  scanHashes(hashes: usize, hash: u64): void {
    const wanted = i64x2.splat(hash);
    const end = this.end();
    let i = this.first();
    for (; i + 2 <= end; i += 2) {
      this.addRowsOf(i64x2.bitmask(i64x2.eq(Mem.v128At(hashes + ((<usize>i) << 3)), wanted)), i);
    }
    for (; i < end; i++) if (Mem.u64At(hashes + ((<usize>i) << 3)) == hash) this.addRowOf(i);
  }
}
