// The merge phases for a field's dictionary. They find the values still in use, sort them, and write their
// bytes.

import {
  DICT_COUNT,
  DICT_FOLDED_OFFSETS,
  DICT_RAW_OFFSETS,
  DICT_VALUES,
  FIELD_DICTIONARY,
  FIELD_TYPE,
} from "../layout";
import { reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { compareBytes, prefixKey } from "../memory/order";
import { dictionaryKey, isStringType } from "../segment/field-type";
import { Field } from "../segment/segment";
import { numbersBegin, numbersPut, stringsBegin, stringsPut } from "../write/dictionary-writer";
import { inputAt, Merge, MergeInput, outputField } from "./merge-state";

function dictionaryOf(input: MergeInput): usize {
  return input.field == 0 ? 0 : Field.section(input.segment, input.field, FIELD_DICTIONARY);
}

function valueCount(input: MergeInput): u32 {
  const dictionary = dictionaryOf(input);
  return dictionary == 0 ? 0 : Mem.u32At(dictionary + DICT_COUNT);
}

/**
 * Offset of string `i` in the dictionary; the string ends where string i + 1 begins. `kind` is
 * DICT_RAW_OFFSETS or DICT_FOLDED_OFFSETS.
 */
function stringStart(dictionary: usize, kind: usize, i: u32): u32 {
  return Mem.u32At(dictionary + Mem.u32At(dictionary + kind) + ((<usize>i) << 2));
}

function stringLength(dictionary: usize, kind: usize, i: u32): u32 {
  return stringStart(dictionary, kind, i + 1) - stringStart(dictionary, kind, i);
}

function numberAt(dictionary: usize, i: u32): u64 {
  return Mem.u64At(dictionary + Mem.u32At(dictionary + DICT_VALUES) + ((<usize>i) << 3));
}

/**
 * Allocates the region for `m.sources` and the inputs' `ordinals`. Until `orderSlice` assigns ordinals, a 1
 * there means that the value is used. In an input without deleted rows, all values count as used.
 */
export function markBegin(m: Merge): void {
  let values: usize = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) values += valueCount(inputAt(m, i));
  m.dictionaryRegion = reserve(values * 12 + 8);
  m.sources = m.dictionaryRegion;
  let at = m.dictionaryRegion + (values << 3);
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    const bytes = (<usize>valueCount(input)) << 2;
    Mem.fill(at, input.live == 0 ? 1 : 0, bytes);
    input.ordinals = at;
    at += bytes;
  }
}

/** Moves an input's cursor to its next used value and reads that value's sort key. */
function nextValue(input: MergeInput, type: u32): void {
  for (; input.cursor < input.count; input.cursor++) {
    if (Mem.u32At(input.ordinals + ((<usize>input.cursor) << 2)) != 0) break;
  }
  if (input.cursor == input.count) return;
  const dictionary = dictionaryOf(input);
  if (isStringType(type)) {
    const start = stringStart(dictionary, DICT_FOLDED_OFFSETS, input.cursor);
    input.key = prefixKey(dictionary + start, stringLength(dictionary, DICT_FOLDED_OFFSETS, input.cursor));
  } else {
    input.key = dictionaryKey(type, numberAt(dictionary, input.cursor));
  }
}

function compareStrings(a: MergeInput, b: MergeInput, kind: usize): i32 {
  const x = dictionaryOf(a);
  const y = dictionaryOf(b);
  return compareBytes(
    x + stringStart(x, kind, a.cursor),
    stringLength(x, kind, a.cursor),
    y + stringStart(y, kind, b.cursor),
    stringLength(y, kind, b.cursor),
  );
}

function compareValues(a: MergeInput, b: MergeInput, text: bool): i32 {
  if (a.key != b.key) return a.key < b.key ? -1 : 1;
  if (!text) return 0;
  const order = compareStrings(a, b, DICT_FOLDED_OFFSETS);
  return order != 0 ? order : compareStrings(a, b, DICT_RAW_OFFSETS);
}

export function orderBegin(m: Merge): void {
  const type = Mem.u8At(outputField(m) + FIELD_TYPE);
  m.values = 0;
  m.rawBytes = 0;
  m.foldedBytes = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    input.cursor = 0;
    input.count = valueCount(input);
    nextValue(input, type);
  }
}

function countBytes(m: Merge, input: MergeInput): void {
  const dictionary = dictionaryOf(input);
  const i = input.cursor;
  m.rawBytes += stringLength(dictionary, DICT_RAW_OFFSETS, i);
  m.foldedBytes += stringLength(dictionary, DICT_FOLDED_OFFSETS, i);
}

/** Assigns ordinals to the next `count` values. Returns true when all values have one. */
export function orderSlice(m: Merge, count: u32): bool {
  const type = Mem.u8At(outputField(m) + FIELD_TYPE);
  const text = isStringType(type);
  for (; count > 0; count--) {
    let least = changetype<MergeInput>(0);
    let leastIndex: u32 = 0;
    for (let i: u32 = 0; i < m.inputCount; i++) {
      const input = inputAt(m, i);
      if (input.cursor == input.count) continue;
      if (changetype<usize>(least) != 0 && compareValues(input, least, text) >= 0) continue;
      least = input;
      leastIndex = i;
    }
    if (changetype<usize>(least) == 0) return true;
    const source = m.sources + ((<usize>m.values) << 3);
    Mem.putU32(source, leastIndex);
    Mem.putU32(source + 4, least.cursor);
    m.values++;
    if (text) countBytes(m, least);
    for (let i = m.inputCount; i > leastIndex; i--) {
      const input = inputAt(m, i - 1);
      if (input.cursor == input.count || compareValues(input, least, text) != 0) continue;
      Mem.putU32(input.ordinals + ((<usize>input.cursor) << 2), m.values);
      input.cursor++;
      nextValue(input, type);
    }
  }
  return false;
}

export function dictionaryBegin(m: Merge): void {
  const text = isStringType(Mem.u8At(outputField(m) + FIELD_TYPE));
  if (text) stringsBegin(m.dictionary, m.sink, m.values, m.rawBytes, m.foldedBytes);
  else numbersBegin(m.dictionary, m.sink, m.values);
  Mem.putU32(outputField(m) + FIELD_DICTIONARY, m.dictionary.at);
}

/** Writes the next `count` values. Returns true when all values are written. */
export function dictionarySlice(m: Merge, count: u32): bool {
  const text = isStringType(Mem.u8At(outputField(m) + FIELD_TYPE));
  for (; count > 0 && m.dictionary.count < m.values; count--) {
    const source = m.sources + ((<usize>m.dictionary.count) << 3);
    const dictionary = dictionaryOf(inputAt(m, Mem.u32At(source)));
    const i = Mem.u32At(source + 4);
    if (!text) {
      numbersPut(m.dictionary, m.sink, numberAt(dictionary, i));
      continue;
    }
    const raw = dictionary + stringStart(dictionary, DICT_RAW_OFFSETS, i);
    const rawLength = stringLength(dictionary, DICT_RAW_OFFSETS, i);
    const folded = dictionary + stringStart(dictionary, DICT_FOLDED_OFFSETS, i);
    const foldedLength = stringLength(dictionary, DICT_FOLDED_OFFSETS, i);
    stringsPut(m.dictionary, m.sink, raw, rawLength, folded, foldedLength);
  }
  return m.dictionary.count == m.values;
}
