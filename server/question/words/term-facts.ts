// Facts about a term that depend only on its letters. Queries share words, so the facts of the thread's most
// recent terms are cached: counting code points and testing for scripts costs far more than a lookup.
import { ClockCache } from "../../../engine-wasm/host/runtime/clock-cache.js";

export interface TermFacts {
  /** The term as a list, shared by all query words that consist of it. */
  readonly terms: readonly string[];
  /** Number of code points. */
  readonly letters: number;
  readonly hasDigits: boolean;
  readonly isHangul: boolean;
}

const TERMS_MAX = 4_096;
const DIGIT = /\p{N}/u;
const HANGUL = /\p{Script=Hangul}/u;

/** Shared by all indexes of the thread, because the facts depend only on the term. */
const known = new ClockCache<string, TermFacts>(TERMS_MAX);

export function factsOf(term: string): TermFacts {
  let facts = known.get(term);
  if (facts === undefined) {
    facts = {
      terms: [term],
      letters: lettersOf(term),
      hasDigits: DIGIT.test(term),
      isHangul: HANGUL.test(term),
    };
    known.set(term, facts);
  }
  return facts;
}

function lettersOf(term: string): number {
  let letters = 0;
  for (const _ of term) letters++;
  return letters;
}
