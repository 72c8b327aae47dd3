// Determines how many typos are allowed in a word. Lengths are in code points, never in bytes.
import { factsOf, type TermFacts } from "../term-facts.js";

export interface TypoRule {
  readonly numTypos: number;
  readonly minLength1: number;
  readonly minLength2: number;
  readonly onNumbers: boolean;
}

const MIN_LENGTH_3_TYPOS = 12;
const MIN_LENGTH_4_TYPOS = 16;
const MIN_LENGTH_2_AT_LAST = 5;
const LETTERS_SHORT_AT_LAST = 3;

/**
 * Number of typos allowed in a word, at most `numTypos`. It is 0 for short words, and for words with digits
 * unless the rule allows typos in them.
 */
export function typosAllowed(term: string, rule: TypoRule): number {
  return allowed(factsOf(term), rule, rule.minLength2);
}

/**
 * Number of typos allowed in a word for which the usual number finds nothing: the word occurs in no form and
 * has no near terms. Two typos instead of one are allowed if the word has at least five letters and is at
 * most three letters shorter than `minLength2`.
 */
export function typosAtLast(term: string, rule: TypoRule): number {
  const facts = factsOf(term);
  const usual = allowed(facts, rule, rule.minLength2);
  if (usual !== 1) return usual;
  const minLength2 = Math.max(MIN_LENGTH_2_AT_LAST, rule.minLength2 - LETTERS_SHORT_AT_LAST);
  return Math.max(usual, allowed(facts, rule, minLength2));
}

function allowed({ letters, hasDigits }: TermFacts, rule: TypoRule, minLength2: number): number {
  if (hasDigits && !rule.onNumbers) return 0;
  let typos = 0;
  if (letters >= rule.minLength1) typos = 1;
  if (letters >= minLength2) typos = 2;
  if (typos === 2 && letters >= MIN_LENGTH_3_TYPOS) typos = 3;
  if (typos === 3 && letters >= MIN_LENGTH_4_TYPOS) typos = 4;
  return Math.min(typos, rule.numTypos);
}
