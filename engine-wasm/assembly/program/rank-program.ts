// The parts of a search program that rank beyond the text match: bonuses, rules and pins, checked and laid out as
// tables. What they do to the rows of a segment is in bonuses.ts and rules.ts.

import { BONUS_TERMS_MAX, RULE_BOOST, RULE_BURY, RULES_MAX, TERM_PREFIX } from "../layout";
import { scratch } from "../memory/arena";
import { Mem } from "../memory/mem";
import { failed } from "../status";
import { Filter, filterRead } from "./filter-program";
import { countWithin, programBad, readBytes, readF64, readU8, readU16, readU32, readWeight } from "./program";
import { readTermInto, TERM_BYTES, termAt } from "./program-terms";

@unmanaged
export class BonusTerm {
  bonus: f64;
  group: u32;
  slot: u32;
  term: usize; // Term
  bits: usize; // rows of the segment at hand that have it, 0 = none
}

@unmanaged
export class Rule {
  weight: f64;
  effect: u32; // RULE_*
  filter: Filter;
  bits: usize; // rows of the segment at hand that pass, 0 = none
  applied: u32; // it changed the result of some segment
}

const BONUS_TERM_BYTES: usize = offsetof<BonusTerm>();
const RULE_BYTES: usize = (offsetof<Rule>() + 7) & ~7;
const HASH_BYTES: usize = 8;

// Fewest bytes that one of them takes in a program.
const BONUS_TERM_LEAST: usize = 16;
const RULE_LEAST: usize = 11;

/** What may be added to a text match without reaching into the parts above the score. */
const BONUS_SMALL: f64 = 1099511627776; // 2^40
/** A bonus from here on lifts a row over all without it. */
export const BONUS_LINE: f64 = 4503599627370496; // 2^52
/** No row may get as much: numbers above it are not exact. */
const BONUS_END: f64 = 9007199254740992; // 2^53

export let wholeBonus: f64 = 0;
export let startsBonus: f64 = 0;
export let bonusTermCount: u32 = 0;
export let ruleCount: u32 = 0;
export let pinCount: u32 = 0;
/** Every row has class 1, no bonus and no boost. */
export let rankPlain: bool = true;
/** No row has a boost, and no bonus but the one that lifts over everything comes near a typo's worth. */
export let sumPlain: bool = true;
/** Every row has class 1. */
export let classPlain: bool = true;
let bonusTerms: usize = 0;
let rules: usize = 0;
let pins: usize = 0; // u64 id hashes

export function bonusTermAt(i: u32): BonusTerm {
  return changetype<BonusTerm>(bonusTerms + <usize>i * BONUS_TERM_BYTES);
}

export function ruleAt(i: u32): Rule {
  return changetype<Rule>(rules + <usize>i * RULE_BYTES);
}
export function pinAt(i: u32): u64 {
  return Mem.u64At(pins + ((<usize>i) << 3));
}

export function rankRead(): void {
  rankPlain = true;
  sumPlain = true;
  classPlain = true;
  readBonuses();
  readRules();
  pinCount = countWithin(readU32(), HASH_BYTES);
  pins = readBytes(<usize>pinCount * HASH_BYTES);
  if (pinCount > 0) classPlain = false;
  if (wholeBonus > 0 || startsBonus > 0 || bonusTermCount > 0 || pinCount > 0) rankPlain = false;
}

function readBonus(): f64 {
  const bonus = readF64();
  if (!(bonus >= 0) || bonus >= BONUS_END || floor(bonus) != bonus) {
    programBad();
    return 0;
  }
  return bonus == 0 ? 0 : bonus;
}

function isSmall(bonus: f64): bool {
  return bonus <= BONUS_SMALL;
}

/** Terms come by group, in a group the largest bonus first. */
function readBonuses(): void {
  wholeBonus = readBonus();
  startsBonus = readBonus();
  bonusTermCount = countWithin(readU16(), BONUS_TERM_LEAST);
  if (bonusTermCount > <u32>BONUS_TERMS_MAX) {
    programBad();
    bonusTermCount = 0;
  }
  bonusTerms = scratch(<usize>bonusTermCount * BONUS_TERM_BYTES);
  let most = max(wholeBonus, startsBonus);
  if (!isSmall(most)) sumPlain = false;
  for (let i: u32 = 0; i < bonusTermCount && !failed(); i++) {
    const one = bonusTermAt(i);
    one.group = readU16();
    one.slot = readU16();
    one.bonus = readBonus();
    const prefix = readU8();
    one.term = scratch(TERM_BYTES);
    readTermInto(termAt(one.term, 0), prefix);
    one.bits = 0;
    if (prefix > <u32>TERM_PREFIX) programBad();
    const sameGroup = i > 0 && bonusTermAt(i - 1).group == one.group;
    if (i > 0 && bonusTermAt(i - 1).group > one.group) programBad();
    if (sameGroup && bonusTermAt(i - 1).bonus < one.bonus) programBad();
    if (!sameGroup) most += one.bonus;
    if (!isSmall(one.bonus) && (one.bonus != BONUS_LINE || one.group != bonusTermAt(0).group))
      sumPlain = false;
    if (most >= BONUS_END) programBad();
  }
}

function readRules(): void {
  ruleCount = countWithin(readU16(), RULE_LEAST);
  if (ruleCount > <u32>RULES_MAX) {
    programBad();
    ruleCount = 0;
  }
  rules = scratch(<usize>ruleCount * RULE_BYTES);
  for (let i: u32 = 0; i < ruleCount && !failed(); i++) {
    const rule = ruleAt(i);
    rule.effect = readU8();
    rule.weight = readWeight();
    rule.filter = filterRead();
    rule.bits = 0;
    rule.applied = 0;
    if (rule.effect > <u32>RULE_BOOST) programBad();
    if (rule.effect == RULE_BURY || rule.effect == RULE_BOOST) rankPlain = false;
    if (rule.effect == RULE_BURY) classPlain = false;
    if (rule.effect == RULE_BOOST) sumPlain = false;
  }
}
