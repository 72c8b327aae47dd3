// The search kernel: one program on one snapshot. Segments are visited newest first, so that among equal rows
// the first ones found stay. The bytes of program and result are drawn in docs/FORMATS.md.

import { ROW_MATCHED, SORT_CLASS, SORT_FIELD, SORT_RELEVANCE, SORT_SEQ } from "../layout";
import { matchRows, matchSetUp } from "../match/match";
import { Bits, bitsCount, bitsNext, bitsPrevious } from "../memory/bitset";
import {
  putResultBytes,
  putResultF64,
  putResultU8,
  putResultU32,
  putResultU64,
  resultClose,
  resultOpen,
} from "../memory/result";
import { rankPlain, ruleAt, ruleCount } from "../program/rank-program";
import {
  facetAt,
  facetCount,
  queryRead,
  rowsWanted,
  sortCount,
  sortKeyAt,
  wordCount,
} from "../program/search-program";
import { flagsOf, pinnedOnly, pinsApplied } from "../rank/rules";
import { sieve, sieveSetUp, sieveUse } from "../rank/sieve";
import { KIND_STRING, kindsSetUp, numberOfKey, sortKeysUse } from "../rank/sort-keys";
import {
  topBonus,
  topBySum,
  topCount,
  topFinish,
  topFlags,
  topFull,
  topHasKey,
  topKey,
  topOffer,
  topReset,
  topSeq,
  topTextMatch,
  topUse,
} from "../rank/topk";
import { bonusesUse, termBonusOf } from "../score/bonuses";
import { scoreRows, scoreSetUp } from "../score/score";
import { Seg, Snap } from "../segment/segment";
import { failed, status, statusReset } from "../status";
import { facetAdd, facetFinish, facetWrite } from "./facets";

// The order in which browsing (no words) meets the rows.
const BY_KEYS: u32 = 0; // any
const NEWEST_FIRST: u32 = 1; // the sort is by descending sequence number: rows come best first
const OLDEST_FIRST: u32 = 2; // the same, ascending

// Words of rows are visited with strides that fall from the first to 1, each a power of two.
const STRIDE_FIRST: u32 = 512;
const STRIDE_STEP: u32 = 8;

/** Runs a search program on a snapshot. Returns the address of the result, or -STATUS_*. */
export function search(snapshot: usize, program: usize, bytes: usize): i32 {
  statusReset();
  queryRead(program, bytes);
  if (failed()) return -status();
  kindsSetUp(snapshot);
  const order = browseOrder();
  topReset(order != BY_KEYS);
  matchSetUp(topBySum());
  scoreSetUp();
  sieveSetUp();
  const segments = Snap.count(snapshot);
  let found: u32 = 0;
  for (let i: u32 = 0; i < segments && !failed(); i++) {
    found += visit(snapshot, order == OLDEST_FIRST ? i : segments - 1 - i, order);
  }
  if (failed()) return -status();
  topFinish();
  for (let i: u32 = 0; i < facetCount; i++) facetFinish(facetAt(i));
  return write(found);
}

/** Without words and wishes all rows have the same relevance and class, so such keys decide nothing. */
function browseOrder(): u32 {
  if (wordCount > 0 || !rankPlain) return BY_KEYS;
  for (let i: u32 = 0; i < sortCount; i++) {
    const key = sortKeyAt(i);
    if (key.by == SORT_RELEVANCE || key.by == SORT_CLASS) continue;
    if (key.by != SORT_SEQ) return BY_KEYS;
    return key.descending != 0 ? NEWEST_FIRST : OLDEST_FIRST;
  }
  return NEWEST_FIRST;
}

/** Matches, counts and ranks the rows of one segment. Returns how many match. */
function visit(snapshot: usize, entry: u32, order: u32): u32 {
  const segment = Snap.segment(snapshot, entry);
  const summary = Snap.summary(snapshot, entry);
  const bits = matchRows(segment, summary, Snap.live(snapshot, entry));
  if (failed()) return 0;
  const found = bitsCount(bits, Seg.rows(segment));
  if (found == 0) return 0;
  for (let i: u32 = 0; i < facetCount; i++) facetAdd(facetAt(i), segment, summary, bits, found);
  if (rowsWanted == 0) return found;
  topUse(segment);
  sortKeysUse(segment, summary);
  sieveUse(segment);
  if (wordCount > 0) scoreRows(segment, bits, found);
  else if (!rankPlain) browseRanked(segment, bits);
  else browse(bits, Seg.rows(segment), order);
  return found;
}

function browse(bits: usize, rows: u32, order: u32): void {
  if (order == NEWEST_FIRST) {
    for (let end = bitsPrevious(bits, rows); end > 0 && !topFull(); end = bitsPrevious(bits, end - 1)) {
      topOffer(end - 1, 0, 0, ROW_MATCHED);
    }
    return;
  }
  if (order == BY_KEYS) return browseByKeys(bits, Bits.words(rows));
  for (let row = bitsNext(bits, 0, rows); row < rows && !topFull(); row = bitsNext(bits, row + 1, rows)) {
    topOffer(row, 0, 0, ROW_MATCHED);
  }
}

/** Rows far apart come first, so that the worst row kept is good early even where values rise with the rows. */
function browseByKeys(bits: usize, words: u32): void {
  for (let stride = STRIDE_FIRST; stride > 0; stride /= STRIDE_STEP) {
    const seen = stride == STRIDE_FIRST ? 0 : stride * STRIDE_STEP - 1; // mask of what was visited with larger strides
    for (let word: u32 = 0; word < words; word += stride) {
      if (seen != 0 && (word & seen) == 0) continue;
      const among = Bits.word(bits, word);
      if (among == 0) continue;
      for (let rest = sieve(among, word << 6, 0); rest != 0; rest &= rest - 1) {
        topOffer((word << 6) + <u32>ctz(rest), 0, 0, ROW_MATCHED);
      }
    }
  }
}

/** `browse` when bonuses, rules or pins change the order of rows. */
function browseRanked(segment: usize, bits: usize): void {
  bonusesUse(segment);
  const rows = Seg.rows(segment);
  for (let row = bitsNext(bits, 0, rows); row < rows && !failed(); row = bitsNext(bits, row + 1, rows)) {
    topOffer(row, 0, termBonusOf(row), flagsOf(row));
  }
}

function write(found: u32): i32 {
  resultOpen();
  putResultU32(found);
  putResultU32(pinnedOnly);
  putResultU32(topCount());
  putResultU8(sortCount);
  for (let i: u32 = 0; i < topCount(); i++) putResultF64(topSeq(i));
  for (let i: u32 = 0; i < topCount(); i++) {
    putResultF64(topTextMatch(i));
    putResultF64(topBonus(i));
    putResultU8(topFlags(i));
    for (let key: u32 = 0; key < sortCount; key++) writeKey(i, key);
  }
  for (let i: u32 = 0; i < facetCount; i++) facetWrite(facetAt(i));
  for (let i: u32 = 0; i < ruleCount; i++) putResultU8(ruleAt(i).applied);
  putResultU8(pinsApplied ? 1 : 0);
  return <i32>resultClose();
}

function writeKey(i: u32, number: u32): void {
  const key = sortKeyAt(number);
  const present = topHasKey(i, number);
  putResultU8(present ? 1 : 0);
  if (!present) return;
  if (key.by == SORT_SEQ) return putResultF64(topSeq(i));
  const value = topKey(i, number);
  if (key.by != SORT_FIELD) return putResultU64(key.descending != 0 ? value : ~value);
  if (key.kind != KIND_STRING) return putResultU64(numberOfKey(key, value));
  putResultU32(<u32>value);
  putResultBytes(<usize>(value >> 32), <usize>(<u32>value));
}
