// Products of dense f32 matrices whose rows may be padded. Both products work on the same tile of 4 x 8 sums,
// which stay in registers; their inputs are copied to contiguous memory first. Widths are multiples of 8.
//
// A tile is summed in f32 over at most one block of rows. Sums across blocks are f64, so that small
// directions survive in matrices with many rows.

import { release, reserve } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";

const ACROSS: u32 = 8; // number of columns per tile
const DOWN: u32 = 4; // number of rows per tile
const BLOCK_ROWS_OF_SUMS: u32 = 192;
const BLOCK_ROWS_OF_PRODUCT: u32 = 64;
const TILE_BYTES: usize = 128;

/**
 * Computes a tile, f32[4][8] at `out` with rows `outStep` bytes apart: the sum over i < depth of a[i][0..4)
 * times b[i][0..8). The rows of a are `aStep` bytes apart, the rows of b 32 bytes.
 */
function tile(a: usize, aStep: usize, b: usize, depth: u32, out: usize, outStep: usize): void {
  let s00: v128 = f32x4.splat(0);
  let s01: v128 = f32x4.splat(0);
  let s10: v128 = f32x4.splat(0);
  let s11: v128 = f32x4.splat(0);
  let s20: v128 = f32x4.splat(0);
  let s21: v128 = f32x4.splat(0);
  let s30: v128 = f32x4.splat(0);
  let s31: v128 = f32x4.splat(0);
  for (const end = b + ((<usize>depth) << 5); b < end; b += 32) {
    const left = Mem.v128At(b);
    const right = Mem.v128At(b + 16);
    let x = Mem.splatAt(a);
    s00 = f32x4.add(s00, f32x4.mul(x, left));
    s01 = f32x4.add(s01, f32x4.mul(x, right));
    x = Mem.splatAt(a + 4);
    s10 = f32x4.add(s10, f32x4.mul(x, left));
    s11 = f32x4.add(s11, f32x4.mul(x, right));
    x = Mem.splatAt(a + 8);
    s20 = f32x4.add(s20, f32x4.mul(x, left));
    s21 = f32x4.add(s21, f32x4.mul(x, right));
    x = Mem.splatAt(a + 12);
    s30 = f32x4.add(s30, f32x4.mul(x, left));
    s31 = f32x4.add(s31, f32x4.mul(x, right));
    a += aStep;
  }
  Mem.putV128(out, s00);
  Mem.putV128(out + 16, s01);
  out += outStep;
  Mem.putV128(out, s10);
  Mem.putV128(out + 16, s11);
  out += outStep;
  Mem.putV128(out, s20);
  Mem.putV128(out + 16, s21);
  out += outStep;
  Mem.putV128(out, s30);
  Mem.putV128(out + 16, s31);
}

/**
 * Copies `rows` rows of `width` numbers to panels of 8 columns; within a panel, numbers are stored row by
 * row.
 */
function toPanels(from: usize, stride: usize, rows: u32, width: u32, to: usize): void {
  for (let column: u32 = 0; column < width; column += ACROSS) {
    let at = from + ((<usize>column) << 2);
    for (let row: u32 = 0; row < rows; row++) {
      Mem.putV128(to, Mem.v128At(at));
      Mem.putV128(to + 16, Mem.v128At(at + 16));
      at += stride;
      to += 32;
    }
  }
}

/**
 * Adds A'B to f64[width][width] at `sums`, where A and B have `rows` rows each. If B = A, only half of the
 * product is computed.
 */
export function addInnerProducts(
  sums: usize,
  a: usize,
  aStride: usize,
  b: usize,
  bStride: usize,
  rows: u32,
  width: u32,
): void {
  if (CHECKED) assert(width % ACROSS == 0, "a width is a multiple of 8");
  const panels = reserve(2 * <usize>(BLOCK_ROWS_OF_SUMS * width * 4) + TILE_BYTES);
  const others = a == b ? panels : panels + <usize>(BLOCK_ROWS_OF_SUMS * width * 4);
  const out = panels + 2 * <usize>(BLOCK_ROWS_OF_SUMS * width * 4);
  for (let row: u32 = 0; row < rows; row += BLOCK_ROWS_OF_SUMS) {
    const count = min(rows - row, BLOCK_ROWS_OF_SUMS);
    toPanels(a + <usize>row * aStride, aStride, count, width, panels);
    if (a != b) toPanels(b + <usize>row * bStride, bStride, count, width, others);
    addBlock(sums, panels, others, count, width, out, a == b);
  }
  release(panels);
  if (a == b) mirror(sums, width);
}

function addBlock(sums: usize, a: usize, b: usize, rows: u32, width: u32, out: usize, half: bool): void {
  const panelBytes = (<usize>rows) << 5;
  for (let i: u32 = 0; i < width; i += DOWN) {
    const left = a + <usize>(i / ACROSS) * panelBytes + <usize>((i % ACROSS) << 2);
    for (let j: u32 = half ? i & ~(ACROSS - 1) : 0; j < width; j += ACROSS) {
      tile(left, 32, b + <usize>(j / ACROSS) * panelBytes, rows, out, 32);
      let to = sums + ((<usize>(i * width + j)) << 3);
      for (let row: usize = 0; row < <usize>DOWN; row++) {
        addDoubles(to, out + (row << 5));
        addDoubles(to + 32, out + (row << 5) + 16);
        to += (<usize>width) << 3;
      }
    }
  }
}

/** Adds four f32 to four f64. */
function addDoubles(to: usize, from: usize): void {
  const values = Mem.v128At(from);
  Mem.putV128(to, f64x2.add(Mem.v128At(to), f64x2.promote_low_f32x4(values)));
  const high = v128.shuffle<u32>(values, values, 2, 3, 2, 3);
  Mem.putV128(to + 16, f64x2.add(Mem.v128At(to + 16), f64x2.promote_low_f32x4(high)));
}

/** Fills a symmetric matrix's lower half from its upper half. */
function mirror(sums: usize, width: u32): void {
  for (let i: u32 = 1; i < width; i++) {
    for (let j: u32 = 0; j < i; j++) {
      Mem.putF64(sums + ((<usize>(i * width + j)) << 3), Mem.f64At(sums + ((<usize>(j * width + i)) << 3)));
    }
  }
}

/**
 * Replaces each row's first `width` numbers with their product with the f64[width][across] matrix at `by`.
 * Each row must have space for `across` numbers.
 */
export function multiplyRows(
  rows: usize,
  stride: usize,
  count: u32,
  width: u32,
  by: usize,
  across: u32,
): void {
  if (CHECKED) assert(across % ACROSS == 0, "a width is a multiple of 8");
  const panelBytes = (<usize>width) << 5;
  const byBytes = <usize>(across / ACROSS) * panelBytes;
  const copyBytes = (<usize>(BLOCK_ROWS_OF_PRODUCT * width)) << 2;
  const panels = reserve(byBytes + copyBytes + TILE_BYTES);
  const copy = panels + byBytes;
  doublesToPanels(by, width, across, panels);
  for (let row: u32 = 0; row < count; row += BLOCK_ROWS_OF_PRODUCT) {
    const some = min(count - row, BLOCK_ROWS_OF_PRODUCT);
    const from = rows + <usize>row * stride;
    for (let i: u32 = 0; i < some; i += DOWN) {
      toQuads(
        from + <usize>i * stride,
        stride,
        min(some - i, DOWN),
        width,
        copy + ((<usize>(i * width)) << 2),
      );
    }
    multiplyBlock(from, stride, some, width, panels, across, copy, copy + copyBytes);
  }
  release(panels);
}

function multiplyBlock(
  to: usize,
  stride: usize,
  rows: u32,
  width: u32,
  panels: usize,
  across: u32,
  copy: usize,
  spare: usize,
): void {
  const panelBytes = (<usize>width) << 5;
  for (let j: u32 = 0; j < across; j += ACROSS) {
    const panel = panels + <usize>(j / ACROSS) * panelBytes;
    for (let i: u32 = 0; i < rows; i += DOWN) {
      const place = to + <usize>i * stride + ((<usize>j) << 2);
      const quads = copy + ((<usize>(i * width)) << 2);
      if (rows - i >= DOWN) {
        tile(quads, 16, panel, width, place, stride);
        continue;
      }
      tile(quads, 16, panel, width, spare, 32);
      for (let row: usize = 0; row < <usize>(rows - i); row++)
        Mem.copy(place + row * stride, spare + (row << 5), 32);
    }
  }
}

/** Copies up to 4 rows so that the numbers of a column are contiguous. Missing rows are filled with 0. */
function toQuads(from: usize, stride: usize, rows: u32, width: u32, to: usize): void {
  for (let row: u32 = 0; row < DOWN; row++) {
    let place = to + ((<usize>row) << 2);
    for (let column: usize = 0; column < <usize>width; column++) {
      Mem.putF32(place, row < rows ? Mem.f32At(from + <usize>row * stride + (column << 2)) : 0);
      place += 16;
    }
  }
}

function doublesToPanels(from: usize, rows: u32, width: u32, to: usize): void {
  for (let column: u32 = 0; column < width; column += ACROSS) {
    for (let row: u32 = 0; row < rows; row++) {
      const at = from + ((<usize>(row * width + column)) << 3);
      for (let i: usize = 0; i < <usize>ACROSS; i++) Mem.putF32(to + (i << 2), <f32>Mem.f64At(at + (i << 3)));
      to += 32;
    }
  }
}
