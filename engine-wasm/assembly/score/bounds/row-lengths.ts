// A segment's row lengths as scoring uses them. Computes a lower bound on a row's saturation from one field's
// length, and a single row's saturation without scoring the row. Reads no posting lists.

import { allHaveNorms, leastNormOf, summaryOfSlot } from "../../columns/summaries";
import { FIELD_LENGTHS } from "../../layout";
import { scratch, scratchZeroed } from "../../memory/arena";
import { Mem } from "../../memory/mem";
import { encodeNorm } from "../../memory/norm";
import { NORMS } from "../../program/length-tables";
import { SearchProgram } from "../../program/search-program";
import { findField, Seg } from "../../segment/segment";
import { WordScores } from "../score-words";

const NORM_OF_ONE: usize = 8; // in an f64 table indexed by norm byte: offset of the entry for one token
const TOKENS_MOST: f64 = 1048576;
// Maximum factor for a norm byte, so that the sum of two products stays below 2^16.
const FACTOR_MOST: f64 = 128;
const TABLE_BYTES: usize = NORMS << 3;

/** A slot whose lengths differ between rows. */
@unmanaged
class SlotLength {
  varies: f64; // the slot's mean length minus `least`: an estimate of how much lengths differ
  least: f64; // the least that the slot contributes to any row's length
  norms: usize;
  lengths: usize; // f64 by norm byte: what the slot contributes to a row's length
  middle: u32; // norm byte of a row of average length
}

const SLOT_LENGTH_BYTES: usize = (offsetof<SlotLength>() + 7) & ~7;

/** Row lengths in the current segment. Allocated in scratch memory. */
@unmanaged
export class RowLengths {
  program: SearchProgram;
  words: WordScores;
  segment: usize;
  summary: usize;
  rows: u32;
  found: bool; // whether the fields below have been computed for the current segment
  slots: usize; // SlotLength records, the one with the largest `varies` first
  slotCount: u32;
  shortest: f64; // lower bound on the length of any row
  saturations: usize; // for each slot index, an f64 table by norm byte (see `leastSaturations`)
  /** Lower bound on any row's saturation. */
  leastSaturation: f64;
  // A row's length is at least base + (first norm * firstFactor + second norm * secondFactor) / scale. See
  // short-rows.ts.
  base: f64;
  scale: f64; // 0 = the bound is just `base`, because all rows have about the same length
  firstNorms: usize;
  secondNorms: usize;
  firstFactor: u32;
  secondFactor: u32;

  static make(program: SearchProgram, words: WordScores): RowLengths {
    const made = changetype<RowLengths>(scratchZeroed(offsetof<RowLengths>()));
    made.program = program;
    made.words = words;
    return made;
  }

  /**
   * Starts a new segment. `summary` is 0 if the segment has no summary. `words` must have started the segment
   * already.
   */
  beginSegment(segment: usize, summary: usize): void {
    this.segment = segment;
    this.summary = summary;
    this.rows = Seg.rows(segment);
    this.found = false;
  }

  /** Measures the row lengths in the current segment, unless that has been done already. */
  need(): void {
    if (this.found) return;
    this.found = true;
    const program = this.program;
    if (this.slots == 0) {
      this.slots = scratch(<usize>program.slotCount * SLOT_LENGTH_BYTES);
      this.saturations = scratch(<usize>program.slotCount * TABLE_BYTES);
    }
    this.slotCount = 0;
    this.shortest = 0;
    for (let index: u32 = 0; index < program.slotCount; index++)
      if (this.words.normsOf(index) != 0) this.addSlot(index);
    this.leastSaturation = this.saturation(this.shortest);
    for (let index: u32 = 0; index < program.slotCount; index++) this.putLeastSaturations(index);
    this.findLine();
  }

  private slotAt(i: u32): SlotLength {
    return changetype<SlotLength>(this.slots + <usize>i * SLOT_LENGTH_BYTES);
  }

  private addSlot(index: u32): void {
    const least = this.leastOf(index);
    const varies = this.meanOf(index) - least;
    let to = this.slotCount++;
    for (; to > 0 && this.slotAt(to - 1).varies < varies; to--)
      Mem.copy(changetype<usize>(this.slotAt(to)), changetype<usize>(this.slotAt(to - 1)), SLOT_LENGTH_BYTES);
    const slot = this.slotAt(to);
    slot.varies = varies;
    slot.least = least;
    slot.norms = this.words.normsOf(index);
    slot.lengths = this.program.slotLengths(index);
    slot.middle = min<u32>(encodeNorm(<u32>min(this.tokensOf(index), TOKENS_MOST)), NORMS - 2);
    this.shortest += least;
  }

  /** The least that a slot adds to any row's length. */
  private leastOf(index: u32): f64 {
    const program = this.program;
    const entry = summaryOfSlot(this.summary, program.slots.at(index));
    if (!allHaveNorms(entry) || this.words.normsOf(index) == 0) return 0;
    return Mem.f64At(program.slotLengths(index) + ((<usize>leastNormOf(entry)) << 3));
  }

  /** A slot's average contribution to a row's length. */
  private meanOf(index: u32): f64 {
    return this.tokensOf(index) * Mem.f64At(this.program.slotLengths(index) + NORM_OF_ONE);
  }

  private tokensOf(index: u32): f64 {
    const field = findField(this.segment, this.program.slots.at(index));
    return Mem.f64At(field + FIELD_LENGTHS) / <f64>this.rows;
  }

  /** Saturation of a row with this length. */
  saturation(length: f64): f64 {
    const program = this.program;
    return program.shortest + program.perToken * min(length, program.longest);
  }

  /** Fits a linear lower bound to the row lengths, using the two slots with the largest spread. */
  private findLine(): void {
    this.base = this.shortest;
    this.scale = 0;
    if (this.slotCount == 0) return;
    const first = this.slotAt(0);
    const second = this.slotAt(min<u32>(1, this.slotCount - 1));
    const firstRise = this.riseOf(first);
    const secondRise = this.slotCount > 1 ? this.riseOf(second) : 0;
    const most = max(firstRise, secondRise);
    if (most == 0) return;
    this.scale = FACTOR_MOST / most;
    this.firstNorms = first.norms;
    this.secondNorms = second.norms;
    this.firstFactor = <u32>(firstRise * this.scale);
    this.secondFactor = <u32>(secondRise * this.scale);
    this.base += this.offsetOf(first, firstRise);
    if (this.slotCount > 1) this.base += this.offsetOf(second, secondRise);
  }

  /** Slope of the line for a slot's length as a function of the norm byte, near the average row. */
  private riseOf(slot: SlotLength): f64 {
    const at = slot.lengths + ((<usize>slot.middle) << 3);
    return Mem.f64At(at + 8) - Mem.f64At(at);
  }

  /** Intercept of the slot's line, relative to the slot's least length. */
  private offsetOf(slot: SlotLength, rise: f64): f64 {
    return Mem.f64At(slot.lengths + ((<usize>slot.middle) << 3)) - rise * <f64>slot.middle - slot.least;
  }

  /**
   * Fills `leastSaturations(index)`. For each of a row's other fields, assumes the least length that any row
   * has in that field.
   */
  private putLeastSaturations(index: u32): void {
    const program = this.program;
    const others = f64x2.splat(max(this.shortest - this.leastOf(index), 0));
    const longest = f64x2.splat(program.longest);
    const fixed = f64x2.splat(program.shortest);
    const perToken = f64x2.splat(program.perToken);
    const lengths = program.slotLengths(index);
    const to = this.leastSaturations(index);
    for (let norm: usize = 0; norm < TABLE_BYTES; norm += 16) {
      const length = f64x2.min(f64x2.add(others, Mem.v128At(lengths + norm)), longest);
      Mem.putV128(to + norm, f64x2.add(fixed, f64x2.mul(perToken, length)));
    }
  }

  /**
   * Returns a table, f64 by norm byte: approximate lower bound on the saturation of a row whose field in this
   * slot has that norm byte. It is approximate because scoring rounds differently.
   */
  leastSaturations(index: u32): usize {
    return this.saturations + <usize>index * TABLE_BYTES;
  }

  /**
   * Approximate saturation of a row (scoring rounds differently). May stop early and return a value that is
   * too small once `sum` is known to be below `needed` times the saturation.
   */
  saturationOf(row: u32, sum: f64, needed: f64): f64 {
    const count = this.slotCount;
    let length = this.shortest;
    let saturation = this.leastSaturation;
    for (let i: u32 = 0; i < count; i++) {
      const slot = this.slotAt(i);
      length += Mem.f64At(slot.lengths + ((<usize>Mem.u8At(slot.norms + row)) << 3)) - slot.least;
      saturation = this.saturation(length);
      if (sum < needed * saturation) return saturation;
    }
    return saturation;
  }
}
