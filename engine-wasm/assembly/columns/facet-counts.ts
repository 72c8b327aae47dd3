// Counts how often each value occurs in a set of rows, by ordinal. The set is a bitset or, if `flip` is all
// ones, its complement. It is read 64 rows at a time.
import { NO_ORDINAL } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Bits, lastMask } from "../memory/bitset";
import { Mem } from "../memory/mem";

const ALL: u64 = 0xffffffffffffffff;

const TABLES: usize = 4;
// With more distinct values, consecutive rows rarely share one, so one table is enough.
const TABLED_VALUES: u32 = 2048;
// Minimum average number of rows per value for which several tables are worthwhile.
const TABLED_ROWS: u32 = 16;

/** Counts by ordinal, in one table or in several that `sum` combines. Allocated in scratch memory. */
@unmanaged
class CountTables {
  counts: usize; // u32 by ordinal: the first table of counts
  step: usize; // distance in bytes from one table to the next; 0 = there is only one

  /** Adds up all tables into the first, and returns it. */
  sum(values: u32): usize {
    const counts = this.counts;
    const step = this.step;
    if (step == 0) return counts;
    const end = counts + ((<usize>values) << 2);
    for (let at = counts; at < end; at += 16) {
      const low = i32x4.add(Mem.v128At(at), Mem.v128At(at + step));
      const high = i32x4.add(Mem.v128At(at + 2 * step), Mem.v128At(at + 3 * step));
      Mem.putV128(at, i32x4.add(low, high));
    }
    return counts;
  }
}

/**
 * Returns zeroed u32 counters by ordinal. NO_ORDINAL has a slot before the table, so that counting needs no
 * test for it. If `rows` rows share few values, counting alternates between several tables, because adding to
 * one count repeatedly stalls on memory. Call `sum` after counting.
 */
export function countsOf(values: u32, rows: u32): CountTables {
  const bytes = (((<usize>values) << 2) + 31) & ~15;
  const tables = changetype<CountTables>(scratch(offsetof<CountTables>()));
  tables.step = values <= TABLED_VALUES && rows / TABLED_ROWS >= values ? bytes : 0;
  tables.counts = scratchZeroed(tables.step == 0 ? bytes : TABLES * bytes) + 16;
  return tables;
}

/** Number of values whose count is not 0. */
export function countsAboveZero(counts: usize, values: u32): u32 {
  let lanes = i32x4.splat(0);
  let i: u32 = 0;
  for (; i + 4 <= values; i += 4) {
    lanes = i32x4.sub(lanes, i32x4.ne(Mem.v128At(counts + ((<usize>i) << 2)), i32x4.splat(0)));
  }
  let above =
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3);
  for (; i < values; i++) above += Mem.u32At(counts + ((<usize>i) << 2)) != 0 ? 1 : 0;
  return above;
}

/** The first ordinal >= `ordinal` whose count is not 0, or `values` if there is none. */
export function nextCount(counts: usize, ordinal: u32, values: u32): u32 {
  while (ordinal < values && Mem.u32At(counts + ((<usize>ordinal) << 2)) == 0) {
    ordinal++;
    while (ordinal + 4 <= values && !v128.any_true(Mem.v128At(counts + ((<usize>ordinal) << 2))))
      ordinal += 4;
  }
  return ordinal;
}

abstract class Elements {
  /**
   * Counts the ordinals of the elements from the low u32 of `span` up to, but not including, its high u32.
   * Alternates between two tables.
   */
  @inline static count(ordinals: usize, span: u64, counts: usize, second: usize): void {
    const end = ordinals + ((<usize>(span >> 32)) << 2);
    let at = ordinals + ((<usize>(<u32>span)) << 2);
    for (; at + 8 <= end; at += 8) {
      const two = Mem.u64At(at);
      add(counts, <u32>two);
      add(second, <u32>(two >> 32));
    }
    if (at < end) add(counts, Mem.u32At(at));
  }
}

function add(counts: usize, ordinal: u32): void {
  const count = counts + ((<usize>ordinal) << 2);
  Mem.putU32(count, Mem.u32At(count) + 1);
}

/**
 * Returns word number `word` of the bitset of rows to count: `bits` XORed with `flip`, without the bits at or
 * beyond `rows`.
 */
function wordOf(bits: usize, word: u32, flip: u64, rows: u32): u64 {
  const rest = Bits.word(bits, word) ^ flip;
  return flip != 0 && word + 1 == Bits.words(rows) ? rest & lastMask(rows) : rest;
}

/** Counts the values of a single-valued column. */
export function countRows(ordinals: usize, bits: usize, flip: u64, rows: u32, tables: CountTables): void {
  const counts = tables.counts;
  const step = tables.step;
  const words = Bits.words(rows);
  const second = counts + step;
  for (let word: u32 = 0; word < words; word++) {
    const at = ordinals + ((<usize>word) << 8);
    let rest = wordOf(bits, word, flip, rows);
    if (rest == ALL) {
      for (let i: usize = 0; i < 256; i += 8) {
        const two = Mem.u64At(at + i);
        add(counts, <u32>two);
        add(second, <u32>(two >> 32));
      }
      continue;
    }
    for (; rest != 0; rest &= rest - 1) {
      add(counts, Mem.u32At(at + ((<usize>ctz(rest)) << 2)));
      rest &= rest - 1;
      if (rest == 0) break;
      add(second, Mem.u32At(at + ((<usize>ctz(rest)) << 2)));
    }
  }
}

/** Like `countRows`, but for a column with one u16 per row. */
export function countNumbers(numbers: usize, bits: usize, flip: u64, rows: u32, tables: CountTables): void {
  const counts = tables.counts;
  const step = tables.step;
  const words = Bits.words(rows);
  const second = counts + step;
  for (let word: u32 = 0; word < words; word++) {
    const at = numbers + ((<usize>word) << 7);
    let rest = wordOf(bits, word, flip, rows);
    if (rest == ALL) {
      for (let i: usize = 0; i < 128; i += 4) {
        const two = Mem.u32At(at + i);
        add(counts, two & 0xffff);
        add(second, two >> 16);
      }
      continue;
    }
    for (; rest != 0; rest &= rest - 1) {
      add(counts, Mem.u16At(at + ((<usize>ctz(rest)) << 1)));
      rest &= rest - 1;
      if (rest == 0) break;
      add(second, Mem.u16At(at + ((<usize>ctz(rest)) << 1)));
    }
  }
}

/** Counts the values of a multi-valued column in which no row has a value twice. */
export function countElements(
  ordinals: usize,
  offsets: usize,
  bits: usize,
  flip: u64,
  rows: u32,
  tables: CountTables,
): void {
  const counts = tables.counts;
  const step = tables.step;
  const words = Bits.words(rows);
  const second = counts + step;
  const third = second + step;
  const fourth = third + step;
  for (let word: u32 = 0; word < words; word++) {
    const at = offsets + ((<usize>word) << 8);
    let rest = wordOf(bits, word, flip, rows);
    if (rest == ALL) {
      Elements.count(
        ordinals,
        (Mem.u64At(at) & 0xffffffff) | ((<u64>Mem.u32At(at + 256)) << 32),
        counts,
        second,
      );
      continue;
    }
    for (; rest != 0; rest &= rest - 1) {
      Elements.count(ordinals, Mem.u64At(at + ((<usize>ctz(rest)) << 2)), counts, second);
      rest &= rest - 1;
      if (rest == 0) break;
      Elements.count(ordinals, Mem.u64At(at + ((<usize>ctz(rest)) << 2)), third, fourth);
    }
  }
}

/**
 * Counts the values of a multi-valued column, each value once per row even if the row repeats it. Returns
 * true if any row repeats a value.
 */
export function countRowsOnce(
  ordinals: usize,
  offsets: usize,
  values: u32,
  bits: usize,
  flip: u64,
  rows: u32,
  counts: usize,
): bool {
  const last = scratchZeroed((<usize>values) << 2); // u32 by ordinal: 1 + the last row with the value
  const words = Bits.words(rows);
  let repeats = false;
  for (let word: u32 = 0; word < words; word++) {
    for (let rest = wordOf(bits, word, flip, rows); rest != 0; rest &= rest - 1) {
      const row = (word << 6) + <u32>ctz(rest);
      const end = Mem.u32At(offsets + ((<usize>row) << 2) + 4);
      for (let i = Mem.u32At(offsets + ((<usize>row) << 2)); i < end; i++) {
        const ordinal = Mem.u32At(ordinals + ((<usize>i) << 2));
        const seen = last + ((<usize>ordinal) << 2);
        if (Mem.u32At(seen) == row + 1) {
          repeats = true;
          continue;
        }
        Mem.putU32(seen, row + 1);
        add(counts, ordinal);
      }
    }
  }
  return repeats;
}

/** Replaces counts with totals - counts. */
export function countOthers(counts: usize, totals: usize, values: u32): void {
  const bytes = (<usize>values) << 2;
  for (let i: usize = 0; i < bytes; i += 16) {
    Mem.putV128(counts + i, i32x4.sub(Mem.v128At(totals + i), Mem.v128At(counts + i)));
  }
}

/** True if a single-valued column's counts add up to the number of rows in `bits` that have a value. */
export function countsAddUp(counts: usize, values: u32, ordinals: usize, bits: usize, rows: u32): bool {
  let counted: u32 = 0;
  for (let i: u32 = 0; i < values; i++) counted += Mem.u32At(counts + ((<usize>i) << 2));
  let withValue: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const ordinal = Mem.u32At(ordinals + ((<usize>row) << 2));
    if (Bits.has(bits, row) && ordinal != <u32>NO_ORDINAL) withValue++;
  }
  return counted == withValue;
}
