// Runs one of a search program's filters, which is in postfix order, on one segment. A test pushes a bitset
// of rows onto a stack; AND, OR and NOT combine the topmost bitsets. Scans write whole words and may include
// rows without a value; the field's "present" bitset then removes them.

import { scanCodes, summarisedColumn } from "../columns/column-summary";
import { floatValueKey, scanIntegerElements, scanIntegers } from "../columns/column-values";
import { scanHashes, scanOrdinals, scanRange } from "../columns/columns";
import { Elements } from "../columns/element-scans";
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
} from "../layout";
import { passScratch, scratchZeroed } from "../memory/arena";
import { Bits, bitsAnd, bitsCopy, bitsFill, bitsNot, bitsOr } from "../memory/bitset";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import { intKey } from "../memory/order";
import { Filter, Operation, operationAt } from "../program/filter-program";
import { foldedBound } from "../segment/dictionary";
import { isArrayType, isFloatType, isStringType, largestInteger, leastInteger } from "../segment/field-type";
import { idFirst } from "../segment/lookup";
import { Field, findField, Seg } from "../segment/segment";
import { fail, failed } from "../status";
import { PhraseReader } from "./phrase";

/** Runs one search's filters, one filter on one segment at a time. Allocated in scratch memory. */
@unmanaged
export class Filters {
  phrase: PhraseReader;
  segment: usize;
  summary: usize;
  among: usize; // bitset of the rows that the filter applies to; 0 = all rows
  rows: u32;
  field: usize; // entry of the field in the current operation's slot; 0 = no row has a value

  static make(phrase: PhraseReader): Filters {
    const made = changetype<Filters>(scratchZeroed(offsetof<Filters>()));
    made.phrase = phrase;
    return made;
  }

  /**
   * Returns a bitset in scratch of the rows that pass, or 0 if the filter is empty. `itsSummary` is 0 if the
   * segment has no summary. If `someRows` is not 0, the caller needs only the rows in that bitset, and the
   * result may be wrong for other rows.
   */
  rowsOf(filtered: usize, itsSummary: usize, filter: Filter, someRows: usize): usize {
    const operationCount = filter.count;
    this.segment = filtered;
    this.summary = itsSummary;
    this.among = someRows;
    this.rows = Seg.rows(filtered);
    if (operationCount == 0) return 0;
    let stack: usize = 0; // address of the first bitset on the stack; bitsets are contiguous
    const step = (Bits.bytes(this.rows) + 15) & ~15;
    let depth: i32 = 0;
    let deepest: i32 = 0;
    for (let i: u32 = 0; i < operationCount; i++) {
      const code = operationAt(filter, i).code;
      depth += code == OP_AND || code == OP_OR ? -1 : code == OP_NOT ? 0 : 1;
      deepest = max(deepest, depth);
    }
    stack = passScratch(step * <usize>deepest);
    let top = stack - step; // address of the topmost bitset
    for (let i: u32 = 0; i < operationCount && !failed(); i++) {
      const operation = operationAt(filter, i);
      checkDeadline();
      if (operation.code == OP_AND || operation.code == OP_OR) {
        top -= step;
        if (operation.code == OP_AND) bitsAnd(top, top + step, this.rows);
        else bitsOr(top, top + step, this.rows);
      } else if (operation.code == OP_NOT) {
        bitsNot(top, this.rows);
      } else {
        top += step;
        this.runLeaf(operation, top);
      }
    }
    // After a failure, the bitset may not have been written.
    if (failed()) Mem.fill(stack, 0, Bits.bytes(this.rows));
    return stack;
  }

  private runLeaf(operation: Operation, to: usize): void {
    if (operation.code == OP_ALL) return bitsFill(to, this.rows);
    Mem.fill(to, 0, Bits.bytes(this.rows));
    if (operation.code == OP_IDS) return this.addIds(operation, to);
    this.field = findField(this.segment, operation.slot);
    if (this.field == 0) return;
    const type = Field.type(this.field);
    switch (operation.code) {
      case OP_INT_RANGE:
        if (isStringType(type) || isFloatType(type)) fail(STATUS_BAD_PROGRAM);
        else if (Field.values(this.segment, this.field) != 0) this.addIntRange(operation, type, to);
        return;
      case OP_FLOAT_RANGE:
        if (!isFloatType(type)) fail(STATUS_BAD_PROGRAM);
        else if (Field.values(this.segment, this.field) != 0) this.addFloatRange(operation, type, to);
        return;
      case OP_EQUALS:
        if (!isStringType(type)) fail(STATUS_BAD_PROGRAM);
        else this.addEqual(operation, type, to);
        return;
      default:
        if (!isStringType(type)) fail(STATUS_BAD_PROGRAM);
        else if (operation.count == 0) bitsCopy(to, Field.present(this.segment, this.field), this.rows);
        else
          this.phrase.addRowsInOrder(
            this.segment,
            operation.at,
            operation.count,
            operation.slot,
            isArrayType(type),
            to,
          );
    }
  }

  /** The current field's elements, set up to write their rows to `to`. */
  private elements(to: usize): Elements {
    return Elements.make(Field.offsets(this.segment, this.field), this.rows, to);
  }

  private onlyPresent(to: usize): void {
    bitsAnd(to, Field.present(this.segment, this.field), this.rows);
  }

  /**
   * Sets the rows with keys in [low, high] using the field's codes. Returns false if the field has no codes.
   */
  private scanSummary(type: u32, low: u64, high: u64, to: usize): bool {
    const entry = summaryOfSlot(this.summary, Mem.u16At(this.field + FIELD_SLOT));
    const codes = summaryTable(this.summary, entry, SUMMARY_CODES);
    if (codes == 0) return false;
    const ranges = summaryTable(this.summary, entry, SUMMARY_CODE_RANGES);
    const column = summarisedColumn(this.segment, this.field);
    scanCodes(
      type,
      column,
      Field.present(this.segment, this.field),
      this.rows,
      codes,
      ranges,
      low,
      high,
      this.among,
      to,
    );
    return true;
  }

  private addIntRange(operation: Operation, type: u32, to: usize): void {
    const values = Field.values(this.segment, this.field);
    const low = max<i64>(operation.lowInt, leastInteger(type));
    const high = min<i64>(operation.highInt, largestInteger(type));
    if (low > high) return;
    if (isArrayType(type)) return scanIntegerElements(type, this.elements(to), values, low, high);
    if (this.scanSummary(type, intKey(low), intKey(high), to)) return;
    scanIntegers(type, values, this.rows, low, high, to);
    this.onlyPresent(to);
  }

  private addFloatRange(operation: Operation, type: u32, to: usize): void {
    const values = Field.values(this.segment, this.field);
    const low = operation.lowFloat;
    const high = operation.highFloat;
    if (!isArrayType(type)) {
      if (!(low <= high)) return;
      if (this.scanSummary(type, floatValueKey(low), floatValueKey(high), to)) return;
      scanRange<f64>(values, this.rows, low, high, to);
      return this.onlyPresent(to);
    }
    this.elements(to).scanRange<f64>(values, low, high);
  }

  private addEqual(operation: Operation, type: u32, to: usize): void {
    const dictionary = Field.dictionary(this.segment, this.field);
    if (dictionary == 0) return this.addEqualHash(operation, type, to);
    const first = foldedBound(dictionary, operation.at, operation.count, false);
    const end = foldedBound(dictionary, operation.at, operation.count, true);
    if (first >= end) return;
    const ordinals = Field.ordinals(this.segment, this.field);
    if (!isArrayType(type)) {
      if (this.scanSummary(type, <u64>first, <u64>end - 1, to)) return;
      scanOrdinals(ordinals, this.rows, first, end, to);
      return this.onlyPresent(to);
    }
    this.elements(to).scanOrdinals(ordinals, first, end);
  }

  private addEqualHash(operation: Operation, type: u32, to: usize): void {
    const hashes = Field.hashes(this.segment, this.field);
    if (hashes == 0) return;
    const hash = hash64(operation.at, operation.count);
    if (!isArrayType(type)) {
      scanHashes(hashes, this.rows, hash, to);
      return this.onlyPresent(to);
    }
    this.elements(to).scanHashes(hashes, hash);
  }

  private addIds(operation: Operation, to: usize): void {
    const hashes = Seg.idHashes(this.segment);
    const idRows = Seg.idRows(this.segment);
    for (let i: usize = 0; i < <usize>operation.count; i++) {
      const hash = Mem.u64At(operation.at + (i << 3));
      for (
        let j = idFirst(this.segment, hash);
        j < this.rows && Mem.u64At(hashes + ((<usize>j) << 3)) == hash;
        j++
      ) {
        Bits.add(to, Mem.u32At(idRows + ((<usize>j) << 2)));
      }
    }
  }
}
