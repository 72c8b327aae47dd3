// Represents rows' sort values as ordered numbers. For each of the query's sort keys there is a u64 (larger
// is better) and a bit that is set if the document has a value. Strings are represented by the addresses of
// their folded bytes in a segment.

import { valueKey } from "../columns/column-values";
import {
  SUMMARY_CODE_BOUNDS,
  SUMMARY_CODES,
  SUMMARY_ZONES,
  summaryOfSlot,
  summaryTable,
} from "../columns/summaries";
import { NO_ORDINAL, SORT_FIELD, SORT_RELEVANCE, SORT_SEQ, STATUS_DAMAGED } from "../layout";
import { scratchZeroed } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";
import { SearchProgram, SortKey } from "../program/search-program";
import { Dict } from "../segment/dictionary";
import { isArrayType, KIND_INT, KIND_STRING, KIND_UNKNOWN, kindOfType } from "../segment/field-type";
import { Field, findField, Seg, Snap } from "../segment/segment";
import { fail } from "../status";
import { finalKey, finalKeyBelowNeighbours } from "./final-key";
import { Rules } from "./rules";

function kindOf(snapshot: usize, slot: u32): u32 {
  let kind = KIND_UNKNOWN;
  const segments = Snap.count(snapshot);
  for (let i: u32 = 0; i < segments; i++) {
    const field = findField(Snap.segment(snapshot, i), slot);
    if (field == 0) continue;
    const type = Field.type(field);
    const here = kindOfType(type);
    if (kind != KIND_UNKNOWN && kind != here) fail(STATUS_DAMAGED);
    kind = here;
  }
  return kind;
}

/** Converts the u64 of a numeric field back to its value: the bits of an i64 or an f64. */
export function numberOfKey(key: SortKey, value: u64): u64 {
  const ordered = key.descending != 0 ? value : ~value;
  if (key.kind == KIND_INT) return ordered ^ 0x8000000000000000;
  return <i64>ordered < 0 ? ordered ^ 0x8000000000000000 : ~ordered;
}

function stringKey(dictionary: usize, ordinal: u32): u64 {
  return ((<u64>Dict.foldedAt(dictionary, ordinal)) << 32) | <u64>Dict.foldedLength(dictionary, ordinal);
}

/** One search's sort keys over the current segment's rows. Allocated in scratch memory. */
@unmanaged
export class SortKeys {
  program: SearchProgram;
  rules: Rules;
  count: u32; // number of keys
  strings: u64; // bit 63 - i is set if key i is a string, as in the presence bits
  segment: usize;

  /** Determines the kinds of all sort keys and facets. Reports damage if segments disagree. */
  static make(snapshot: usize, program: SearchProgram, rules: Rules): SortKeys {
    const made = changetype<SortKeys>(scratchZeroed(offsetof<SortKeys>()));
    made.program = program;
    made.rules = rules;
    made.count = program.sortCount;
    for (let i: u32 = 0; i < program.sortCount; i++) {
      const key = program.sortKeyAt(i);
      key.kind = key.by == SORT_FIELD ? kindOf(snapshot, key.slot) : KIND_INT;
      if (key.kind == KIND_STRING) made.strings |= (<u64>1) << (63 - <u64>i);
    }
    for (let i: u32 = 0; i < program.facetCount; i++) {
      const facet = program.facetAt(i);
      facet.kind = kindOf(snapshot, facet.slot);
    }
    return made;
  }

  /**
   * Finds all keys' columns in a segment. `summary` is 0 if the segment has no summary. Array fields have no
   * sort values.
   */
  beginSegment(used: usize, summary: usize): void {
    const program = this.program;
    this.segment = used;
    for (let i: u32 = 0; i < program.sortCount; i++) {
      const key = program.sortKeyAt(i);
      if (key.by != SORT_FIELD) continue;
      this.useColumn(key, findField(used, key.slot));
      const known = summaryOfSlot(summary, key.slot);
      key.zones = summaryTable(summary, known, SUMMARY_ZONES);
      key.codes = summaryTable(summary, known, SUMMARY_CODES);
      key.codeBounds = summaryTable(summary, known, SUMMARY_CODE_BOUNDS);
    }
  }

  private useColumn(key: SortKey, field: usize): void {
    key.present = 0;
    if (field == 0) return;
    key.type = Field.type(field);
    key.values = Field.values(this.segment, field);
    key.ordinals = Field.ordinals(this.segment, field);
    key.dictionary = Field.dictionary(this.segment, field);
    const column = key.kind == KIND_STRING ? key.ordinals : key.values;
    if (column != 0 && !isArrayType(key.type)) key.present = Field.present(this.segment, field);
  }

  /** Writes a row's u64 keys to `keys`. Returns the presence bits; the bit of key i is 63 - i. */
  read(row: u32, textMatch: f64, bonus: f64, keys: usize): u64 {
    const program = this.program;
    const count = this.count;
    let presence: u64 = 0;
    for (let i: u32 = 0; i < count; i++) {
      const key = program.sortKeyAt(i);
      let value: u64 = 0;
      if (key.by == SORT_FIELD) {
        if (key.present == 0 || !Bits.has(key.present, row)) continue;
        if (key.kind == KIND_STRING) {
          const ordinal = Mem.u32At(key.ordinals + ((<usize>row) << 2));
          if (ordinal == <u32>NO_ORDINAL) continue;
          Mem.putU64(keys + ((<usize>i) << 3), stringKey(key.dictionary, ordinal));
          presence |= (<u64>1) << (63 - <u64>i);
          continue;
        }
        value = valueKey(key.type, key.values, row);
      } else {
        value = this.ownKey(key.by, row, textMatch, bonus);
      }
      Mem.putU64(keys + ((<usize>i) << 3), key.descending != 0 ? value : ~value);
      presence |= (<u64>1) << (63 - <u64>i);
    }
    return presence;
  }

  /** Value of a key that is not a field: relevance, class or sequence number. */
  private ownKey(by: u32, row: u32, textMatch: f64, bonus: f64): u64 {
    if (by == SORT_RELEVANCE)
      return finalKey(textMatch, bonus, this.rules.boostsOf(row), this.program.browses);
    return by == SORT_SEQ ? Seg.seq(this.segment, row) : this.rules.classOf(row);
  }

  /** Overwrites the relevance in the keys that `read` wrote. Used by queries whose neighbours rank first. */
  lowerRelevance(row: u32, textMatch: f64, bonus: f64, keys: usize): void {
    for (let i: u32 = 0; i < this.count; i++) {
      const key = this.program.sortKeyAt(i);
      if (key.by != SORT_RELEVANCE) continue;
      const value = finalKeyBelowNeighbours(textMatch, bonus, this.rules.boostsOf(row));
      Mem.putU64(keys + ((<usize>i) << 3), key.descending != 0 ? value : ~value);
    }
  }

  /** Positive if the keys at `a` are better than those at `b`, negative if worse, 0 if all are equal. */
  compare(a: usize, aPresence: u64, b: usize, bPresence: u64): i32 {
    const count = this.count;
    const strings = this.strings;
    for (let i: u32 = 0; i < count; i++) {
      const bit = (<u64>1) << (63 - <u64>i);
      if (((aPresence ^ bPresence) & bit) != 0) return (aPresence & bit) != 0 ? 1 : -1;
      if ((aPresence & bit) == 0) continue;
      const x = Mem.u64At(a + ((<usize>i) << 3));
      const y = Mem.u64At(b + ((<usize>i) << 3));
      if (x == y) continue;
      if ((strings & bit) == 0) return x > y ? 1 : -1;
      const order = compareBytes(<usize>(x >> 32), <u32>x, <usize>(y >> 32), <u32>y);
      if (order != 0) return order > 0 == (this.program.sortKeyAt(i).descending != 0) ? 1 : -1;
    }
    return 0;
  }
}
