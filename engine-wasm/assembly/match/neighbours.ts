// Finds the current segment's rows that the program lists as neighbours. Matching uses them to find the
// neighbours that match without words, and determines which neighbours are in the result. Scoring then reads
// a row's points here.

import { scratchZeroed } from "../memory/arena";
import { Bits, bitsAnd, bitsNone } from "../memory/bitset";
import { NeighbourProgram } from "../program/neighbour-program";
import { NOT_FOUND, rowOfSeq } from "../segment/lookup";
import { Seg } from "../segment/segment";

/** The current segment's rows that are neighbours. Allocated in scratch memory. */
@unmanaged
export class Neighbours {
  program: NeighbourProgram;
  segment: usize;
  rows: u32;
  /** Number of neighbours in the segment. */
  count: u32;
  /** Bitset of the segment's neighbours; 0 = none. `settle` removes those that do not match. */
  listed: usize;
  /** Bitset of the neighbours with NEIGHBOUR_MATCHES, which match even if they contain none of the words. */
  matching: usize;

  static make(program: NeighbourProgram): Neighbours {
    const made = changetype<Neighbours>(scratchZeroed(offsetof<Neighbours>()));
    made.program = program;
    return made;
  }

  /** Finds the neighbours among a segment's rows, live or deleted. */
  beginSegment(used: usize): void {
    const program = this.program;
    this.segment = used;
    this.rows = Seg.rows(used);
    this.count = 0;
    this.listed = 0;
    this.matching = 0;
    for (let i: u32 = 0; i < program.count; i++) {
      const row = rowOfSeq(used, program.at(i).seq);
      if (row == NOT_FOUND) continue;
      if (this.listed == 0) {
        this.listed = bitsNone(this.rows);
        this.matching = bitsNone(this.rows);
      }
      this.count++;
      Bits.add(this.listed, row);
      if (program.at(i).matches != 0) Bits.add(this.matching, row);
    }
  }

  /** Keeps only neighbours that are among the matching rows, `bits`. */
  settle(bits: usize): void {
    if (this.listed == 0) return;
    bitsAnd(this.listed, bits, this.rows);
    bitsAnd(this.matching, bits, this.rows);
  }

  /** True if the row is a neighbour. */
  has(row: u32): bool {
    return this.listed != 0 && Bits.has(this.listed, row);
  }

  /** True if the row is a neighbour that matches without words. */
  matches(row: u32): bool {
    return this.matching != 0 && Bits.has(this.matching, row);
  }

  /** A neighbour's points. */
  pointsOf(row: u32): f64 {
    return this.program.withSeq(Seg.seq(this.segment, row)).points;
  }
}
