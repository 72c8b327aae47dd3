// Ranks rows by text match and bonus, larger first. Rows fall into sets that the state of the text match orders (all
// words, their typos, whether they are as written); the sets are visited best first until no further one can change the
// result. Of a set, rows are scored with their best alternatives alone where the others may not matter; only rows whose
// bound can enter get the rest, closeness and bonuses, the most promising first (threshold algorithms as in Broder and
// others 2003, MaxScore of Turtle and Flood 1995 for rows without all words).

import { checkDeadline } from "../env";
import { matchBest, matchFewestTypos, matchFull } from "../match/match";
import { scratch } from "../memory/arena";
import { Bits, bitsCopy, bitsMove } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { Numbered, numberedRows, numberRows } from "../memory/numbered";
import { rankPlain } from "../program/rank-program";
import { rowsWanted, wordAt, wordCount } from "../program/search-program";
import { RELEVANCE_SCALE } from "../rank/final-key";
import { sieve } from "../rank/sieve";
import { topFull, topLeastSum, topTieKey, topTiesBySeq, topWouldEnter } from "../rank/topk";
import { failed } from "../status";
import {
  bestFirstAdd,
  bestFirstAny,
  bestFirstBound,
  bestFirstClear,
  bestFirstCount,
  bestFirstDrop,
  bestFirstNumber,
  bestFirstNumberAt,
  bestFirstReady,
  bestFirstRow,
  bestFirstSetUp,
  kthLargest,
} from "./best-first";
import { liftedRows, rowsWithBonus } from "./bonuses";
import { allBelow, countFrom } from "./cuts";
import { nearAsk } from "./near-lists";
import { bonusMost, nearMost, offerAll, offerRow, placeMost, sumBound } from "./offer";
import { fullState, scoresAt, scoreWords, spareAt, statesAt, textMatch, uppersAt } from "./score-words";
import { startsFind, startsKnownIn, startsPostings } from "./starts";

const ROWS_ASKED: u32 = 32; // with more rows that may enter, it is found out which of them can get a bonus of place
const POSTINGS_A_ROW: u64 = 256; // ... unless that means reading so many postings for each of them
const RANGE_GROWTH: u32 = 4;
const PART_FIRST: u32 = 4096; // rows of a range that are offered at a time: those of a part know the worst row kept
const PART_MOST: u32 = 256; // so many that may enter are offered at once
const PART_GROWTH: u32 = 16; // of the parts before, so that ties with it are sieved
const SCORE_MARGIN: f64 = 0.000001; // a bound in scores is so much lower than the one in text matches

let rows: u32 = 0;
let rangeRows: u32 = 0;
let rangeFirst: u32 = 0;
let size: u32 = 0; // rows of the next range
let growing: bool = false; // the range at hand has more rows than all before
let scored: Numbered = changetype<Numbered>(0); // rows of a range that are scored
let chosen: usize = 0; // bitset: rows of a range that may enter
let chosenBefore: usize = 0; // the same of the pass before, whose rows are perhaps being scored
let leastTypos: u32 = 0; // of a row with all words
let canBeExact: bool = false;
let mostScore: f64 = 0; // the most that all words and closeness can score
let anyBehind: bool = false; // some word has alternatives of lower tiers

export function setsSetUp(): void {
  bestFirstSetUp();
  leastTypos = 0;
  canBeExact = true;
  anyBehind = false;
  mostScore = 0;
  for (let i: u32 = 0; i < wordCount; i++) {
    const word = wordAt(i);
    leastTypos += word.leastTypos;
    if (word.canBeExact == 0) canBeExact = false;
    if (word.mostBehind > 0) anyBehind = true;
    mostScore += word.most;
  }
  mostScore += nearMost;
}

/** The best state that a row can be in. */
export function bestState(): u32 {
  return fullState(leastTypos, canBeExact);
}

/** The most that words and closeness can score. */
export function mostOfWords(): f64 {
  return mostScore;
}

/**
 * Visits the rows of `matching` in a segment of `count` rows, `range` rows at a time, the first time of all `first` ones.
 * `numbered` and the bitset `some` are room to work in.
 */
export function visitSets(
  matching: usize,
  count: u32,
  range: u32,
  first: u32,
  numbered: Numbered,
  some: usize,
): void {
  chosenBefore = scratch(Bits.bytes(count));
  rows = count;
  rangeRows = range;
  rangeFirst = first;
  scored = numbered;
  chosen = some;
  const lifted: usize = rankPlain ? 0 : liftedRows();
  if (lifted == 0 && matchFull == 0 && matchBest == 0 && matchFewestTypos == 0) {
    visitFull(matching, bestState(), false);
    return;
  }
  const left = scratch(Bits.bytes(rows));
  const set = scratch(Bits.bytes(rows));
  bitsCopy(left, matching, rows);
  if (lifted != 0) {
    take(set, left, lifted, 0);
    visitLifted(set);
  }
  take(set, left, matchFull, matchBest);
  if (!visitFull(set, bestState(), anyBehind && matchBest != 0)) return;
  if (matchBest != 0) {
    take(set, left, matchFull, matchFewestTypos);
    if (!visitFull(set, fullState(leastTypos, false), false)) return;
  }
  if (matchFewestTypos != 0) {
    const most = fullState(leastTypos + 1, false);
    if (!canEnter(mostScore, most)) return;
    take(set, left, matchFull, 0);
    visitMixed(set, most, mostScore);
  }
  if (matchFull != 0) visitByWord(set, left);
}

/** Moves the rows of `from` that are also in `a` and `b` to `set`; 0 stands for all rows. */
function take(set: usize, from: usize, a: usize, b: usize): void {
  bitsMove(set, from, a == 0 ? from : a, b == 0 ? from : b, rows);
}

function canEnter(score: f64, state: u32): bool {
  return textMatch(score, state) + bonusMost(state) >= topLeastSum();
}

/** Rows whose bonus lifts them over all others: they are few. */
function visitLifted(set: usize): void {
  for (let from = lastRange(); !failed(); from -= rangeRows) {
    const to = min(rows, from + rangeRows);
    numberRows(scored, set, from, to);
    if (scored.count > 0) {
      scoreWords(scored, true, false);
      nearAsk(set, from, to);
      offerAll(scored);
    }
    if (from == 0) return;
  }
}

/** First row of the last range. */
function lastRange(): u32 {
  return rows == 0 ? 0 : ((rows - 1) / rangeRows) * rangeRows;
}

/** Begins to visit the rows of a set. */
function rangesBegin(): void {
  size = topFull() || rangeRows == rows ? rangeRows : rangeFirst;
}

/**
 * First row of the range that ends at `to`. New rows come first, so that of equal rows few have to be replaced, and while
 * there is no worst row kept that says which rows may enter, the ranges are small.
 */
function rangeBefore(to: u32): u32 {
  const from = ((to - 1) / size) * size;
  growing = rows - to < size;
  size = min(rangeRows, size * RANGE_GROWTH);
  return from;
}

/**
 * Rows that have every word and are all in one state. `bestOnly`: words have alternatives that the set is not made of.
 * False when no row that is worse in state can enter either.
 */
function visitFull(set: usize, state: u32, bestOnly: bool): bool {
  let to = rows;
  rangesBegin();
  while (to > 0 && !failed()) {
    if (!canEnter(mostScore, state)) return false;
    const from = rangeBefore(to);
    numberRows(scored, set, from, to);
    if (scored.count > 0) fullRange(state, bestOnly);
    to = from;
  }
  return !failed();
}

function fullRange(state: u32, bestOnly: bool): void {
  checkDeadline();
  scoreWords(scored, false, bestOnly);
  if (bestOnly) {
    const least = leastSum(state);
    findPlaces(uppersAt(), least, state);
    begin();
    addFull(uppersAt(), least, state, scored.from, scored.to);
    const complete = allScored();
    if (complete && bestFirstCount() <= PART_MOST) return offerBestFirst(state, 0, scored.from, scored.to);
    if (!complete) {
      numberRows(scored, chosen, scored.from, scored.to);
      scoreWords(scored, false, false);
    }
  }
  offerParts(state);
}

/** Offers the rows of the range that may enter, the newest part first. */
function offerParts(state: u32): void {
  let least = leastSum(state);
  findPlaces(scoresAt(), least, state);
  begin();
  let part = PART_FIRST;
  for (let to = scored.to; to > scored.from && !failed(); part *= PART_GROWTH) {
    const from = to - scored.from > part ? (to - part) & ~63 : scored.from;
    bestFirstClear();
    addFull(scoresAt(), least, state, from, to);
    if (bestFirstAny()) offerBestFirst(state, 0, from, to);
    if (topFull()) least = max(least, topLeastSum());
    to = from;
  }
}

/** The least sum with which a row may be among the best, as far as the scores tell. */
function leastSum(state: u32): f64 {
  const kept = topLeastSum();
  if (topFull() && !growing) return kept;
  const score = kthLargest(scoresAt(), scored.count, rowsWanted);
  return score > -Infinity ? max(kept, textMatch(score, state)) : kept;
}

/** Empties the rows of the range that may enter. */
function begin(): void {
  const other = chosen;
  chosen = chosenBefore;
  chosenBefore = other;
  const at = (<usize>(scored.from >> 6)) << 3;
  Mem.fill(chosen + at, 0, Bits.bytes(scored.to) - at);
  bestFirstClear();
}

/** The score that a row without a bonus must have to reach a sum. */
function scoreCut(least: f64, state: u32): f64 {
  return (least - textMatch(0, state)) / RELEVANCE_SCALE - nearMost - SCORE_MARGIN;
}

/** Finds out which rows of the range can get a bonus of place when many would ask. */
function findPlaces(scores: usize, least: f64, state: u32): void {
  if (placeMost(state) == 0 || startsKnownIn(scored.from, scored.to)) return;
  const cut = scoreCut(least, state) - bonusMost(state) / RELEVANCE_SCALE;
  const asked = countFrom(scores, scored.count, cut);
  if (asked > ROWS_ASKED && startsPostings(scored.from, scored.to) < asked * POSTINGS_A_ROW)
    startsFind(scored.from, scored.to);
}

/**
 * Makes the rows of [from, to) whose bound is not below `least` those that may enter; looks closer only at those that
 * score enough.
 */
function addFull(scores: usize, least: f64, state: u32, from: u32, to: u32): void {
  const cut = scoreCut(least, state);
  const bonus = bonusMost(state) / RELEVANCE_SCALE;
  const asked = bonus > 0 && (placeMost(state) == 0 || startsKnownIn(scored.from, scored.to));
  const plainCut = asked ? cut : cut - bonus; // of rows without a bonus when it is known which have one
  const tied = topFull() && least == topLeastSum(); // the least sum is that of the worst row kept
  const end = Bits.words(to);
  let number = scored.before(from >> 6);
  for (let word = from >> 6; word < end; word++) {
    const all = Bits.word(scored.bits, word);
    if (all == 0) continue;
    const count = <u32>popcnt(all);
    const at = scores + ((<usize>number) << 3);
    const withBonus = asked ? all & rowsWithBonus(word) : 0;
    let picked = withBonus;
    if (!allBelow(at, count, plainCut)) picked = all;
    let ties: u64 = 0; // with the worst row kept
    for (; picked != 0; picked &= picked - 1) {
      const i = rankOf(all, ctz(picked));
      const score = Mem.f64At(at + ((<usize>i) << 3));
      if (score < ((withBonus >> ctz(picked)) & 1 ? cut - bonus : plainCut)) continue;
      const row = (word << 6) + <u32>ctz(picked);
      const most = sumBound(row, score, state);
      if (most < least) continue;
      if (most == least && tied) ties |= picked & (~picked + 1);
      else add(row, number + i, most);
    }
    if (ties != 0) ties = sieve(ties, word << 6, topTieKey());
    for (; ties != 0; ties &= ties - 1) {
      const row = (word << 6) + <u32>ctz(ties);
      if (topWouldEnter(row, least, 0)) add(row, number + rankOf(all, ctz(ties)), least);
    }
    number += count;
  }
}

/** Set bits below `bit`. */
function rankOf(bits: u64, bit: u64): u32 {
  return <u32>popcnt(bits & (((<u64>1) << bit) - 1));
}

function add(row: u32, number: u32, bound: f64): void {
  Bits.add(chosen, row);
  bestFirstAdd(bound, row, number);
}

/** No row that may enter could score more with the alternatives that were left out. */
function allScored(): bool {
  for (let i: u32 = 0; i < bestFirstCount(); i++) {
    const at = (<usize>bestFirstNumberAt(i)) << 3;
    if (Mem.f64At(uppersAt() + at) > Mem.f64At(scoresAt() + at)) return false;
  }
  return true;
}

/** Rows in different states, none better than `most` with the score `mostScored`. */
function visitMixed(set: usize, most: u32, mostScored: f64): void {
  let to = rows;
  rangesBegin();
  while (to > 0 && !failed()) {
    if (!canEnter(mostScored, most)) return;
    const from = rangeBefore(to);
    numberRows(scored, set, from, to);
    if (scored.count > 0) mixedRange(bonusMost(most));
    to = from;
  }
}

function mixedRange(bonus: f64): void {
  checkDeadline();
  scoreWords(scored, true, false);
  const count = scored.count;
  const sums = spareAt(); // text matches without closeness
  for (let i: usize = 0; i < <usize>count; i++) {
    const state = Mem.u32At(statesAt() + (i << 2));
    Mem.putF64(sums + (i << 3), textMatch(Mem.f64At(scoresAt() + (i << 3)), state));
  }
  const least = topFull() ? topLeastSum() : max(0, kthLargest(sums, count, rowsWanted));
  const cut = least - (nearMost * RELEVANCE_SCALE + 2) - bonus;
  begin();
  const list = numberedRows(scored);
  for (let i: u32 = 0; i < count; i++) {
    if (Mem.f64At(sums + ((<usize>i) << 3)) < cut) continue;
    const row = Mem.u32At(list + ((<usize>i) << 2));
    const score = Mem.f64At(scoresAt() + ((<usize>i) << 3));
    const most = sumBound(row, score, Mem.u32At(statesAt() + ((<usize>i) << 2)));
    if (most > least || (most == least && (!topFull() || topWouldEnter(row, most, 0)))) add(row, i, most);
  }
  offerBestFirst(0, statesAt(), scored.from, scored.to);
}

/** Rows without some word: those with the word that can score most, then those with the next ... */
function visitByWord(set: usize, left: usize): void {
  for (let done: u32 = 0; done < wordCount && !failed(); done++) {
    let best = wordAt(0);
    let most: f64 = 0;
    for (let i: u32 = 0; i < wordCount; i++) {
      const word = wordAt(i);
      if (word.rows == 0) continue; // no row that is left has it
      most += word.most;
      if (best.rows == 0 || word.most > best.most) best = word;
    }
    most += nearMost;
    if (best.rows == 0 || !canEnter(most, 0)) return;
    take(set, left, best.rows, 0);
    visitMixed(set, 0, most);
    best.rows = 0;
  }
}

/** Offers the rows of [from, to) that may enter. `states`: of the rows by number, 0 = all are in `state`. */
function offerBestFirst(state: u32, states: usize, from: u32, to: u32): void {
  bestFirstReady();
  nearAsk(chosen, from, to);
  while (bestFirstAny() && !failed()) {
    const bound = bestFirstBound();
    const row = bestFirstRow();
    const number = <usize>bestFirstNumber();
    if (topFull() && bound <= topLeastSum()) {
      if (bound < topLeastSum() || (topTiesBySeq() && !topWouldEnter(row, bound, 0))) return;
    }
    bestFirstDrop();
    offerRow(
      row,
      Mem.f64At(scoresAt() + (number << 3)),
      states == 0 ? state : Mem.u32At(states + (number << 2)),
    );
  }
}
