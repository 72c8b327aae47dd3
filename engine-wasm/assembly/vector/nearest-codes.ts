// Finds the rows whose codes differ from a query's code in the fewest bits. All distances are computed and
// counted. The counts yield the cut-off distance and the number of rows to skip at that distance, so the
// result is exact, at the same cost for any distribution of distances. Rows are processed in ascending
// sequence number order, segment by segment.

import { checkDeadline } from "../env";
import {
  CODE_BYTES,
  NEAREST_DISTANCE,
  NEAREST_ESTIMATE,
  NEAREST_ROW_BYTES,
  NEAREST_SEQ,
  VECTOR_SIZE,
} from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Bits, bitsAnd, bitsCount } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Seg } from "../segment/segment";
import { Codes } from "./codes";
import { BLOCK_WORDS, Comparison } from "./comparison";
import { Estimates } from "./estimate";

const SIZE: u32 = VECTOR_SIZE;
const DISTANCES: u32 = SIZE + 1; // number of possible distances: 0..SIZE
const WORDS_A_CHECK: u32 = 1024; // number of bitset words between two deadline checks
const LANES_BYTES: usize = 16;

/** The compared rows of one segment. */
@unmanaged
class Part {
  segment: usize;
  codes: usize;
  bits: usize; // bitset: the rows that were compared
  distances: usize; // u16 distances of the compared rows, in row order, followed by LANES_BYTES of padding
}

const PART_BYTES: usize = offsetof<Part>();

/** The code of the vector f32[VECTOR_SIZE], in scratch memory. */
function codeOf(vector: usize): usize {
  const code = scratchZeroed(CODE_BYTES);
  for (let i: u32 = 0; i < SIZE; i++) if (Mem.f32At(vector + ((<usize>i) << 2)) >= 0) Bits.add(code, i);
  return code;
}

/**
 * True if any of the first `count` (at most 64) distances is <= `most`. Padding in the last 16-byte lane may
 * also count.
 */
function anyWithin(distances: usize, count: usize, most: u32): bool {
  const limit = i16x8.splat(<i16>most);
  const end = distances + (count << 1);
  let any = i16x8.splat(0);
  for (let at = distances; at < end; at += LANES_BYTES) any = v128.or(any, i16x8.le_u(Mem.v128At(at), limit));
  return v128.any_true(any);
}

/** The rows compared with one query, and the nearest rows among them. Allocated in scratch memory. */
@unmanaged
export class NearestCodes {
  /** Number of rows compared. */
  compared: u32;
  /** Number of rows kept by `select`. */
  kept: u32;
  private query: usize; // f32[VECTOR_SIZE]
  private comparison: Comparison;
  // u32 by distance: number of compared rows. Once `select` has started: where to write the next row at that
  // distance, as index + 1.
  private counts: usize;
  private parts: usize;
  private partCount: u32;
  private cut: u32; // largest distance that a kept row has
  private skipped: u32; // number of rows at distance `cut` that are yet to be dropped, oldest first
  private rows: usize; // the kept rows as NEAREST_* records, NEAREST_ROW_BYTES each
  private estimates: usize;

  /** Creates a comparison of at most `segments` segments. `query` is not copied, so it must stay in place. */
  static make(query: usize, segments: u32): NearestCodes {
    const made = changetype<NearestCodes>(scratchZeroed(offsetof<NearestCodes>()));
    made.query = query;
    made.counts = scratchZeroed((<usize>DISTANCES) << 2);
    made.comparison = Comparison.make(codeOf(query), made.counts);
    made.parts = scratch(<usize>segments * PART_BYTES);
    return made;
  }

  /**
   * Compares those rows of the bitset `bits` that have a code, and removes the other rows from `bits`.
   * Segments must be added in ascending order of sequence numbers.
   */
  add(segment: usize, codes: usize, bits: usize): void {
    const rows = Seg.rows(segment);
    if (CHECKED) assert(Codes.rows(codes) == rows, "codes are those of their segment");
    bitsAnd(bits, Codes.present(codes), rows);
    // Another thread may own the codes and add to them concurrently.
    Mem.readInOrder(changetype<usize>(this));
    const count = bitsCount(bits, rows);
    if (count == 0) return;
    const part = this.partAt(this.partCount++);
    part.segment = segment;
    part.codes = codes;
    part.bits = bits;
    part.distances = scratch(((<usize>count) << 1) + LANES_BYTES);
    this.compared += count;
    let to = part.distances;
    const words = Bits.words(rows);
    const comparison = this.comparison;
    comparison.bits = bits;
    comparison.codes = Codes.first(codes);
    comparison.codesEnd = comparison.codes + <usize>rows * CODE_BYTES;
    for (let word: u32 = 0; word < words; word += BLOCK_WORDS) {
      if (word % WORDS_A_CHECK == 0) checkDeadline();
      to = comparison.compare(word, min(words, word + BLOCK_WORDS), to);
    }
    if (CHECKED) assert(to == part.distances + ((<usize>count) << 1), "each row has a distance");
    for (let end = to + LANES_BYTES; to < end; to += 2) Mem.putU16(to, DISTANCES);
  }

  private partAt(i: u32): Part {
    return changetype<Part>(this.parts + <usize>i * PART_BYTES);
  }

  private countAt(distance: u32): usize {
    return this.counts + ((<usize>distance) << 2);
  }

  /**
   * Keeps the `wanted` nearest rows; of equally distant rows, the newest first. Returns the address of the
   * rows, stored in that order as NEAREST_* records. No segment may be added afterwards.
   */
  select(wanted: u32): usize {
    this.kept = min(wanted, this.compared);
    this.rows = scratch(<usize>this.kept * NEAREST_ROW_BYTES);
    if (this.kept == 0) return this.rows;
    this.findCut();
    this.estimates = Estimates.make(this.query);
    for (let i: u32 = 0; i < this.partCount; i++) this.keepRows(this.partAt(i));
    if (CHECKED)
      assert(
        Mem.u32At(this.countAt(this.cut)) <= this.kept && this.skipped == 0,
        "rows are where they belong",
      );
    return this.rows;
  }

  /** Finds the cut-off distance, and turns the counts up to it into end positions in the result. */
  private findCut(): void {
    let end: u32 = 0;
    let distance: u32 = 0;
    for (; ; distance++) {
      end += Mem.u32At(this.countAt(distance));
      if (end >= this.kept) break;
      Mem.putU32(this.countAt(distance), end);
    }
    this.cut = distance;
    this.skipped = end - this.kept;
    Mem.putU32(this.countAt(distance), this.kept);
  }

  private keepRows(part: Part): void {
    const words = Bits.words(Seg.rows(part.segment));
    let distances = part.distances;
    for (let word: u32 = 0; word < words; word++) {
      if (word % WORDS_A_CHECK == 0) checkDeadline();
      const rest = Bits.word(part.bits, word);
      if (rest == 0) continue;
      const count = <usize>popcnt(rest);
      if (anyWithin(distances, count, this.cut)) this.keepOfWord(part, word << 6, rest, distances);
      distances += count << 1;
    }
  }

  private keepOfWord(part: Part, first: u32, rest: u64, distances: usize): void {
    const cut = this.cut;
    for (; rest != 0; rest &= rest - 1) {
      const distance = Mem.u16At(distances);
      distances += 2;
      if (distance > cut) continue;
      if (distance == cut && this.skipped > 0) this.skipped--;
      else this.keep(part, first + <u32>ctz(rest), distance);
    }
  }

  /** Places a row before the rows with the same distance that were added earlier. */
  private keep(part: Part, row: u32, distance: u32): void {
    const end = this.countAt(distance);
    const place = Mem.u32At(end) - 1;
    if (CHECKED) assert(place < this.kept, "a row that is kept has a place");
    Mem.putU32(end, place);
    const to = this.rows + <usize>place * NEAREST_ROW_BYTES;
    Mem.putF64(to + NEAREST_SEQ, <f64>Seg.seq(part.segment, row));
    Mem.putU32(to + NEAREST_DISTANCE, distance);
    Mem.putF32(to + NEAREST_ESTIMATE, Estimates.of(this.estimates, Codes.at(part.codes, row)));
  }
}
