// Collects the distinct text values of dictionary columns while a segment is being built. Then sorts each
// column's distinct values (strings by (folded, raw) bytes, numbers ascending) and writes the dictionary and
// the ordinals.

import { FIELD_DICTIONARY, FIELD_ORDINALS, NO_ORDINAL } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { NO_SPAN, RECORD_BYTES, RECORD_ENTRY, RECORD_KEY, sortRecords, spanKey } from "../memory/order";
import { dictionaryKey, isArrayType } from "../segment/field-type";
import {
  DictionaryWriter,
  numbersBegin,
  numbersPut,
  stringsBegin,
  stringsPut,
} from "../write/dictionary-writer";
import { Sink, sinkEnd, sinkSection, sinkWritten } from "../write/segment-sink";
import { Column, keepsValues } from "./build-schema";
import { ENTRY_KEY, KeyTable, Pool, tableCreate } from "./key-table";

// Span {u32 address, u32 length} of the folded value; address 0 = not folded yet.
const VALUE_FOLDED: usize = 12;
const VALUE_ORDINAL: usize = 20; // u32, the value's index in the sorted dictionary
const VALUE_NEXT: usize = 24; // u32, address of the next value in the same column
const VALUE_ENTRY_BYTES: u32 = 28;

/** Creates a table whose keys are (raw bytes, column number). */
export function valuesCreate(pool: Pool): KeyTable {
  return tableCreate(pool, VALUE_ENTRY_BYTES, 1024);
}

export function valueIsNew(value: usize): bool {
  return Mem.u32At(value + VALUE_FOLDED) == 0;
}

/**
 * Adds a value that has just been entered into the table to its column's list of distinct values, and stores
 * a copy of its folded form.
 */
export function valueFirstSeen(
  values: KeyTable,
  value: usize,
  column: Column,
  folded: usize,
  length: u32,
): void {
  const copy = values.pool.take(max(length, 1));
  Mem.copy(copy, folded, length);
  Mem.putU32(value + VALUE_FOLDED, <u32>copy);
  Mem.putU32(value + VALUE_FOLDED + 4, length);
  Mem.putU32(value + VALUE_NEXT, <u32>column.values);
  column.values = value;
  column.valueCount++;
  column.rawBytes += Mem.u32At(value + ENTRY_KEY + 4);
  column.foldedBytes += length;
}

/**
 * Sorts the column's strings and assigns their ordinals. Returns sorted records, whose entries are the
 * values.
 */
function orderStrings(column: Column): usize {
  const records = scratch(<usize>column.valueCount * RECORD_BYTES);
  let at = records;
  for (let value = column.values; value != 0; value = <usize>Mem.u32At(value + VALUE_NEXT)) {
    Mem.putU64(at + RECORD_KEY, spanKey(value + VALUE_FOLDED));
    Mem.putU64(at + RECORD_ENTRY, value);
    at += RECORD_BYTES;
  }
  const sorted = sortRecords(records, column.valueCount, <i32>VALUE_FOLDED, ENTRY_KEY, NO_SPAN);
  for (let i: u32 = 0; i < column.valueCount; i++) {
    Mem.putU32(<usize>Mem.u32At(sorted + <usize>i * RECORD_BYTES + RECORD_ENTRY) + VALUE_ORDINAL, i);
  }
  return sorted;
}

function isPresent(column: Column, i: u32): bool {
  return isArrayType(column.type) || ((Mem.u8At(column.present + (i >> 3)) >> (i & 7)) & 1) != 0;
}

/** Sorts the column's distinct numbers. Returns sorted records, whose entries are the addresses of cells. */
function orderNumbers(column: Column): usize {
  const records = scratch(<usize>column.elements * RECORD_BYTES);
  let at = records;
  for (let i: u32 = 0; i < column.elements; i++) {
    if (!isPresent(column, i)) continue;
    const cell = column.cells + ((<usize>i) << 3);
    Mem.putU64(at + RECORD_KEY, dictionaryKey(column.type, Mem.u64At(cell)));
    Mem.putU64(at + RECORD_ENTRY, cell);
    at += RECORD_BYTES;
  }
  const count = (at - records) / RECORD_BYTES;
  const sorted = sortRecords(records, count, NO_SPAN, NO_SPAN, NO_SPAN);
  let kept = sorted;
  for (let i: usize = 0; i < count; i++) {
    const record = sorted + i * RECORD_BYTES;
    if (kept != sorted && Mem.u64At(kept - RECORD_BYTES) == Mem.u64At(record)) continue;
    Mem.putV128(kept, Mem.v128At(record));
    kept += RECORD_BYTES;
  }
  column.valueCount = <u32>((kept - sorted) / RECORD_BYTES);
  return sorted;
}

/**
 * Sorts the column's distinct values into records. It allocates scratch memory, so it must run before the
 * sink starts.
 */
export function orderValues(column: Column): usize {
  return keepsValues(column) ? orderStrings(column) : orderNumbers(column);
}

/** Returns a key's index in the sorted records, which must contain it. */
function placeOf(records: usize, count: u32, key: u64): u32 {
  let low: u32 = 0;
  let high = count;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (Mem.u64At(records + <usize>middle * RECORD_BYTES) <= key) low = middle;
    else high = middle;
  }
  return low;
}

function ordinalOf(column: Column, records: usize, cell: u64): u32 {
  if (keepsValues(column)) return Mem.u32At(<usize>cell + VALUE_ORDINAL);
  return placeOf(records, column.valueCount, dictionaryKey(column.type, cell));
}

/**
 * Writes the ordinals and the dictionary for the records returned by `orderValues`. `entry` has the same
 * meaning as in putColumn.
 */
export function putDictionary(
  column: Column,
  records: usize,
  sink: Sink,
  writer: DictionaryWriter,
  entry: u32,
): void {
  const section = sinkSection(sink, (<usize>column.elements) << 2);
  Mem.putU32(sink.base + entry + FIELD_ORDINALS, section);
  let to = sinkEnd(sink);
  for (let i: u32 = 0; i < column.elements; i++, to += 4) {
    const cell = Mem.u64At(column.cells + ((<usize>i) << 3));
    Mem.putU32(to, isPresent(column, i) ? ordinalOf(column, records, cell) : <u32>NO_ORDINAL);
  }
  sinkWritten(sink, to);
  if (keepsValues(column)) putStrings(column, records, sink, writer);
  else putNumbers(column, records, sink, writer);
  Mem.putU32(sink.base + entry + FIELD_DICTIONARY, writer.at);
}

function putStrings(column: Column, records: usize, sink: Sink, writer: DictionaryWriter): void {
  stringsBegin(writer, sink, column.valueCount, column.rawBytes, column.foldedBytes);
  for (let i: u32 = 0; i < column.valueCount; i++) {
    const value = <usize>Mem.u32At(records + <usize>i * RECORD_BYTES + RECORD_ENTRY);
    const raw = value + ENTRY_KEY;
    const folded = value + VALUE_FOLDED;
    stringsPut(writer, sink, Mem.u32At(raw), Mem.u32At(raw + 4), Mem.u32At(folded), Mem.u32At(folded + 4));
  }
}

function putNumbers(column: Column, records: usize, sink: Sink, writer: DictionaryWriter): void {
  numbersBegin(writer, sink, column.valueCount);
  for (let i: u32 = 0; i < column.valueCount; i++) {
    numbersPut(writer, sink, Mem.u64At(Mem.u32At(records + <usize>i * RECORD_BYTES + RECORD_ENTRY)));
  }
}
