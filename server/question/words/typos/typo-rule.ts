// Determines how many typos are allowed in a word. Lengths are in code points, never in bytes.

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
  if (!rule.onNumbers && /\p{N}/u.test(term)) return 0;
  let length = 0;
  for (const _ of term) length++;
  let allowed = 0;
  if (length >= rule.minLength1) allowed = 1;
  if (length >= rule.minLength2) allowed = 2;
  if (allowed === 2 && length >= MIN_LENGTH_3_TYPOS) allowed = 3;
  if (allowed === 3 && length >= MIN_LENGTH_4_TYPOS) allowed = 4;
  return Math.min(allowed, rule.numTypos);
}

/**
 * Number of typos allowed in a word for which the usual number finds nothing: the word occurs in no form and
 * has no near terms. Two typos instead of one are allowed if the word has at least five letters and is at
 * most three letters shorter than `minLength2`.
 */
export function typosAtLast(term: string, rule: TypoRule): number {
  const allowed = typosAllowed(term, rule);
  if (allowed !== 1) return allowed;
  const minLength2 = Math.max(MIN_LENGTH_2_AT_LAST, rule.minLength2 - LETTERS_SHORT_AT_LAST);
  return Math.max(allowed, typosAllowed(term, { ...rule, minLength2 }));
}
