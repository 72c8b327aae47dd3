// Data derived from a segment but not part of its bytes. A shard computes it once, when the segment first
// appears in a snapshot: the number of rows (including deleted ones) with each facet value, so that a query
// that matches most rows can count the other rows and subtract; set numbers for the values of multi-valued
// facets (facet-sets.ts); zones and codes of columns (column-summary.ts); the dictionary's branches
// (branches.ts); each text field's minimum length. Small segments have no summary: reading them is cheap.
//
//   region: | u32 fields, u32 -> branches, u32 0 x 2 | field ... | tables ... |
//   field:  | u32 slot | u32 1 = some row has a value twice | u32 number of sets | u32 0 |
//           | u32 -> totals, u32 by ordinal | u32 -> zones | u32 -> codes | u32 -> ranges of codes |
//           | u32 -> bounds of codes | u32 -> numbers of sets | u32 -> first rows of sets |  from the region, 0: none
//           | u16 least norm byte of a row with a value, u16 1 = some row has none |

import {
  FIELD_ENTRY_BYTES,
  FIELD_FLAGS,
  FIELD_SLOT,
  FLAG_FACET,
  SEG_FIELD_TABLE,
  SEG_FIELDS,
} from "../layout";
import { reserve, scratchReset } from "../memory/arena";
import { bitsAll } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Dict } from "../segment/dictionary";
import { isArrayType } from "../segment/field-type";
import { Field, Seg } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { branchesAdd } from "./branches";
import {
  CODE_BOUNDS_BYTES,
  CODE_RANGES_BYTES,
  codesBytes,
  columnAdd,
  columnBegin,
  summarisedColumn,
  zonesBytes,
} from "./column-summary";
import { countRows, countRowsOnce, countsOf } from "./facet-counts";
import { numberSets, setsLikely, setsMost } from "./facet-sets";

const ROWS_LEAST: u32 = 1024;
/**
 * Minimum average number of rows per value for storing totals. With fewer, they would not save enough time to
 * justify their memory.
 */
const ROWS_A_VALUE: u32 = 8;

const HEAD_BYTES: usize = 16;
const AT_BRANCHES: usize = 4;
const ENTRY_BYTES: usize = 48;
const AT_REPEATS: usize = 4;
const AT_SETS: usize = 8;
export const SUMMARY_TOTALS: usize = 16;
export const SUMMARY_ZONES: usize = 20;
export const SUMMARY_CODES: usize = 24;
export const SUMMARY_CODE_RANGES: usize = 28;
export const SUMMARY_CODE_BOUNDS: usize = 32;
export const SUMMARY_SET_NUMBERS: usize = 36;
export const SUMMARY_SET_ROWS: usize = 40;
const AT_LEAST_NORM: usize = 44;
const AT_NO_NORM: usize = 46;
const STEP_ROWS: u32 = 0x8000; // number of a column's rows, or of terms, that one step processes

function fieldAt(segment: usize, i: u32): usize {
  return Seg.at(segment, SEG_FIELD_TABLE) + <usize>i * FIELD_ENTRY_BYTES;
}

function isFacet(segment: usize, field: usize): bool {
  return (Mem.u8At(field + FIELD_FLAGS) & FLAG_FACET) != 0 && Field.ordinals(segment, field) != 0;
}

/**
 * Allocates a region for a segment's summary, to be filled by `summariseStep`. Returns 0 if the segment needs
 * no summary. Discards all scratch memory.
 */
export function summarise(segment: usize): usize {
  if (Seg.rows(segment) < ROWS_LEAST) return 0;
  scratchReset(0);
  const fields = Mem.u32At(segment + SEG_FIELDS);
  const head = HEAD_BYTES + <usize>fields * ENTRY_BYTES;
  let end = head;
  for (let i: u32 = 0; i < fields; i++) end = placeTables(segment, fieldAt(segment, i), 0, end);
  end = place(0, AT_BRANCHES, end, Seg.terms(segment));
  if (end == head) return 0;
  const region = reserve(end);
  Mem.fill(region, 0, head);
  Mem.putU32(region, fields);
  end = head;
  for (let i: u32 = 0; i < fields; i++) {
    end = placeTables(segment, fieldAt(segment, i), region + HEAD_BYTES + <usize>i * ENTRY_BYTES, end);
  }
  place(region, AT_BRANCHES, end, Seg.terms(segment));
  return region;
}

/**
 * Runs step number `step` (0, 1, 2 ...), a small part of the work. Returns 1, or 0 after the last step, or
 * -STATUS_UNKNOWN_TYPE. Discards all scratch memory.
 */
export function summariseStep(segment: usize, region: usize, step: u32): i32 {
  scratchReset(0);
  statusReset();
  const more = stepOf(segment, region, step);
  return failed() ? -status() : more;
}

function stepOf(segment: usize, region: usize, step: u32): i32 {
  const rows = Seg.rows(segment);
  const stepsOfField: u32 = (rows + STEP_ROWS - 1) / STEP_ROWS + 1;
  const ofFields = stepsOfField * Mem.u32At(region);
  if (step >= ofFields) return addTerms(segment, branchesOf(region), (step - ofFields) * STEP_ROWS);
  const number = step / stepsOfField;
  const field = fieldAt(segment, number);
  const entry = region + HEAD_BYTES + <usize>number * ENTRY_BYTES;
  const part = step % stepsOfField;
  if (part > 0) addRows(segment, field, region, entry, (part - 1) * STEP_ROWS, min(rows, part * STEP_ROWS));
  else if (isFacet(segment, field)) fillFacet(segment, field, region, entry);
  return 1;
}

/**
 * Records the branches of up to STEP_ROWS terms, starting at `first`. Returns 0 after the last term, else 1.
 */
function addTerms(segment: usize, branches: usize, first: u32): i32 {
  const terms = Seg.terms(segment);
  branchesAdd(segment, branches, first, min(terms, first + STEP_ROWS));
  return first + STEP_ROWS < terms ? 1 : 0;
}

/** The segment's term branches, u8 per term, or 0 if the segment has no summary. */
export function branchesOf(summary: usize): usize {
  return summary == 0 ? 0 : summary + <usize>Mem.u32At(summary + AT_BRANCHES);
}

/**
 * Assigns offsets to a field's tables, starting at `end`. If `entry` is 0, only measures the space they need.
 * Returns the end of the tables.
 */
function placeTables(segment: usize, field: usize, entry: usize, end: usize): usize {
  const rows = Seg.rows(segment);
  if (entry != 0) Mem.putU32(entry, Mem.u16At(field + FIELD_SLOT));
  if (summarisedColumn(segment, field) != 0 && Field.present(segment, field) != 0) {
    end = place(entry, SUMMARY_ZONES, end, zonesBytes(rows));
    end = place(entry, SUMMARY_CODES, end, codesBytes(rows));
    end = place(entry, SUMMARY_CODE_RANGES, end, CODE_RANGES_BYTES);
    end = place(entry, SUMMARY_CODE_BOUNDS, end, CODE_BOUNDS_BYTES);
  }
  if (!isFacet(segment, field)) return end;
  const values = Dict.count(Field.dictionary(segment, field));
  if (values <= rows / ROWS_A_VALUE) end = place(entry, SUMMARY_TOTALS, end, (<usize>values) << 2);
  if (!isArrayType(Field.type(field))) return end;
  if (!setsLikely(Field.ordinals(segment, field), Field.offsets(segment, field), rows)) return end;
  end = place(entry, SUMMARY_SET_NUMBERS, end, (<usize>rows) << 1);
  return place(entry, SUMMARY_SET_ROWS, end, (<usize>setsMost(rows)) << 2);
}

/** Stores `at` as a table's offset, unless `entry` is 0. Returns the end of the table. */
function place(entry: usize, table: usize, at: usize, bytes: usize): usize {
  if (entry != 0) Mem.putU32(entry + table, <u32>at);
  return at + ((bytes + 15) & ~15);
}

/**
 * Records the smallest norm byte of the rows [from, to), and whether any of them has no value. Rows must
 * arrive in order.
 */
function addNorms(norms: usize, entry: usize, from: u32, to: u32): void {
  if (norms == 0) return;
  let least: u32 = from == 0 ? 255 : Mem.u16At(entry + AT_LEAST_NORM);
  let none: u32 = from == 0 ? 0 : Mem.u16At(entry + AT_NO_NORM);
  for (let row = from; row < to; row++) {
    const norm = Mem.u8At(norms + <usize>row);
    none |= norm == 0 ? 1 : 0;
    least = min(least, norm == 0 ? 255 : norm);
  }
  Mem.putU16(entry + AT_LEAST_NORM, least);
  Mem.putU16(entry + AT_NO_NORM, none);
}

/** Adds the rows [from, to) to the tables of the field's column. */
function addRows(segment: usize, field: usize, region: usize, entry: usize, from: u32, to: u32): void {
  addNorms(Field.norms(segment, field), entry, from, to);
  const zones = summaryTable(region, entry, SUMMARY_ZONES);
  if (zones == 0) return;
  const codes = summaryTable(region, entry, SUMMARY_CODES);
  const ranges = summaryTable(region, entry, SUMMARY_CODE_RANGES);
  const bounds = summaryTable(region, entry, SUMMARY_CODE_BOUNDS);
  const type = Field.type(field);
  const column = summarisedColumn(segment, field);
  const present = Field.present(segment, field);
  if (from == 0) columnBegin(type, column, present, Seg.rows(segment), zones, ranges, bounds);
  columnAdd(type, column, present, from, to, zones, codes, ranges, bounds);
}

function fillFacet(segment: usize, field: usize, region: usize, entry: usize): void {
  const rows = Seg.rows(segment);
  const ordinals = Field.ordinals(segment, field);
  const values = Dict.count(Field.dictionary(segment, field));
  const bits = bitsAll(rows);
  const tables = countsOf(values, rows);
  if (isArrayType(Field.type(field))) {
    const offsets = Field.offsets(segment, field);
    const repeats = countRowsOnce(ordinals, offsets, values, bits, 0, rows, tables.counts);
    Mem.putU32(entry + AT_REPEATS, repeats ? 1 : 0);
    const numbers = summaryTable(region, entry, SUMMARY_SET_NUMBERS);
    if (numbers != 0) {
      Mem.putU32(
        entry + AT_SETS,
        numberSets(ordinals, offsets, rows, numbers, summaryTable(region, entry, SUMMARY_SET_ROWS)),
      );
    }
  } else {
    countRows(ordinals, bits, 0, rows, tables);
  }
  const counts = tables.sum(values);
  const totals = summaryTable(region, entry, SUMMARY_TOTALS);
  if (totals != 0) Mem.copy(totals, counts, (<usize>values) << 2);
}

/** A slot's field entry in `summary`, or 0 if there is no summary or it lacks the slot. */
export function summaryOfSlot(summary: usize, slot: u32): usize {
  if (summary == 0) return 0;
  const count = Mem.u32At(summary);
  for (let i: u32 = 0; i < count; i++) {
    const entry = summary + HEAD_BYTES + <usize>i * ENTRY_BYTES;
    if (Mem.u32At(entry) == slot) return entry;
  }
  return 0;
}

/** True if it is known that no row repeats a value. */
export function hasNoRepeats(entry: usize): bool {
  return entry != 0 && Mem.u32At(entry + AT_REPEATS) == 0;
}

/** The smallest norm byte of the rows with a value in a text field, or 0 if unknown. */
export function leastNormOf(entry: usize): u32 {
  return entry == 0 ? 0 : Mem.u16At(entry + AT_LEAST_NORM);
}

/** True if all rows are known to have a value in the text field. Valid only for a field with norms. */
export function allHaveNorms(entry: usize): bool {
  return entry != 0 && Mem.u16At(entry + AT_NO_NORM) == 0;
}

/** Number of distinct value sets, or 0 if the field's sets are not numbered. */
export function setsOf(entry: usize): u32 {
  return entry == 0 ? 0 : Mem.u32At(entry + AT_SETS);
}

/** Address of a field's table (SUMMARY_*), or 0 if the field lacks it. */
export function summaryTable(summary: usize, entry: usize, table: usize): usize {
  if (entry == 0 || Mem.u32At(entry + table) == 0) return 0;
  return summary + <usize>Mem.u32At(entry + table);
}
