// Addresses within a segment. The table entries used here were verified when the segment was attached
// (attach.ts), so they are not checked again. Posting lists are checked when decoded.
import {
  FIELD_DICTIONARY,
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
  FLAG_REQUIRED,
  SEG_BYTES,
  SEG_FIELD_TABLE,
  SEG_FIELDS,
  SEG_ID_HASHES,
  SEG_ID_ROWS,
  SEG_LISTS,
  SEG_ROWS,
  SEG_SEQS,
  SEG_TERM_BYTES,
  SEG_TERM_LISTS,
  SEG_TERM_OFFSETS,
  SEG_TERMS,
  SNAP_COUNT,
  SNAP_ENTRIES,
  SNAP_ENTRY_BYTES,
} from "../layout";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";

/** The first word of a field entry, which is slot, type and flags, without FLAG_REQUIRED. */
const DESCRIPTION_BITS: u32 = ~((<u32>FLAG_REQUIRED) << (FIELD_FLAGS << 3));

export abstract class Seg {
  @inline static at(segment: usize, section: usize): usize {
    return segment + <usize>Mem.u32At(segment + section);
  }
  @inline static rows(segment: usize): u32 {
    return Mem.u32At(segment + SEG_ROWS);
  }
  @inline static terms(segment: usize): u32 {
    return Mem.u32At(segment + SEG_TERMS);
  }
  @inline static seqs(segment: usize): usize {
    return Seg.at(segment, SEG_SEQS);
  }
  @inline static seq(segment: usize, row: u32): u64 {
    if (CHECKED) assert(row < Seg.rows(segment), "a row lies inside its segment");
    return Mem.u64At(Seg.seqs(segment) + ((<usize>row) << 3));
  }
  @inline static idHashes(segment: usize): usize {
    return Seg.at(segment, SEG_ID_HASHES);
  }
  @inline static idRows(segment: usize): usize {
    return Seg.at(segment, SEG_ID_ROWS);
  }

  @inline static termAt(segment: usize, term: u32): usize {
    if (CHECKED) assert(term < Seg.terms(segment), "a term is one of its segment's");
    const offsets = Seg.at(segment, SEG_TERM_OFFSETS);
    return Seg.at(segment, SEG_TERM_BYTES) + <usize>Mem.u32At(offsets + ((<usize>term) << 2));
  }

  @inline static termLength(segment: usize, term: u32): u32 {
    if (CHECKED) assert(term < Seg.terms(segment), "a term is one of its segment's");
    const offset = Seg.at(segment, SEG_TERM_OFFSETS) + ((<usize>term) << 2);
    return Mem.u32At(offset + 4) - Mem.u32At(offset);
  }

  /** Address of the term's posting lists; they end where the lists of term + 1 start. */
  @inline static listsAt(segment: usize, term: u32): usize {
    if (CHECKED) assert(term <= Seg.terms(segment), "lists are those of a term of the segment");
    const starts = Seg.at(segment, SEG_TERM_LISTS);
    return Seg.at(segment, SEG_LISTS) + <usize>Mem.u32At(starts + ((<usize>term) << 2));
  }
}

export abstract class Field {
  @inline static type(field: usize): u32 {
    return Mem.u8At(field + FIELD_TYPE);
  }

  /** Address of a section (FIELD_*), or 0 if the field lacks it. */
  @inline static section(segment: usize, field: usize, section: usize): usize {
    const offset = <usize>Mem.u32At(field + section);
    if (CHECKED) assert(offset <= <usize>Mem.u32At(segment + SEG_BYTES), "a section lies inside its segment");
    return offset == 0 ? 0 : segment + offset;
  }

  @inline static norms(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_NORMS);
  }
  @inline static present(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_PRESENT);
  }
  @inline static values(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_VALUES);
  }
  @inline static offsets(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_OFFSETS);
  }
  @inline static ordinals(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_ORDINALS);
  }
  @inline static hashes(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_HASHES);
  }

  @inline static dictionary(segment: usize, field: usize): usize {
    return Field.section(segment, field, FIELD_DICTIONARY);
  }
}

export abstract class Snap {
  @inline static count(snapshot: usize): u32 {
    return Mem.u32At(snapshot + SNAP_COUNT);
  }

  @inline static segment(snapshot: usize, entry: u32): usize {
    return <usize>Mem.u32At(snapshot + SNAP_ENTRIES + <usize>entry * SNAP_ENTRY_BYTES);
  }

  /** The live bitset, or 0 if all rows are live. */
  @inline static live(snapshot: usize, entry: u32): usize {
    return <usize>Mem.u32At(snapshot + SNAP_ENTRIES + <usize>entry * SNAP_ENTRY_BYTES + 4);
  }

  /** The region that `summarise` returned, or 0 if there is none. */
  @inline static summary(snapshot: usize, entry: u32): usize {
    return <usize>Mem.u32At(snapshot + SNAP_ENTRIES + <usize>entry * SNAP_ENTRY_BYTES + 8);
  }

  /** The rows' vector codes, or 0 if there are none. */
  @inline static codes(snapshot: usize, entry: u32): usize {
    return <usize>Mem.u32At(snapshot + SNAP_ENTRIES + <usize>entry * SNAP_ENTRY_BYTES + 12);
  }
}

/** A slot's field entry, or 0 if no document in the segment has a value in the slot. */
export function findField(segment: usize, slot: u32): usize {
  const table = Seg.at(segment, SEG_FIELD_TABLE);
  let low: u32 = 0;
  let high = Mem.u32At(segment + SEG_FIELDS);
  while (low < high) {
    const middle = (low + high) >> 1;
    const field = table + <usize>middle * FIELD_ENTRY_BYTES;
    const at = Mem.u16At(field + FIELD_SLOT);
    if (at == slot) return field;
    if (at < slot) low = middle + 1;
    else high = middle;
  }
  return 0;
}

/**
 * True if two field entries have the same slot, type and flags. FLAG_REQUIRED is left out: it matters only
 * when a document arrives, and re-indexed and moved segments lack it.
 */
export function describesSame(one: usize, other: usize): bool {
  return ((Mem.u32At(one) ^ Mem.u32At(other)) & DESCRIPTION_BITS) == 0;
}
