// Scores numbered rows of one segment, term at a time, each posting list in turn. The order of all floating-point
// operations is the one docs/FORMATS.md prescribes: by program term, dictionary term and slot into the sum of an
// alternative, then the best alternative, then words in turn. Which rows are worth scoring is not decided here.

import { checkDeadline } from "../env";
import { STATUS_DAMAGED } from "../layout";
import { listAt } from "../match/match";
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Numbered, numberedRows } from "../memory/numbered";
import {
  Alternative,
  alternativeAt,
  saturation,
  slotCount,
  slotDivisors,
  slotWeight,
  TIER_BEST,
  Word,
  wordAt,
  wordCount,
} from "../program/search-program";
import { slotAt } from "../program/slots";
import { textMatchOf } from "../rank/final-key";
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

const SEEK_ABOVE: u64 = 12; // with so many postings for each row to score, rows are sought instead of scanned
const POSTINGS_A_CHECK: u32 = 0x10000; // of the deadline
const NO_SUM: u64 = 0x8000000000000000; // -0: nothing was added, not even 0
const NO_SCORE: u64 = 0xffffffffffffffff;

// State of a row, u32: typos (at most 15), whether a word is inexact, words matched.
const TYPOS: u32 = 0xff;
const TYPOS_COUNTED: u32 = 15;
const INEXACT: u32 = 0x100;
const MATCHED: u32 = 0x10000;

/** A state of `rowState`, for rows that all have every word with this many typos. */
export function fullState(typos: u32, exact: bool): u32 {
  return (MATCHED * wordCount) | min(TYPOS_COUNTED, typos) | (exact ? 0 : INEXACT);
}

export function wordsMatched(state: u32): u32 {
  return state / MATCHED;
}
export function isExact(state: u32): bool {
  return (state & INEXACT) == 0;
}

export function textMatch(score: f64, state: u32): f64 {
  return textMatchOf(score, state / MATCHED == wordCount, state & TYPOS, (state & INEXACT) == 0);
}

let room: u32 = 0; // of the arrays below, by number of the row
let sums: usize = 0; // f64: of the alternative at hand
let best: usize = 0; // f64: of the word at hand
let wordState: usize = 0; // u32
let relevance: usize = 0; // f64
let upper: usize = 0; // f64: what the relevance would be at most with the alternatives that were left out
let rowState: usize = 0; // u32
let normsOfSlot: usize = 0; // u32 address by slot index
let buffer: usize = 0;
let rows: u32 = 0; // of the segment
let postings: u32 = 0; // read since the last look at the deadline

/** Takes the scratch that every segment of a query shares. */
export function scoreWordsSetUp(): void {
  room = 0;
  normsOfSlot = scratch((<usize>slotCount) << 2);
  buffer = scratch(BLOCK_BUFFER_BYTES);
}

/** Names the segment whose rows are scored next; the lists of the words must be open. */
export function scoreWordsUse(segment: usize): void {
  rows = Seg.rows(segment);
  for (let i: u32 = 0; i < slotCount; i++) {
    const field = findField(segment, slotAt(i));
    Mem.putU32(normsOfSlot + ((<usize>i) << 2), field == 0 ? 0 : <u32>Field.norms(segment, field));
  }
}

/** f64 by number. */
export function scoresAt(): usize {
  return relevance;
}
/** f64 by number; only after `scoreWords` with `bestOnly`. */
export function uppersAt(): usize {
  return upper;
}
/** u32 by number; only after `scoreWords` with `states`. */
export function statesAt(): usize {
  return rowState;
}
/** Room for an f64 by number; good until the next `scoreWords`. */
export function spareAt(): usize {
  return sums;
}

/**
 * Scores the rows of a set. `states`: their states are wanted as well; without, every row must have every word.
 * `bestOnly`: with the alternatives of TIER_BEST alone, of which every row must have one for each word.
 */
export function scoreWords(set: Numbered, states: bool, bestOnly: bool): void {
  const count = set.count;
  takeRoom(count);
  if (states) {
    Mem.fill(relevance, 0, (<usize>count) << 3);
    Mem.fill(rowState, 0, (<usize>count) << 2);
  }
  for (let i: u32 = 0; i < wordCount && !failed(); i++) {
    const word = wordAt(i);
    if (states) fill(best, NO_SCORE, count);
    let first = true;
    for (let j: u32 = 0; j < word.alternativeCount && !failed(); j++) {
      const alternative = alternativeAt(word, j);
      if (alternative.listCount == 0 || (bestOnly && alternative.tier != TIER_BEST)) continue;
      fill(sums, NO_SUM, count);
      addLists(alternative, set);
      if (states) rateWithState(alternative, count);
      else if (first) rateFirst(alternative.boost, count);
      else rate(alternative.boost, count);
      first = false;
    }
    if (!states && first) fill(best, NO_SCORE, count);
    if (states) addWordWithState(count);
    else addWord(count, i == 0);
    if (bestOnly) addUpper(word, set, i == 0);
  }
}

function takeRoom(count: u32): void {
  if (count <= room) return;
  room = (count + 1) & ~1;
  const bytes = (<usize>room) << 3;
  sums = scratch(bytes);
  best = scratch(bytes);
  relevance = scratch(bytes);
  upper = scratch(bytes);
  wordState = scratch(bytes >> 1);
  rowState = scratch(bytes >> 1);
}

function fill(array: usize, value: u64, count: u32): void {
  const pair = i64x2.splat(value);
  const end = array + ((<usize>count) << 3);
  for (let at = array; at < end; at += 16) Mem.putV128(at, pair);
}

function addLists(alternative: Alternative, set: Numbered): void {
  for (let i: u32 = 0; i < alternative.listCount; i++) {
    const cursor = listAt(alternative.lists, i);
    const norms = <usize>Mem.u32At(normsOfSlot + ((<usize>cursor.slotIndex) << 2));
    if (norms == 0) {
      fail(STATUS_DAMAGED);
      return;
    }
    cursorRestart(cursor);
    cursorUseBuffer(cursor, buffer);
    const inRange = (<u64>cursor.count * (set.to - set.from)) / rows;
    if (inRange > SEEK_ABOVE * set.count) seekSums(cursor, norms, set);
    else addSums(cursor, norms, set);
  }
}

/** Adds weight * tf / divisor of a posting to the sum of a row. */
function addSum(number: u32, weight: f64, tf: u32, divisors: usize, norm: u32): void {
  const sum = sums + ((<usize>number) << 3);
  Mem.putF64(sum, Mem.f64At(sum) + (weight * <f64>tf) / Mem.f64At(divisors + ((<usize>norm) << 3)));
}

/** Looks every row of the set up in the list. */
function seekSums(cursor: Cursor, norms: usize, set: Numbered): void {
  const weight = slotWeight(cursor.slotIndex);
  const divisors = slotDivisors(cursor.slotIndex);
  const list = numberedRows(set);
  looked(set.count);
  for (let i: u32 = 0; i < set.count; i++) {
    const row = Mem.u32At(list + ((<usize>i) << 2));
    const reached = cursorSeek(cursor, row);
    if (reached == TERMINATED) return;
    if (reached == row) addSum(i, weight, cursor.tfAt(cursor.at), divisors, Mem.u8At(norms + row));
  }
}

/** Looks every posting of the range up in the set. */
function addSums(cursor: Cursor, norms: usize, set: Numbered): void {
  const weight = slotWeight(cursor.slotIndex);
  const divisors = slotDivisors(cursor.slotIndex);
  const bits = set.bits;
  const to = set.to;
  const ranks = set.ranks - ((<usize>(set.from >> 6)) << 2);
  looked(min(cursor.count, set.to - set.from));
  if (cursorSeek(cursor, set.from) == TERMINATED) return;
  do {
    const held = cursor.held;
    for (let i = cursor.at; i < held; i++) {
      const row = cursor.rowAt(i);
      if (row >= to) return;
      const word = Bits.word(bits, row >> 6);
      const bit = (<u64>1) << (row & 63);
      if ((word & bit) == 0) continue;
      const number = Mem.u32At(ranks + ((<usize>(row >> 6)) << 2)) + <u32>popcnt(word & (bit - 1));
      addSum(number, weight, cursor.tfAt(i), divisors, Mem.u8At(norms + row));
    }
  } while (cursorNextBlock(cursor));
}

function looked(count: u32): void {
  postings += count;
  if (postings < POSTINGS_A_CHECK) return;
  postings = 0;
  checkDeadline();
}

/** Lets an alternative compete for the word in every row that has it. */
function rate(boost: f64, count: u32): void {
  const boosts = f64x2.splat(boost);
  const k1 = f64x2.splat(saturation);
  const bytes = (<usize>count) << 3;
  for (let i: usize = 0; i < bytes; i += 16) {
    const sum = Mem.v128At(sums + i);
    const held = Mem.v128At(best + i);
    const score = f64x2.div(f64x2.mul(boosts, sum), f64x2.add(sum, k1));
    const better = v128.or(i64x2.eq(held, i64x2.splat(NO_SCORE)), f64x2.gt(score, held));
    const taken = v128.andnot(better, i64x2.eq(sum, i64x2.splat(NO_SUM)));
    Mem.putV128(best + i, v128.bitselect(score, held, taken));
  }
}

/** `rate` when no other alternative was before. */
function rateFirst(boost: f64, count: u32): void {
  const boosts = f64x2.splat(boost);
  const k1 = f64x2.splat(saturation);
  const bytes = (<usize>count) << 3;
  for (let i: usize = 0; i < bytes; i += 16) {
    const sum = Mem.v128At(sums + i);
    const score = f64x2.div(f64x2.mul(boosts, sum), f64x2.add(sum, k1));
    const none = i64x2.eq(sum, i64x2.splat(NO_SUM));
    Mem.putV128(best + i, v128.or(score, none)); // NO_SCORE has all bits
  }
}

/** `rate` that also keeps the fewest typos and whether the word is exact. */
function rateWithState(alternative: Alternative, count: u32): void {
  const boost = alternative.boost;
  const inexact = alternative.exact != 0 ? 0 : INEXACT;
  for (let i: usize = 0; i < <usize>count; i++) {
    if (Mem.u64At(sums + (i << 3)) == NO_SUM) continue;
    const sum = Mem.f64At(sums + (i << 3));
    const score = (boost * sum) / (sum + saturation);
    const state = wordState + (i << 2);
    if (Mem.u64At(best + (i << 3)) == NO_SCORE) {
      Mem.putF64(best + (i << 3), score);
      Mem.putU32(state, alternative.typos | inexact);
      continue;
    }
    if (score > Mem.f64At(best + (i << 3))) Mem.putF64(best + (i << 3), score);
    const before = Mem.u32At(state);
    Mem.putU32(state, min(before & TYPOS, alternative.typos) | (before & inexact));
  }
}

/** Adds the word's best alternative to every row. */
function addWord(count: u32, first: bool): void {
  const bytes = (<usize>count) << 3;
  if (first) return Mem.copy(relevance, best, bytes);
  for (let i: usize = 0; i < bytes; i += 16) {
    Mem.putV128(relevance + i, f64x2.add(Mem.v128At(relevance + i), Mem.v128At(best + i)));
  }
}

/** Adds the most that the word can bring to every row; adding and the larger of two never fall, so nor does the sum. */
function addUpper(word: Word, set: Numbered, first: bool): void {
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
  if (first) return Mem.copy(upper, best, bytes);
  for (let i: usize = 0; i < bytes; i += 16) {
    Mem.putV128(upper + i, f64x2.add(Mem.v128At(upper + i), Mem.v128At(best + i)));
  }
}

/** Adds the word's best alternative to every row that has one. */
function addWordWithState(count: u32): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    if (Mem.u64At(best + (i << 3)) == NO_SCORE) continue;
    Mem.putF64(relevance + (i << 3), Mem.f64At(relevance + (i << 3)) + Mem.f64At(best + (i << 3)));
    const word = Mem.u32At(wordState + (i << 2));
    const before = Mem.u32At(rowState + (i << 2));
    const typos = min(TYPOS_COUNTED, (before & TYPOS) + (word & TYPOS));
    Mem.putU32(rowState + (i << 2), ((before & ~TYPOS) + MATCHED) | typos | (word & INEXACT));
  }
}
