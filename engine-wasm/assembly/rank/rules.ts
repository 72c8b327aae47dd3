// What rules and pins do to the rows of one segment: which are hidden, buried, boosted or pinned. The rows come as
// the words matched them and leave as the result has them; classes and boosts are asked for row by row.

import { filterRows } from "../filter/filter";
import { ROW_MATCHED, ROW_PINNED, RULE_BOOST, RULE_BURY, RULE_HIDE } from "../layout";
import { scratch } from "../memory/arena";
import { Bits, bitsCopy, bitsCount, bitsMeet, bitsNone, bitsOr, bitsRemove } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { pinAt, pinCount, Rule, ruleAt, ruleCount } from "../program/rank-program";
import { idFirst, NOT_FOUND } from "../segment/lookup";
import { Seg } from "../segment/segment";

const CLASS_BURIED: u64 = 0;
const CLASS_PLAIN: u64 = 1;

let segment: usize = 0;
let summary: usize = 0;
let rows: u32 = 0;
// Bitsets of the segment at hand, 0 = no row.
let pinned: usize = 0; // they pass the filter
let buried: usize = 0;
let boosted: usize = 0;
let matched: usize = 0; // rows of the result that match; 0 = all of them
let pinRows: usize = 0; // u32 by pin: its row, NOT_FOUND = not here or not passing

/** A row of the result is pinned, in some segment. */
export let pinsApplied: bool = false;
/** Rows of the result, in all segments so far, that do not match. */
export let pinnedOnly: u32 = 0;

/** Takes the scratch that every segment of a query shares. */
export function rulesSetUp(): void {
  pinsApplied = false;
  pinnedOnly = 0;
  pinRows = scratch((<usize>pinCount) << 2);
}

/** Names the next segment and its summary, or 0; `candidates`: its live rows that pass the filter, matching or not. */
export function rulesUse(used: usize, itsSummary: usize, candidates: usize): void {
  segment = used;
  summary = itsSummary;
  rows = Seg.rows(used);
  pinned = 0;
  buried = 0;
  boosted = 0;
  matched = 0;
  for (let i: u32 = 0; i < pinCount; i++) {
    const row = rowOfPin(pinAt(i), candidates);
    Mem.putU32(pinRows + ((<usize>i) << 2), row);
    if (row == NOT_FOUND) continue;
    if (pinned == 0) pinned = bitsNone(rows);
    Bits.add(pinned, row);
  }
}

/** The row of `candidates` with this id hash, or NOT_FOUND. */
function rowOfPin(hash: u64, candidates: usize): u32 {
  const hashes = Seg.idHashes(segment);
  for (let i = idFirst(segment, hash); i < rows && Mem.u64At(hashes + ((<usize>i) << 3)) == hash; i++) {
    const row = Mem.u32At(Seg.idRows(segment) + ((<usize>i) << 2));
    if (Bits.has(candidates, row)) return row;
  }
  return NOT_FOUND;
}

/** Turns the rows that match, `bits`, into the rows of the result. */
export function rulesApply(bits: usize): void {
  for (let i: u32 = 0; i < ruleCount; i++) ruleAt(i).bits = filterRows(segment, summary, ruleAt(i).filter, 0);
  const hidden = unite(RULE_HIDE, bits);
  if (hidden != 0) bitsRemove(bits, hidden, rows);
  if (hidden != 0 && pinned != 0) bitsRemove(pinned, hidden, rows);
  if (pinned != 0) {
    matched = scratch(Bits.bytes(rows));
    bitsCopy(matched, bits, rows);
    bitsOr(bits, pinned, rows);
    pinnedOnly += bitsCount(bits, rows) - bitsCount(matched, rows);
    if (bitsMeet(pinned, pinned, rows)) pinsApplied = true;
  }
  boosted = unite(RULE_BOOST, bits);
  if (pinned != 0) for (let i: u32 = 0; i < ruleCount; i++) sparePins(ruleAt(i));
  buried = unite(RULE_BURY, bits);
}

function sparePins(rule: Rule): void {
  if (rule.effect == RULE_BURY && rule.bits != 0) bitsRemove(rule.bits, pinned, rows);
}

/** The rows that pass rules of this effect; notes which of the rules `bits` has a row of. */
function unite(effect: u32, bits: usize): usize {
  let union: usize = 0;
  for (let i: u32 = 0; i < ruleCount; i++) {
    const rule = ruleAt(i);
    if (rule.effect != effect || rule.bits == 0) continue;
    if (bitsMeet(rule.bits, bits, rows)) rule.applied = 1;
    if (union == 0) union = bitsNone(rows);
    bitsOr(union, rule.bits, rows);
  }
  return union;
}

/** ROW_* of a row of the result. */
export function flagsOf(row: u32): u32 {
  if (pinned == 0) return ROW_MATCHED;
  const isMatched = Bits.has(matched, row) ? ROW_MATCHED : 0;
  return isMatched | (Bits.has(pinned, row) ? ROW_PINNED : 0);
}

/** Rows of a higher class come first: pins in their order, plain rows, buried ones. */
export function classOf(row: u32): u64 {
  if (pinned != 0 && Bits.has(pinned, row)) {
    let i: u32 = 0;
    while (Mem.u32At(pinRows + ((<usize>i) << 2)) != row) i++;
    return 2 + <u64>(pinCount - i);
  }
  return buried != 0 && Bits.has(buried, row) ? CLASS_BURIED : CLASS_PLAIN;
}

/** Weights of the boost rules that a row passes, summed in program order. */
export function boostsOf(row: u32): f64 {
  if (boosted == 0 || !Bits.has(boosted, row)) return 0;
  let sum: f64 = 0;
  for (let i: u32 = 0; i < ruleCount; i++) {
    const rule = ruleAt(i);
    if (rule.effect == RULE_BOOST && rule.bits != 0 && Bits.has(rule.bits, row)) sum += rule.weight;
  }
  return sum;
}
