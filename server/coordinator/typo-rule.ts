// How many typos a word may have. Lengths are counted in code points, never in bytes.

export interface TypoRule {
  readonly numTypos: number;
  readonly minLength1: number;
  readonly minLength2: number;
  readonly onNumbers: boolean;
}

const MIN_LENGTH_3_TYPOS = 12;
const MIN_LENGTH_4_TYPOS = 16;

/** 0 for short words, words with digits (unless allowed) and beyond `numTypos`. */
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
