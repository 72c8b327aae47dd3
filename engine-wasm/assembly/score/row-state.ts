// A row's state: how many of the query's words it has, how many typos they have, and whether all are as
// written. Rows are ranked by state before score. The state is one u32 per row, written when words are scored
// and read when bounds are computed.

import { textMatchOf } from "../rank/final-key";

// Parts of a state: the number of typos (at most 15), a flag that a word is inexact, and MATCHED times the
// number of matched words.
export const TYPOS: u32 = 0xff;
export const TYPOS_COUNTED: u32 = 15;
export const INEXACT: u32 = 0x100;
export const MATCHED: u32 = 0x10000;

/** State of a row with `words` matched words and `typos` typos in total. */
export function rowState(words: u32, typos: u32, exact: bool): u32 {
  return (MATCHED * words) | min(TYPOS_COUNTED, typos) | (exact ? 0 : INEXACT);
}

/**
 * The set of all of the query's words, as a bit mask. Words after the 64th have no bit and count as present.
 */
export const ALL_WORDS: u64 = ~0;
export const WORDS_WITH_BIT: u32 = 64;

/** The bit of the query word with this index. */
export function wordBit(index: u32): u64 {
  return index < WORDS_WITH_BIT ? (<u64>1) << index : 0;
}
export function hasWord(words: u64, index: u32): bool {
  return index >= WORDS_WITH_BIT || ((words >> index) & 1) != 0;
}

export function wordsMatched(state: u32): u32 {
  return state / MATCHED;
}
export function isExact(state: u32): bool {
  return (state & INEXACT) == 0;
}

/** Text match of a row with this score and state; `words` is the number of words in the query. */
export function textMatchIn(score: f64, state: u32, words: u32): f64 {
  return textMatchOf(score, state / MATCHED == words, state & TYPOS, (state & INEXACT) == 0);
}
