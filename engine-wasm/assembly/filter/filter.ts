// Runs a filter of a search program on one segment: every operation leaves a bitset of rows on a stack.
// Scans write whole words; rows without a value drop out by the field's "present" bitset.

import { floatValueKey, scanCodes, summarisedColumn } from "../columns/column-summary";
import { scanBool, scanFloat, scanHashes, scanInt32, scanInt64, scanOrdinals } from "../columns/columns";
import {
  elementsUse,
  scanFloatElements,
  scanHashElements,
  scanInt32Elements,
  scanOrdinalElements,
} from "../columns/element-scans";
import { SUMMARY_CODE_RANGES, SUMMARY_CODES, summaryOfSlot, summaryTable } from "../columns/summaries";
import { checkDeadline } from "../env";
import {
  FIELD_SLOT,
  OP_ALL,
  OP_AND,
  OP_EQUALS,
  OP_FLOAT_RANGE,
  OP_IDS,
  OP_INT_RANGE,
  OP_NOT,
  OP_OR,
  STATUS_BAD_PROGRAM,
  TYPE_BOOL,
  TYPE_INT32,
  TYPE_INT32S,
  TYPE_STRINGS,
} from "../layout";
import { scratch } from "../memory/arena";
import { Bits, bitsAnd, bitsCopy, bitsFill, bitsNot, bitsOr } from "../memory/bitset";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import { intKey } from "../memory/order";
import { Filter, Operation, operationAt } from "../program/filter-program";
import { foldedBound } from "../segment/dictionary";
import { idFirst } from "../segment/lookup";
import { Field, findField, isArrayType, isFloatType, isStringType, Seg } from "../segment/segment";
import { fail, failed } from "../status";
import { addTokens } from "./phrase";

let segment: usize = 0;
let summary: usize = 0;
let among: usize = 0; // bitset: other rows do not count, 0 = all count
let rows: u32 = 0;
let field: usize = 0; // entry of the operation's slot, 0 = no document has a value

/**
 * Bitset of the rows that pass, in scratch; 0 when the filter is empty. `itsSummary`: that of the segment, or 0.
 * `someRows`: a bitset of the only rows whose answer counts, 0 for all.
 */
export function filterRows(filtered: usize, itsSummary: usize, filter: Filter, someRows: usize): usize {
  const operationCount = filter.count;
  segment = filtered;
  summary = itsSummary;
  among = someRows;
  rows = Seg.rows(filtered);
  if (operationCount == 0) return 0;
  let stack: usize = 0; // the bitsets lie one behind the other
  const step = (Bits.bytes(rows) + 15) & ~15;
  let depth: i32 = 0;
  let deepest: i32 = 0;
  for (let i: u32 = 0; i < operationCount; i++) {
    const code = operationAt(filter, i).code;
    depth += code == OP_AND || code == OP_OR ? -1 : code == OP_NOT ? 0 : 1;
    deepest = max(deepest, depth);
  }
  stack = scratch(step * <usize>deepest);
  let top = stack - step; // the topmost bitset
  for (let i: u32 = 0; i < operationCount && !failed(); i++) {
    const operation = operationAt(filter, i);
    checkDeadline();
    if (operation.code == OP_AND || operation.code == OP_OR) {
      top -= step;
      if (operation.code == OP_AND) bitsAnd(top, top + step, rows);
      else bitsOr(top, top + step, rows);
    } else if (operation.code == OP_NOT) {
      bitsNot(top, rows);
    } else {
      top += step;
      runLeaf(operation, top);
    }
  }
  return stack;
}

function runLeaf(operation: Operation, to: usize): void {
  if (operation.code == OP_ALL) return bitsFill(to, rows);
  Mem.fill(to, 0, Bits.bytes(rows));
  if (operation.code == OP_IDS) return addIds(operation, to);
  field = findField(segment, operation.slot);
  if (field == 0) return;
  const type = Field.type(field);
  switch (operation.code) {
    case OP_INT_RANGE:
      if (isStringType(type) || isFloatType(type)) fail(STATUS_BAD_PROGRAM);
      else if (Field.values(segment, field) != 0) addIntRange(operation, type, to);
      return;
    case OP_FLOAT_RANGE:
      if (!isFloatType(type)) fail(STATUS_BAD_PROGRAM);
      else if (Field.values(segment, field) != 0) addFloatRange(operation, type, to);
      return;
    case OP_EQUALS:
      if (!isStringType(type)) fail(STATUS_BAD_PROGRAM);
      else addEqual(operation, type, to);
      return;
    default:
      if (!isStringType(type)) fail(STATUS_BAD_PROGRAM);
      else if (operation.count == 0) bitsCopy(to, Field.present(segment, field), rows);
      else addTokens(segment, operation.at, operation.count, operation.slot, type == TYPE_STRINGS, to);
  }
}

function onlyPresent(to: usize): void {
  bitsAnd(to, Field.present(segment, field), rows);
}

/** Sets the rows with keys in [low, high] with the help of the field's codes; false when it has none. */
function scanSummary(type: u32, low: u64, high: u64, to: usize): bool {
  const entry = summaryOfSlot(summary, Mem.u16At(field + FIELD_SLOT));
  const codes = summaryTable(summary, entry, SUMMARY_CODES);
  if (codes == 0) return false;
  const ranges = summaryTable(summary, entry, SUMMARY_CODE_RANGES);
  const column = summarisedColumn(segment, field);
  scanCodes(type, column, Field.present(segment, field), rows, codes, ranges, low, high, among, to);
  return true;
}

function addIntRange(operation: Operation, type: u32, to: usize): void {
  const values = Field.values(segment, field);
  const low = operation.lowInt;
  const high = operation.highInt;
  if (low > high) return;
  if (type == TYPE_BOOL) {
    scanBool(values, rows, low <= 0 && high >= 0, low <= 1 && high >= 1, to);
    return onlyPresent(to);
  }
  if (!isArrayType(type) && scanSummary(type, intKey(low), intKey(high), to)) return;
  if (type != TYPE_INT32 && type != TYPE_INT32S) {
    scanInt64(values, rows, low, high, to);
    return onlyPresent(to);
  }
  if (low > i32.MAX_VALUE || high < i32.MIN_VALUE) return;
  const least = <i32>max<i64>(low, i32.MIN_VALUE);
  const most = <i32>min<i64>(high, i32.MAX_VALUE);
  if (type == TYPE_INT32) {
    scanInt32(values, rows, least, most, to);
    return onlyPresent(to);
  }
  scanInt32Elements(values, elementsUse(Field.offsets(segment, field), rows, to), least, most);
}

function addFloatRange(operation: Operation, type: u32, to: usize): void {
  const values = Field.values(segment, field);
  const low = operation.lowFloat;
  const high = operation.highFloat;
  if (!isArrayType(type)) {
    if (!(low <= high)) return;
    if (scanSummary(type, floatValueKey(low), floatValueKey(high), to)) return;
    scanFloat(values, rows, low, high, to);
    return onlyPresent(to);
  }
  scanFloatElements(values, elementsUse(Field.offsets(segment, field), rows, to), low, high);
}

function addEqual(operation: Operation, type: u32, to: usize): void {
  const dictionary = Field.dictionary(segment, field);
  if (dictionary == 0) return addEqualHash(operation, type, to);
  const first = foldedBound(dictionary, operation.at, operation.count, false);
  const end = foldedBound(dictionary, operation.at, operation.count, true);
  if (first >= end) return;
  const ordinals = Field.ordinals(segment, field);
  if (!isArrayType(type)) {
    if (scanSummary(type, <u64>first, <u64>end - 1, to)) return;
    scanOrdinals(ordinals, rows, first, end, to);
    return onlyPresent(to);
  }
  scanOrdinalElements(ordinals, elementsUse(Field.offsets(segment, field), rows, to), first, end);
}

function addEqualHash(operation: Operation, type: u32, to: usize): void {
  const hashes = Field.hashes(segment, field);
  if (hashes == 0) return;
  const hash = hash64(operation.at, operation.count);
  if (!isArrayType(type)) {
    scanHashes(hashes, rows, hash, to);
    return onlyPresent(to);
  }
  scanHashElements(hashes, elementsUse(Field.offsets(segment, field), rows, to), hash);
}

function addIds(operation: Operation, to: usize): void {
  const hashes = Seg.idHashes(segment);
  const idRows = Seg.idRows(segment);
  for (let i: usize = 0; i < <usize>operation.count; i++) {
    const hash = Mem.u64At(operation.at + (i << 3));
    for (let j = idFirst(segment, hash); j < rows && Mem.u64At(hashes + ((<usize>j) << 3)) == hash; j++) {
      Bits.add(to, Mem.u32At(idRows + ((<usize>j) << 2)));
    }
  }
}
