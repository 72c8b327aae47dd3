// Sums of field lengths over a segment's live rows. The sum over all rows is stored when the segment is
// written. A query only has to read the deleted rows' lengths and subtract them.

import { FIELD_DOCUMENTS, FIELD_ENTRY_BYTES, FIELD_LENGTHS, SEG_FIELD_TABLE, SEG_FIELDS } from "../layout";
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { decodeNorm } from "../memory/norm";
import { Field, findField, Seg, Snap } from "./segment";

/**
 * Total length, in tokens, of a slot's texts, and the number of documents with a text in the slot. Allocated
 * in scratch memory.
 */
@unmanaged
export class Lengths {
  sum: f64;
  documents: f64;

  static make(): Lengths {
    return changetype<Lengths>(scratch(offsetof<Lengths>()));
  }

  /** Computes the sums over a snapshot's live rows. */
  sumOf(snapshot: usize, slot: u32): void {
    this.sum = 0;
    this.documents = 0;
    const segments = Snap.count(snapshot);
    for (let i: u32 = 0; i < segments; i++) this.add(Snap.segment(snapshot, i), Snap.live(snapshot, i), slot);
  }

  /** Adds a segment's live rows. `live` is the bitset of live rows, or 0 if all rows are live. */
  private add(segment: usize, live: usize, slot: u32): void {
    const field = findField(segment, slot);
    if (field == 0) return;
    const norms = Field.norms(segment, field);
    if (norms == 0) return;
    let sum = Mem.f64At(field + FIELD_LENGTHS);
    let documents = <f64>Mem.u32At(field + FIELD_DOCUMENTS);
    const rows: u32 = live == 0 ? 0 : Seg.rows(segment);
    for (let from: u32 = 0; from < rows; from += 64) {
      let dead = ~Bits.word(live, from >> 6);
      if (rows - from < 64) dead &= ((<u64>1) << (rows - from)) - 1;
      for (; dead != 0; dead &= dead - 1) {
        const norm = Mem.u8At(norms + from + <u32>ctz(dead));
        if (norm == 0) continue;
        sum -= <f64>decodeNorm(norm);
        documents--;
      }
    }
    this.sum += sum;
    this.documents += documents;
  }
}

/** Stores the total length of every text field, computed from its norms, in the segment's field table. */
export function storeLengths(segment: usize): void {
  const rows = Seg.rows(segment);
  let field = Seg.at(segment, SEG_FIELD_TABLE);
  for (let i = Mem.u32At(segment + SEG_FIELDS); i > 0; i--, field += FIELD_ENTRY_BYTES) {
    const norms = Field.norms(segment, field);
    if (norms == 0) continue;
    let sum: u64 = 0;
    let documents: u32 = 0;
    for (let row: u32 = 0; row < rows; row++) {
      const norm = Mem.u8At(norms + row);
      sum += <u64>decodeNorm(norm);
      documents += norm != 0 ? 1 : 0;
    }
    Mem.putU32(field + FIELD_DOCUMENTS, documents);
    Mem.putF64(field + FIELD_LENGTHS, <f64>sum);
  }
}
