// Merges adjacent segments into one, in steps, inside the same memory, so that the caller may answer queries
// between steps. The output bytes equal those that `build` would write for the surviving documents in the
// same order.

import {
  FIELD_ELEMENTS,
  FIELD_ENTRY_BYTES,
  FIELD_FLAGS,
  FIELD_SLOT,
  FIELD_TYPE,
  MERGE_ENTRY_BYTES,
  SEG_BYTES,
  SEG_FIELD_TABLE,
  SEG_FIELDS,
  SNAP_COUNT,
  SNAP_ENTRIES,
  STATUS_BAD_PROGRAM,
  STATUS_DAMAGED,
} from "../layout";
import { release, reserve, scratchReset, shrink } from "../memory/arena";
import { Mem } from "../memory/mem";
import { hasDictionary, hasHashes, hasNorms, hasOffsets, hasValues } from "../segment/field-sections";
import { isArrayType } from "../segment/field-type";
import { BLOCK_BUFFER_BYTES } from "../segment/postings";
import { describesSame, findField, Seg } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { DICTIONARY_WRITER_BYTES, DictionaryWriter } from "../write/dictionary-writer";
import { LIST_BLOCK_BYTES, LIST_WRITER_BYTES, ListWriter } from "../write/posting-writer";
import { SINK_BYTES, Sink, sinkInRegion } from "../write/segment-sink";
import { segmentBegin, segmentEnd } from "../write/segment-writer";
import { TERM_WRITER_BYTES, TermWriter } from "../write/term-writer";
import {
  hashesBegin,
  hashesSlice,
  idsBegin,
  idsSlice,
  markSlice,
  normsBegin,
  normsSlice,
  offsetsBegin,
  offsetsSlice,
  ordinalsBegin,
  ordinalsSlice,
  presentBegin,
  presentSlice,
  seqsBegin,
  seqsSlice,
  valuesBegin,
  valuesSlice,
} from "./merge-columns";
import { dictionaryBegin, dictionarySlice, markBegin, orderBegin, orderSlice } from "./merge-dictionaries";
import {
  drop,
  INPUT_BYTES,
  inputAt,
  Merge,
  MergeInput,
  mapRows,
  outputField,
  PHASE_DICTIONARY,
  PHASE_DONE,
  PHASE_HASHES,
  PHASE_IDS,
  PHASE_MARK,
  PHASE_NORMS,
  PHASE_OFFSETS,
  PHASE_ORDER,
  PHASE_ORDINALS,
  PHASE_PRESENT,
  PHASE_SEQS,
  PHASE_TERMS,
  PHASE_VALUES,
} from "./merge-state";
import { termsPhaseBegin, termsSlice } from "./merge-terms";

// Speed at which a merge is assumed to work. A unit is one term, one block of postings, or other work of
// about the same duration.
const UNITS_A_MICROSECOND: i32 = 4;
const ROWS_A_UNIT: u32 = 48;
const IDS_A_UNIT: u32 = 8;
const VALUES_A_UNIT: u32 = 2; // dictionary values that count as one work unit
const WRITER_BYTES = SINK_BYTES + DICTIONARY_WRITER_BYTES + LIST_WRITER_BYTES + TERM_WRITER_BYTES;
const OUTPUT_SPARE: usize = 0x10000;

/** True if all earlier inputs agree with input `i` on the type and flags of every common slot. */
function agrees(m: Merge, i: u32): bool {
  const segment = inputAt(m, i).segment;
  let field = segment + Mem.u32At(segment + SEG_FIELD_TABLE);
  for (let n = Mem.u32At(segment + SEG_FIELDS); n > 0; n--, field += FIELD_ENTRY_BYTES) {
    for (let j: u32 = 0; j < i; j++) {
      const other = findField(inputAt(m, j).segment, Mem.u16At(field + FIELD_SLOT));
      if (other != 0 && !describesSame(other, field)) return false;
    }
  }
  return true;
}

/** True if each input's sequence numbers are greater than those in all earlier inputs. */
function seqsRise(m: Merge): bool {
  let behind: u64 = 0; // one more than the last row's sequence number so far
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const input = inputAt(m, i);
    if (input.rows == 0) continue;
    const seqs = Seg.seqs(input.segment);
    if (Mem.u64At(seqs) < behind) return false;
    behind = Mem.u64At(seqs + ((<usize>input.rows) << 3) - 8) + 1;
  }
  return true;
}

/**
 * Returns the field entry with the smallest slot greater than `slot` in any input, or 0 if there is none. If
 * `slot` is -1, this is the first field.
 */
function nextField(m: Merge, slot: i32): usize {
  let least: usize = 0;
  for (let i: u32 = 0; i < m.inputCount; i++) {
    const segment = inputAt(m, i).segment;
    let field = segment + Mem.u32At(segment + SEG_FIELD_TABLE);
    for (let n = Mem.u32At(segment + SEG_FIELDS); n > 0; n--, field += FIELD_ENTRY_BYTES) {
      const at = <i32>Mem.u16At(field + FIELD_SLOT);
      if (at <= slot) continue;
      if (least == 0 || at < <i32>Mem.u16At(least + FIELD_SLOT)) least = field;
      break;
    }
  }
  return least;
}

/** Starts the output: writes the header and the union of the field tables. */
function openOutput(m: Merge): void {
  let bytes = OUTPUT_SPARE;
  for (let i: u32 = 0; i < m.inputCount; i++) bytes += <usize>Mem.u32At(inputAt(m, i).segment + SEG_BYTES);
  sinkInRegion(m.sink, bytes);
  m.fieldCount = 0;
  for (let field = nextField(m, -1); field != 0; field = nextField(m, <i32>Mem.u16At(field + FIELD_SLOT))) {
    m.fieldCount++;
  }
  segmentBegin(m.sink, m.rows, m.fieldCount);
  m.field = 0;
  for (let field = nextField(m, -1); field != 0; field = nextField(m, <i32>Mem.u16At(field + FIELD_SLOT))) {
    const entry = outputField(m);
    Mem.putU32(entry, Mem.u32At(field)); // copies slot, type and flags, which are the first 4 bytes
    Mem.putU32(entry + FIELD_ELEMENTS, isArrayType(Mem.u8At(field + FIELD_TYPE)) ? 0 : m.rows);
    m.field++;
  }
  m.field = 0;
}

/**
 * Starts a merge of the segments listed at `entries` (in scratch or a region) as {u32 count, count x {u32
 * segment, u32 live}}. The segments must stay attached and in this order until the merge ends; their live
 * bits are copied now. Returns the merge's state; -STATUS_BAD_PROGRAM if there are no segments or two of them
 * disagree on a slot's type or flags; -STATUS_DAMAGED if their sequence numbers do not ascend.
 */
export function mergeBegin(entries: usize): i32 {
  const count = Mem.u32At(entries + SNAP_COUNT);
  const first = Mem.u32At(entries + SNAP_ENTRIES);
  if (count == 0) return -STATUS_BAD_PROGRAM;
  const structs = (offsetof<Merge>() + WRITER_BYTES + 15) & ~15;
  const pairs = structs + LIST_BLOCK_BYTES + BLOCK_BUFFER_BYTES + <usize>count * INPUT_BYTES;
  const state = reserve(pairs + <usize>count * MERGE_ENTRY_BYTES);
  // If `entries` is in scratch, the new region's header may have overwritten its first 8 bytes, which were
  // read above.
  Mem.copy(state + pairs, entries + SNAP_ENTRIES, <usize>count * MERGE_ENTRY_BYTES);
  Mem.putU32(state + pairs, first);
  Mem.fill(state, 0, pairs);
  const m = changetype<Merge>(state);
  let at = state + offsetof<Merge>();
  m.sink = changetype<Sink>(at);
  at += SINK_BYTES;
  m.dictionary = changetype<DictionaryWriter>(at);
  at += DICTIONARY_WRITER_BYTES;
  m.list = changetype<ListWriter>(at);
  at += LIST_WRITER_BYTES;
  m.terms = changetype<TermWriter>(at);
  m.list.block = state + structs;
  m.decoded = state + structs + LIST_BLOCK_BYTES;
  m.inputs = m.decoded + BLOCK_BUFFER_BYTES;
  m.inputCount = count;
  mapRows(m, state + pairs);
  for (let i: u32 = 1; i < count; i++) {
    if (agrees(m, i)) continue;
    mergeCancel(state);
    return -STATUS_BAD_PROGRAM;
  }
  if (!seqsRise(m)) {
    mergeCancel(state);
    return -STATUS_DAMAGED;
  }
  openOutput(m);
  return <i32>state;
}

/** True if `phase` applies to the current field. */
function hasPhase(m: Merge, phase: u32): bool {
  const type = Mem.u8At(outputField(m) + FIELD_TYPE);
  const flags = Mem.u8At(outputField(m) + FIELD_FLAGS);
  switch (phase) {
    case PHASE_NORMS:
      return hasNorms(type, flags);
    case PHASE_PRESENT:
      return true;
    case PHASE_OFFSETS:
      return hasOffsets(type, flags);
    case PHASE_VALUES:
      return hasValues(type, flags);
    case PHASE_HASHES:
      return hasHashes(type, flags);
  }
  return hasDictionary(type, flags);
}

function enterField(m: Merge): void {
  const slot = Mem.u16At(outputField(m) + FIELD_SLOT);
  m.elements = m.rows;
  for (let i: u32 = 0; i < m.inputCount; i++) inputAt(m, i).field = findField(inputAt(m, i).segment, slot);
}

/** Enters the phase after the current one. */
function nextPhase(m: Merge): void {
  if (m.phase == PHASE_DICTIONARY) m.dictionaryRegion = drop(m.dictionaryRegion);
  const before = m.phase;
  m.begun = 0;
  m.input = 0;
  m.at = 0;
  m.phase++;
  if (before < PHASE_IDS || before > PHASE_DICTIONARY) return;
  if (before == PHASE_IDS) {
    m.phase = PHASE_TERMS;
    if (m.fieldCount == 0) return;
    m.phase = PHASE_NORMS;
    enterField(m);
  }
  while (true) {
    if (m.phase > PHASE_DICTIONARY) {
      m.field++;
      if (m.field == m.fieldCount) return;
      m.phase = PHASE_NORMS;
      enterField(m);
    }
    if (hasPhase(m, m.phase)) return;
    m.phase++;
  }
}

function phaseBegin(m: Merge): void {
  switch (m.phase) {
    case PHASE_SEQS:
      seqsBegin(m);
      break;
    case PHASE_IDS:
      idsBegin(m);
      break;
    case PHASE_NORMS:
      normsBegin(m);
      break;
    case PHASE_PRESENT:
      presentBegin(m);
      break;
    case PHASE_OFFSETS:
      offsetsBegin(m);
      break;
    case PHASE_VALUES:
      valuesBegin(m);
      break;
    case PHASE_HASHES:
      hashesBegin(m);
      break;
    case PHASE_MARK:
      markBegin(m);
      break;
    case PHASE_ORDER:
      orderBegin(m);
      break;
    case PHASE_ORDINALS:
      ordinalsBegin(m);
      break;
    case PHASE_DICTIONARY:
      dictionaryBegin(m);
      break;
    case PHASE_TERMS:
      termsPhaseBegin(m);
      break;
  }
  m.begun = 1;
}

function rowsSlice(m: Merge, input: MergeInput, from: u32, end: u32): void {
  switch (m.phase) {
    case PHASE_SEQS:
      seqsSlice(m, input, from, end);
      return;
    case PHASE_NORMS:
      normsSlice(m, input, from, end);
      return;
    case PHASE_PRESENT:
      presentSlice(m, input, from, end);
      return;
    case PHASE_OFFSETS:
      offsetsSlice(m, input, from, end);
      return;
    case PHASE_VALUES:
      valuesSlice(m, input, from, end);
      return;
    case PHASE_HASHES:
      hashesSlice(m, input, from, end);
      return;
    case PHASE_ORDINALS:
      ordinalsSlice(m, input, from, end);
      return;
  }
  // The input has no values to mark, or, without deleted rows, all are in use.
  if (input.field == 0 || input.live == 0) return;
  markSlice(input, isArrayType(Mem.u8At(outputField(m) + FIELD_TYPE)), from, end);
}

/** Runs the inputs' rows through a phase, one range at a time. Returns true after the last range. */
function eachRow(m: Merge): bool {
  while (m.units > 0 && m.input < m.inputCount) {
    const input = inputAt(m, m.input);
    const end = min(input.rows, m.at + ROWS_A_UNIT);
    rowsSlice(m, input, m.at, end);
    m.units--;
    m.at = end;
    if (end < input.rows) continue;
    m.input++;
    m.at = 0;
  }
  return m.input == m.inputCount;
}

/** Runs part of the current phase. Returns true when the phase is complete. */
function phaseSlice(m: Merge): bool {
  switch (m.phase) {
    case PHASE_TERMS:
      return termsSlice(m);
    case PHASE_IDS:
      m.units--;
      return idsSlice(m, IDS_A_UNIT);
    case PHASE_ORDER:
      m.units--;
      return orderSlice(m, VALUES_A_UNIT);
    case PHASE_DICTIONARY:
      m.units--;
      return dictionarySlice(m, VALUES_A_UNIT);
  }
  return eachRow(m);
}

/**
 * Continues the merge for about `microseconds`. Discards all scratch memory. Returns 1 when the output is
 * complete, else 0, or -STATUS_DAMAGED if an input is inconsistent; after that, the merge can only be
 * cancelled.
 */
export function mergeStep(state: usize, microseconds: i32): i32 {
  const m = changetype<Merge>(state);
  scratchReset(0);
  statusReset();
  m.units = min(microseconds, 1000000) * UNITS_A_MICROSECOND;
  while (m.units > 0 && m.phase != PHASE_DONE) {
    if (m.begun == 0) phaseBegin(m);
    const complete = phaseSlice(m);
    if (failed()) return -status();
    if (complete) nextPhase(m);
  }
  return m.phase == PHASE_DONE ? 1 : 0;
}

function dropState(m: Merge): void {
  m.rowRegion = drop(m.rowRegion);
  m.dictionaryRegion = drop(m.dictionaryRegion);
  m.termRegion = drop(m.termRegion);
  m.listRegion = drop(m.listRegion);
  release(changetype<usize>(m));
}

/**
 * Ends a complete merge: frees its state and returns the new segment, a region of exactly the segment's
 * length that the caller now owns. The segment has no rows if no row was live. Returns -STATUS_BAD_PROGRAM if
 * the merge is not complete.
 */
export function mergeFinish(state: usize): i32 {
  const m = changetype<Merge>(state);
  if (m.phase != PHASE_DONE) return -STATUS_BAD_PROGRAM;
  const bytes = segmentEnd(m.sink);
  const segment = m.sink.base;
  dropState(m);
  shrink(segment, bytes);
  return <i32>segment;
}

/** Ends a merge without a result and frees all its memory. */
export function mergeCancel(state: usize): void {
  const m = changetype<Merge>(state);
  const output = m.sink.base;
  dropState(m);
  drop(output);
}
