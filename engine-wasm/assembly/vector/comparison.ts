// Computes Hamming distances between a query's code and the codes of the rows in a bitset, block by block. If
// at least a quarter of a block's codes are needed, it reads memory sequentially; otherwise it reads only the
// needed codes.

import { CODE_BYTES } from "../layout";
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";

/** Bitset words per block. */
export const BLOCK_WORDS: u32 = 16;
/** If at least this many of a block's rows are compared (a quarter), reading all of its codes is faster. */
const DENSE_ROWS: u64 = ((<u64>BLOCK_WORDS) << 6) / 4;
const WORD_CODES: usize = CODE_BYTES << 6; // size in bytes of the codes of 64 rows

abstract class Hamming {
  @inline static distance(
    at: usize,
    q0: u64,
    q1: u64,
    q2: u64,
    q3: u64,
    q4: u64,
    q5: u64,
    q6: u64,
    q7: u64,
  ): u32 {
    return <u32>(
      (popcnt(Mem.u64At(at) ^ q0) +
        popcnt(Mem.u64At(at + 8) ^ q1) +
        popcnt(Mem.u64At(at + 16) ^ q2) +
        popcnt(Mem.u64At(at + 24) ^ q3) +
        popcnt(Mem.u64At(at + 32) ^ q4) +
        popcnt(Mem.u64At(at + 40) ^ q5) +
        popcnt(Mem.u64At(at + 48) ^ q6) +
        popcnt(Mem.u64At(at + 56) ^ q7))
    );
  }

  /**
   * Writes a distance to `to`, and adds `times` to the number of rows at that distance. `times` is 1, or 0 if
   * the caller will overwrite the distance with the next one.
   */
  @inline static note(distance: u32, times: u32, to: usize, counts: usize): void {
    const count = counts + ((<usize>distance) << 2);
    Mem.putU16(to, distance);
    Mem.putU32(count, Mem.u32At(count) + times);
  }
}

/** A bitset's rows, to be compared with a query's code. Allocated in scratch memory. */
@unmanaged
export class Comparison {
  bits: usize;
  codes: usize; // address of row 0's code
  codesEnd: usize; // end of the last row's code
  code: usize; // the query's code
  counts: usize; // u32 by distance: number of rows at that distance
  addresses: usize; // buffer for the addresses of a block's codes, u32 per row
  touched: u32; // never read; keeps the compiler from removing the loads in `touchSome`

  static make(code: usize, counts: usize): Comparison {
    const made = changetype<Comparison>(scratch(offsetof<Comparison>()));
    made.code = code;
    made.counts = counts;
    made.addresses = scratch((<usize>BLOCK_WORDS) << 8);
    return made;
  }

  /**
   * Compares the rows in bitset words [from, end), at most one block. Writes the distances to `to` and
   * returns their end.
   */
  compare(from: u32, end: u32, to: usize): usize {
    let rows: u64 = 0;
    for (let word = from; word < end; word++) rows += popcnt(Bits.word(this.bits, word));
    const isDense = rows >= DENSE_ROWS;
    const addressesEnd = isDense ? this.addresses : this.touchSome(from, end);
    const counts = this.counts;
    const code = this.code;
    const q0 = Mem.u64At(code);
    const q1 = Mem.u64At(code + 8);
    const q2 = Mem.u64At(code + 16);
    const q3 = Mem.u64At(code + 24);
    const q4 = Mem.u64At(code + 32);
    const q5 = Mem.u64At(code + 40);
    const q6 = Mem.u64At(code + 48);
    const q7 = Mem.u64At(code + 56);
    if (!isDense) {
      for (let at = this.addresses; at < addressesEnd; at += 4) {
        const row = <usize>Mem.u32At(at);
        Hamming.note(Hamming.distance(row, q0, q1, q2, q3, q4, q5, q6, q7), 1, to, counts);
        to += 2;
      }
      return to;
    }
    for (let word = from; word < end; word++) {
      let rest = Bits.word(this.bits, word);
      if (rest == 0) continue;
      const first = this.codes + <usize>word * WORD_CODES;
      for (let at = first, last = min(first + WORD_CODES, this.codesEnd); at < last; at += CODE_BYTES) {
        const times = <u32>rest & 1; // 0 for a row outside the bitset, so it is not counted
        rest >>= 1;
        Hamming.note(Hamming.distance(at, q0, q1, q2, q3, q4, q5, q6, q7), times, to, counts);
        to += times << 1;
      }
    }
    return to;
  }

  /**
   * Collects the addresses of the codes and touches each code before comparing any. The reads are independent
   * of each other, so many can be in flight at once. Returns the end of the addresses.
   */
  private touchSome(from: u32, end: u32): usize {
    const addressesEnd = this.list(from, end);
    let touched: u32 = 0;
    for (let at = this.addresses; at < addressesEnd; at += 4) touched ^= Mem.u32At(<usize>Mem.u32At(at));
    this.touched = touched; // without this store, the compiler would remove the loads
    return addressesEnd;
  }

  /** Lists the addresses of the codes. Returns the end of the addresses. */
  private list(from: u32, end: u32): usize {
    let to = this.addresses;
    for (let word = from; word < end; word++) {
      const first = this.codes + <usize>word * WORD_CODES;
      for (let rest = Bits.word(this.bits, word); rest != 0; rest &= rest - 1) {
        Mem.putU32(to, <u32>(first + <usize>ctz(rest) * CODE_BYTES));
        to += 4;
      }
    }
    return to;
  }
}
