// The state of a row, which decides before its score: how many words it has, their typos, and whether all are as written.
// It is one u32 per row, made where words are scored and read where bounds are computed.

import { textMatchOf } from "../rank/final-key";

// State of a row, u32: typos (at most 15), whether a word is inexact, words matched.
export const TYPOS: u32 = 0xff;
export const TYPOS_COUNTED: u32 = 15;
export const INEXACT: u32 = 0x100;
export const MATCHED: u32 = 0x10000;

/** The state of a row that has `words` words with this many typos together. */
export function rowState(words: u32, typos: u32, exact: bool): u32 {
  return (MATCHED * words) | min(TYPOS_COUNTED, typos) | (exact ? 0 : INEXACT);
}

/** Every word. The words that a row has are a bit each; those from the 65th on have none and count as had. */
export const ALL_WORDS: u64 = ~0;
const WORDS_WITH_BIT: u32 = 64;

/** The bit of the query's word with this index. */
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

/** The text match of a row with this score and state; `words`: of the query. */
export function textMatchIn(score: f64, state: u32, words: u32): f64 {
  return textMatchOf(score, state / MATCHED == words, state & TYPOS, (state & INEXACT) == 0);
}
