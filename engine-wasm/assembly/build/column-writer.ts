// Takes the checked values of a document into the columns and the term table, and later writes a column's
// sections into the segment. The order of sections is that of merge.ts.

import { JSON_NULL } from "../json/json";
import { unescape } from "../json/json-values";
import { elementEnd, elementEscaped, elementStart, elementsNext, elementsStart } from "../json/json-walk";
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
  TYPE_STRING,
} from "../layout";
import { scratch } from "../memory/arena";
import { hash64 } from "../memory/hash";
import { Mem } from "../memory/mem";
import { encodeNorm } from "../memory/norm";
import { hasHashes, hasNorms, hasOffsets, hasValues } from "../segment/field-sections";
import { isArrayType, isStringType, valueBytes } from "../segment/segment";
import { foldValue } from "../text/tokenize";
import { foldBound } from "../text/unicode";
import { Sink, sinkBytes, sinkEnd, sinkSection, sinkWritten } from "../write/segment-sink";
import { Column, cellsNeed, keepsValues } from "./build-schema";
import { KeyTable, tableEnter } from "./key-table";
import { termOccurs } from "./term-table";
import { indexText } from "./text-terms";
import { valueFirstSeen, valueIsNew } from "./value-table";

let folding: usize = 0; // buffer for a folded value
let foldingBytes: usize = 0;

/** Forgets the buffer of an earlier kernel call. */
export function columnsReset(): void {
  folding = 0;
  foldingBytes = 0;
}

/** Folds a value into the buffer; returns its length. */
function foldText(at: usize, bytes: u32): u32 {
  const bound = foldBound(bytes);
  if (bound > foldingBytes) {
    foldingBytes = bound << 1;
    folding = scratch(foldingBytes);
  }
  return foldValue(at, bytes, folding);
}

/** The cell of a text value: the address of its dictionary entry, or the hash of its folding. */
function textCell(column: Column, values: KeyTable, field: u32, at: usize, bytes: u32): u64 {
  if (!keepsValues(column)) {
    const length = foldText(at, bytes);
    return hash64(folding, length);
  }
  const value = tableEnter(values, at, bytes, field);
  if (valueIsNew(value)) {
    const length = foldText(at, bytes);
    valueFirstSeen(value, column, folding, length);
  }
  return value;
}

function putCell(column: Column, i: u32, cell: u64): void {
  Mem.putU64(column.cells + ((<usize>i) << 3), cell);
}

function addText(column: Column, terms: KeyTable, values: KeyTable, field: u32, row: u32): void {
  const at = column.start + 1;
  const bytes = column.escaped != 0 ? unescape(column.start, column.end, at) : <u32>(column.end - at - 1);
  const indexed = hasNorms(column.type, column.flags);
  if (indexed || keepsValues(column)) putCell(column, row, textCell(column, values, field, at, bytes));
  if (!indexed) return;
  Mem.putU8(column.norms + row, encodeNorm(indexText(column, terms, field, row, at, bytes, 0)));
}

function addTexts(column: Column, terms: KeyTable, values: KeyTable, field: u32, row: u32): void {
  const indexed = hasNorms(column.type, column.flags);
  if (!indexed && !keepsValues(column)) return;
  cellsNeed(column, column.pending);
  let position: u32 = 0;
  let length: u32 = 0;
  let i = column.elements;
  elementsStart(column.start, column.end);
  while (elementsNext()) {
    const at = elementStart + 1;
    const end = elementEnd;
    const bytes = elementEscaped ? unescape(elementStart, end, at) : <u32>(end - at - 1);
    putCell(column, i++, textCell(column, values, field, at, bytes));
    if (!indexed) continue;
    termOccurs(terms, at, 0, field, row, position);
    const next = indexText(column, terms, field, row, at, bytes, position);
    length += next - position;
    position = next + ELEMENT_GAP;
  }
  if (indexed) Mem.putU8(column.norms + row, encodeNorm(length));
}

function markPresent(column: Column, row: u32): void {
  const at = column.present + (row >> 3);
  Mem.putU8(at, Mem.u8At(at) | (1 << (row & 7)));
}

/**
 * Takes the current document's value as that of `row`; rows come one by one. `field`: number of the
 * column.
 */
export function addRow(column: Column, terms: KeyTable, values: KeyTable, field: u32, row: u32): void {
  if (isArrayType(column.type)) {
    if (column.pending > 0) {
      markPresent(column, row);
      if (isStringType(column.type)) addTexts(column, terms, values, field, row);
      if (hasOffsets(column.type, column.flags)) column.elements += column.pending;
    }
    Mem.putU32(column.offsets + ((<usize>row + 1) << 2), column.elements);
    return;
  }
  column.elements = row + 1;
  putCell(column, row, 0);
  if (column.kind == JSON_NULL) return;
  markPresent(column, row);
  if (column.type == TYPE_STRING) addText(column, terms, values, field, row);
  else putCell(column, row, column.number);
}

/**
 * Writes the column's entry in the field table, at `entry` bytes into the segment, and all but its
 * dictionary.
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
