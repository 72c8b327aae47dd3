// A search program's neighbours, which are documents whose vectors are near the query's vector, each with its
// points. They are checked and stored as a table in ascending sequence number order. match/neighbours.ts
// finds their rows in a segment.

import { NEAR_FIRST, NEAR_NONE, NEIGHBOUR_MATCHES } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { failed } from "../status";
import { ProgramReader, programBad } from "./program";

@unmanaged
class Neighbour {
  seq: u64;
  points: f64;
  matches: u32; // NEIGHBOUR_MATCHES or 0
}

const NEIGHBOUR_BYTES: usize = (offsetof<Neighbour>() + 7) & ~7;
const NEIGHBOUR_LEAST: usize = 17; // minimum size in bytes of a neighbour in a program
const SEQ_MAX: f64 = 9007199254740991; // 2^53 - 1

/** One search's checked neighbours. Allocated in scratch memory. */
@unmanaged
export class NeighbourProgram {
  /** True if the program has a list of neighbours, even an empty one. */
  given: bool;
  /** True if matching neighbours rank before all other rows. */
  first: bool;
  count: u32;
  /** The largest points of any neighbour. With `first`, only neighbours with NEIGHBOUR_MATCHES count. */
  most: f64;
  table: usize;

  static read(reader: ProgramReader): NeighbourProgram {
    const made = changetype<NeighbourProgram>(scratchZeroed(offsetof<NeighbourProgram>()));
    made.readAll(reader);
    return made;
  }

  private readAll(reader: ProgramReader): void {
    const place = reader.u8();
    this.given = place != NEAR_NONE;
    this.first = place == NEAR_FIRST;
    this.count = reader.countWithin(reader.u32(), NEIGHBOUR_LEAST);
    this.table = scratch(<usize>this.count * NEIGHBOUR_BYTES);
    if (place > <u32>NEAR_FIRST || (!this.given && this.count > 0)) programBad();
    let previous: f64 = -1;
    for (let i: u32 = 0; i < this.count && !failed(); i++) {
      const one = this.at(i);
      const seq = reader.f64();
      one.points = reader.weight();
      one.matches = reader.u8();
      if (!(seq > previous) || seq > SEQ_MAX || floor(seq) != seq || one.matches > <u32>NEIGHBOUR_MATCHES)
        return programBad();
      one.seq = <u64>seq;
      previous = seq;
      if (!this.first || one.matches != 0) this.most = max(this.most, one.points);
    }
  }

  at(i: u32): Neighbour {
    return changetype<Neighbour>(this.table + <usize>i * NEIGHBOUR_BYTES);
  }

  /** The neighbour with this sequence number, which must be in the list. */
  withSeq(seq: u64): Neighbour {
    let low: u32 = 0;
    let high = this.count;
    while (low < high) {
      const middle = low + ((high - low) >> 1);
      if (this.at(middle).seq < seq) low = middle + 1;
      else high = middle;
    }
    return this.at(low);
  }
}
