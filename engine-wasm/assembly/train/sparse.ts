// The document-term matrix that a model is trained on, and its products with dense matrices. A document's row
// contains its heaviest terms and has length 1. The matrix is stored twice, by document and by term, so that
// a product in either direction reads whole rows of the dense matrix and writes each row once.

import { release, reserve } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Features } from "../model/features";
import { HEAVIEST_BYTES, Heaviest } from "../model/heaviest";
import { TermRows } from "../model/term-rows";
import { failed } from "../status";
import { Chosen, Vocabulary } from "./vocabulary";

const ENTRY_BYTES: usize = 8; // an entry: {u32 document or term, f32 value}

/** Row starts and entries, by document and by term. Occupies SPARSE_BYTES. */
@unmanaged
export class Sparse {
  documents: u32;
  terms: u32;
  byDocument: usize; // u32[documents + 1]: where each document's entries start
  documentEntries: usize;
  byTerm: usize; // u32[terms + 1]: where each term's entries start
  termEntries: usize;

  /**
   * Fills the matrix from the chosen terms' lists. Returns false, with the status recorded, if a list is
   * damaged.
   */
  make(features: Features, rows: TermRows, chosen: Chosen): bool {
    this.documents = features.rows;
    this.terms = chosen.count;
    const heaviest = reserve(<usize>this.documents * HEAVIEST_BYTES);
    for (let row: usize = 0; row < <usize>this.documents; row++)
      Heaviest.clear(heaviest + row * HEAVIEST_BYTES);
    for (let i: u32 = 0; i < chosen.count && !failed(); i++) {
      features.openTerm(Vocabulary.term(chosen.entries, i));
      rows.read(features);
      offerAll(heaviest, rows, i, Vocabulary.weight(chosen.entries, i));
      rows.clear();
    }
    this.takeDocuments(heaviest);
    release(heaviest);
    this.turn();
    return !failed();
  }

  private takeDocuments(heaviest: usize): void {
    this.byDocument = reserve((<usize>this.documents + 1) << 2);
    let count: u32 = 0;
    for (let row: u32 = 0; row < this.documents; row++) {
      Mem.putU32(this.byDocument + ((<usize>row) << 2), count);
      count += Heaviest.count(heaviest + <usize>row * HEAVIEST_BYTES);
    }
    Mem.putU32(this.byDocument + ((<usize>this.documents) << 2), count);
    this.documentEntries = reserve(<usize>count * ENTRY_BYTES);
    let to = this.documentEntries;
    for (let row: u32 = 0; row < this.documents; row++) {
      const from = heaviest + <usize>row * HEAVIEST_BYTES;
      const terms = Heaviest.count(from);
      let square: f64 = 0;
      for (let i: u32 = 0; i < terms; i++) {
        square += <f64>Heaviest.coefficient(from, i) * <f64>Heaviest.coefficient(from, i);
      }
      const scale = <f32>(1 / Math.sqrt(square)); // infinite, but unused, if the document has no terms
      for (let i: u32 = 0; i < terms; i++) {
        Mem.putU32(to, Heaviest.term(from, i));
        Mem.putF32(to + 4, Heaviest.coefficient(from, i) * scale);
        to += ENTRY_BYTES;
      }
    }
  }

  /** Transposes the entries by document into entries by term. */
  private turn(): void {
    const count = Mem.u32At(this.byDocument + ((<usize>this.documents) << 2));
    const bytes = (<usize>this.terms + 1) << 2;
    const starts = reserve(bytes);
    this.byTerm = starts;
    this.termEntries = reserve(<usize>count * ENTRY_BYTES);
    Mem.fill(starts, 0, bytes);
    const end = this.documentEntries + <usize>count * ENTRY_BYTES;
    for (let at = this.documentEntries; at < end; at += ENTRY_BYTES) {
      const place = starts + ((<usize>Mem.u32At(at)) << 2);
      Mem.putU32(place, Mem.u32At(place) + 1);
    }
    let sum: u32 = 0; // each start is first set to its term's end, then moves back entry by entry
    for (let place = starts; place < starts + bytes; place += 4) {
      sum += Mem.u32At(place);
      Mem.putU32(place, sum);
    }
    for (let row = this.documents; row-- > 0; ) {
      const from =
        this.documentEntries + <usize>Mem.u32At(this.byDocument + ((<usize>row) << 2)) * ENTRY_BYTES;
      const to =
        this.documentEntries + <usize>Mem.u32At(this.byDocument + ((<usize>row) << 2) + 4) * ENTRY_BYTES;
      for (let at = from; at < to; at += ENTRY_BYTES) {
        const place = starts + ((<usize>Mem.u32At(at)) << 2);
        const entry = Mem.u32At(place) - 1;
        Mem.putU32(place, entry);
        Mem.putU32(this.termEntries + <usize>entry * ENTRY_BYTES, row);
        Mem.putF32(this.termEntries + <usize>entry * ENTRY_BYTES + 4, Mem.f32At(at + 4));
      }
    }
  }

  drop(): void {
    release(this.byDocument);
    release(this.documentEntries);
    release(this.byTerm);
    release(this.termEntries);
  }
}

export const SPARSE_BYTES: usize = offsetof<Sparse>();

function offerAll(heaviest: usize, rows: TermRows, term: u32, weight: f32): void {
  for (let i: u32 = 0; i < rows.count; i++) {
    const row = rows.row(i);
    const value = <f32>Math.log(1 + <f64>rows.frequency(row)) * weight;
    Heaviest.offer(heaviest + <usize>row * HEAVIEST_BYTES, term, value);
  }
}

/**
 * Computes document rows: the matrix times term rows. Uses only the first `width` numbers in a row; `width`
 * is a multiple of 8.
 */
export function documentRows(
  sparse: Sparse,
  terms: usize,
  stride: usize,
  width: u32,
  documents: usize,
): void {
  for (let row: u32 = 0; row < sparse.documents; row++) {
    const starts = sparse.byDocument + ((<usize>row) << 2);
    addUp(starts, sparse.documentEntries, terms, stride, width, documents + <usize>row * stride);
  }
}

/** Computes term rows: the transposed matrix times document rows. */
export function termRows(sparse: Sparse, documents: usize, stride: usize, width: u32, terms: usize): void {
  for (let term: u32 = 0; term < sparse.terms; term++) {
    const starts = sparse.byTerm + ((<usize>term) << 2);
    addUp(starts, sparse.termEntries, documents, stride, width, terms + <usize>term * stride);
  }
}

/**
 * Adds up the rows that one document's or term's entries refer to, each multiplied by the entry's value, and
 * writes the sum to `to`. `starts` is the address of the u32 index of its first entry; the next u32 is the
 * end index.
 */
function addUp(starts: usize, entries: usize, rows: usize, stride: usize, width: u32, to: usize): void {
  const bytes = (<usize>width) << 2;
  Mem.fill(to, 0, bytes);
  let at = entries + <usize>Mem.u32At(starts) * ENTRY_BYTES;
  const end = entries + <usize>Mem.u32At(starts + 4) * ENTRY_BYTES;
  for (; at + ENTRY_BYTES < end; at += 2 * ENTRY_BYTES) {
    const a = rows + <usize>Mem.u32At(at) * stride;
    const b = rows + <usize>Mem.u32At(at + ENTRY_BYTES) * stride;
    addTwo(to, a, Mem.splatAt(at + 4), b, Mem.splatAt(at + ENTRY_BYTES + 4), bytes);
  }
  if (at < end) {
    const a = rows + <usize>Mem.u32At(at) * stride;
    addTwo(to, a, Mem.splatAt(at + 4), a, f32x4.splat(0), bytes);
  }
}

function addTwo(to: usize, a: usize, x: v128, b: usize, y: v128, bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += 16) {
    const sum = f32x4.add(f32x4.mul(Mem.v128At(a + at), x), f32x4.mul(Mem.v128At(b + at), y));
    Mem.putV128(to + at, f32x4.add(Mem.v128At(to + at), sum));
  }
}
