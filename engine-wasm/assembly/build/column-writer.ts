// Adds a document's checked values to the columns and the term table, and later writes a column's sections
// into the segment. merge.ts writes the sections in the same order.

import { JSON_NULL } from "../json/json";
import { unescape } from "../json/json-values";
import { ArrayElements } from "../json/json-walk";
import {
  ELEMENT_GAP,
  FIELD_ELEMENTS,
  FIELD_FLAGS,
  FIELD_HASHES,
  FIELD_NORMS,
  FIELD_OFFSETS,
  FIELD_PRESENT,
  FIELD_SLOT,
  FIELD_TYPE,
  FIELD_VALUES,
} from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import { encodeNorm } from "../memory/norm";
import { hasHashes, hasNorms, hasOffsets, hasValues } from "../segment/field-sections";
import { isArrayType, isStringType, valueBytes } from "../segment/field-type";
import { foldValue } from "../text/tokenize";
import { foldBound } from "../text/unicode";
import { Sink, sinkBytes, sinkEnd, sinkSection, sinkWritten } from "../write/segment-sink";
import { Column, cellsNeed, keepsValues } from "./build-schema";
import { KeyTable, tableEnter } from "./key-table";
import { termOccurs } from "./term-table";
import { TextTerms } from "./text-terms";
import { valueFirstSeen, valueIsNew } from "./value-table";

function putCell(column: Column, i: u32, cell: u64): void {
  Mem.putU64(column.cells + ((<usize>i) << 3), cell);
}

function markPresent(column: Column, row: u32): void {
  const at = column.present + (row >> 3);
  Mem.putU8(at, Mem.u8At(at) | (1 << (row & 7)));
}

/** Adds one build's documents, row by row. Allocated in scratch memory. */
@unmanaged
export class RowAdder {
  terms: KeyTable;
  values: KeyTable;
  texts: TextTerms;
  elements: ArrayElements;
  folding: usize; // buffer for a folded value
  foldingBytes: usize;

  static make(terms: KeyTable, values: KeyTable): RowAdder {
    const made = changetype<RowAdder>(scratchZeroed(offsetof<RowAdder>()));
    made.terms = terms;
    made.values = values;
    made.texts = TextTerms.make(terms);
    made.elements = ArrayElements.make();
    return made;
  }

  /**
   * Adds the current document's value as the value of `row`. Rows must arrive in order. `field` is the column
   * number.
   */
  add(column: Column, field: u32, row: u32): void {
    if (isArrayType(column.type)) {
      if (column.pending > 0) {
        markPresent(column, row);
        if (isStringType(column.type)) this.addTexts(column, field, row);
        if (hasOffsets(column.type, column.flags)) column.elements += column.pending;
      }
      Mem.putU32(column.offsets + ((<usize>row + 1) << 2), column.elements);
      return;
    }
    column.elements = row + 1;
    putCell(column, row, 0);
    if (column.kind == JSON_NULL) return;
    markPresent(column, row);
    if (isStringType(column.type)) this.addText(column, field, row);
    else putCell(column, row, column.number);
  }

  /** Folds a value into the buffer. Returns its length. */
  private foldText(at: usize, bytes: u32): u32 {
    const bound = foldBound(bytes);
    if (bound > this.foldingBytes) {
      this.foldingBytes = bound << 1;
      this.folding = scratch(this.foldingBytes);
    }
    return foldValue(at, bytes, this.folding);
  }

  /**
   * Returns the cell for a text value: the address of its dictionary entry or, without a dictionary, the
   * folded value's hash.
   */
  private textCell(column: Column, field: u32, at: usize, bytes: u32): u64 {
    if (!keepsValues(column)) {
      const length = this.foldText(at, bytes);
      return hash64(this.folding, length);
    }
    const value = tableEnter(this.values, at, bytes, field);
    if (valueIsNew(value)) {
      const length = this.foldText(at, bytes);
      valueFirstSeen(this.values, value, column, this.folding, length);
    }
    return value;
  }

  private addText(column: Column, field: u32, row: u32): void {
    const at = column.start + 1;
    const bytes = column.escaped != 0 ? unescape(column.start, column.end, at) : <u32>(column.end - at - 1);
    const indexed = hasNorms(column.type, column.flags);
    if (indexed || keepsValues(column)) putCell(column, row, this.textCell(column, field, at, bytes));
    if (!indexed) return;
    Mem.putU8(column.norms + row, encodeNorm(this.texts.index(column, field, row, at, bytes, 0)));
  }

  private addTexts(column: Column, field: u32, row: u32): void {
    const indexed = hasNorms(column.type, column.flags);
    if (!indexed && !keepsValues(column)) return;
    cellsNeed(column, column.pending);
    let position: u32 = 0;
    let length: u32 = 0;
    let i = column.elements;
    const elements = this.elements;
    elements.begin(column.start, column.end);
    while (elements.next()) {
      const at = elements.start + 1;
      const end = elements.end;
      const bytes = elements.escaped ? unescape(elements.start, end, at) : <u32>(end - at - 1);
      putCell(column, i++, this.textCell(column, field, at, bytes));
      if (!indexed) continue;
      termOccurs(this.terms, at, 0, field, row, position);
      const next = this.texts.index(column, field, row, at, bytes, position);
      length += next - position;
      position = next + ELEMENT_GAP;
    }
    if (indexed) Mem.putU8(column.norms + row, encodeNorm(length));
  }
}

/**
 * Writes the column's sections, except its dictionary, and its field table entry, which is `entry` bytes into
 * the segment.
 */
export function putColumn(column: Column, rows: u32, sink: Sink, entry: u32): void {
  const type = column.type;
  const flags = column.flags;
  const offsetBytes = (<usize>rows + 1) << 2;
  const at = sink.base + entry;
  Mem.putU16(at + FIELD_SLOT, column.slot);
  Mem.putU8(at + FIELD_TYPE, type);
  Mem.putU8(at + FIELD_FLAGS, flags);
  Mem.putU32(at + FIELD_ELEMENTS, isArrayType(type) ? column.elements : rows);
  if (hasNorms(type, flags)) putSection(sink, entry + FIELD_NORMS, column.norms, rows);
  putSection(sink, entry + FIELD_PRESENT, column.present, (<usize>((rows + 63) >> 6)) << 3);
  if (hasOffsets(type, flags)) putSection(sink, entry + FIELD_OFFSETS, column.offsets, offsetBytes);
  if (hasValues(type, flags)) putCells(sink, entry + FIELD_VALUES, column, valueBytes(type));
  if (hasHashes(type, flags)) putCells(sink, entry + FIELD_HASHES, column, 8);
}

function putSection(sink: Sink, reference: u32, from: usize, bytes: usize): void {
  const at = sinkSection(sink, bytes);
  Mem.putU32(sink.base + reference, at);
  sinkBytes(sink, from, bytes);
}

function putCells(sink: Sink, reference: u32, column: Column, width: usize): void {
  const count = <usize>column.elements;
  const section = sinkSection(sink, count * width);
  Mem.putU32(sink.base + reference, section);
  let to = sinkEnd(sink);
  for (let i: usize = 0; i < count; i++, to += width) {
    const cell = Mem.u64At(column.cells + (i << 3));
    if (width == 8) Mem.putU64(to, cell);
    else if (width == 4) Mem.putU32(to, <u32>cell);
    else Mem.putU8(to, <u32>cell);
  }
  sinkWritten(sink, to);
}
