// Many rows of a multi-valued facet field have the same values, such as all products of a category. Each
// distinct set of values gets a number. A query counts the rows per set number, and converts these counts to
// counts per value at the end.
//
//   numbers: u16 per row      firstRows: u32 per number, a row with the set
import { scratch, scratchMark, scratchRewind, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { countNumbers, countsOf } from "./facet-counts";

const SAMPLE_ROWS: u32 = 4096;
const ROWS_A_SET: u32 = 16; // minimum average number of rows per set
const SETS_MAX: u32 = 0x4000;
const SLOTS: u32 = 0x10000; // number of slots in the hash table

/** Maximum number of sets. If a field has more, its sets are not numbered. */
export function setsMost(rows: u32): u32 {
  return min(SETS_MAX, rows / ROWS_A_SET);
}

/** True if the first rows have so few distinct sets that numbering is likely to pay off. */
export function setsLikely(ordinals: usize, offsets: usize, rows: u32): bool {
  const mark = scratchMark();
  const sample = min(SAMPLE_ROWS, rows);
  const numbers = scratch((<usize>sample) << 1);
  const count = numberSets(ordinals, offsets, sample, numbers, scratch((<usize>SETS_MAX) << 2));
  scratchRewind(mark);
  return count > 0;
}

/** Numbers the sets of `rows` rows. Returns the number of sets, or 0 if there are more than `setsMost`. */
export function numberSets(
  ordinals: usize,
  offsets: usize,
  rows: u32,
  numbers: usize,
  firstRows: usize,
): u32 {
  const mark = scratchMark();
  const slots = scratchZeroed((<usize>SLOTS) << 2); // hash table of u32: set number + 1, 0 = empty
  const most = setsMost(rows);
  let count: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    let slot = hashOf(ordinals, offsets, row);
    let number: u32 = 0;
    while (true) {
      number = Mem.u32At(slots + ((<usize>(slot & (SLOTS - 1))) << 2));
      if (number == 0 || sameSet(ordinals, offsets, row, Mem.u32At(firstRows + ((<usize>(number - 1)) << 2))))
        break;
      slot++;
    }
    if (number == 0) {
      if (count == most) {
        scratchRewind(mark);
        return 0;
      }
      Mem.putU32(firstRows + ((<usize>count) << 2), row);
      number = ++count;
      Mem.putU32(slots + ((<usize>(slot & (SLOTS - 1))) << 2), number);
    }
    Mem.putU16(numbers + ((<usize>row) << 1), number - 1);
  }
  scratchRewind(mark);
  return count;
}

function hashOf(ordinals: usize, offsets: usize, row: u32): u32 {
  const end = Mem.u32At(offsets + ((<usize>row) << 2) + 4);
  let hash: u32 = 0;
  for (let i = Mem.u32At(offsets + ((<usize>row) << 2)); i < end; i++) {
    hash = (hash ^ Mem.u32At(ordinals + ((<usize>i) << 2))) * 0x9e3779b1;
    hash ^= hash >> 15;
  }
  return hash;
}

function sameSet(ordinals: usize, offsets: usize, a: u32, b: u32): bool {
  let i = Mem.u32At(offsets + ((<usize>a) << 2));
  let j = Mem.u32At(offsets + ((<usize>b) << 2));
  const end = Mem.u32At(offsets + ((<usize>a) << 2) + 4);
  if (end - i != Mem.u32At(offsets + ((<usize>b) << 2) + 4) - j) return false;
  for (; i < end; i++, j++)
    if (Mem.u32At(ordinals + ((<usize>i) << 2)) != Mem.u32At(ordinals + ((<usize>j) << 2))) return false;
  return true;
}

/** Returns the number of rows per set, u32 by set number. `counted` is the total number of rows counted. */
export function countSets(numbers: usize, sets: u32, counted: u32, bits: usize, flip: u64, rows: u32): usize {
  const times = countsOf(sets, counted);
  countNumbers(numbers, bits, flip, rows, times);
  return times.sum(sets);
}

/**
 * Converts counts per set to counts per value. Returns u32 by ordinal. A row that repeats a value counts
 * once.
 */
export function countsOfSets(
  ordinals: usize,
  offsets: usize,
  times: usize,
  firstRows: usize,
  sets: u32,
  values: u32,
): usize {
  const counts = countsOf(values, 0).counts;
  for (let set: usize = 0; set < <usize>sets; set++) {
    const own = Mem.u32At(times + (set << 2));
    if (own != 0) addSet(ordinals, offsets, Mem.u32At(firstRows + (set << 2)), own, counts);
  }
  return counts;
}

function addSet(ordinals: usize, offsets: usize, row: u32, times: u32, counts: usize): void {
  const first = Mem.u32At(offsets + ((<usize>row) << 2));
  const end = Mem.u32At(offsets + ((<usize>row) << 2) + 4);
  for (let i = first; i < end; i++) {
    const ordinal = Mem.u32At(ordinals + ((<usize>i) << 2));
    let seen = false;
    for (let j = first; j < i && !seen; j++) seen = Mem.u32At(ordinals + ((<usize>j) << 2)) == ordinal;
    const count = counts + ((<usize>ordinal) << 2);
    if (!seen) Mem.putU32(count, Mem.u32At(count) + times);
  }
}
