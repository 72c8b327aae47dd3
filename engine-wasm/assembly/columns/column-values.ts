// Reads the values of single-valued and multi-valued columns according to the field's type. Returns a row's
// value as a sort key, compares 64 rows with a value, and scans for a range. Only this file depends on the
// width of a column's values. The loops are in columns.ts, column-order.ts and element-scans.ts.
import { TYPE_BOOL, TYPE_FLOAT, TYPE_INT32, TYPE_INT32S, TYPE_INT64, TYPE_STRING } from "../layout";
import { Mem } from "../memory/mem";
import { floatKey, intKey } from "../memory/order";
import { unknownType } from "../segment/field-type";
import { orderBool, orderFloat, orderInt32, orderInt64, RowOrder } from "./column-order";
import { scanBool, scanRange } from "./columns";
import { Elements } from "./element-scans";

/** Returns the sort key of a float; -0 has the same key as 0. */
export function floatValueKey(value: f64): u64 {
  return floatKey(value == 0 ? 0 : reinterpret<u64>(value));
}

/**
 * Returns a row's value as a u64 that sorts in the same order; for a string, its ordinal. The field must be
 * single-valued and the row must have a value.
 */
export function valueKey(type: u32, column: usize, row: u32): u64 {
  switch (type) {
    case TYPE_STRING:
      return <u64>Mem.u32At(column + ((<usize>row) << 2));
    case TYPE_FLOAT:
      return floatValueKey(Mem.f64At(column + ((<usize>row) << 3)));
    case TYPE_INT64:
      return intKey(Mem.i64At(column + ((<usize>row) << 3)));
    case TYPE_INT32:
      return intKey(<i64>Mem.i32At(column + ((<usize>row) << 2)));
    case TYPE_BOOL:
      return intKey(Mem.u8At(column + row) != 0 ? 1 : 0);
    default:
      return unknownType();
  }
}

/** Compares 64 rows' values, starting at `row`, with `number`, which is the bits of an i64 or f64. */
export function orderNumbers(
  type: u32,
  values: usize,
  row: u32,
  number: u64,
  descending: bool,
  order: RowOrder,
): void {
  const longs = values + ((<usize>row) << 3);
  switch (type) {
    case TYPE_FLOAT:
      return orderFloat(longs, reinterpret<f64>(number), descending, order);
    case TYPE_BOOL:
      return orderBool(values + row, number != 0, descending, order);
    case TYPE_INT32:
      return orderInt32(values + ((<usize>row) << 2), <i32>number, descending, order);
    case TYPE_INT64:
      return orderInt64(longs, <i64>number, descending, order);
    default:
      unknownType();
  }
}

/**
 * Finds the rows whose integer is in [low, high]. Both bounds must be within the type's range. The result may
 * include rows without a value.
 */
export function scanIntegers(type: u32, values: usize, rows: u32, low: i64, high: i64, to: usize): void {
  switch (type) {
    case TYPE_BOOL:
      return scanBool(values, rows, low == 0, high == 1, to);
    case TYPE_INT32:
      return scanRange<i32>(values, rows, <i32>low, <i32>high, to);
    case TYPE_INT64:
      return scanRange<i64>(values, rows, low, high, to);
    default:
      unknownType();
  }
}

/** Finds the rows that have an element in [low, high]. */
export function scanIntegerElements(type: u32, elements: Elements, values: usize, low: i64, high: i64): void {
  if (type == TYPE_INT32S) elements.scanRange<i32>(values, <i32>low, <i32>high);
  else unknownType();
}
