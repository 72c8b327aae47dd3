// Checks a segment before any kernel reads it. All sections must lie inside the segment, and all tables that
// index other tables must contain valid indices. The check takes linear time, with little work per entry.
// Afterwards, the query kernels read columns without further checks. Posting lists are checked when decoded.

import {
  DICT_COUNT,
  DICT_FOLDED_OFFSETS,
  DICT_HEADER_BYTES,
  DICT_RAW_OFFSETS,
  DICT_VALUES,
  FIELD_DICTIONARY,
  FIELD_ELEMENTS,
  FIELD_ENTRY_BYTES,
  FIELD_FLAGS,
  FIELD_HASHES,
  FIELD_NORMS,
  FIELD_OFFSETS,
  FIELD_ORDINALS,
  FIELD_PRESENT,
  FIELD_SLOT,
  FIELD_TYPE,
  FIELD_VALUES,
  NO_ORDINAL,
  SEG_BYTES,
  SEG_FIELD_TABLE,
  SEG_FIELDS,
  SEG_HEADER_BYTES,
  SEG_ID_HASHES,
  SEG_ID_ROWS,
  SEG_LISTS,
  SEG_MAGIC,
  SEG_ROWS,
  SEG_SEQS,
  SEG_TERM_BYTES,
  SEG_TERM_LCP,
  SEG_TERM_LISTS,
  SEG_TERM_OFFSETS,
  SEG_TERMS,
  SEG_VERSION,
  SEGMENT_MAGIC,
  SEGMENT_VERSION,
  STATUS_DAMAGED,
  STATUS_OK,
  TERM_BYTES_MAX,
} from "../layout";
import { Bits, bitsEndClean } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { hasOffsets } from "./field-sections";
import { isArrayType, isKnownType, isStringType, valueBytes } from "./field-type";

const ROWS_MAX: u32 = 0x7fffffff;
const SEQ_LIMIT: u64 = 1 << 53;

/** Returns STATUS_OK if the `bytes` bytes at `segment` form a segment that the kernels may read. */
export function checkSegment(segment: usize, bytes: u32): i32 {
  const check = changetype<SegmentCheck>(segment);
  return check.header(bytes) && check.documents() && check.terms() && check.fields()
    ? STATUS_OK
    : STATUS_DAMAGED;
}

/** True if all numbers of u32[count] are below `limit`. With `orNone`, NO_ORDINAL is allowed too. */
function allBelow(table: usize, count: u32, limit: u32, orNone: bool): bool {
  const end = table + ((<usize>count) << 2);
  for (; table < end; table += 4) {
    const value = Mem.u32At(table);
    if (value >= limit && !(orNone && value == <u32>NO_ORDINAL)) return false;
  }
  return true;
}

/**
 * True if the u32[count + 1] offsets never decrease, start at or after `first` and end at or before `last`.
 */
function offsetsRise(table: usize, count: u32, first: u64, last: u64): bool {
  let previous = <u32>0;
  const end = table + ((<usize>count) << 2);
  if (<u64>Mem.u32At(table) < first || <u64>Mem.u32At(end) > last) return false;
  for (; table <= end; table += 4) {
    const value = Mem.u32At(table);
    if (value < previous) return false;
    previous = value;
  }
  return true;
}

function dictionaryOffsets(dictionary: usize, table: usize, count: u32, room: u64): bool {
  const first = Mem.u32At(dictionary + table);
  if (first < <u32>DICT_HEADER_BYTES || <u64>first + ((<u64>count + 1) << 2) > room) return false;
  return offsetsRise(dictionary + first, count, DICT_HEADER_BYTES, room);
}

/** An untrusted segment, at its own address. Only the header may be read until `header` has checked it. */
@unmanaged
class SegmentCheck {
  private get base(): usize {
    return changetype<usize>(this);
  }

  private get length(): u64 {
    return this.at(SEG_BYTES);
  }

  private get rows(): u32 {
    return this.at(SEG_ROWS);
  }

  header(bytes: u32): bool {
    return (
      bytes >= <u32>SEG_HEADER_BYTES &&
      this.at(SEG_MAGIC) == SEGMENT_MAGIC &&
      this.at(SEG_VERSION) == SEGMENT_VERSION &&
      this.at(SEG_BYTES) == bytes &&
      this.at(SEG_ROWS) <= ROWS_MAX
    );
  }

  private at(offset: usize): u32 {
    return Mem.u32At(this.base + offset);
  }

  /**
   * True if a section of `bytes` bytes at `offset` lies after the header, inside the segment and 8-aligned.
   */
  private inside(offset: u32, bytes: u64): bool {
    return offset >= <u32>SEG_HEADER_BYTES && (offset & 7) == 0 && <u64>offset + bytes <= this.length;
  }

  documents(): bool {
    const rows = this.rows;
    const count = <u64>rows;
    if (!this.inside(this.at(SEG_SEQS), count << 3) || !this.inside(this.at(SEG_ID_HASHES), count << 3))
      return false;
    if (!this.inside(this.at(SEG_ID_ROWS), count << 2)) return false;
    const seqs = this.base + this.at(SEG_SEQS);
    const hashes = this.base + this.at(SEG_ID_HASHES);
    for (let i: usize = 1; i < <usize>rows; i++) {
      if (Mem.u64At(seqs + (i << 3)) <= Mem.u64At(seqs + (i << 3) - 8)) return false;
      if (Mem.u64At(hashes + (i << 3)) < Mem.u64At(hashes + (i << 3) - 8)) return false;
    }
    if (rows > 0 && Mem.u64At(seqs + ((<usize>(rows - 1)) << 3)) >= SEQ_LIMIT) return false;
    return allBelow(this.base + this.at(SEG_ID_ROWS), rows, rows, false);
  }

  terms(): bool {
    const count = this.at(SEG_TERMS);
    const tableBytes = (<u64>count + 1) << 2;
    if (
      !this.inside(this.at(SEG_TERM_OFFSETS), tableBytes) ||
      !this.inside(this.at(SEG_TERM_LISTS), tableBytes)
    )
      return false;
    if (
      !this.inside(this.at(SEG_TERM_BYTES), 0) ||
      !this.inside(this.at(SEG_LISTS), 0) ||
      !this.inside(this.at(SEG_TERM_LCP), count)
    )
      return false;
    const offsets = this.base + this.at(SEG_TERM_OFFSETS);
    if (!offsetsRise(offsets, count, 0, this.length - this.at(SEG_TERM_BYTES))) return false;
    if (!offsetsRise(this.base + this.at(SEG_TERM_LISTS), count, 0, this.length - this.at(SEG_LISTS)))
      return false;
    const lcps = this.base + this.at(SEG_TERM_LCP);
    let before: u32 = 0;
    for (let term: usize = 0; term < <usize>count; term++) {
      const bytes = Mem.u32At(offsets + (term << 2) + 4) - Mem.u32At(offsets + (term << 2));
      if (bytes > <u32>TERM_BYTES_MAX || Mem.u8At(lcps + term) > min(bytes, before)) return false;
      before = bytes;
    }
    return true;
  }

  fields(): bool {
    const count = this.at(SEG_FIELDS);
    if (count > 0x10000 || !this.inside(this.at(SEG_FIELD_TABLE), <u64>count * FIELD_ENTRY_BYTES))
      return false;
    let slot: i32 = -1;
    for (let i: u32 = 0; i < count; i++) {
      const entry = this.base + this.at(SEG_FIELD_TABLE) + <usize>i * FIELD_ENTRY_BYTES;
      if (<i32>Mem.u16At(entry + FIELD_SLOT) <= slot || !this.field(entry)) return false;
      slot = Mem.u16At(entry + FIELD_SLOT);
    }
    return true;
  }

  /** True if the field does not have the section, or if the section lies inside the segment. */
  private optional(entry: usize, section: usize, bytes: u64): bool {
    const offset = Mem.u32At(entry + section);
    return offset == 0 || this.inside(offset, bytes);
  }

  private field(entry: usize): bool {
    const type = Mem.u8At(entry + FIELD_TYPE);
    if (!isKnownType(type)) return false;
    const present = Mem.u32At(entry + FIELD_PRESENT);
    if (!this.inside(present, Bits.bytes(this.rows)) || !bitsEndClean(this.base + present, this.rows))
      return false;
    const elements = Mem.u32At(entry + FIELD_ELEMENTS);
    const offsets = Mem.u32At(entry + FIELD_OFFSETS);
    if (offsets != 0) {
      if (!isArrayType(type) || !this.inside(offsets, (<u64>this.rows + 1) << 2)) return false;
      if (!offsetsRise(this.base + offsets, this.rows, 0, elements)) return false;
    } else if (isArrayType(type) ? hasOffsets(type, Mem.u8At(entry + FIELD_FLAGS)) : elements != this.rows) {
      return false;
    }
    if (!this.optional(entry, FIELD_NORMS, this.rows)) return false;
    return this.values(entry, type, elements, offsets != 0);
  }

  private values(entry: usize, type: u32, elements: u32, hasElements: bool): bool {
    const numbers = Mem.u32At(entry + FIELD_VALUES);
    const hashes = Mem.u32At(entry + FIELD_HASHES);
    const ordinals = Mem.u32At(entry + FIELD_ORDINALS);
    if (isStringType(type) ? numbers != 0 : hashes != 0) return false;
    if (isArrayType(type) && !hasElements && (numbers | hashes | ordinals) != 0) return false;
    if (!this.optional(entry, FIELD_VALUES, <u64>elements * valueBytes(type))) return false;
    if (!this.optional(entry, FIELD_HASHES, (<u64>elements) << 3)) return false;
    if ((ordinals == 0) != (Mem.u32At(entry + FIELD_DICTIONARY) == 0)) return false;
    if (ordinals == 0) return true;
    if (!this.inside(ordinals, (<u64>elements) << 2)) return false;
    const dictionary = Mem.u32At(entry + FIELD_DICTIONARY);
    if (!this.inside(dictionary, DICT_HEADER_BYTES) || !this.columnDictionary(dictionary, isStringType(type)))
      return false;
    return allBelow(this.base + ordinals, elements, this.at(dictionary + DICT_COUNT), !isArrayType(type));
  }

  private columnDictionary(offset: u32, isStrings: bool): bool {
    const dictionary = this.base + <usize>offset;
    const room = this.length - offset;
    const count = Mem.u32At(dictionary + DICT_COUNT);
    if (!isStrings) {
      const first = Mem.u32At(dictionary + DICT_VALUES);
      return first >= <u32>DICT_HEADER_BYTES && <u64>first + ((<u64>count) << 3) <= room;
    }
    return (
      dictionaryOffsets(dictionary, DICT_RAW_OFFSETS, count, room) &&
      dictionaryOffsets(dictionary, DICT_FOLDED_OFFSETS, count, room)
    );
  }
}
