// Chooses a model's terms, up to a maximum, from the terms in at least two documents. Terms in more documents
// are preferred; among equals, earlier terms. Each term has a log-entropy weight: near 1 if it is in few
// documents, 0 if it is equally frequent in all (Dumais, "Improving the retrieval of information from
// external sources", 1991).
//
//   entries: {u32 term of the segment, u32 documents, f32 weight} ... ascending by term

import { release, reserve, shrink } from "../memory/arena";
import { Mem } from "../memory/mem";
import { Features } from "../model/features";
import { TermRows } from "../model/term-rows";
import { failed } from "../status";

const DOCUMENTS_LEAST: u32 = 2;

const TERM: usize = 0;
const DOCUMENTS: usize = 4;
const WEIGHT: usize = 8;
const ENTRY_BYTES: usize = 12;

export abstract class Vocabulary {
  @inline static term(entries: usize, i: u32): u32 {
    return Mem.u32At(entries + <usize>i * ENTRY_BYTES + TERM);
  }
  @inline static weight(entries: usize, i: u32): f32 {
    return Mem.f32At(entries + <usize>i * ENTRY_BYTES + WEIGHT);
  }
  @inline static documents(entries: usize, i: u32): u32 {
    return Mem.u32At(entries + <usize>i * ENTRY_BYTES + DOCUMENTS);
  }
}

/** The chosen terms: `count` entries at `entries`, which is a region. */
@unmanaged
export class Chosen {
  entries: usize;
  count: u32;
}

/** Chooses at most `most` terms from a segment's features. Damage is recorded in the status. */
export function chooseTerms(chosen: Chosen, features: Features, rows: TermRows, most: u32): void {
  const entries = reserve(<usize>features.terms * ENTRY_BYTES);
  const spread = Math.log(max<f64>(2, <f64>features.rows));
  let count: u32 = 0;
  for (let term: u32 = 0; term < features.terms && !failed(); term++) {
    if (!features.openTerm(term)) continue;
    rows.read(features);
    if (rows.count >= DOCUMENTS_LEAST) {
      const entry = entries + <usize>count * ENTRY_BYTES;
      Mem.putU32(entry + TERM, term);
      Mem.putU32(entry + DOCUMENTS, rows.count);
      Mem.putF32(entry + WEIGHT, entropyWeight(rows, spread));
      count++;
    }
    rows.clear();
  }
  chosen.entries = entries;
  chosen.count = count <= most ? count : cut(entries, count, most, features.rows);
  shrink(entries, <usize>chosen.count * ENTRY_BYTES);
}

/** 1 + sum(p ln p) / ln(documents), where p is each document's share of the term's total frequency. */
function entropyWeight(rows: TermRows, spread: f64): f32 {
  let all: f64 = 0;
  let sum: f64 = 0;
  for (let i: u32 = 0; i < rows.count; i++) {
    const frequency = <f64>rows.frequency(rows.row(i));
    all += frequency;
    if (frequency != 1) sum += frequency * Math.log(frequency);
  }
  return <f32>max<f64>(0, 1 + (sum / all - Math.log(all)) / spread);
}

/** Keeps the `most` entries with the most documents, without reordering them. Returns the number kept. */
function cut(entries: usize, count: u32, most: u32, documents: u32): u32 {
  // u32 by number of documents: number of entries with that many.
  const tally = reserve((<usize>documents + 1) << 2);
  Mem.fill(tally, 0, (<usize>documents + 1) << 2);
  for (let i: u32 = 0; i < count; i++) {
    const place = tally + ((<usize>Vocabulary.documents(entries, i)) << 2);
    Mem.putU32(place, Mem.u32At(place) + 1);
  }
  // Entries with fewer documents are dropped; of those with exactly this many, the first `left` are kept.
  let least = documents;
  let left = most;
  while (least > 0 && Mem.u32At(tally + ((<usize>least) << 2)) <= left) {
    left -= Mem.u32At(tally + ((<usize>least) << 2));
    least--;
  }
  release(tally);
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const documents = Vocabulary.documents(entries, i);
    if (documents < least || (documents == least && left == 0)) continue;
    if (documents == least) left--;
    Mem.copy(entries + <usize>kept * ENTRY_BYTES, entries + <usize>i * ENTRY_BYTES, ENTRY_BYTES);
    kept++;
  }
  return kept;
}
