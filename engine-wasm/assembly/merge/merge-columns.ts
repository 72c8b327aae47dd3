// The merge phases that process rows: sequence numbers, ids, and all of a field's columns except its
// dictionary. Each `begin` function starts a section in the output; each slice appends the live rows from one
// range of one input.

import {
  FIELD_ELEMENTS,
  FIELD_HASHES,
  FIELD_NORMS,
  FIELD_OFFSETS,
  FIELD_ORDINALS,
  FIELD_PRESENT,
  FIELD_TYPE,
  FIELD_VALUES,
  NO_ORDINAL,
  SEG_ID_HASHES,
  SEG_ID_ROWS,
  SEG_SEQS,
  STATUS_DAMAGED,
} from "../layout";
import { Mem } from "../memory/mem";
import { isArrayType, valueBytes } from "../segment/field-type";
import { Field, Seg } from "../segment/segment";
import { fail } from "../status";
import { sinkEnd, sinkSection, sinkWritten } from "../write/segment-sink";
import { inputAt, isLive, Merge, MergeInput, newRow, outputField } from "./merge-state";

/** The current field's column in an input, or 0 if the input does not have the field. */
function columnOf(input: MergeInput, section: usize): usize {
  return input.field == 0 ? <usize>0 : Field.section(input.segment, input.field, section);
}

/**
 * Appends the live rows' values, `width` bytes each. If the input lacks the column, fills these bytes with
 * `missing`.
 */
function gatherRows(
  m: Merge,
  input: MergeInput,
  column: usize,
  width: usize,
  from: u32,
  end: u32,
  missing: u8,
): void {
  let to = sinkEnd(m.sink);
  if (column == 0) {
    const bytes = <usize>(newRow(input, end) - newRow(input, from)) * width;
    Mem.fill(to, missing, bytes);
    sinkWritten(m.sink, to + bytes);
    return;
  }
  if (input.live == 0) {
    const bytes = <usize>(end - from) * width;
    Mem.copy(to, column + <usize>from * width, bytes);
    sinkWritten(m.sink, to + bytes);
    return;
  }
  for (let row = from; row < end; row++) {
    if (!isLive(input, row)) continue;
    const at = column + <usize>row * width;
    if (width == 8) Mem.putU64(to, Mem.u64At(at));
    else if (width == 4) Mem.putU32(to, Mem.u32At(at));
    else Mem.putU8(to, Mem.u8At(at));
    to += width;
  }
  sinkWritten(m.sink, to);
}

/** Appends the live rows' elements. An input without the column has no elements. */
function gatherElements(m: Merge, input: MergeInput, column: usize, width: usize, from: u32, end: u32): void {
  if (column == 0) return;
  const offsets = Field.section(input.segment, input.field, FIELD_OFFSETS);
  let to = sinkEnd(m.sink);
  for (let row = from; row < end; row++) {
    let stop = row + 1;
    if (input.live == 0) stop = end;
    else if (!isLive(input, row)) continue;
    const first = <usize>Mem.u32At(offsets + ((<usize>row) << 2));
    const bytes = (<usize>Mem.u32At(offsets + ((<usize>stop) << 2)) - first) * width;
    Mem.copy(to, column + first * width, bytes);
    to += bytes;
    row = stop - 1;
  }
  sinkWritten(m.sink, to);
}

/** Appends the current field's column: one value per row, or per element for an array. */
function gather(m: Merge, input: MergeInput, section: usize, width: usize, from: u32, end: u32): void {
  const column = columnOf(input, section);
  if (isArrayType(Mem.u8At(outputField(m) + FIELD_TYPE))) gatherElements(m, input, column, width, from, end);
  else gatherRows(m, input, column, width, from, end, 0);
}

export function seqsBegin(m: Merge): void {
  const at = sinkSection(m.sink, (<usize>m.rows) << 3);
  Mem.putU32(m.sink.base + SEG_SEQS, at);
}

export function seqsSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  gatherRows(m, input, Seg.seqs(input.segment), 8, from, end, 0);
}

/** Moves an input's id cursor to the next live row and reads its hash. */
function nextId(input: MergeInput): void {
  const rows = Seg.idRows(input.segment);
  for (; input.cursor < input.rows; input.cursor++) {
    if (isLive(input, Mem.u32At(rows + ((<usize>input.cursor) << 2)))) break;
  }
  if (input.cursor == input.rows) return;
  input.key = Mem.u64At(Seg.idHashes(input.segment) + ((<usize>input.cursor) << 3));
}

export function idsBegin(m: Merge): void {
  const hashes = sinkSection(m.sink, <usize>m.rows * 12 + 8);
  Mem.putU32(m.sink.base + SEG_ID_HASHES, hashes);
  Mem.putU32(m.sink.base + SEG_ID_ROWS, hashes + (m.rows << 3));
  sinkWritten(m.sink, m.sink.base + hashes + <usize>m.rows * 12);
  m.at = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    input.cursor = 0;
    nextId(input);
  }
}

/**
 * Merges up to `count` ids; equal hashes are ordered by row. Returns true when all ids are written. If a live
 * row has no id, fails with STATUS_DAMAGED and returns true.
 */
export function idsSlice(m: Merge, count: u32): bool {
  const hashes = m.sink.base + Mem.u32At(m.sink.base + SEG_ID_HASHES);
  const rows = m.sink.base + Mem.u32At(m.sink.base + SEG_ID_ROWS);
  const end = min(m.rows, m.at + count);
  for (; m.at < end; m.at++) {
    let least = changetype<MergeInput>(0);
    for (let i: u32 = 0; i < m.inputCount; i++) {
      const input = inputAt(m, i);
      if (input.cursor == input.rows) continue;
      if (changetype<usize>(least) == 0 || input.key < least.key) least = input;
    }
    if (changetype<usize>(least) == 0) {
      fail(STATUS_DAMAGED); // a live row without an id
      return true;
    }
    const row = Mem.u32At(Seg.idRows(least.segment) + ((<usize>least.cursor) << 2));
    Mem.putU64(hashes + ((<usize>m.at) << 3), least.key);
    Mem.putU32(rows + ((<usize>m.at) << 2), newRow(least, row));
    least.cursor++;
    nextId(least);
  }
  return m.at == m.rows;
}

export function normsBegin(m: Merge): void {
  const at = sinkSection(m.sink, m.rows);
  Mem.putU32(outputField(m) + FIELD_NORMS, at);
}

export function normsSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  const column = columnOf(input, FIELD_NORMS);
  gatherRows(m, input, column, 1, from, end, 0);
}

export function presentBegin(m: Merge): void {
  const bytes = (<usize>((m.rows + 63) >> 6)) << 3;
  const at = sinkSection(m.sink, bytes);
  Mem.putU32(outputField(m) + FIELD_PRESENT, at);
  Mem.fill(m.sink.base + at, 0, bytes);
  sinkWritten(m.sink, m.sink.base + at + bytes);
}

export function presentSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  if (input.field == 0) return;
  const present = Field.section(input.segment, input.field, FIELD_PRESENT);
  const to = m.sink.base + Mem.u32At(outputField(m) + FIELD_PRESENT);
  for (let row = from; row < end; row++) {
    const bit = (Mem.u8At(present + (row >> 3)) >> (row & 7)) & 1;
    if (bit == 0 || !isLive(input, row)) continue;
    const target = newRow(input, row);
    Mem.putU8(to + (target >> 3), Mem.u8At(to + (target >> 3)) | (1 << (target & 7)));
  }
}

export function offsetsBegin(m: Merge): void {
  const at = sinkSection(m.sink, (<usize>m.rows + 1) << 2);
  Mem.putU32(outputField(m) + FIELD_OFFSETS, at);
  Mem.putU32(m.sink.base + at, 0);
  m.sink.at = at + 4;
  m.elements = 0;
}

export function offsetsSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  const offsets = columnOf(input, FIELD_OFFSETS);
  let to = sinkEnd(m.sink);
  for (let row = from; row < end; row++) {
    if (!isLive(input, row)) continue;
    if (offsets != 0) {
      const at = offsets + ((<usize>row) << 2);
      m.elements += Mem.u32At(at + 4) - Mem.u32At(at);
    }
    Mem.putU32(to, m.elements);
    to += 4;
  }
  sinkWritten(m.sink, to);
  Mem.putU32(outputField(m) + FIELD_ELEMENTS, m.elements);
}

export function valuesBegin(m: Merge): void {
  const at = sinkSection(m.sink, <usize>m.elements * valueBytes(Mem.u8At(outputField(m) + FIELD_TYPE)));
  Mem.putU32(outputField(m) + FIELD_VALUES, at);
}

export function valuesSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  gather(m, input, FIELD_VALUES, valueBytes(Mem.u8At(outputField(m) + FIELD_TYPE)), from, end);
}

export function hashesBegin(m: Merge): void {
  const at = sinkSection(m.sink, (<usize>m.elements) << 3);
  Mem.putU32(outputField(m) + FIELD_HASHES, at);
}

export function hashesSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  gather(m, input, FIELD_HASHES, 8, from, end);
}

export function ordinalsBegin(m: Merge): void {
  const at = sinkSection(m.sink, (<usize>m.elements) << 2);
  Mem.putU32(outputField(m) + FIELD_ORDINALS, at);
}

function putOrdinals(input: MergeInput, from: usize, count: usize, to: usize): void {
  for (let i: usize = 0; i < count; i++) {
    const ordinal = Mem.u32At(from + (i << 2));
    const known = ordinal != <u32>NO_ORDINAL;
    Mem.putU32(to + (i << 2), known ? Mem.u32At(input.ordinals + ((<usize>ordinal) << 2)) - 1 : ordinal);
  }
}

export function ordinalsSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  const array = isArrayType(Mem.u8At(outputField(m) + FIELD_TYPE));
  const column = columnOf(input, FIELD_ORDINALS);
  if (column == 0) {
    if (!array) gatherRows(m, input, 0, 4, from, end, 0xff);
    return;
  }
  const offsets = array ? Field.section(input.segment, input.field, FIELD_OFFSETS) : <usize>0;
  let to = sinkEnd(m.sink);
  for (let row = from; row < end; row++) {
    if (!isLive(input, row)) continue;
    const first = array ? <usize>Mem.u32At(offsets + ((<usize>row) << 2)) : <usize>row;
    const count = array ? <usize>Mem.u32At(offsets + ((<usize>row) << 2) + 4) - first : <usize>1;
    putOrdinals(input, column + (first << 2), count, to);
    to += count << 2;
  }
  sinkWritten(m.sink, to);
}

/** Marks the dictionary values that an input's live rows use. */
export function markSlice(input: MergeInput, array: bool, from: u32, end: u32): void {
  const column = Field.section(input.segment, input.field, FIELD_ORDINALS);
  if (column == 0) return;
  const offsets = array ? Field.section(input.segment, input.field, FIELD_OFFSETS) : <usize>0;
  for (let row = from; row < end; row++) {
    if (!isLive(input, row)) continue;
    const first = array ? Mem.u32At(offsets + ((<usize>row) << 2)) : row;
    const stop = array ? Mem.u32At(offsets + ((<usize>row) << 2) + 4) : row + 1;
    for (let i = first; i < stop; i++) {
      const ordinal = Mem.u32At(column + ((<usize>i) << 2));
      if (ordinal != <u32>NO_ORDINAL) Mem.putU32(input.ordinals + ((<usize>ordinal) << 2), 1);
    }
  }
}
