// Ranks the matching rows of one segment: scores those that may be among the best and offers them. When text match and
// bonus decide first, score-sets.ts chooses the rows. Otherwise they are visited in row order, range by range, and
// scored only when the best of text matches would let them enter.

import { checkDeadline } from "../env";
import { matchLists } from "../match/match";
import { scratch } from "../memory/arena";
import { Bits } from "../memory/bitset";
import { Numbered, numberedNew, numberRows } from "../memory/numbered";
import { rankPlain } from "../program/rank-program";
import { sieve, sieveHelps } from "../rank/sieve";
import { topBySum, topFull, topWouldEnter } from "../rank/topk";
import { Seg } from "../segment/segment";
import { failed } from "../status";
import { termBonusOf } from "./bonuses";
import { nearAsk } from "./near-lists";
import { lowerIsBetter, offerAll, offerSetUp, offerUse, placeMost } from "./offer";
import { bestState, mostOfWords, setsSetUp, visitSets } from "./score-sets";
import { scoreWords, scoreWordsSetUp, scoreWordsUse, textMatch } from "./score-words";

const RANGE_ROWS: u32 = 32768; // visited at a time: what is computed for them stays in the cache
const RANGE_FIRST: u32 = 1024; // the ranges grow: each is filtered by the best rows of those before
const RANGE_MATCHING: u32 = 1024; // a range has about so many matching rows, or it is made larger
const RANGE_MATCHING_FIRST: u32 = 64; // beginning a list anew takes as long as scoring some of its rows
const LISTS_IN_RANGES: u32 = 256; // with more lists, beginning each anew for every range takes too long
const WIDE_FIRST: u32 = 16; // then the first range is this part of the rows, the second the rest

let scored: Numbered = changetype<Numbered>(0);
let chosen: usize = 0; // bitset: rows of the range that may enter
let anyState: u32 = 0; // of the best row that the query can have
let mostText: f64 = 0; // and its text match

/** Takes the scratch that every segment of a query shares. */
export function scoreSetUp(): void {
  scoreWordsSetUp();
  offerSetUp();
  setsSetUp();
  scored = numberedNew();
  anyState = bestState();
  mostText = textMatch(mostOfWords(), anyState);
}

/** Scores the rows in `matching`, `found` > 0 of them, and offers those that may be among the best. */
export function scoreRows(segment: usize, matching: usize, found: u32): void {
  const rows = Seg.rows(segment);
  const wide = matchLists > LISTS_IN_RANGES;
  const range = wide ? rows : rangeOf(rows, found, RANGE_ROWS, RANGE_MATCHING);
  const first = rangeOf(rows, found, RANGE_FIRST, RANGE_MATCHING_FIRST);
  chosen = scratch(Bits.bytes(rows));
  scoreWordsUse(segment);
  offerUse(segment);
  if (topBySum()) visitSets(matching, rows, range, first, scored, chosen);
  else visitInOrder(matching, rows, range, wide ? ((rows / WIDE_FIRST) | 63) + 1 : first);
}

/** At least `least` rows, and so many that about `matching` of the `found` ones are among them; a multiple of 64, or all rows. */
function rangeOf(rows: u32, found: u32, least: u32, matching: u32): u32 {
  const wanted = max<u64>(least, (<u64>rows * matching) / found);
  return wanted >= <u64>rows ? rows : (<u32>wanted + 63) & ~63;
}

function visitInOrder(matching: usize, rows: u32, range: u32, first: u32): void {
  let size = first;
  let to: u32 = 0;
  for (let from: u32 = 0; from < rows && !failed(); from = to) {
    to = from + min(size, rows - from);
    size = range == rows ? rows : min(range, size * 2);
    checkDeadline();
    choose(matching, from, to);
    numberRows(scored, chosen, from, to);
    if (scored.count == 0) continue;
    scoreWords(scored, true, false);
    nearAsk(chosen, from, to);
    offerAll(scored);
  }
}

/** Makes the rows of [from, to) that could enter the chosen ones. */
function choose(matching: usize, from: u32, to: u32): void {
  const end = Bits.words(to);
  const sieving = sieveHelps();
  for (let word = from >> 6; word < end; word++) {
    const among = Bits.word(matching, word);
    if (among == 0) Bits.putWord(chosen, word, 0);
    else Bits.putWord(chosen, word, enterers(sieving ? sieve(among, word << 6, 0) : among, word << 6));
  }
}

/** Those of `among`, bit i for row `from` + i, that could enter with the best of text matches and bonuses. */
function enterers(among: u64, from: u32): u64 {
  if (lowerIsBetter || !topFull()) return among;
  let could: u64 = 0;
  for (let rest = among; rest != 0; rest &= rest - 1) {
    const row = from + <u32>ctz(rest);
    const bonus = rankPlain ? 0 : termBonusOf(row) + placeMost(anyState);
    if (topWouldEnter(row, mostText, bonus)) could |= (<u64>1) << (row & 63);
  }
  return could;
}
