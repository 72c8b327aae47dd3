// Sets of rows, one bit per row, in u64 words. Bits at and beyond `rows` are always zero, so that counting
// and walking need no mask. Scratch bitsets are padded to 16 bytes; bitsets inside a segment are not.
import { passScratch, passScratchZeroed } from "./arena";
import { CHECKED } from "./checked";
import { Mem } from "./mem";

export abstract class Bits {
  @inline static words(rows: u32): u32 {
    return (rows + 63) >> 6;
  }
  @inline static bytes(rows: u32): usize {
    return (<usize>Bits.words(rows)) << 3;
  }
  @inline static word(bits: usize, word: u32): u64 {
    return Mem.u64At(bits + ((<usize>word) << 3));
  }
  @inline static putWord(bits: usize, word: u32, value: u64): void {
    Mem.putU64(bits + ((<usize>word) << 3), value);
  }

  @inline static has(bits: usize, row: u32): bool {
    return ((Mem.u8At(bits + <usize>(row >> 3)) >> (row & 7)) & 1) != 0;
  }

  @inline static add(bits: usize, row: u32): void {
    const at = bits + <usize>(row >> 3);
    Mem.putU8(at, Mem.u8At(at) | (1 << (row & 7)));
  }

  /** Like `add`, but also adds the row to `again` if it was already present. */
  @inline static addNoting(bits: usize, row: u32, again: usize): void {
    const at = bits + <usize>(row >> 3);
    const before = Mem.u8At(at);
    const bit: u32 = 1 << (row & 7);
    Mem.putU8(at, before | bit);
    const to = again + <usize>(row >> 3); // does not branch, because the branch would be unpredictable
    Mem.putU8(to, Mem.u8At(to) | (before & bit));
  }
}

/** Mask of the bits in the last word that represent rows. */
export function lastMask(rows: u32): u64 {
  const used = rows & 63;
  return used == 0 ? ~(<u64>0) : ((<u64>1) << used) - 1;
}

export function bitsNone(rows: u32): usize {
  return passScratchZeroed(Bits.bytes(rows));
}

/** Sets all rows of `to`. */
export function bitsFill(to: usize, rows: u32): void {
  if (rows == 0) return;
  Mem.fill(to, 0xff, Bits.bytes(rows));
  Bits.putWord(to, Bits.words(rows) - 1, lastMask(rows));
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

export function bitsAll(rows: u32): usize {
  const bits = bitsNew(rows);
  bitsFill(bits, rows);
  return bits;
}

/** Allocates a bitset with undefined contents in scratch memory, valid until the next pass over rows. */
export function bitsNew(rows: u32): usize {
  return passScratch(Bits.bytes(rows));
}

/** Allocates a copy of a bitset like `bitsNew`. */
export function bitsCopyOf(from: usize, rows: u32): usize {
  const copy = bitsNew(rows);
  bitsCopy(copy, from, rows);
  return copy;
}

export function bitsCopy(to: usize, from: usize, rows: u32): void {
  Mem.copy(to, from, Bits.bytes(rows));
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

/** to = to AND other. */
export function bitsAnd(to: usize, other: usize, rows: u32): void {
  const bytes = Bits.bytes(rows);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) Mem.putV128(to + i, v128.and(Mem.v128At(to + i), Mem.v128At(other + i)));
  if (i < bytes) Mem.putU64(to + i, Mem.u64At(to + i) & Mem.u64At(other + i));
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

/** to = to OR other. */
export function bitsOr(to: usize, other: usize, rows: u32): void {
  const bytes = Bits.bytes(rows);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) Mem.putV128(to + i, v128.or(Mem.v128At(to + i), Mem.v128At(other + i)));
  if (i < bytes) Mem.putU64(to + i, Mem.u64At(to + i) | Mem.u64At(other + i));
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

/** to = to AND NOT other. */
export function bitsRemove(to: usize, other: usize, rows: u32): void {
  const bytes = Bits.bytes(rows);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16)
    Mem.putV128(to + i, v128.andnot(Mem.v128At(to + i), Mem.v128At(other + i)));
  if (i < bytes) Mem.putU64(to + i, Mem.u64At(to + i) & ~Mem.u64At(other + i));
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

/** Moves to `to` the rows of `from` that are also in `a` and `b`. Discards the previous contents of `to`. */
export function bitsMove(to: usize, from: usize, a: usize, b: usize, rows: u32): void {
  const bytes = Bits.bytes(rows);
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    const all = Mem.v128At(from + i);
    const moved = v128.and(v128.and(Mem.v128At(a + i), Mem.v128At(b + i)), all);
    Mem.putV128(to + i, moved);
    Mem.putV128(from + i, v128.andnot(all, moved));
  }
  if (i < bytes) {
    const all = Mem.u64At(from + i);
    const moved = all & Mem.u64At(a + i) & Mem.u64At(b + i);
    Mem.putU64(to + i, moved);
    Mem.putU64(from + i, all & ~moved);
  }
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

/** Adds the rows that are in both `a` and `b` to `to`. */
export function bitsOrBoth(to: usize, a: usize, b: usize, rows: u32): void {
  const words = Bits.words(rows);
  for (let i: u32 = 0; i < words; i++)
    Bits.putWord(to, i, Bits.word(to, i) | (Bits.word(a, i) & Bits.word(b, i)));
}

/** True if some row is in both `a` and `b`. */
export function bitsMeet(a: usize, b: usize, rows: u32): bool {
  const words = Bits.words(rows);
  for (let i: u32 = 0; i < words; i++) if ((Bits.word(a, i) & Bits.word(b, i)) != 0) return true;
  return false;
}

/** to = NOT to, within `rows`. */
export function bitsNot(to: usize, rows: u32): void {
  if (rows == 0) return;
  const words = Bits.words(rows);
  for (let i: u32 = 0; i < words; i++) Bits.putWord(to, i, ~Bits.word(to, i));
  Bits.putWord(to, words - 1, Bits.word(to, words - 1) & lastMask(rows));
  if (CHECKED) assert(bitsEndClean(to, rows), "no bit at or beyond the rows is set");
}

export function bitsCount(bits: usize, rows: u32): u32 {
  if (CHECKED) assert(bitsEndClean(bits, rows), "no bit at or beyond the rows is set");
  const words = Bits.words(rows);
  let count: u64 = 0;
  let i: u32 = 0;
  for (; i + 4 <= words; i += 4) {
    const one = popcnt(Bits.word(bits, i)) + popcnt(Bits.word(bits, i + 1));
    count += one + popcnt(Bits.word(bits, i + 2)) + popcnt(Bits.word(bits, i + 3));
  }
  for (; i < words; i++) count += popcnt(Bits.word(bits, i));
  return <u32>count;
}

/** Number of rows in both `a` and `b`. */
export function bitsCountBoth(a: usize, b: usize, rows: u32): u32 {
  if (CHECKED) assert(bitsEndClean(a, rows), "no bit at or beyond the rows is set");
  const words = Bits.words(rows);
  let count: u64 = 0;
  for (let i: u32 = 0; i < words; i++) count += popcnt(Bits.word(a, i) & Bits.word(b, i));
  return <u32>count;
}

/** False if a bit at or beyond `rows` is set. */
export function bitsEndClean(bits: usize, rows: u32): bool {
  return rows == 0 || (Bits.word(bits, Bits.words(rows) - 1) & ~lastMask(rows)) == 0;
}

/** The first word >= `word` that contains any rows, or `end`. */
export function bitsNextWord(bits: usize, word: u32, end: u32): u32 {
  while (word < end && Bits.word(bits, word) == 0) {
    word++;
    for (; word + 4 <= end; word += 4) {
      const at = bits + ((<usize>word) << 3);
      if (v128.any_true(v128.or(Mem.v128At(at), Mem.v128At(at + 16)))) break;
    }
  }
  return word;
}

/** The first set row >= `from`, or `rows`. */
export function bitsNext(bits: usize, from: u32, rows: u32): u32 {
  if (from >= rows) return rows;
  const words = Bits.words(rows);
  let word = from >> 6;
  let rest = Bits.word(bits, word) & (~(<u64>0) << (from & 63));
  if (rest == 0) {
    word = bitsNextWord(bits, word + 1, words);
    if (word == words) return rows;
    rest = Bits.word(bits, word);
  }
  return (word << 6) + <u32>ctz(rest);
}

/** One past the last set row < `end`, or 0. */
export function bitsPrevious(bits: usize, end: u32): u32 {
  if (end == 0) return 0;
  let word = (end - 1) >> 6;
  let rest = Bits.word(bits, word) & (~(<u64>0) >> <u64>(63 - ((end - 1) & 63)));
  while (rest == 0) {
    if (word == 0) return 0;
    rest = Bits.word(bits, --word);
  }
  return (word << 6) + 64 - <u32>clz(rest);
}
