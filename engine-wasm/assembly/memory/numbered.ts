// Within a range of rows, numbers a set's rows 0, 1, 2 ... in ascending order, so that values computed for
// them fit into arrays without gaps. Depends only on bitsets, not on how the numbers are used.
//
//   ranks: u32 per bitset word in the range: set rows before the word; undefined if it has none
import { scratch } from "./arena";
import { Bits, bitsNextWord } from "./bitset";
import { CHECKED } from "./checked";
import { Mem } from "./mem";

@unmanaged
export class Numbered {
  bits: usize; // bitset over the rows of the whole segment
  from: u32; // first row of the numbered range, a multiple of 64
  to: u32;
  count: u32; // number of the set's rows in that range
  ranks: usize;
  ranksRoom: u32;
  rows: usize; // u32 by number: the row; valid only if `listed` is set
  rowsRoom: u32;
  listed: u32;

  @inline has(row: u32): bool {
    return Bits.has(this.bits, row);
  }

  /**
   * Number of the set's rows in the range before bitset word `word`, which must contain at least one such
   * row.
   */
  @inline before(word: u32): u32 {
    return Mem.u32At(this.ranks + ((<usize>(word - (this.from >> 6))) << 2));
  }

  /** Number assigned to a row in the set. */
  @inline numberOf(row: u32): u32 {
    const below = Bits.word(this.bits, row >> 6) & (((<u64>1) << (row & 63)) - 1);
    return this.before(row >> 6) + <u32>popcnt(below);
  }
}

export function numberedNew(): Numbered {
  const set = changetype<Numbered>(scratch(offsetof<Numbered>()));
  set.count = 0;
  set.ranksRoom = 0;
  set.rowsRoom = 0;
  return set;
}

/**
 * Assigns numbers to the rows of `bits` in [from, to). `from` must be a multiple of 64; so must `to`, unless
 * the segment ends there.
 */
export function numberRows(set: Numbered, bits: usize, from: u32, to: u32): void {
  if (CHECKED) assert((from & 63) == 0, "a range of numbered rows begins with a word");
  const first = from >> 6;
  const end = Bits.words(to);
  const words = end - first;
  if (words > set.ranksRoom) {
    set.ranks = scratch((<usize>words) << 2);
    set.ranksRoom = words;
  }
  let count: u32 = 0;
  for (let word = bitsNextWord(bits, first, end); word < end; word = bitsNextWord(bits, word + 1, end)) {
    Mem.putU32(set.ranks + ((<usize>(word - first)) << 2), count);
    count += <u32>popcnt(Bits.word(bits, word));
  }
  set.bits = bits;
  set.from = from;
  set.to = to;
  set.count = count;
  set.listed = 0;
}

/** Address of the rows, u32 by number. Valid until rows are numbered again. */
export function numberedRows(set: Numbered): usize {
  if (set.listed != 0) return set.rows;
  if (set.count > set.rowsRoom) {
    set.rows = scratch((<usize>set.count) << 2);
    set.rowsRoom = set.count;
  }
  let to = set.rows;
  const bits = set.bits;
  const end = Bits.words(set.to);
  for (
    let word = bitsNextWord(bits, set.from >> 6, end);
    word < end;
    word = bitsNextWord(bits, word + 1, end)
  ) {
    for (let left = Bits.word(bits, word); left != 0; left &= left - 1) {
      Mem.putU32(to, (word << 6) + <u32>ctz(left));
      to += 4;
    }
  }
  set.listed = 1;
  if (CHECKED) assert(to == set.rows + ((<usize>set.count) << 2), "as many rows are listed as were counted");
  return set.rows;
}
