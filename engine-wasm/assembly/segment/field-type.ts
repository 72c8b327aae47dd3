// Returns the properties of a field type's values: kind, width, range and order. The rest of the engine uses
// these functions instead of checking the type. The exception is columns/column-values.ts, which reads and
// scans columns.
import {
  ARRAY_TYPES,
  FLOAT_TYPES,
  STATUS_UNKNOWN_TYPE,
  STRING_TYPES,
  TYPE_BOOL,
  TYPE_COUNT,
  TYPE_FLOAT,
  TYPE_FLOATS,
  TYPE_INT32,
  TYPE_INT32S,
  TYPE_INT64,
  TYPE_STRING,
  TYPE_STRINGS,
} from "../layout";
import { floatKey, intKey } from "../memory/order";
import { fail } from "../status";

export function isKnownType(type: u32): bool {
  return type < <u32>TYPE_COUNT;
}
export function isStringType(type: u32): bool {
  return ((STRING_TYPES >> type) & 1) != 0;
}
export function isFloatType(type: u32): bool {
  return ((FLOAT_TYPES >> type) & 1) != 0;
}
export function isArrayType(type: u32): bool {
  return ((ARRAY_TYPES >> type) & 1) != 0;
}

/**
 * Default case of every type switch. The kernel then reports an error instead of reading values as the wrong
 * type.
 */
export function unknownType(): u32 {
  fail(STATUS_UNKNOWN_TYPE);
  return 0;
}

/** Kinds of a slot's values. A slot has the same kind in all segments of an index. */
export const KIND_UNKNOWN: u32 = 0; // no segment has the field
export const KIND_INT: u32 = 1;
export const KIND_FLOAT: u32 = 2;
export const KIND_STRING: u32 = 3;

export function kindOfType(type: u32): u32 {
  if (!isKnownType(type)) return unknownType();
  return isStringType(type) ? KIND_STRING : isFloatType(type) ? KIND_FLOAT : KIND_INT;
}

/** Bytes per number in the values section; 0 for strings, which are not stored there. */
export function valueBytes(type: u32): u32 {
  switch (type) {
    case TYPE_STRING:
    case TYPE_STRINGS:
      return 0;
    case TYPE_BOOL:
      return 1;
    case TYPE_INT32:
    case TYPE_INT32S:
      return 4;
    case TYPE_INT64:
    case TYPE_FLOAT:
    case TYPE_FLOATS:
      return 8;
    default:
      return unknownType();
  }
}

/** Smallest integer that a field of an integer type can store. */
export function leastInteger(type: u32): i64 {
  switch (type) {
    case TYPE_BOOL:
      return 0;
    case TYPE_INT32:
    case TYPE_INT32S:
      return i32.MIN_VALUE;
    case TYPE_INT64:
      return i64.MIN_VALUE;
    default:
      return unknownType();
  }
}

/** Largest integer that a field of an integer type can store. */
export function largestInteger(type: u32): i64 {
  switch (type) {
    case TYPE_BOOL:
      return 1;
    case TYPE_INT32:
    case TYPE_INT32S:
      return i32.MAX_VALUE;
    case TYPE_INT64:
      return i64.MAX_VALUE;
    default:
      return unknownType();
  }
}

/** Converts a number in a dictionary (the bits of an i64 or f64) to a u64 that sorts in the same order. */
export function dictionaryKey(type: u32, bits: u64): u64 {
  if (!isKnownType(type) || isStringType(type)) return unknownType();
  return isFloatType(type) ? floatKey(bits) : intKey(<i64>bits);
}
