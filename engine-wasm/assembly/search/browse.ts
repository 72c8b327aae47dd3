// Visits the rows of a query without words: determines the order in which rows are visited, and offers the
// rows that may be among the best.

import { checkDeadline } from "../env";
import { ROW_MATCHED, SORT_CLASS, SORT_RELEVANCE, SORT_SEQ } from "../layout";
import { Bits, bitsNext, bitsPrevious } from "../memory/bitset";
import { SearchProgram } from "../program/search-program";
import { Sieve } from "../rank/sieve";
import { TopK } from "../rank/topk";
import { Signals } from "../score/signals";
import { failed } from "../status";

// Orders in which a query without words visits the rows. BY_KEYS: more than the sequence number decides how
// rows rank, so no visiting order is best first.
export const BY_KEYS: u32 = 0;
const NEWEST_FIRST: u32 = 1; // by descending sequence number: rows arrive best first
export const OLDEST_FIRST: u32 = 2; // by ascending sequence number: rows arrive best first

// Every STRIDE_FIRST-th bitset word is visited first, then the words between them at ever smaller strides,
// down to 1. All strides are powers of two.
const STRIDE_FIRST: u32 = 512;
const STRIDE_STEP: u32 = 8;
const WORDS_A_CHECK: u32 = 63;

/**
 * The order in which `browse` visits the query's rows. Without words, neighbours, boosts and pins, all rows
 * have the same relevance and class, so sort keys by relevance and class are ignored.
 */
export function browseOrder(program: SearchProgram): u32 {
  if (!program.browses || !program.ranking.isPlain) return BY_KEYS;
  for (let i: u32 = 0; i < program.sortCount; i++) {
    const key = program.sortKeyAt(i);
    if (key.by == SORT_RELEVANCE || key.by == SORT_CLASS) continue;
    if (key.by != SORT_SEQ) return BY_KEYS;
    return key.descending != 0 ? NEWEST_FIRST : OLDEST_FIRST;
  }
  return NEWEST_FIRST;
}

/** Offers the rows in `bits` that may be among the best. The segment has `rows` rows. */
export function browse(top: TopK, sieve: Sieve, bits: usize, rows: u32, order: u32): void {
  if (order == BY_KEYS) return browseByKeys(top, sieve, bits, Bits.words(rows));
  if (order == NEWEST_FIRST) {
    for (let end = bitsPrevious(bits, rows); end > 0 && !top.isFull(); end = bitsPrevious(bits, end - 1)) {
      top.offer(end - 1, 0, 0, ROW_MATCHED);
    }
    return;
  }
  for (let row = bitsNext(bits, 0, rows); row < rows && !top.isFull(); row = bitsNext(bits, row + 1, rows)) {
    top.offer(row, 0, 0, ROW_MATCHED);
  }
}

/**
 * Visits rows that are far apart first, so that the worst kept row is good early even if values rise with the
 * row number.
 */
function browseByKeys(top: TopK, sieve: Sieve, bits: usize, words: u32): void {
  let visited: u32 = 0;
  for (let stride = STRIDE_FIRST; stride > 0; stride /= STRIDE_STEP) {
    // A word index with none of these bits set was already visited at an earlier, larger stride.
    const seen = stride == STRIDE_FIRST ? 0 : stride * STRIDE_STEP - 1;
    for (let word: u32 = 0; word < words; word += stride) {
      if (seen != 0 && (word & seen) == 0) continue;
      const among = Bits.word(bits, word);
      if (among == 0) continue;
      if ((++visited & WORDS_A_CHECK) == 0) checkDeadline();
      for (let rest = sieve.pass(among, word << 6, 0); rest != 0; rest &= rest - 1) {
        top.offer((word << 6) + <u32>ctz(rest), 0, 0, ROW_MATCHED);
      }
    }
  }
}

/** Like `browse`, for queries in which bonuses, rules or pins change the order of rows. */
export function browseRanked(signals: Signals, bits: usize, rows: u32): void {
  for (let row = bitsNext(bits, 0, rows); row < rows && !failed(); row = bitsNext(bits, row + 1, rows)) {
    signals.offerWordless(row);
  }
}

/** Offers rows in a query with neighbours but no words: the neighbours and the pinned rows. */
export function browseNeighbours(signals: Signals, bits: usize, rows: u32): void {
  for (let row = bitsNext(bits, 0, rows); row < rows && !failed(); row = bitsNext(bits, row + 1, rows)) {
    signals.offerNeighbour(row, 0, 0, 0);
  }
}
