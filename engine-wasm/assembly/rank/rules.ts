// Applies rules and pins to one segment's rows: hides, buries, boosts or pins them. Determines which of the
// matching rows, and which pinned rows, are in the result. Computes a row's class and boosts on demand.

import { Filters } from "../filter/filter";
import { ROW_MATCHED, ROW_PINNED, RULE_BOOST, RULE_BURY, RULE_HIDE, RULE_KEEP } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Bits, bitsCopyOf, bitsCount, bitsMeet, bitsNone, bitsOr, bitsRemove } from "../memory/bitset";
import { Mem } from "../memory/mem";
import { RankProgram } from "../program/rank-program";
import { idFirst, NOT_FOUND } from "../segment/lookup";
import { Seg } from "../segment/segment";

const CLASS_BURIED: u64 = 0;
const CLASS_PLAIN: u64 = 1;

/** One search's rules and pins, applied to the current segment's rows. Allocated in scratch memory. */
@unmanaged
export class Rules {
  ranking: RankProgram;
  filters: Filters;
  segment: usize;
  summary: usize;
  rows: u32;
  // Bitsets for the current segment; 0 = no such rows.
  pinned: usize; // the pinned rows that pass the filter
  buried: usize;
  boosted: usize;
  matched: usize; // rows in the result that match the query; 0 = all of them do
  // u32 by pin: its row; NOT_FOUND = the row is not in this segment or does not pass the filter.
  pinRows: usize;
  /** True if any segment has a pinned row in the result. */
  pinsApplied: bool;
  /** Number of rows in the result that do not match the query, over all segments so far. */
  pinnedOnly: u32;

  static make(ranking: RankProgram, filters: Filters): Rules {
    const made = changetype<Rules>(scratchZeroed(offsetof<Rules>()));
    made.ranking = ranking;
    made.filters = filters;
    made.pinRows = scratch((<usize>ranking.pinCount) << 2);
    return made;
  }

  /**
   * Starts the segment at `used`. `itsSummary` is 0 if the segment has no summary. `candidates` is the bitset
   * of live rows that pass the filter, whether or not they match the query.
   */
  beginSegment(used: usize, itsSummary: usize, candidates: usize): void {
    const ranking = this.ranking;
    this.segment = used;
    this.summary = itsSummary;
    this.rows = Seg.rows(used);
    this.pinned = 0;
    this.buried = 0;
    this.boosted = 0;
    this.matched = 0;
    for (let i: u32 = 0; i < ranking.pinCount; i++) {
      const row = this.rowOfPin(ranking.pinAt(i), candidates);
      Mem.putU32(this.pinRows + ((<usize>i) << 2), row);
      if (row == NOT_FOUND) continue;
      if (this.pinned == 0) this.pinned = bitsNone(this.rows);
      Bits.add(this.pinned, row);
    }
  }

  /** The row of `candidates` with this id hash, or NOT_FOUND. */
  private rowOfPin(hash: u64, candidates: usize): u32 {
    const hashes = Seg.idHashes(this.segment);
    for (
      let i = idFirst(this.segment, hash);
      i < this.rows && Mem.u64At(hashes + ((<usize>i) << 3)) == hash;
      i++
    ) {
      const row = Mem.u32At(Seg.idRows(this.segment) + ((<usize>i) << 2));
      if (Bits.has(candidates, row)) return row;
    }
    return NOT_FOUND;
  }

  /** Turns `bits`, the bitset of matching rows, into the bitset of rows in the result. */
  apply(bits: usize): void {
    const ranking = this.ranking;
    for (let i: u32 = 0; i < ranking.ruleCount; i++)
      ranking.ruleAt(i).bits = this.filters.rowsOf(this.segment, this.summary, ranking.ruleAt(i).filter, 0);
    this.settle();
    const hidden = this.unite(RULE_HIDE, bits);
    if (hidden != 0) bitsRemove(bits, hidden, this.rows);
    if (this.pinned != 0) {
      this.matched = bitsCopyOf(bits, this.rows);
      bitsOr(bits, this.pinned, this.rows);
      this.pinnedOnly += bitsCount(bits, this.rows) - bitsCount(this.matched, this.rows);
      if (bitsMeet(this.pinned, this.pinned, this.rows)) this.pinsApplied = true;
    }
    this.boosted = this.unite(RULE_BOOST, bits);
    this.buried = this.unite(RULE_BURY, bits);
  }

  /**
   * The first rule that hides, buries or keeps a row is final: the row is removed from later rules, and also
   * from the pins unless that first rule keeps the row.
   */
  private settle(): void {
    const ranking = this.ranking;
    let decided: usize = 0;
    for (let i: u32 = 0; i < ranking.ruleCount; i++) {
      const rule = ranking.ruleAt(i);
      if (rule.effect == RULE_BOOST || rule.bits == 0) continue;
      if (decided == 0) decided = bitsNone(this.rows);
      bitsRemove(rule.bits, decided, this.rows);
      bitsOr(decided, rule.bits, this.rows);
      if (this.pinned != 0 && rule.effect != RULE_KEEP) bitsRemove(this.pinned, rule.bits, this.rows);
    }
  }

  /**
   * Returns the union of the rows that match rules with the given effect. Sets `applied` on each of these
   * rules that matches a row in `bits`.
   */
  private unite(effect: u32, bits: usize): usize {
    const ranking = this.ranking;
    let union: usize = 0;
    for (let i: u32 = 0; i < ranking.ruleCount; i++) {
      const rule = ranking.ruleAt(i);
      if (rule.effect != effect || rule.bits == 0) continue;
      if (bitsMeet(rule.bits, bits, this.rows)) rule.applied = 1;
      if (union == 0) union = bitsNone(this.rows);
      bitsOr(union, rule.bits, this.rows);
    }
    return union;
  }

  /** ROW_* flags for a row in the result. */
  flagsOf(row: u32): u32 {
    if (this.pinned == 0) return ROW_MATCHED;
    const isMatched = Bits.has(this.matched, row) ? ROW_MATCHED : 0;
    return isMatched | (Bits.has(this.pinned, row) ? ROW_PINNED : 0);
  }

  /**
   * A row's class. Higher classes rank first: pinned rows in the order of their pins, then plain rows, then
   * buried rows.
   */
  classOf(row: u32): u64 {
    if (this.pinned != 0 && Bits.has(this.pinned, row)) {
      let i: u32 = 0;
      while (Mem.u32At(this.pinRows + ((<usize>i) << 2)) != row) i++;
      return 2 + <u64>(this.ranking.pinCount - i);
    }
    return this.buried != 0 && Bits.has(this.buried, row) ? CLASS_BURIED : CLASS_PLAIN;
  }

  /** Sum of the weights of the boost rules matching a row, added in program order. */
  boostsOf(row: u32): f64 {
    const ranking = this.ranking;
    if (this.boosted == 0 || !Bits.has(this.boosted, row)) return 0;
    let sum: f64 = 0;
    for (let i: u32 = 0; i < ranking.ruleCount; i++) {
      const rule = ranking.ruleAt(i);
      if (rule.effect == RULE_BOOST && rule.bits != 0 && Bits.has(rule.bits, row)) sum += rule.weight;
    }
    return sum;
  }
}
