// A merge's state between its steps. It consists of one region with the plan, the inputs and the writers, and
// of the regions that the merge owns temporarily. Also maps input rows to output rows.

import { FIELD_ENTRY_BYTES, SEG_FIELD_TABLE, SEG_ROWS } from "../layout";
import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { CURSOR_BYTES, Cursor } from "../segment/postings";
import { DictionaryWriter } from "../write/dictionary-writer";
import { ListWriter } from "../write/posting-writer";
import { Sink } from "../write/segment-sink";
import { TermWriter } from "../write/term-writer";

export const PHASE_SEQS: u32 = 0;
export const PHASE_IDS: u32 = 1;
export const PHASE_NORMS: u32 = 2; // the phases from here to PHASE_DICTIONARY run once per field
export const PHASE_PRESENT: u32 = 3;
export const PHASE_OFFSETS: u32 = 4;
export const PHASE_VALUES: u32 = 5;
export const PHASE_HASHES: u32 = 6;
export const PHASE_MARK: u32 = 7; // finds the dictionary values that live rows use
export const PHASE_ORDER: u32 = 8; // sorts these values into the merged dictionary
export const PHASE_ORDINALS: u32 = 9;
export const PHASE_DICTIONARY: u32 = 10;
export const PHASE_TERMS: u32 = 11;
export const PHASE_DONE: u32 = 12;

@unmanaged
export class MergeInput {
  key: u64; // sort key of the current term (its first bytes) or dictionary value
  segment: usize;
  rows: u32;
  // The merge's copy of the input's bitset of live rows, followed by a word of zeros; 0 = all rows are live.
  live: usize;
  ranks: usize; // u32 per word of `live`: number of live rows before it, plus `first`
  first: u32; // row in the output of the input's first live row
  field: usize; // address of the current field's entry in this input; 0 = not present
  // u32 per value in the current field's dictionary: its new ordinal + 1, or 0 if it is unused.
  ordinals: usize;
  cursor: u32; // index of this input's next id, dictionary value or term
  count: u32; // number of this input's dictionary values or terms
  taking: u32; // 1 = this input contains the term being merged
  lists: usize; // address of its next list for that term
  listsEnd: usize;
  open: u32; // 1 = this input contains the list being merged; its cursor is stored after this structure
  positions: usize; // address of the next posting's positions
}

@unmanaged
export class Merge {
  phase: u32;
  begun: u32; // 1 = the current phase has started writing its section
  units: i32; // number of work units left in this step
  rows: u32; // number of live rows in all inputs together
  inputs: usize;
  inputCount: u32;
  fieldCount: u32;
  field: u32; // index of the current field
  input: u32; // index of the input that the current phase is reading
  at: u32; // index at which the phase continues in that input
  elements: u32; // number of the current field's elements, known after PHASE_OFFSETS
  sink: Sink;
  dictionary: DictionaryWriter;
  // The merged dictionary: number of values, total raw and folded bytes, and each value's source, {u32 input,
  // u32 ordinal}.
  values: u32;
  rawBytes: u32;
  foldedBytes: u32;
  sources: usize;
  list: ListWriter;
  terms: TermWriter;
  termOpen: u32; // 1 = a term is partly written
  termLists: u32; // offset in the segment of that term's first list
  term: usize; // address of that term's bytes
  termLength: u32;
  listOpen: u32; // 1 = a list is partly written
  slot: u32; // slot of that list
  decoded: usize; // block buffer of BLOCK_BUFFER_BYTES, used by one cursor at a time
  rowRegion: usize; // the regions that the merge owns; 0 = none
  dictionaryRegion: usize;
  termRegion: usize;
  listRegion: usize;
  listCapacity: u32;
}

export function inputAt(m: Merge, i: u32): MergeInput {
  return changetype<MergeInput>(m.inputs + <usize>i * INPUT_BYTES);
}

const CURSOR_AT: usize = (offsetof<MergeInput>() + 7) & ~7;
export const INPUT_BYTES: usize = CURSOR_AT + CURSOR_BYTES;

/** The cursor over the input's current list. */
export function cursorOf(input: MergeInput): Cursor {
  return changetype<Cursor>(changetype<usize>(input) + CURSOR_AT);
}

/** The current field's entry in the output. The address is valid until the sink grows. */
export function outputField(m: Merge): usize {
  return m.sink.base + Mem.u32At(m.sink.base + SEG_FIELD_TABLE) + m.field * FIELD_ENTRY_BYTES;
}

/** Frees a region that a merge owns, unless `region` is 0. Returns 0. */
export function drop(region: usize): usize {
  if (region != 0) release(region);
  return 0;
}

export function isLive(input: MergeInput, row: u32): bool {
  return input.live == 0 || ((Mem.u64At(input.live + <usize>((row >> 6) << 3)) >> <u64>(row & 63)) & 1) != 0;
}

/**
 * Returns the output row of a live row. For a deleted row, or the end of the input, returns the output row of
 * the next live row.
 */
export function newRow(input: MergeInput, row: u32): u32 {
  if (input.live == 0) return input.first + row;
  const word = row >> 6;
  const before = Mem.u64At(input.live + <usize>(word << 3)) & (((<u64>1) << (row & 63)) - 1);
  return Mem.u32At(input.ranks + <usize>(word << 2)) + <u32>popcnt(before);
}

/** Copies the live bitset at `from` to `to`, fills `ranks`, and returns the number of live rows. */
function takeLive(input: MergeInput, from: usize, to: usize, ranks: usize): u32 {
  const words = (input.rows + 63) >> 6;
  let rank = input.first;
  for (let i: u32 = 0; i <= words; i++) {
    let word: u64 = 0;
    if (i < words) word = Mem.u64At(from + <usize>(i << 3));
    if (i == words - 1 && (input.rows & 63) != 0) word &= ((<u64>1) << (input.rows & 63)) - 1;
    Mem.putU64(to + <usize>(i << 3), word);
    Mem.putU32(ranks + <usize>(i << 2), rank);
    rank += <u32>popcnt(word);
  }
  return rank - input.first;
}

/**
 * Maps all inputs' rows. The inputs are {u32 segment, u32 live} pairs at `entries`. Sets m.rows and allocates
 * m.rowRegion.
 */
export function mapRows(m: Merge, entries: usize): void {
  let bytes: usize = 16;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    input.segment = Mem.u32At(entries + <usize>(i << 3));
    input.rows = Mem.u32At(input.segment + SEG_ROWS);
    if (Mem.u32At(entries + <usize>(i << 3) + 4) != 0) bytes += <usize>(((input.rows + 63) >> 6) + 1) * 16;
  }
  m.rowRegion = reserve(bytes);
  let to = m.rowRegion;
  m.rows = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    const live = <usize>Mem.u32At(entries + <usize>(i << 3) + 4);
    const words = <usize>((input.rows + 63) >> 6) + 1;
    input.first = m.rows;
    let rows = input.rows;
    if (live != 0) rows = takeLive(input, live, to, to + (words << 3));
    input.live = rows < input.rows ? to : 0;
    input.ranks = to + (words << 3);
    m.rows += rows;
    if (rows < input.rows) to += words << 4;
  }
}
