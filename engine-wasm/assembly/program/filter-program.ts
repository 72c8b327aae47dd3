// A search program's filter operations as a table, in postfix order. The operations have been checked:
// running them neither underflows nor overflows the stack.

import {
  OP_ALL,
  OP_AND,
  OP_EQUALS,
  OP_FLOAT_RANGE,
  OP_IDS,
  OP_INT_RANGE,
  OP_NOT,
  OP_OR,
  OP_TOKENS,
} from "../layout";
import { scratch } from "../memory/arena";
import { failed } from "../status";
import { ProgramReader, programBad } from "./program";
import { readTerms } from "./program-terms";

@unmanaged
export class Operation {
  lowInt: i64;
  highInt: i64;
  lowFloat: f64; // both bounds are inclusive
  highFloat: f64;
  code: u32; // OP_*
  slot: u32;
  at: usize; // address of the operation's bytes, terms or hashes
  count: u32; // number of bytes, terms or hashes
}

@unmanaged
export class Filter {
  operations: usize;
  count: u32;
}

const OPERATION_BYTES: usize = (offsetof<Operation>() + 7) & ~7;
const HASH_BYTES: usize = 8;

/** Maximum depth of a filter's bitset stack. */
const FILTER_DEPTH_MAX: i32 = 256;

export function operationAt(filter: Filter, i: u32): Operation {
  return changetype<Operation>(filter.operations + <usize>i * OPERATION_BYTES);
}

/** Reads one filter, which may be run only if `failed()` is false. */
export function filterRead(reader: ProgramReader): Filter {
  const filter = changetype<Filter>(scratch(offsetof<Filter>()));
  filter.count = reader.countWithin(reader.u16(), 1);
  filter.operations = scratch(<usize>filter.count * OPERATION_BYTES);
  let depth: i32 = 0;
  for (let i: u32 = 0; i < filter.count && !failed(); i++) {
    const operation = operationAt(filter, i);
    operation.code = reader.u8();
    if (operation.code == OP_AND || operation.code == OP_OR) depth -= 2;
    if (operation.code == OP_NOT) depth -= 1;
    if (depth < 0) programBad();
    depth++;
    if (depth > FILTER_DEPTH_MAX) programBad();
    readOperands(reader, operation);
  }
  if (filter.count > 0 && depth != 1) programBad();
  return filter;
}

function readOperands(reader: ProgramReader, operation: Operation): void {
  switch (operation.code) {
    case OP_ALL:
    case OP_AND:
    case OP_OR:
    case OP_NOT:
      return;
    case OP_INT_RANGE:
      operation.slot = reader.u16();
      operation.lowInt = reader.i64();
      operation.highInt = reader.i64();
      return;
    case OP_FLOAT_RANGE:
      return readFloatRange(reader, operation);
    case OP_EQUALS:
      operation.slot = reader.u16();
      operation.count = reader.u32();
      operation.at = reader.bytes(operation.count);
      return;
    case OP_TOKENS:
      operation.slot = reader.u16();
      operation.at = readTerms(reader);
      operation.count = reader.termsRead;
      return;
    case OP_IDS:
      operation.count = reader.countWithin(reader.u32(), HASH_BYTES);
      operation.at = reader.bytes(<usize>operation.count * HASH_BYTES);
      return;
    default:
      programBad();
  }
}

function readFloatRange(reader: ProgramReader, operation: Operation): void {
  operation.slot = reader.u16();
  const low = reader.f64();
  const high = reader.f64();
  const exclusive = reader.u8();
  if (isNaN(low) || isNaN(high) || exclusive > 3) programBad();
  operation.lowFloat = (exclusive & 1) != 0 ? nextAbove(low) : low;
  operation.highFloat = (exclusive & 2) != 0 ? -nextAbove(-high) : high;
}

/** The smallest number above x. For infinity it is NaN, which no value reaches. */
function nextAbove(x: f64): f64 {
  if (x == Infinity) return NaN;
  if (x == 0) return f64.MIN_VALUE;
  const bits = reinterpret<i64>(x);
  return reinterpret<f64>(x > 0 ? bits + 1 : bits - 1);
}
