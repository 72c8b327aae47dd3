// Unpacks one block of 128 numbers, packed vertically in four lanes; see docs/FORMATS.md. The common bit
// widths are unrolled by inlining with a constant width, which lets the compiler fold every shift and mask;
// rare widths run the same steps in a loop. Row gaps are summed while they are in registers (Lemire, Boytsov,
// Kurz: SIMD compression and the intersection of sorted integers). Reads 16 * bits bytes and writes 512
// bytes; the caller must check both bounds.
import { BLOCK_ROWS } from "../layout";
import { Mem } from "./mem";

const VECTORS: u32 = BLOCK_ROWS / 4;

abstract class Unpack {
  /** Numbers 4i..4i+3 in a block packed with `bits` bits per number. */
  @inline static lanes(from: usize, bits: u32, i: u32): v128 {
    if (bits == 0) return i32x4.splat(0);
    const bit = i * bits;
    const shift = bit & 31;
    const word = from + <usize>((bit >> 5) << 4);
    let lanes = Mem.v128At(word);
    if (shift > 0) lanes = i32x4.shr_u(lanes, shift);
    if (shift + bits > 32) lanes = v128.or(lanes, i32x4.shl(Mem.v128At(word + 16), 32 - shift));
    if (shift + bits != 32) lanes = v128.and(lanes, i32x4.splat((1 << bits) - 1));
    return lanes;
  }

  /**
   * Writes rows 4i..4i+3 from their packed values (gap - 1). All lanes of `last` contain row 4i - 1, and all
   * lanes of the result row 4i + 3.
   */
  @inline static rowStep(from: usize, rows: usize, last: v128, bits: u32, i: u32): v128 {
    const zero = i32x4.splat(0);
    let sums = Unpack.lanes(from, bits, i);
    sums = i32x4.add(sums, v128.shuffle<i32>(zero, sums, 0, 4, 5, 6));
    sums = i32x4.add(sums, v128.shuffle<i32>(zero, sums, 0, 1, 4, 5));
    sums = i32x4.add(i32x4.add(sums, last), i32x4(1, 2, 3, 4));
    Mem.putV128(rows + <usize>(i << 4), sums);
    return v128.shuffle<i32>(sums, sums, 3, 3, 3, 3);
  }

  @inline static rowSteps(from: usize, rows: usize, last: v128, bits: u32, i: u32): v128 {
    last = Unpack.rowStep(from, rows, last, bits, i);
    last = Unpack.rowStep(from, rows, last, bits, i + 1);
    last = Unpack.rowStep(from, rows, last, bits, i + 2);
    return Unpack.rowStep(from, rows, last, bits, i + 3);
  }

  @inline static rowBlock(from: usize, rows: usize, last: v128, bits: u32): void {
    last = Unpack.rowSteps(from, rows, last, bits, 0);
    last = Unpack.rowSteps(from, rows, last, bits, 4);
    last = Unpack.rowSteps(from, rows, last, bits, 8);
    last = Unpack.rowSteps(from, rows, last, bits, 12);
    last = Unpack.rowSteps(from, rows, last, bits, 16);
    last = Unpack.rowSteps(from, rows, last, bits, 20);
    last = Unpack.rowSteps(from, rows, last, bits, 24);
    last = Unpack.rowSteps(from, rows, last, bits, 28);
  }

  @inline static frequencyStep(from: usize, frequencies: usize, bits: u32, i: u32): void {
    Mem.putV128(frequencies + <usize>(i << 4), i32x4.add(Unpack.lanes(from, bits, i), i32x4.splat(1)));
  }

  @inline static frequencySteps(from: usize, frequencies: usize, bits: u32, i: u32): void {
    Unpack.frequencyStep(from, frequencies, bits, i);
    Unpack.frequencyStep(from, frequencies, bits, i + 1);
    Unpack.frequencyStep(from, frequencies, bits, i + 2);
    Unpack.frequencyStep(from, frequencies, bits, i + 3);
  }

  @inline static frequencyBlock(from: usize, frequencies: usize, bits: u32): void {
    Unpack.frequencySteps(from, frequencies, bits, 0);
    Unpack.frequencySteps(from, frequencies, bits, 4);
    Unpack.frequencySteps(from, frequencies, bits, 8);
    Unpack.frequencySteps(from, frequencies, bits, 12);
    Unpack.frequencySteps(from, frequencies, bits, 16);
    Unpack.frequencySteps(from, frequencies, bits, 20);
    Unpack.frequencySteps(from, frequencies, bits, 24);
    Unpack.frequencySteps(from, frequencies, bits, 28);
  }
}

// One function per width, called through a table: a single function with all widths takes the optimiser
// twenty times as long.
function rows0(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 0);
}
function rows1(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 1);
}
function rows2(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 2);
}
function rows3(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 3);
}
function rows4(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 4);
}
function rows5(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 5);
}
function rows6(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 6);
}
function rows7(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 7);
}
function rows8(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 8);
}
function rows9(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 9);
}
function rows10(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 10);
}
function rows11(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 11);
}
function rows12(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 12);
}
function rows13(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 13);
}
function rows14(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 14);
}
function rows15(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 15);
}
function rows16(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 16);
}
function rows17(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 17);
}
function rows18(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 18);
}
function rows19(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 19);
}
function rows20(from: usize, rows: usize, last: v128): void {
  Unpack.rowBlock(from, rows, last, 20);
}
function frequencies0(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 0);
}
function frequencies1(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 1);
}
function frequencies2(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 2);
}
function frequencies3(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 3);
}
function frequencies4(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 4);
}
function frequencies5(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 5);
}
function frequencies6(from: usize, to: usize): void {
  Unpack.frequencyBlock(from, to, 6);
}

const ROW_WIDTHS: StaticArray<(from: usize, rows: usize, last: v128) => void> = [
  rows0,
  rows1,
  rows2,
  rows3,
  rows4,
  rows5,
  rows6,
  rows7,
  rows8,
  rows9,
  rows10,
  rows11,
  rows12,
  rows13,
  rows14,
  rows15,
  rows16,
  rows17,
  rows18,
  rows19,
  rows20,
];
const FREQUENCY_WIDTHS: StaticArray<(from: usize, to: usize) => void> = [
  frequencies0,
  frequencies1,
  frequencies2,
  frequencies3,
  frequencies4,
  frequencies5,
  frequencies6,
];

/**
 * Writes 128 rows. `before` is the last row before the block, -1 at the start of a list. Sums wrap at 2^32.
 */
export function unpackRows(from: usize, bits: u32, before: u32, rows: usize): void {
  let last = i32x4.splat(before);
  if (bits < <u32>ROW_WIDTHS.length) return ROW_WIDTHS[bits](from, rows, last);
  for (let i: u32 = 0; i < VECTORS; i++) last = Unpack.rowStep(from, rows, last, bits, i);
}

/** Writes 128 frequencies, each packed as frequency - 1. */
export function unpackFrequencies(from: usize, bits: u32, frequencies: usize): void {
  if (bits < <u32>FREQUENCY_WIDTHS.length) return FREQUENCY_WIDTHS[bits](from, frequencies);
  for (let i: u32 = 0; i < VECTORS; i++) Unpack.frequencyStep(from, frequencies, bits, i);
}
