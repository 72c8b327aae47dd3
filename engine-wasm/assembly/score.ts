// Scores the matching rows of one segment, term at a time over windows of rows whose sums stay in the cache.
// The order of all floating-point operations is the one docs/FORMATS.md prescribes: by program term,
// dictionary term and slot into the sum of an alternative, then the best alternative, then words in turn.
import { scratch } from "./arena";
import { Bits, bitsCountIn } from "./bitset";
import { bonusesSetUp, bonusesUse, placeBonusBound, placeBonusOf, termBonusOf } from "./bonuses";
import { checkDeadline } from "./env";
import { textMatchOf } from "./final-key";
import { ROW_MATCHED, SORT_RELEVANCE, STATUS_DAMAGED } from "./layout";
import { listAt, matchLists } from "./match";
import { Mem } from "./mem";
import {
  BLOCK_BUFFER_BYTES, Cursor, TERMINATED, cursorNextBlock, cursorSeek, cursorUseBuffer,
} from "./postings";
import { nearUse } from "./near-lists";
import { proximityBound, proximityOf } from "./proximity";
import {
  Alternative, alternativeAt, proximityWeight, saturation, slotCount, slotDivisors, slotWeight, sortCount,
  sortKeyAt, wordAt, wordCount,
} from "./query";
import { rankPlain, startsBonus, wholeBonus } from "./rank-program";
import { flagsOf } from "./rules";
import { Field, Seg, findField } from "./segment";
import { slotAt } from "./slots";
import { fail, failed } from "./status";
import { topOffer, topWouldEnter } from "./topk";

const WINDOW: u32 = 2048;
const LISTS_IN_WINDOWS: u32 = 256; // with more lists a block buffer for each costs more than large sums
const SPARSE_ROWS: u32 = 64; // with no more rows in a window, lists are sought instead of scanned
const NO_SUM: u64 = 0x8000000000000000; // -0: nothing was added, not even 0
const NO_SCORE: u64 = 0xffffffffffffffff;

// State of a row, u32: typos (at most 15), whether a word is inexact, words matched.
const TYPOS: u32 = 0xff;
const TYPOS_COUNTED: u32 = 15;
const INEXACT: u32 = 0x100;
const MATCHED: u32 = 0x10000;

let segment: usize = 0;
let bits: usize = 0; // rows to score
let rows: u32 = 0;
let windowRows: u32 = 0; // capacity of the arrays below, by row of the window
let sums: usize = 0; // f64: of the alternative at hand
let best: usize = 0; // f64: of the word at hand
let wordState: usize = 0; // u64
let relevance: usize = 0; // f64
let rowState: usize = 0; // u64
let normsOfSlot: usize = 0; // u32 address by slot index
let sharedBuffer: usize = 0;
let nearMost: f64 = 0; // the most that closeness can add, before its weight
let lowerIsBetter: bool = false; // a sort key wants small text matches

/** Takes the scratch that every segment of a query shares. */
export function scoreSetUp(): void {
  windowRows = 0;
  normsOfSlot = scratch(<usize>slotCount << 2);
  sharedBuffer = scratch(BLOCK_BUFFER_BYTES);
  bonusesSetUp();
  lowerIsBetter = false;
  nearMost = proximityBound();
  for (let i: u32 = 0; i < sortCount; i++) {
    const key = sortKeyAt(i);
    if (key.by == SORT_RELEVANCE && key.descending == 0) lowerIsBetter = true;
  }
}

/** Scores the rows in `matching` and offers them to the best rows, in row order. */
export function scoreRows(scored: usize, matching: usize): void {
  segment = scored;
  bits = matching;
  rows = Seg.rows(scored);
  const inWindows = matchLists <= LISTS_IN_WINDOWS;
  takeWindow(inWindows ? min(WINDOW, rows) : rows);
  for (let i: u32 = 0; i < slotCount; i++) {
    const field = findField(scored, slotAt(i));
    Mem.putU32(normsOfSlot + (<usize>i << 2), field == 0 ? 0 : <u32>Field.norms(scored, field));
  }
  nearUse(bits, rows);
  if (!rankPlain) bonusesUse(scored);
  const step = inWindows ? WINDOW : max(rows, 1);
  for (let from: u32 = 0; from < rows && !failed(); from += step) {
    const to = min(rows, from + step);
    const matching = bitsCountIn(bits, from, to);
    if (matching == 0) continue;
    checkDeadline();
    scoreWindow(from, to, !inWindows, matching <= SPARSE_ROWS);
    for (let row = nextRow(from, to); row < to && !failed(); row = nextRow(row + 1, to)) offer(row, row - from);
  }
}

function takeWindow(wanted: u32): void {
  if (wanted <= windowRows) return;
  windowRows = wanted;
  const bytes = <usize>wanted << 3;
  sums = scratch(bytes);
  best = scratch(bytes);
  relevance = scratch(bytes);
  wordState = scratch(bytes);
  rowState = scratch(bytes);
}

/** The first row >= row to score, or `to`. */
function nextRow(row: u32, to: u32): u32 {
  while (row < to) {
    const rest = Bits.word(bits, row >> 6) >> <u64>(row & 63);
    if (rest != 0) return row + <u32>ctz(rest);
    row = (row | 63) + 1;
  }
  return to;
}

/** `wide`: the cursors share one buffer. `sparse`: only the matching rows are touched. */
function scoreWindow(from: u32, to: u32, wide: bool, sparse: bool): void {
  clear(relevance, 0, from, to, sparse);
  clear(rowState, 0, from, to, sparse);
  for (let i: u32 = 0; i < wordCount && !failed(); i++) {
    const word = wordAt(i);
    clear(best, NO_SCORE, from, to, sparse);
    for (let j: u32 = 0; j < word.alternativeCount; j++) {
      const alternative = alternativeAt(word, j);
      if (alternative.listCount == 0) continue;
      if (wide) checkDeadline();
      clear(sums, NO_SUM, from, to, sparse);
      for (let list: u32 = 0; list < alternative.listCount; list++) {
        const cursor = listAt(alternative.lists, list);
        if (wide) cursorUseBuffer(cursor, sharedBuffer);
        const norms = <usize>Mem.u32At(normsOfSlot + (<usize>cursor.slotIndex << 2));
        if (norms == 0) fail(STATUS_DAMAGED);
        else if (sparse) seekSums(cursor, norms, from, to);
        else addSums(cursor, norms, from, to);
      }
      rateAlternative(alternative, from, to);
    }
    addWord(from, to);
  }
}

/** Sets the 8 bytes of every row of the window, or of its matching rows only. */
function clear(array: usize, value: u64, from: u32, to: u32, sparse: bool): void {
  if (sparse) {
    for (let row = nextRow(from, to); row < to; row = nextRow(row + 1, to)) {
      Mem.putU64(array + (<usize>(row - from) << 3), value);
    }
    return;
  }
  const pair = i64x2.splat(value);
  const bytes = <usize>(to - from) << 3;
  for (let i: usize = 0; i < bytes; i += 16) Mem.putV128(array + i, pair); // arrays are padded to 16 bytes
}

/** Adds the postings of the matching rows in [from, to). */
function seekSums(cursor: Cursor, norms: usize, from: u32, to: u32): void {
  const weight = slotWeight(cursor.slotIndex);
  const divisors = slotDivisors(cursor.slotIndex);
  for (let row = nextRow(from, to); row < to; row = nextRow(row + 1, to)) {
    const reached = cursorSeek(cursor, row);
    if (reached == TERMINATED) return;
    if (reached == row) addSum(row - from, weight, cursor.tfAt(cursor.at), divisors, Mem.u8At(norms + row));
  }
}

/** Adds weight * tf / divisor of a posting to the sum of a row. */
function addSum(at: u32, weight: f64, tf: u32, divisors: usize, norm: u32): void {
  const sum = sums + (<usize>at << 3);
  Mem.putF64(sum, Mem.f64At(sum) + weight * <f64>tf / Mem.f64At(divisors + (<usize>norm << 3)));
}

/** Adds every posting of a list in [from, to), whether its row matches or not. */
function addSums(cursor: Cursor, norms: usize, from: u32, to: u32): void {
  if (cursorSeek(cursor, from) == TERMINATED) return;
  const weight = slotWeight(cursor.slotIndex);
  const divisors = slotDivisors(cursor.slotIndex);
  do {
    const held = cursor.held;
    let i = cursor.at;
    for (; i < held; i++) {
      const row = cursor.rowAt(i);
      if (row >= to) break;
      addSum(row - from, weight, cursor.tfAt(i), divisors, Mem.u8At(norms + row));
    }
    cursor.at = i;
    if (i < held) return;
  } while (cursorNextBlock(cursor));
}

/** Lets an alternative compete for the word in every row that has it. */
function rateAlternative(alternative: Alternative, from: u32, to: u32): void {
  const boost = alternative.boost;
  const inexact = alternative.exact != 0 ? 0 : INEXACT;
  for (let row = nextRow(from, to); row < to; row = nextRow(row + 1, to)) {
    const i = <usize>(row - from);
    if (Mem.u64At(sums + (i << 3)) == NO_SUM) continue;
    const sum = Mem.f64At(sums + (i << 3));
    const score = boost * sum / (sum + saturation);
    const state = wordState + (i << 3);
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

/** Adds the word's best alternative to every row that has one. */
function addWord(from: u32, to: u32): void {
  for (let row = nextRow(from, to); row < to; row = nextRow(row + 1, to)) {
    const i = <usize>(row - from);
    if (Mem.u64At(best + (i << 3)) == NO_SCORE) continue;
    Mem.putF64(relevance + (i << 3), Mem.f64At(relevance + (i << 3)) + Mem.f64At(best + (i << 3)));
    const word = Mem.u32At(wordState + (i << 3));
    const before = Mem.u32At(rowState + (i << 3));
    const typos = min(TYPOS_COUNTED, (before & TYPOS) + (word & TYPOS));
    Mem.putU32(rowState + (i << 3), (before & ~TYPOS) + MATCHED | typos | (word & INEXACT));
  }
}

function offer(row: u32, i: u32): void {
  const state = Mem.u32At(rowState + (<usize>i << 3));
  const score = Mem.f64At(relevance + (<usize>i << 3));
  if (!rankPlain) return offerRanked(row, score, state);
  if (proximityWeight == 0 || state / MATCHED < 2) return topOffer(row, textMatch(score, state), 0, ROW_MATCHED);
  const bound = textMatch(score + proximityWeight * nearMost, state);
  if (!lowerIsBetter && !topWouldEnter(row, bound, 0)) return;
  topOffer(row, textMatch(score + proximityWeight * proximityOf(row), state), 0, ROW_MATCHED);
}

/** `offer` when bonuses, rules or pins change the order of rows. */
function offerRanked(row: u32, score: f64, state: u32): void {
  const flags = flagsOf(row);
  let bonus = termBonusOf(row);
  if ((flags & ROW_MATCHED) == 0) return topOffer(row, 0, bonus, flags);
  const matched = state / MATCHED;
  const near = proximityWeight > 0 && matched > 1;
  const isExact = (state & INEXACT) == 0;
  const placed = matched == wordCount && startsBonus + wholeBonus > 0;
  let most = placed ? max(startsBonus, wholeBonus) : 0;
  if (near || most > 0) {
    const bound = textMatch(near ? score + proximityWeight * nearMost : score, state);
    if (!lowerIsBetter) {
      if (!topWouldEnter(row, bound, bonus + most)) return;
      if (placed) most = placeBonusBound(row, isExact); // the same with less to spare
      if (placed && !topWouldEnter(row, bound, bonus + most)) return;
    }
    if (near) score += proximityWeight * proximityOf(row);
    if (most > 0) bonus += placeBonusOf(row, isExact);
  }
  topOffer(row, textMatch(score, state), bonus, flags);
}

function textMatch(score: f64, state: u32): f64 {
  return textMatchOf(score, state / MATCHED == wordCount, state & TYPOS, (state & INEXACT) == 0);
}
