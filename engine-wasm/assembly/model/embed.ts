// Embeds a segment's rows: each row's vector is the weighted sum of its heaviest terms. The work runs in
// steps, so that the instance can run other kernels in between. First it finds the segment's terms that the
// model contains. Then it processes ranges of rows: it reads the terms' posting lists to find each row's
// heaviest terms in the range, and then combines these terms.
//
//   region: | Embedding | Features | known: {u32 term of the segment, u32 of the model} ... | rows of a term |
//           | heaviest terms by row of the range | logarithms | sums | records |

import { MODEL_SLOTS, SEG_HEADER_BYTES, SEG_ROWS, SEG_TERMS, STATUS_DAMAGED, VECTOR_BYTES } from "../layout";
import { release, reserve, scratchReset } from "../memory/arena";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { compareBytes } from "../memory/order";
import { failed, status, statusReset } from "../status";
import { COMBINATION_BYTES, combine, putRecord } from "./combine";
import { FEATURES_BYTES, Features } from "./features";
import { HEAVIEST_BYTES, Heaviest } from "./heaviest";
import { LOGARITHMS_BYTES, Logarithms } from "./logarithms";
import { Model, modelLowerBound } from "./model";
import { TermRows } from "./term-rows";

const RANGE_ROWS: u32 = 4096;
const RECORDS_A_STEP: u32 = 64;
const UNITS_A_STEP: i32 = 4000; // number of work units per step; a unit takes about a tenth of a microsecond
const UNITS_A_LIST: i32 = 2;
const UNITS_A_TERM: i32 = 4;
const KNOWN_BYTES: usize = 8;

@unmanaged
class Embedding {
  model: usize;
  segmentRows: u32;
  known: usize;
  knownCount: u32;
  term: u32; // next term in the segment to look up; then, once `matched`, next known term to process
  place: u32; // index in the model at which the search for the next term starts
  matched: u32; // 1 = all the segment's terms have been looked up in the model
  termRows: TermRows;
  heaviest: usize;
  logarithms: Logarithms;
  sums: usize;
  records: usize;
  from: u32; // the rows being embedded are [from, to)
  to: u32;
  row: u32; // the next row to combine; stays at `from` until all the lists have been read for these rows
  units: i32;

  @inline get features(): Features {
    return changetype<Features>(changetype<usize>(this) + EMBEDDING_BYTES);
  }
}

const EMBEDDING_BYTES: usize = (offsetof<Embedding>() + 15) & ~15;

/**
 * Starts embedding a segment. The `bytes` bytes at `segment` are the parts of the segment listed in
 * features.ts, without the `skipped` bytes between them. The model and the segment must stay in place until
 * `embedEnd`. Returns the state, a region that `embedEnd` frees, or -STATUS_DAMAGED.
 */
export function embedBegin(model: usize, segment: usize, bytes: u32, skipped: u32): i32 {
  statusReset();
  if (bytes < <u32>SEG_HEADER_BYTES) return -STATUS_DAMAGED;
  const rows = min(Mem.u32At(segment + SEG_ROWS), RANGE_ROWS);
  // A term takes at least 4 bytes for its offset, so the segment's length limits the number of terms.
  const terms = min(min(Mem.u32At(segment + SEG_TERMS), bytes >> 2), Model.terms(model));
  const knownBytes = Mem.aligned(<usize>terms * KNOWN_BYTES);
  const rowBytes = TermRows.bytes(rows);
  const heaviestBytes = Mem.aligned(<usize>rows * HEAVIEST_BYTES);
  const recordBytes: usize = RECORDS_A_STEP * VECTOR_BYTES;
  const head = EMBEDDING_BYTES + Mem.aligned(FEATURES_BYTES);
  const parts = knownBytes + rowBytes + heaviestBytes + LOGARITHMS_BYTES + COMBINATION_BYTES + recordBytes;
  const state = reserve(head + parts);
  const e = changetype<Embedding>(state);
  Mem.fill(state, 0, head);
  e.model = model;
  e.known = state + head;
  e.termRows = TermRows.make(e.known + knownBytes, rows);
  e.heaviest = e.known + knownBytes + rowBytes;
  e.logarithms = changetype<Logarithms>(e.heaviest + heaviestBytes);
  e.sums = changetype<usize>(e.logarithms) + LOGARITHMS_BYTES;
  e.records = e.sums + COMBINATION_BYTES;
  e.logarithms.clear();
  if (!e.features.open(segment, bytes, skipped, Model.slotTable(model), Mem.u32At(model + MODEL_SLOTS))) {
    release(state);
    return -status();
  }
  e.segmentRows = e.features.rows;
  beginRange(e, 0);
  return <i32>state;
}

/** Frees the state, whether or not the embedding is complete. */
export function embedEnd(state: usize): void {
  release(state);
}

/** Address of the records that the last `embedStep` produced. */
export function embedRecords(state: usize): usize {
  return changetype<Embedding>(state).records;
}

/**
 * Works for a fraction of a millisecond and releases all scratch memory. Returns the number of records
 * produced for the next rows, in row order; often 0. After -STATUS_DAMAGED only `embedEnd` may be called.
 * Must not be called once all rows have records.
 */
export function embedStep(state: usize): i32 {
  const e = changetype<Embedding>(state);
  if (CHECKED) assert(e.from < e.segmentRows, "an embedding goes on only while rows are left");
  scratchReset(0);
  statusReset();
  e.units = UNITS_A_STEP;
  if (e.matched == 0) matchTerms(e);
  else if (e.term < e.knownCount) readLists(e);
  else return combineRows(e);
  return failed() ? -status() : 0;
}

function beginRange(e: Embedding, from: u32): void {
  e.from = from;
  e.to = min(e.segmentRows, from + RANGE_ROWS);
  e.row = from;
  if (e.matched != 0) e.term = 0;
  const rows = e.to - from;
  for (let i: usize = 0; i < <usize>rows; i++) Heaviest.clear(e.heaviest + i * HEAVIEST_BYTES);
}

/**
 * Looks up the segment's terms in the model. Both are sorted, so each search starts where the previous one
 * ended.
 */
function matchTerms(e: Embedding): void {
  const f = e.features;
  const model = e.model;
  for (; e.units > 0 && e.term < f.terms && e.place < Model.terms(model); e.units -= UNITS_A_TERM) {
    const term = e.term++;
    if (!f.openTerm(term)) {
      if (failed()) return;
      continue;
    }
    const place = modelLowerBound(model, e.place, f.at, f.length);
    e.place = place;
    if (place == Model.terms(model)) break;
    if (compareBytes(Model.termAt(model, place), Model.termLength(model, place), f.at, f.length) != 0)
      continue;
    const entry = e.known + <usize>e.knownCount * KNOWN_BYTES;
    Mem.putU32(entry, term);
    Mem.putU32(entry + 4, place);
    e.knownCount++;
    // Skips this model term: even if a damaged segment repeats a term, no model term is matched twice.
    e.place = place + 1;
  }
  if (e.term < f.terms && e.place < Model.terms(model)) return;
  e.matched = 1;
  e.term = 0;
}

/** Offers each known term to those of the range's rows that contain it (Heaviest.offer). */
function readLists(e: Embedding): void {
  const f = e.features;
  const rows = e.termRows;
  rows.from = e.from;
  rows.to = e.to;
  while (e.units > 0 && e.term < e.knownCount) {
    const entry = e.known + <usize>e.term * KNOWN_BYTES;
    e.term++;
    f.openTerm(Mem.u32At(entry));
    rows.read(f);
    e.units -= UNITS_A_LIST + <i32>rows.count;
    if (!failed()) offerAll(e, Mem.u32At(entry + 4));
    rows.clear();
    if (failed()) return;
  }
}

/** Offers a term to the rows that were just read for it. */
function offerAll(e: Embedding, term: u32): void {
  const factor = Model.factor(e.model, term);
  const rows = e.termRows;
  const logarithms = e.logarithms;
  for (let i: u32 = 0; i < rows.count; i++) {
    const row = rows.row(i);
    const coefficient = logarithms.onePlus(rows.frequency(row)) * factor;
    Heaviest.offer(e.heaviest + <usize>row * HEAVIEST_BYTES, term, coefficient);
  }
}

/** Produces the records for the next rows in the range. After the last row, starts the next range. */
function combineRows(e: Embedding): i32 {
  const count = min(e.to - e.row, RECORDS_A_STEP);
  for (let i: usize = 0; i < <usize>count; i++) {
    combine(e.model, e.heaviest + (<usize>(e.row - e.from) + i) * HEAVIEST_BYTES, e.sums);
    putRecord(e.sums, e.records + i * VECTOR_BYTES);
  }
  e.row += count;
  if (e.row == e.to) beginRange(e, e.to);
  return <i32>count;
}
