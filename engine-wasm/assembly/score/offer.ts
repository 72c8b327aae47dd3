// Offers scored rows of one segment to the best rows, with closeness and bonuses. Both read positions, so first their
// bounds are asked.

import { ROW_MATCHED, SORT_RELEVANCE } from "../layout";
import { Mem } from "../memory/mem";
import { Numbered, numberedRows } from "../memory/numbered";
import { rankPlain, startsBonus, wholeBonus } from "../program/rank-program";
import { proximityWeight, sortCount, sortKeyAt, wordCount } from "../program/search-program";
import { flagsOf } from "../rank/rules";
import { topOffer, topWouldEnter } from "../rank/topk";
import { failed } from "../status";
import {
  bonusesSetUp,
  bonusesUse,
  placeBonusBound,
  placeBonusOf,
  termBonusMost,
  termBonusOf,
} from "./bonuses";
import { nearUse } from "./near-lists";
import { proximityBound, proximityOf } from "./proximity";
import { isExact, scoresAt, statesAt, textMatch, wordsMatched } from "./score-words";

/** The most that closeness can add to a score. */
export let nearMost: f64 = 0;
/** A sort key wants small text matches: no bound tells whether a row can enter. */
export let lowerIsBetter: bool = false;
let hasPlaces: bool = false; // there are bonuses of place

/** Takes the scratch that every segment of a query shares. */
export function offerSetUp(): void {
  bonusesSetUp();
  nearMost = proximityWeight * proximityBound();
  hasPlaces = startsBonus + wholeBonus > 0;
  lowerIsBetter = false;
  for (let i: u32 = 0; i < sortCount; i++) {
    const key = sortKeyAt(i);
    if (key.by == SORT_RELEVANCE && key.descending == 0) lowerIsBetter = true;
  }
}

/** Begins with a new segment; the lists of the words must be open. */
export function offerUse(segment: usize): void {
  nearUse();
  if (!rankPlain) bonusesUse(segment);
}

function hasNear(state: u32): bool {
  return proximityWeight > 0 && wordsMatched(state) > 1;
}

/** The most that rows of such a state can get as bonus of place. */
export function placeMost(state: u32): f64 {
  if (!hasPlaces || wordsMatched(state) != wordCount) return 0;
  return isExact(state) ? max(startsBonus, wholeBonus) : startsBonus;
}

/** The most that rows of such a state get as bonus, when none lifts over everything. */
export function bonusMost(state: u32): f64 {
  return rankPlain ? 0 : placeMost(state) + termBonusMost();
}

/** The most that text match and bonus of the row can be together; `score` is its score or more. */
export function sumBound(row: u32, score: f64, state: u32): f64 {
  const bound = textMatch(hasNear(state) ? score + nearMost : score, state);
  if (rankPlain) return bound;
  const placed = hasPlaces && wordsMatched(state) == wordCount;
  return bound + (termBonusOf(row) + (placed ? placeBonusBound(row, isExact(state)) : 0));
}

/** Offers a row that may be asked about (near-lists.ts). */
export function offerRow(row: u32, score: f64, state: u32): void {
  if (!rankPlain) return offerRanked(row, score, state);
  if (!hasNear(state)) return topOffer(row, textMatch(score, state), 0, ROW_MATCHED);
  if (!lowerIsBetter && !topWouldEnter(row, textMatch(score + nearMost, state), 0)) return;
  topOffer(row, textMatch(score + proximityWeight * proximityOf(row), state), 0, ROW_MATCHED);
}

/** `offerRow` when bonuses, rules or pins change the order of rows. */
function offerRanked(row: u32, score: f64, state: u32): void {
  const flags = flagsOf(row);
  let bonus = termBonusOf(row);
  if ((flags & ROW_MATCHED) == 0) return topOffer(row, 0, bonus, flags);
  const near = hasNear(state);
  const placed = hasPlaces && wordsMatched(state) == wordCount;
  if (near || placed) {
    const bound = textMatch(near ? score + nearMost : score, state);
    const most = placed ? placeBonusBound(row, isExact(state)) : 0;
    if (!lowerIsBetter && !topWouldEnter(row, bound, bonus + most)) return;
    if (near) score += proximityWeight * proximityOf(row);
    if (most > 0) bonus += placeBonusOf(row, isExact(state));
  }
  topOffer(row, textMatch(score, state), bonus, flags);
}

/** Offers all rows of a set that were scored with their states. */
export function offerAll(set: Numbered): void {
  const list = numberedRows(set);
  for (let i: usize = 0; i < <usize>set.count && !failed(); i++) {
    offerRow(Mem.u32At(list + (i << 2)), Mem.f64At(scoresAt() + (i << 3)), Mem.u32At(statesAt() + (i << 2)));
  }
}
