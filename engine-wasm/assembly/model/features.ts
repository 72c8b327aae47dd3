// Reads the terms of a segment that an embedded model uses as features (stems and words in some fields), with
// their posting lists. Only two parts of the segment are in memory: its header, and everything from the
// posting lists to the end. They are untrusted: a term's offsets are checked when the term is opened, its
// lists when they are decoded.
//
//   | header, 64 bytes | bytes of the segment from SEG_LISTS to its end |

import {
  MODEL_SLOT,
  MODEL_SLOT_BYTES,
  MODEL_SLOT_STEMMED,
  MODEL_SLOT_WEIGHT,
  SEG_BYTES,
  SEG_HEADER_BYTES,
  SEG_LISTS,
  SEG_MAGIC,
  SEG_ROWS,
  SEG_SEQS,
  SEG_TERM_BYTES,
  SEG_TERM_LISTS,
  SEG_TERM_OFFSETS,
  SEG_TERMS,
  SEG_VERSION,
  SEGMENT_MAGIC,
  SEGMENT_VERSION,
  STATUS_DAMAGED,
  TERM_BYTES_MAX,
  TERM_STEM,
  TERM_TEXT,
} from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { BLOCK_BUFFER_BYTES, CURSOR_BYTES, Cursor, cursorUseBuffer, listOpen } from "../segment/postings";
import { fail } from "../status";

const ROWS_MAX: u32 = 0x7fffffff;

const KIND_NONE: u32 = 0; // the term is not a feature in any field
const KIND_STEM: u32 = 1;
const KIND_WORD: u32 = 2;
const KIND_DIGITS: u32 = 3; // a word with an ASCII digit, which has no stem

/** The open segment, and the open term in it. Occupies FEATURES_BYTES in a region or in scratch memory. */
@unmanaged
export class Features {
  rows: u32;
  terms: u32;
  private base: usize; // address that the segment would have if all its bytes were in memory
  private end: usize;
  private offsetsAt: usize; // addresses of the segment's sections
  private startsAt: usize;
  private bytesAt: usize;
  private listsAt: usize;
  private slotTable: usize; // a model's slot table
  private slots: u32;
  // State for the open term.
  at: usize;
  length: u32;
  private kind: u32;
  private lists: usize; // address of the open term's next list
  private listsEnd: usize;
  /** Weight of the list that `nextList` opened. */
  weight: f32;

  @inline get cursor(): Cursor {
    return changetype<Cursor>(changetype<usize>(this) + FEATURES_HEAD_BYTES);
  }

  /**
   * Opens a partly loaded segment: `bytes` bytes are at `segment`, and the `skipped` bytes after its header
   * are missing. `slotTable` has `slots` valid entries. Returns false and records STATUS_DAMAGED if the
   * segment cannot be read.
   */
  open(segment: usize, bytes: u32, skipped: u32, slotTable: usize, slots: u32): bool {
    if (bytes < <u32>SEG_HEADER_BYTES) return fail(STATUS_DAMAGED);
    this.base = segment - <usize>skipped;
    this.end = segment + <usize>bytes;
    this.rows = Mem.u32At(segment + SEG_ROWS);
    this.terms = Mem.u32At(segment + SEG_TERMS);
    this.slotTable = slotTable;
    this.slots = slots;
    this.offsetsAt = this.section(segment, SEG_TERM_OFFSETS, skipped, (<u64>this.terms + 1) << 2);
    this.startsAt = this.section(segment, SEG_TERM_LISTS, skipped, (<u64>this.terms + 1) << 2);
    this.bytesAt = this.section(segment, SEG_TERM_BYTES, skipped, 0);
    this.listsAt = this.section(segment, SEG_LISTS, skipped, 0);
    const good =
      Mem.u32At(segment + SEG_MAGIC) == SEGMENT_MAGIC &&
      Mem.u32At(segment + SEG_VERSION) == SEGMENT_VERSION &&
      <u64>Mem.u32At(segment + SEG_BYTES) == <u64>bytes + <u64>skipped &&
      this.rows <= ROWS_MAX &&
      <u64>Mem.u32At(segment + SEG_SEQS) + ((<u64>this.rows) << 3) <= <u64>Mem.u32At(segment + SEG_BYTES);
    if (!good || this.offsetsAt == 0 || this.startsAt == 0 || this.bytesAt == 0 || this.listsAt == 0)
      return fail(STATUS_DAMAGED);
    cursorUseBuffer(this.cursor, changetype<usize>(this) + FEATURES_HEAD_BYTES + CURSOR_BYTES);
    return true;
  }

  /** Address of a section, or 0 if it is not within the bytes in memory. */
  private section(segment: usize, section: usize, skipped: u32, bytes: u64): usize {
    const offset = <u64>Mem.u32At(segment + section);
    const first = <u64>SEG_HEADER_BYTES + <u64>skipped;
    if (offset < first || (offset & 7) != 0) return 0;
    const room = <u64>(this.end - segment) + <u64>skipped;
    return offset + bytes <= room ? this.base + <usize>offset : 0;
  }

  /**
   * Opens term number `term`, which must be less than `terms`. Returns false if the term is not a feature, or
   * if it is damaged, which also records STATUS_DAMAGED.
   */
  openTerm(term: u32): bool {
    if (CHECKED) assert(term < this.terms, "a term is one of its segment's");
    const offset = this.offsetsAt + ((<usize>term) << 2);
    const start = this.startsAt + ((<usize>term) << 2);
    const from = Mem.u32At(offset);
    const to = Mem.u32At(offset + 4);
    const lists = Mem.u32At(start);
    const listsEnd = Mem.u32At(start + 4);
    if (to < from || to - from > <u32>TERM_BYTES_MAX || <usize>to > this.end - this.bytesAt)
      return fail(STATUS_DAMAGED);
    if (listsEnd < lists || <usize>listsEnd > this.end - this.listsAt) return fail(STATUS_DAMAGED);
    this.at = this.bytesAt + <usize>from;
    this.length = to - from;
    this.lists = this.listsAt + <usize>lists;
    this.listsEnd = this.listsAt + <usize>listsEnd;
    this.kind = kindOf(this.at, this.length);
    return this.kind != KIND_NONE;
  }

  /**
   * Opens the term's next list whose weight is not 0, positioned before its first posting. Returns false if
   * there is no such list or the list is damaged.
   */
  nextList(): bool {
    const cursor = this.cursor;
    const buffer = changetype<usize>(this) + FEATURES_HEAD_BYTES + CURSOR_BYTES;
    while (this.lists < this.listsEnd) {
      const behind = listOpen(cursor, this.lists, this.listsEnd, this.rows);
      this.lists = behind;
      if (behind == 0) return false;
      this.weight = this.weightIn(cursor.slot);
      if (this.weight == 0) continue;
      cursorUseBuffer(cursor, buffer);
      return true;
    }
    return false;
  }

  /** Weight of one occurrence of the open term in a slot, or 0 if such a term is not a feature there. */
  private weightIn(slot: u32): f32 {
    for (let i: u32 = 0; i < this.slots; i++) {
      const entry = this.slotTable + <usize>i * MODEL_SLOT_BYTES;
      if (Mem.u16At(entry + MODEL_SLOT) != slot) continue;
      const stemmed = Mem.u8At(entry + MODEL_SLOT_STEMMED) != 0;
      const counts = stemmed ? this.kind != KIND_WORD : this.kind != KIND_STEM;
      return counts ? Mem.f32At(entry + MODEL_SLOT_WEIGHT) : 0;
    }
    return 0;
  }
}

const FEATURES_HEAD_BYTES: usize = (offsetof<Features>() + 15) & ~15;
export const FEATURES_BYTES: usize = FEATURES_HEAD_BYTES + ((CURSOR_BYTES + 15) & ~15) + BLOCK_BUFFER_BYTES;

function kindOf(at: usize, length: u32): u32 {
  if (length == 0) return KIND_NONE;
  const first = Mem.u8At(at);
  if (first == TERM_STEM) return KIND_STEM;
  if (first < <u32>TERM_TEXT) return KIND_NONE;
  return hasAsciiDigit(at, length) ? KIND_DIGITS : KIND_WORD;
}

/**
 * Checks for ASCII digits only. Digits of other scripts are rare in part numbers, and recognising them would
 * require the Unicode table.
 */
function hasAsciiDigit(at: usize, length: u32): bool {
  for (const end = at + <usize>length; at < end; at++) if (Mem.u8At(at) - 0x30 < 10) return true;
  return false;
}
