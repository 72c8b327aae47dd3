// Scores numbered rows in one segment, one term at a time, list by list. docs/FORMATS.md prescribes the order
// of all floating-point operations: contributions are added to an alternative's sum by program term,
// dictionary term and slot, then the best alternative is chosen, then the words are added in order. Other
// files decide which rows are worth scoring.

import { checkDeadline } from "../env";
import { BLOCK_ROWS, STATUS_DAMAGED } from "../layout";
import { listAt } from "../match/alternative-lists";
import { scratch, scratchZeroed } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { CHECKED } from "../memory/checked";
import { Mem } from "../memory/mem";
import { Numbered, numberedRows } from "../memory/numbered";
import { Alternative, alternativeAt, SearchProgram, TIER_BEST, Word } from "../program/search-program";
import {
  BLOCK_BUFFER_BYTES,
  Cursor,
  cursorNextBlock,
  cursorRestart,
  cursorSeek,
  cursorUseBuffer,
  TERMINATED,
} from "../segment/postings";
import { Field, findField, Seg } from "../segment/segment";
import { fail, failed } from "../status";
import { INEXACT, MATCHED, TYPOS, TYPOS_COUNTED, wordBit } from "./row-state";

// If a list has more than this many postings per row to score, each row is sought in the list. Otherwise the
// list is read through.
const SEEK_ABOVE: u64 = 12;
const STEPS_A_CHECK: u32 = 0x4000; // a deadline check follows after this many `steps`
const NO_SUM: u64 = 0x8000000000000000; // the bits of -0: nothing has been added to the sum, not even 0
const NO_SCORE: u64 = 0xffffffffffffffff;

function fill(array: usize, value: u64, count: u32): void {
  const pair = i64x2.splat(value);
  const end = array + ((<usize>count) << 3);
  for (let at = array; at < end; at += 16) Mem.putV128(at, pair);
}

/** A slot's contribution to a row's length. */
function lengthAt(lengths: usize, norms: usize, row: u32): f64 {
  return Mem.f64At(lengths + ((<usize>Mem.u8At(norms + row)) << 3));
}

/**
 * Adds a posting's contribution, for `tf` occurrences, to the sum of the row numbered `number` in the set.
 */
function addSum(sums: usize, number: u32, tf: u32, occurrences: usize, norm: u32): void {
  const sum = sums + ((<usize>number) << 3);
  Mem.putF64(sum, Mem.f64At(sum) + <f64>tf * Mem.f64At(occurrences + ((<usize>norm) << 3)));
}

/** Scores sets of rows in the current segment. Allocated in scratch memory. */
@unmanaged
export class WordScores {
  program: SearchProgram;
  room: u32; // capacity of the arrays below, each indexed by a row's number in the set that is scored
  sums: usize; // f64: the current alternative's sum; callers may use this array between calls of `score`
  saturations: usize; // f64: the sum with which an alternative scores half of its maximum in the row
  best: usize; // f64: best score of any alternative of the current word
  wordState: usize; // u32: fewest typos of the current word in the row, and its INEXACT bit (row-state.ts)
  scores: usize; // f64: sum of the scores for all words
  // f64: upper bound on the score with all alternatives; filled only by score(..., bestOnly = true).
  uppers: usize;
  states: usize; // u32: each row's state (row-state.ts); filled only by score(..., states = true)
  // u64: set of the words in the row (row-state.ts); filled only by score(..., states = true).
  rowWords: usize;
  normsOfSlot: usize; // u32 address of the norm bytes by slot index; 0 = no row has a value
  buffer: usize;
  inSet: usize; // u8[]: indices of the current block's postings whose rows are in the set
  rows: u32; // number of rows in the segment
  // Whether to score only words whose `rows` is not 0, because the rows to score have no other word.
  leftOnly: bool;
  steps: u32; // number of postings read and rows rated since the last deadline check

  static make(program: SearchProgram): WordScores {
    const made = changetype<WordScores>(scratchZeroed(offsetof<WordScores>()));
    made.program = program;
    made.normsOfSlot = scratch((<usize>program.slotCount) << 2);
    made.buffer = scratch(BLOCK_BUFFER_BYTES);
    made.inSet = scratch(BLOCK_ROWS);
    return made;
  }

  /** Sets the segment whose rows are scored next. The words' lists must be open. */
  beginSegment(segment: usize): void {
    const program = this.program;
    this.rows = Seg.rows(segment);
    this.leftOnly = false;
    for (let i: u32 = 0; i < program.slotCount; i++) {
      const field = findField(segment, program.slots.at(i));
      Mem.putU32(this.normsOfSlot + ((<usize>i) << 2), field == 0 ? 0 : <u32>Field.norms(segment, field));
    }
  }

  /** Norm bytes of a slot, u8 by row; 0 if no row has a value. */
  normsOf(slotIndex: u32): usize {
    return <usize>Mem.u32At(this.normsOfSlot + ((<usize>slotIndex) << 2));
  }

  /**
   * Scores a set's rows. If `states`, also computes their states; otherwise every row must have every word.
   * If `bestOnly`, uses only TIER_BEST alternatives; every row must then have such an alternative for each
   * word.
   */
  score(set: Numbered, states: bool, bestOnly: bool): void {
    const program = this.program;
    const count = set.count;
    this.takeRoom(count);
    this.findSaturations(set);
    if (states) {
      Mem.fill(this.scores, 0, (<usize>count) << 3);
      Mem.fill(this.states, 0, (<usize>count) << 2);
      Mem.fill(this.rowWords, 0, (<usize>count) << 3);
    }
    for (let i: u32 = 0; i < program.wordCount && !failed(); i++) {
      const word = program.wordAt(i);
      if (this.leftOnly && word.rows == 0) continue;
      if (states) fill(this.best, NO_SCORE, count);
      let first = true;
      for (let j: u32 = 0; j < word.alternativeCount && !failed(); j++) {
        const alternative = alternativeAt(word, j);
        if (alternative.listCount == 0 || (bestOnly && alternative.tier != TIER_BEST)) continue;
        fill(this.sums, NO_SUM, count);
        this.stepped(count);
        this.addLists(alternative, set);
        if (states) this.rateWithState(alternative, count);
        else if (first) this.rateFirst(alternative.boost, count);
        else this.rate(alternative.boost, count);
        first = false;
      }
      if (!states && first) fill(this.best, NO_SCORE, count);
      if (CHECKED) assert(this.bestAtMost(word.most, count), "no row scores more for a word than its bound");
      if (states) this.addWordWithState(wordBit(i), count);
      else this.addWord(count, i == 0);
      if (bestOnly) this.addUpper(word, set, i == 0);
    }
    if (CHECKED) assert(!bestOnly || this.uppersHold(count), "no row scores more than it can at most");
  }

  /**
   * True if no row's score for the current word exceeds `most`. Rows without a score contain NaN, which never
   * exceeds it.
   */
  private bestAtMost(most: f64, count: u32): bool {
    for (let i: usize = 0; i < <usize>count; i++) if (Mem.f64At(this.best + (i << 3)) > most) return false;
    return true;
  }

  private uppersHold(count: u32): bool {
    for (let i: usize = 0; i < <usize>count; i++)
      if (Mem.f64At(this.uppers + (i << 3)) < Mem.f64At(this.scores + (i << 3))) return false;
    return true;
  }

  private takeRoom(count: u32): void {
    if (count <= this.room) return;
    this.room = (count + 1) & ~1;
    const bytes = (<usize>this.room) << 3;
    this.sums = scratch(bytes);
    this.saturations = scratch(bytes);
    this.best = scratch(bytes);
    this.scores = scratch(bytes);
    this.uppers = scratch(bytes);
    this.rowWords = scratch(bytes);
    this.wordState = scratch(bytes >> 1);
    this.states = scratch(bytes >> 1);
  }

  /**
   * Computes each row's saturation. The longer a row, the more occurrences of a term it needs for the same
   * score. A row's length is the weighted sum of its fields' lengths.
   */
  private findSaturations(set: Numbered): void {
    const program = this.program;
    const saturations = this.saturations;
    const rows = numberedRows(set);
    const end = rows + ((<usize>set.count) << 2);
    Mem.fill(saturations, 0, (<usize>set.count) << 3);
    for (let slot = this.nextSlot(0); slot < program.slotCount; ) {
      const norms = this.normsOf(slot);
      const lengths = program.slotLengths(slot);
      const other = this.nextSlot(slot + 1);
      let to = saturations;
      if (other == program.slotCount) {
        for (let at = rows; at < end; at += 4) {
          Mem.putF64(to, Mem.f64At(to) + lengthAt(lengths, norms, Mem.u32At(at)));
          to += 8;
        }
        break;
      }
      // Adds two slots' lengths at a time, because loading and storing the sum takes as long as adding a
      // length.
      const otherNorms = this.normsOf(other);
      const otherLengths = program.slotLengths(other);
      for (let at = rows; at < end; at += 4) {
        const row = Mem.u32At(at);
        const sum = Mem.f64At(to) + lengthAt(lengths, norms, row);
        Mem.putF64(to, sum + lengthAt(otherLengths, otherNorms, row));
        to += 8;
      }
      slot = this.nextSlot(other + 1);
    }
    const longest = f64x2.splat(program.longest);
    const shortest = f64x2.splat(program.shortest);
    const perToken = f64x2.splat(program.perToken);
    for (let i: usize = 0; i < (<usize>set.count) << 3; i += 16) {
      const lengths = f64x2.min(Mem.v128At(saturations + i), longest);
      Mem.putV128(saturations + i, f64x2.add(shortest, f64x2.mul(perToken, lengths)));
    }
  }

  /** The first slot >= `slot` that has values, or the number of slots. */
  private nextSlot(slot: u32): u32 {
    while (slot < this.program.slotCount && this.normsOf(slot) == 0) slot++;
    return slot;
  }

  private addLists(alternative: Alternative, set: Numbered): void {
    for (let i: u32 = 0; i < alternative.listCount; i++) {
      const cursor = listAt(alternative.lists, i);
      const norms = this.normsOf(cursor.slotIndex);
      if (norms == 0) {
        fail(STATUS_DAMAGED);
        return;
      }
      cursorRestart(cursor);
      cursorUseBuffer(cursor, this.buffer);
      const inRange = (<u64>cursor.count * (set.to - set.from)) / this.rows;
      if (inRange > SEEK_ABOVE * set.count) this.seekSums(cursor, norms, set);
      else this.addSums(cursor, norms, set);
    }
  }

  /** Looks up each of the set's rows in the list, and adds its posting's contribution. */
  private seekSums(cursor: Cursor, norms: usize, set: Numbered): void {
    const occurrences = this.program.slotOccurrences(cursor.slotIndex);
    const sums = this.sums;
    const list = numberedRows(set);
    const count = set.count;
    this.stepped(count);
    for (let i: u32 = 0; i < count; i++) {
      const row = Mem.u32At(list + ((<usize>i) << 2));
      const reached = cursorSeek(cursor, row);
      if (reached == TERMINATED) return;
      if (reached == row) addSum(sums, i, cursor.tfAt(cursor.at), occurrences, Mem.u8At(norms + row));
    }
  }

  /** Reads the list's postings in the range, and adds the contributions of those whose row is in the set. */
  private addSums(cursor: Cursor, norms: usize, set: Numbered): void {
    const occurrences = this.program.slotOccurrences(cursor.slotIndex);
    const sums = this.sums;
    const bits = set.bits;
    const to = set.to;
    const ranks = set.ranks - ((<usize>(set.from >> 6)) << 2);
    this.stepped(min(cursor.count, set.to - set.from));
    if (cursorSeek(cursor, set.from) == TERMINATED) return;
    do {
      let end = cursor.held;
      while (end > cursor.at && cursor.rowAt(end - 1) >= to) end--;
      // Lists the postings in the set first, without branches, because the processor could not predict them.
      let listed = this.inSet;
      for (let i = cursor.at; i < end; i++) {
        const row = cursor.rowAt(i);
        Mem.putU8(listed, i);
        listed += (Mem.u8At(bits + <usize>(row >> 3)) >> (row & 7)) & 1;
      }
      for (let at = this.inSet; at < listed; at++) {
        const i = Mem.u8At(at);
        const row = cursor.rowAt(i);
        const below = Bits.word(bits, row >> 6) & (((<u64>1) << (row & 63)) - 1);
        const number = Mem.u32At(ranks + ((<usize>(row >> 6)) << 2)) + <u32>popcnt(below);
        addSum(sums, number, cursor.tfAt(i), occurrences, Mem.u8At(norms + row));
      }
      if (end < cursor.held) return;
    } while (cursorNextBlock(cursor));
  }

  private stepped(count: u32): void {
    this.steps += count;
    if (this.steps < STEPS_A_CHECK) return;
    this.steps = 0;
    checkDeadline();
  }

  /**
   * Scores an alternative for each row that has it, and keeps the score if it is the row's best for the word.
   */
  private rate(boost: f64, count: u32): void {
    const sums = this.sums;
    const best = this.best;
    const boosts = f64x2.splat(boost);
    const saturations = this.saturations;
    const bytes = (<usize>count) << 3;
    for (let i: usize = 0; i < bytes; i += 16) {
      const sum = Mem.v128At(sums + i);
      const held = Mem.v128At(best + i);
      const score = f64x2.div(f64x2.mul(boosts, sum), f64x2.add(sum, Mem.v128At(saturations + i)));
      const better = v128.or(i64x2.eq(held, i64x2.splat(NO_SCORE)), f64x2.gt(score, held));
      const taken = v128.andnot(better, i64x2.eq(sum, i64x2.splat(NO_SUM)));
      Mem.putV128(best + i, v128.bitselect(score, held, taken));
    }
  }

  /** Like `rate`, for the first alternative of a word. */
  private rateFirst(boost: f64, count: u32): void {
    const sums = this.sums;
    const best = this.best;
    const boosts = f64x2.splat(boost);
    const saturations = this.saturations;
    const bytes = (<usize>count) << 3;
    for (let i: usize = 0; i < bytes; i += 16) {
      const sum = Mem.v128At(sums + i);
      const score = f64x2.div(f64x2.mul(boosts, sum), f64x2.add(sum, Mem.v128At(saturations + i)));
      const none = i64x2.eq(sum, i64x2.splat(NO_SUM));
      // NO_SCORE has all bits set, so OR writes it where `none` is set.
      Mem.putV128(best + i, v128.or(score, none));
    }
  }

  /** Like `rate`, but also keeps the fewest typos and whether the word is exact. */
  private rateWithState(alternative: Alternative, count: u32): void {
    const sums = this.sums;
    const best = this.best;
    const wordState = this.wordState;
    const boost = alternative.boost;
    const saturations = this.saturations;
    const typos = alternative.typos;
    const inexact = alternative.exact != 0 ? 0 : INEXACT;
    for (let i: usize = 0; i < <usize>count; i++) {
      if (Mem.u64At(sums + (i << 3)) == NO_SUM) continue;
      const sum = Mem.f64At(sums + (i << 3));
      const score = (boost * sum) / (sum + Mem.f64At(saturations + (i << 3)));
      const state = wordState + (i << 2);
      if (Mem.u64At(best + (i << 3)) == NO_SCORE) {
        Mem.putF64(best + (i << 3), score);
        Mem.putU32(state, typos | inexact);
        continue;
      }
      if (score > Mem.f64At(best + (i << 3))) Mem.putF64(best + (i << 3), score);
      const before = Mem.u32At(state);
      Mem.putU32(state, min(before & TYPOS, typos) | (before & inexact));
    }
  }

  /** Adds the score of the word's best alternative to every row's score. */
  private addWord(count: u32, first: bool): void {
    const scores = this.scores;
    const best = this.best;
    const bytes = (<usize>count) << 3;
    if (first) return Mem.copy(scores, best, bytes);
    for (let i: usize = 0; i < bytes; i += 16) {
      Mem.putV128(scores + i, f64x2.add(Mem.v128At(scores + i), Mem.v128At(best + i)));
    }
  }

  /**
   * Adds an upper bound on the word's contribution to every row. Each step rounds monotonically, so the sum
   * is a valid bound.
   */
  private addUpper(word: Word, set: Numbered, first: bool): void {
    const uppers = this.uppers;
    const best = this.best;
    if (word.behind != 0) {
      const end = Bits.words(set.to);
      for (let i = set.from >> 6; i < end; i++) {
        let rest = Bits.word(word.behind, i) & Bits.word(set.bits, i);
        for (; rest != 0; rest &= rest - 1) {
          const at = best + ((<usize>set.numberOf((i << 6) + <u32>ctz(rest))) << 3);
          if (Mem.f64At(at) < word.mostBehind) Mem.putF64(at, word.mostBehind);
        }
      }
    }
    const bytes = (<usize>set.count) << 3;
    if (first) return Mem.copy(uppers, best, bytes);
    for (let i: usize = 0; i < bytes; i += 16) {
      Mem.putV128(uppers + i, f64x2.add(Mem.v128At(uppers + i), Mem.v128At(best + i)));
    }
  }

  /** Adds the score of the word's best alternative to every row that has one, and updates the row's state. */
  private addWordWithState(bit: u64, count: u32): void {
    const scores = this.scores;
    const best = this.best;
    const wordState = this.wordState;
    const states = this.states;
    const rowWords = this.rowWords;
    for (let i: usize = 0; i < <usize>count; i++) {
      if (Mem.u64At(best + (i << 3)) == NO_SCORE) continue;
      Mem.putU64(rowWords + (i << 3), Mem.u64At(rowWords + (i << 3)) | bit);
      Mem.putF64(scores + (i << 3), Mem.f64At(scores + (i << 3)) + Mem.f64At(best + (i << 3)));
      const word = Mem.u32At(wordState + (i << 2));
      const before = Mem.u32At(states + (i << 2));
      const typos = min(TYPOS_COUNTED, (before & TYPOS) + (word & TYPOS));
      Mem.putU32(states + (i << 2), ((before & ~TYPOS) + MATCHED) | typos | (word & INEXACT));
    }
  }
}
