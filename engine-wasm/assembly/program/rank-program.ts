// Reads the parts of a search program that affect ranking besides the text match (bonuses, rules and pins),
// checks them and stores them as tables. term-bonus.ts, place-bonus.ts and rules.ts apply them to a segment's
// rows.

import { BONUS_TERMS_MAX, RULE_BOOST, RULE_BURY, RULE_KEEP, RULES_MAX, TERM_PREFIX } from "../layout";
import { scratch, scratchZeroed } from "../memory/arena";
import { Mem } from "../memory/mem";
import { failed } from "../status";
import { Filter, filterRead } from "./filter-program";
import { ProgramReader, programBad } from "./program";
import { readTermInto, TERM_BYTES, termAt } from "./program-terms";

@unmanaged
export class BonusTerm {
  bonus: f64;
  group: u32;
  slot: u32;
  term: usize; // Term
  bits: usize; // bitset: the current segment's rows with the term; 0 = none
}

@unmanaged
class Rule {
  weight: f64;
  effect: u32; // RULE_*
  filter: Filter;
  bits: usize; // bitset: the current segment's rows that match the rule; 0 = none
  applied: u32; // 1 = the rule changed the result in at least one segment
}

const BONUS_TERM_BYTES: usize = offsetof<BonusTerm>();
const RULE_BYTES: usize = (offsetof<Rule>() + 7) & ~7;
const HASH_BYTES: usize = 8;

// Minimum size in bytes of each item in a program.
const BONUS_TERM_LEAST: usize = 16;
const RULE_LEAST: usize = 11;

/**
 * A bonus of at most this much cannot overflow from a text match's score into the more significant parts of
 * the final key (final-key.ts).
 */
const BONUS_SMALL: f64 = 1099511627776; // 2^40
/** A bonus of at least this much ranks a row before all rows without such a bonus. */
export const BONUS_LINE: f64 = 4503599627370496; // 2^52
/** A row's total bonus must stay below this, because larger numbers would not be exact. */
const BONUS_END: f64 = 9007199254740992; // 2^53

function readBonus(reader: ProgramReader): f64 {
  const bonus = reader.f64();
  if (!(bonus >= 0) || bonus >= BONUS_END || floor(bonus) != bonus) {
    programBad();
    return 0;
  }
  return bonus == 0 ? 0 : bonus;
}

function isSmall(bonus: f64): bool {
  return bonus <= BONUS_SMALL;
}

/** One search's checked bonuses, rules and pins. Allocated in scratch memory. */
@unmanaged
export class RankProgram {
  wholeBonus: f64;
  startsBonus: f64;
  bonusTermCount: u32;
  ruleCount: u32;
  pinCount: u32;
  /** True if no row is pinned, buried or boosted, and none has a bonus. */
  isPlain: bool;
  /**
   * True if text match plus bonus orders rows as their final keys do: no row has a boost, and every bonus is
   * at most BONUS_SMALL or, for terms in the first group only, exactly BONUS_LINE. SearchProgram also clears
   * it if neighbours' points or bonuses are too large.
   */
  sumIsPlain: bool;
  /** True if some bonus is at least BONUS_LINE, which lifts a row above all rows without such a bonus. */
  lifts: bool;
  /** True if every row has class 1, that is, none is pinned or buried. */
  classIsPlain: bool;
  bonusTerms: usize;
  rules: usize;
  pins: usize; // u64 id hashes

  static read(reader: ProgramReader): RankProgram {
    const ranking = changetype<RankProgram>(scratchZeroed(offsetof<RankProgram>()));
    ranking.readAll(reader);
    return ranking;
  }

  bonusTermAt(i: u32): BonusTerm {
    return changetype<BonusTerm>(this.bonusTerms + <usize>i * BONUS_TERM_BYTES);
  }

  ruleAt(i: u32): Rule {
    return changetype<Rule>(this.rules + <usize>i * RULE_BYTES);
  }

  pinAt(i: u32): u64 {
    return Mem.u64At(this.pins + ((<usize>i) << 3));
  }

  private readAll(reader: ProgramReader): void {
    this.isPlain = true;
    this.sumIsPlain = true;
    this.classIsPlain = true;
    this.readBonuses(reader);
    this.readRules(reader);
    this.pinCount = reader.countWithin(reader.u32(), HASH_BYTES);
    this.pins = reader.bytes(<usize>this.pinCount * HASH_BYTES);
    if (this.pinCount > 0) this.classIsPlain = false;
    if (this.wholeBonus > 0 || this.startsBonus > 0 || this.bonusTermCount > 0 || this.pinCount > 0)
      this.isPlain = false;
  }

  /** Reads the bonus terms, which must be sorted by group and, within a group, by descending bonus. */
  private readBonuses(reader: ProgramReader): void {
    this.wholeBonus = readBonus(reader);
    this.startsBonus = readBonus(reader);
    this.bonusTermCount = reader.countWithin(reader.u16(), BONUS_TERM_LEAST);
    if (this.bonusTermCount > <u32>BONUS_TERMS_MAX) {
      programBad();
      this.bonusTermCount = 0;
    }
    this.bonusTerms = scratch(<usize>this.bonusTermCount * BONUS_TERM_BYTES);
    let most = max(this.wholeBonus, this.startsBonus);
    if (!isSmall(most)) this.sumIsPlain = false;
    for (let i: u32 = 0; i < this.bonusTermCount && !failed(); i++) {
      const one = this.bonusTermAt(i);
      one.group = reader.u16();
      one.slot = reader.u16();
      one.bonus = readBonus(reader);
      const prefix = reader.u8();
      one.term = scratch(TERM_BYTES);
      readTermInto(reader, termAt(one.term, 0), prefix);
      one.bits = 0;
      if (prefix > <u32>TERM_PREFIX) programBad();
      const sameGroup = i > 0 && this.bonusTermAt(i - 1).group == one.group;
      if (i > 0 && this.bonusTermAt(i - 1).group > one.group) programBad();
      if (sameGroup && this.bonusTermAt(i - 1).bonus < one.bonus) programBad();
      if (!sameGroup) most += one.bonus;
      if (one.bonus >= BONUS_LINE) this.lifts = true;
      if (!isSmall(one.bonus) && (one.bonus != BONUS_LINE || one.group != this.bonusTermAt(0).group))
        this.sumIsPlain = false;
      if (most >= BONUS_END) programBad();
    }
  }

  private readRules(reader: ProgramReader): void {
    this.ruleCount = reader.countWithin(reader.u16(), RULE_LEAST);
    if (this.ruleCount > <u32>RULES_MAX) {
      programBad();
      this.ruleCount = 0;
    }
    this.rules = scratch(<usize>this.ruleCount * RULE_BYTES);
    for (let i: u32 = 0; i < this.ruleCount && !failed(); i++) {
      const rule = this.ruleAt(i);
      rule.effect = reader.u8();
      rule.weight = reader.weight();
      rule.filter = filterRead(reader);
      rule.bits = 0;
      rule.applied = 0;
      if (rule.effect > <u32>RULE_KEEP) programBad();
      if (rule.effect == RULE_BURY || rule.effect == RULE_BOOST) this.isPlain = false;
      if (rule.effect == RULE_BURY) this.classIsPlain = false;
      if (rule.effect == RULE_BOOST) this.sumIsPlain = false;
    }
  }
}
