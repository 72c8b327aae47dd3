// Compares 64 values in a single-valued column with one value. In most cases all 64 sort after that value, so
// the code checks for that first, without building masks. Rows without a value are compared too; the caller
// masks them out.
import { Mem } from "../memory/mem";

/** Result of comparing 64 values with one value. */
@unmanaged
export class RowOrder {
  /**
   * Bits of the rows that sort before the given value: greater values if `descending`, otherwise smaller
   * ones.
   */
  beyond: u64;
  /** Bits of the rows whose value equals the given value. */
  equal: u64;
}

/** Compares i32[64] at `at` with `value`. */
export function orderInt32(at: usize, value: i32, descending: bool, order: RowOrder): void {
  order.beyond = 0;
  order.equal = 0;
  const values = i32x4.splat(value);
  let any = i32x4.splat(0);
  if (descending)
    for (let i: usize = 0; i < 256; i += 16) any = v128.or(any, i32x4.ge_s(Mem.v128At(at + i), values));
  else for (let i: usize = 0; i < 256; i += 16) any = v128.or(any, i32x4.le_s(Mem.v128At(at + i), values));
  if (!v128.any_true(any)) return;
  let rowsBeyond: u64 = 0;
  let rowsEqual: u64 = 0;
  for (let i: u32 = 0; i < 64; i += 4) {
    const lanes = Mem.v128At(at + ((<usize>i) << 2));
    const beyond = descending ? i32x4.gt_s(lanes, values) : i32x4.lt_s(lanes, values);
    rowsBeyond |= (<u64>(<u32>i32x4.bitmask(beyond))) << (<u64>i);
    rowsEqual |= (<u64>(<u32>i32x4.bitmask(i32x4.eq(lanes, values)))) << (<u64>i);
  }
  order.beyond = rowsBeyond;
  order.equal = rowsEqual;
}

/**
 * Compares u32[64] at `at` with a string whose ordinals are [first, end): spellings that fold to the same
 * string have consecutive ordinals. The range is empty if the dictionary lacks the string.
 */
export function orderOrdinals(at: usize, first: u32, end: u32, descending: bool, order: RowOrder): void {
  order.beyond = 0;
  order.equal = 0;
  const firsts = i32x4.splat(first);
  const ends = i32x4.splat(end);
  let any = i32x4.splat(0);
  if (descending)
    for (let i: usize = 0; i < 256; i += 16) any = v128.or(any, i32x4.ge_u(Mem.v128At(at + i), firsts));
  else for (let i: usize = 0; i < 256; i += 16) any = v128.or(any, i32x4.lt_u(Mem.v128At(at + i), ends));
  if (!v128.any_true(any)) return;
  let rowsBeyond: u64 = 0;
  let rowsEqual: u64 = 0;
  for (let i: u32 = 0; i < 64; i += 4) {
    const lanes = Mem.v128At(at + ((<usize>i) << 2));
    const below = i32x4.lt_u(lanes, firsts);
    const above = i32x4.ge_u(lanes, ends);
    rowsBeyond |= (<u64>(<u32>i32x4.bitmask(descending ? above : below))) << (<u64>i);
    rowsEqual |= (<u64>(<u32>i32x4.bitmask(v128.not(v128.or(below, above))))) << (<u64>i);
  }
  order.beyond = rowsBeyond;
  order.equal = rowsEqual;
}

/** Compares i64[64] at `at` with `value`. */
export function orderInt64(at: usize, value: i64, descending: bool, order: RowOrder): void {
  order.beyond = 0;
  order.equal = 0;
  const values = i64x2.splat(value);
  let any = i64x2.splat(0);
  if (descending)
    for (let i: usize = 0; i < 512; i += 16) any = v128.or(any, i64x2.ge_s(Mem.v128At(at + i), values));
  else for (let i: usize = 0; i < 512; i += 16) any = v128.or(any, i64x2.le_s(Mem.v128At(at + i), values));
  if (!v128.any_true(any)) return;
  let rowsBeyond: u64 = 0;
  let rowsEqual: u64 = 0;
  for (let i: u32 = 0; i < 64; i += 2) {
    const lanes = Mem.v128At(at + ((<usize>i) << 3));
    const beyond = descending ? i64x2.gt_s(lanes, values) : i64x2.lt_s(lanes, values);
    rowsBeyond |= (<u64>(<u32>i64x2.bitmask(beyond))) << (<u64>i);
    rowsEqual |= (<u64>(<u32>i64x2.bitmask(i64x2.eq(lanes, values)))) << (<u64>i);
  }
  order.beyond = rowsBeyond;
  order.equal = rowsEqual;
}

/** Compares f64[64] at `at` with `value`. -0 counts as 0. */
export function orderFloat(at: usize, value: f64, descending: bool, order: RowOrder): void {
  order.beyond = 0;
  order.equal = 0;
  const values = f64x2.splat(value);
  let any = i64x2.splat(0);
  if (descending)
    for (let i: usize = 0; i < 512; i += 16) any = v128.or(any, f64x2.ge(Mem.v128At(at + i), values));
  else for (let i: usize = 0; i < 512; i += 16) any = v128.or(any, f64x2.le(Mem.v128At(at + i), values));
  if (!v128.any_true(any)) return;
  let rowsBeyond: u64 = 0;
  let rowsEqual: u64 = 0;
  for (let i: u32 = 0; i < 64; i += 2) {
    const lanes = Mem.v128At(at + ((<usize>i) << 3));
    const beyond = descending ? f64x2.gt(lanes, values) : f64x2.lt(lanes, values);
    rowsBeyond |= (<u64>(<u32>i64x2.bitmask(beyond))) << (<u64>i);
    rowsEqual |= (<u64>(<u32>i64x2.bitmask(f64x2.eq(lanes, values)))) << (<u64>i);
  }
  order.beyond = rowsBeyond;
  order.equal = rowsEqual;
}

/** Compares u8[64] at `at` with `value`: 0 is false, anything else is true. */
export function orderBool(at: usize, value: bool, descending: bool, order: RowOrder): void {
  let ones: u64 = 0;
  for (let i: u32 = 0; i < 64; i += 16) {
    const isOne = i8x16.ne(Mem.v128At(at + i), i8x16.splat(0));
    ones |= (<u64>(<u32>i8x16.bitmask(isOne) & 0xffff)) << (<u64>i);
  }
  order.equal = value ? ones : ~ones;
  order.beyond = value == descending ? 0 : descending ? ones : ~ones;
}
