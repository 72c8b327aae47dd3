// Manages live bitsets, which are regions with a bit set for every row that is not deleted. They belong to
// the snapshots that refer to them. When further rows are deleted, the next snapshot gets a copy in which
// their bits are cleared.
import { reserve } from "../memory/arena";
import { Bits, bitsCopy, bitsCount, bitsFill } from "../memory/bitset";
import { Seg, Snap } from "./segment";

/** Allocates a region with all rows live. */
export function liveAll(rows: u32): usize {
  const live = reserve(Bits.bytes(rows));
  bitsFill(live, rows);
  return live;
}

export function liveCopy(live: usize, rows: u32): usize {
  const copy = reserve(Bits.bytes(rows));
  bitsCopy(copy, live, rows);
  return copy;
}

/** Marks a row as deleted. Returns 1 if it was live. The caller must ensure row < rows. */
export function liveKill(live: usize, row: u32): u32 {
  const word = row >> 6;
  const bit = (<u64>1) << (row & 63);
  const before = Bits.word(live, word);
  Bits.putWord(live, word, before & ~bit);
  return (before & bit) != 0 ? 1 : 0;
}

export function liveCount(live: usize, rows: u32): u32 {
  return bitsCount(live, rows);
}

/** Number of live rows in a snapshot. */
export function liveRows(snapshot: usize): f64 {
  const segments = Snap.count(snapshot);
  let sum: f64 = 0;
  for (let i: u32 = 0; i < segments; i++) {
    const live = Snap.live(snapshot, i);
    const rows = Seg.rows(Snap.segment(snapshot, i));
    sum += <f64>(live == 0 ? rows : bitsCount(live, rows));
  }
  return sum;
}
